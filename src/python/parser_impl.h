// The recursive-descent parser. One method per grammar rule of the Language Reference, 10; parser_*.cpp hold
// them by theme.
//
// A method is called with the cursor at_ on the rule's first token and leaves it behind the last one. A
// syntax error is thrown as SyntaxFailure after it was recorded, and caught by the statement list around it,
// which goes on with the next line; it never leaves parse_module().
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "python/ast.h"
#include "python/lexer.h"
#include "python/parser.h"
#include "python/token.h"

namespace graft::python {

struct SyntaxFailure {};

class Parser {
 public:
  Parser(const SourceText& source, const ParseOptions& options, ParsedModule& result);
  const Module* parse();

 private:
  using T = TokenKind;

  // --- tokens ---
  bool is(T kind) const { return at_->kind == kind; }
  bool accept(T kind) {
    if (at_->kind != kind) return false;
    ++at_;
    return true;
  }
  void expect(T kind) {
    if (at_->kind != kind) fail_expected(describe(kind));
    ++at_;
  }
  // The end of the token before the cursor, which must be on the same logical line.
  uint32_t previous_end() const { return at_[-1].end; }
  std::string_view token_text(const Token& token) const {
    return {text_ + token.begin, token.end - token.begin};
  }
  bool is_word(std::string_view word) const { return is(T::kName) && token_text(*at_) == word; }
  Identifier identifier(const Token& token) {
    if ((token.flags & token_flag::kNonAscii) == 0) return token_text(token);
    return normalized(token);
  }
  Identifier normalized(const Token& token);
  Identifier expect_name(std::string_view what = "a name") {
    if (!is(T::kName)) fail_expected(what);
    return identifier(*at_++);
  }
  // A name that is bound: 3.8 refuses __debug__ here while parsing.
  Identifier expect_bound_name(std::string_view what = "a name") {
    Identifier name = expect_name(what);
    if (profile_ == Profile::kPython38) refuse_debug(name, at_[-1].begin);
    return name;
  }
  void refuse_debug(Identifier name, uint32_t offset) {
    if (name == "__debug__") fail(offset, "cannot assign to __debug__", "another name");
  }
  // Consumes NEWLINE and moves to the next logical line.
  void end_line() {
    line_end_ = previous_end();
    advance_line();
  }
  void advance_line() { at_ = lexer_.next_line(); }

  // --- errors ---
  [[noreturn]] void fail(uint32_t offset, std::string message, std::string expected = {});
  // "invalid syntax" at the cursor, or what the lexer or a missing bracket says.
  [[noreturn]] void fail_expected(std::string_view expected);
  void require(Profile since, uint32_t offset, std::string_view feature) {
    if (profile_ != Profile::kDefault && profile_ < since) fail_version(since, offset, feature);
  }
  [[noreturn]] void fail_version(Profile since, uint32_t offset, std::string_view feature);
  void record(uint32_t offset, std::string message, std::string expected);
  // After a failure: moves the cursor to the first token of a later logical line.
  void recover();
  // Recursion that brackets and blocks do not bound: unary operators, lambdas, conditional expressions,
  // powers.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser.depth_ > kMaxDepth) parser.fail(parser.at_->begin, "the expression is nested too deeply");
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Parser& parser_;
  };
  static constexpr int kMaxDepth = 2900;  // CPython's limit is 3000 nodes at the default recursion limit

  // --- nodes ---
  template <class N>
  N* make(uint32_t begin) {
    N* node = arena_.make<N>();
    node->begin = begin;
    return node;
  }
  template <class N>
  N* finish(N* node) {
    node->end = previous_end();
    return node;
  }
  // Lists under construction share one stack: remember mark(), push(), then take the elements since the mark.
  size_t mark() const { return scratch_.size(); }
  void push(const void* element) { scratch_.push_back(element); }
  template <class N>
  Nodes<N> take(size_t from) {
    return Nodes<N>(take_pointers<typename Nodes<N>::Header>(from));
  }
  template <class Header>
  const Header* take_pointers(size_t from) {
    size_t count = scratch_.size() - from;
    if (count == 0) return nullptr;
    auto* header = static_cast<Header*>(arena_.allocate(sizeof(Header) + count * sizeof(void*)));
    header->size = count;
    std::memcpy(static_cast<void*>(header + 1), scratch_.data() + from, count * sizeof(void*));
    scratch_.resize(from);
    return header;
  }
  template <class V>
  Values<V> values(const V* data, size_t count) {
    if (count == 0) return {};
    using Header = typename Values<V>::Header;
    auto* header = static_cast<Header*>(arena_.allocate(sizeof(Header) + count * sizeof(V)));
    header->size = count;
    std::memcpy(static_cast<void*>(header + 1), data, count * sizeof(V));
    return Values<V>(header);
  }

  // --- statements (parser_statements.cpp) ---
  void statement();  // pushes one or, on a line with ';', several
  void simple_statements();
  const Stmt* simple_statement();
  const Stmt* expression_statement();
  void refuse_old_star(const Expr& value);
  const Stmt* annotated_assignment(const Expr* target, uint32_t begin, bool parenthesized);
  const Stmt* assignment(const Expr* first, uint32_t begin);
  const Stmt* type_alias();
  const Stmt* delete_statement();
  const Stmt* import_statement();
  const Stmt* from_import();
  Identifier dotted_name();
  const Stmt* scope_statement();
  const Stmt* raise_statement();
  const Stmt* assert_statement();
  const Stmt* return_statement();

  // --- compound statements (parser_compound.cpp) ---
  Nodes<Stmt> block(std::string_view after, uint32_t header);
  void statements();
  const Stmt* if_statement();
  const Stmt* while_statement();
  const Stmt* for_statement(uint32_t begin, bool async);
  const Stmt* with_statement(uint32_t begin, bool async);
  bool parenthesized_with_items(size_t from);
  const WithItem* with_item();
  const Stmt* try_statement();
  const Stmt* decorated();
  const Stmt* function(uint32_t begin, bool async, Nodes<Expr> decorators);
  const Stmt* class_statement(Nodes<Expr> decorators);
  const Stmt* async_statement(Nodes<Expr> decorators, bool decorated);
  const Arguments* parameters(T close, bool annotations);
  Nodes<TypeParam> type_parameters();
  Nodes<Stmt> else_block();
  const Stmt* match_statement();

  // --- patterns (parser_patterns.cpp) ---
  const MatchCase* match_case();
  const Pattern* patterns();
  const Pattern* maybe_star_pattern();
  const Pattern* as_pattern();
  const Pattern* or_pattern();
  const Pattern* closed_pattern();
  const Pattern* sequence_pattern();
  const Pattern* mapping_pattern();
  const Pattern* class_pattern(const Expr* cls, uint32_t begin);
  const Pattern* value_pattern(const Expr* value, uint32_t begin);
  const Expr* pattern_number();
  const Expr* pattern_strings();
  Identifier capture_target();

  // --- expressions (parser_expressions.cpp) ---
  const Expr*
  star_expressions();  // star_expression {"," star_expression} [","], a Tuple when there is a comma
  const Expr* star_expression();   // ["*"] bitwise_or | expression
  const Expr* named_expression();  // [NAME ":="] expression
  const Expr* star_named_expression();
  const Expr* expression();  // disjunction ["if" disjunction "else" expression] | lambda
  const Expr* disjunction() { return binary(kOrPrecedence); }
  const Expr* bitwise_or() { return binary(kBitOrPrecedence); }
  const Expr* binary(int precedence);
  const Expr* comparison(const Expr* left, uint32_t begin);
  const Expr* boolean(const Expr* left, uint32_t begin, int precedence);
  const Expr* unary();
  const Expr* power();
  const Expr* power_of(const Expr* base, uint32_t begin);
  const Expr* primary();
  const Expr* atom();
  const Expr* lambda();
  const Expr* yield_expression();
  const Expr* yield_or_star_expressions();
  // Targets: parsed as expressions, then checked.
  const Expr* target_list(std::string_view what);
  const Expr* single_target();
  void set_context(const Expr* target, ExprContext context, std::string_view action);
  [[noreturn]] void fail_target(const Expr* target, std::string_view action);

  // --- displays and calls (parser_displays.cpp) ---
  const Expr* parenthesized();
  const Expr* list_display();
  const Expr* brace_display();
  const Expr* dict_display(uint32_t begin, size_t from);
  Nodes<Comprehension> comprehension_clauses();
  bool at_comprehension() const { return is(T::kFor) || (is(T::kAsync) && at_[1].kind == T::kFor); }
  const Expr* call(const Expr* function, uint32_t begin);
  void call_arguments(bool allow_generator, uint32_t open, Nodes<Expr>* arguments, Nodes<Keyword>* keywords);
  void refuse_repeated(size_t from, Identifier name);
  const Expr* subscript(const Expr* value, uint32_t begin);
  const Expr* slice_item();

  // --- literals (parser_strings.cpp) ---
  // Adjacent text of an f-string: one Constant, however many tokens it comes from.
  struct Text {
    std::string_view single;  // the only piece so far
    std::string joined;       // all pieces, once there are two
    uint32_t begin = 0;
    uint32_t end = 0;
    bool several = false;
    bool started = false;   // a string or f-string text was seen, even an empty one
    bool u_prefix = false;  // of the first of them
  };
  const Expr* number();
  const Expr* strings();
  const Expr* formatted_strings(uint32_t begin, bool u_prefix);
  void fstring(Text& text, bool u_prefix);
  void fstring_field(Text& text, bool u_prefix);
  void append_text(Text& text, std::string_view piece, uint32_t begin, uint32_t end, bool u_prefix = false);
  // `u_prefix`: of the first of all pieces. Up to 3.11 it counts for every Constant; from 3.12 on the prefix
  // of the Constant's own first piece does.
  void flush_text(Text& text, bool u_prefix);
  // What f-strings could not hold before PEP 701: then each was one token, found as any other string is, and
  // the fields were cut out of it. No-ops for profiles from 3.12 on.
  void check_old_fstring();
  void check_old_field(uint32_t begin, uint32_t end, const Expr& value);
  bool old_fstrings() const { return profile_ != Profile::kDefault && profile_ < Profile::kPython312; }
  // The value of a STRING or FSTRING_MIDDLE token; a view of the source where it has no escapes, else in the
  // arena.
  std::string_view string_value(const Token& token);
  std::string_view escaped_value(const Token& token, std::string_view inside, bool bytes);

  static constexpr int kOrPrecedence = 1;
  static constexpr int kAndPrecedence = 2;
  static constexpr int kNotPrecedence = 3;
  static constexpr int kComparePrecedence = 4;
  static constexpr int kBitOrPrecedence = 5;

  const SourceText& source_;
  const char* text_;
  Arena& arena_;
  Profile profile_;
  uint32_t max_errors_;
  std::vector<Error>& errors_;
  const std::vector<TextRange>& comments_;
  Lexer lexer_;
  const Token* at_ = nullptr;
  uint32_t line_end_ =
      0;  // the end of the last token before the last NEWLINE: where a compound statement ends
  int depth_ = 0;
  int blocks_ = 0;
  int spec_depth_ = 0;  // format specifications around the cursor, of the innermost f-string
  std::vector<const void*> scratch_;
  std::string buffer_;
};

}  // namespace graft::python
