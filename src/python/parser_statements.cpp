// Simple statements.
#include "python/parser_impl.h"

namespace graft::python {

// statement: compound_statement | simple_statements
void Parser::statement() {
  uint32_t begin = at_->begin;
  switch (at_->kind) {
    case T::kIf:
      push(if_statement());
      return;
    case T::kDef:
      push(function(begin, false, {}));
      return;
    case T::kClass:
      push(class_statement({}));
      return;
    case T::kFor:
      push(for_statement(begin, false));
      return;
    case T::kWith:
      push(with_statement(begin, false));
      return;
    case T::kTry:
      push(try_statement());
      return;
    case T::kWhile:
      push(while_statement());
      return;
    case T::kAt:
      push(decorated());
      return;
    case T::kAsync:
      push(async_statement({}, false));
      return;
    case T::kName:
      // A soft keyword: a line that begins with the name `match` and ends in ':' can be nothing else.
      if (is_word("match") && lexer_.last()->kind == T::kNewline && lexer_.last()[-1].kind == T::kColon &&
          at_[1].kind != T::kColon && at_[1].kind != T::kAssign) {
        push(match_statement());
        return;
      }
      break;
    default:
      break;
  }
  simple_statements();
}

// simple_statements: simple_statement {";" simple_statement} [";"] NEWLINE
void Parser::simple_statements() {
  for (;;) {
    push(simple_statement());
    if (!accept(T::kSemicolon)) break;
    if (is(T::kNewline)) break;
  }
  if (!is(T::kNewline)) fail_expected("an operator or the end of the statement");
  end_line();
}

const Stmt* Parser::simple_statement() {
  auto bare = [this](auto* node) {
    ++at_;
    return finish(node);
  };
  uint32_t begin = at_->begin;
  switch (at_->kind) {
    case T::kReturn:
      return return_statement();
    case T::kImport:
      return import_statement();
    case T::kFrom:
      return from_import();
    case T::kRaise:
      return raise_statement();
    case T::kPass:
      return bare(make<Pass>(begin));
    case T::kBreak:
      return bare(make<Break>(begin));
    case T::kContinue:
      return bare(make<Continue>(begin));
    case T::kDel:
      return delete_statement();
    case T::kAssert:
      return assert_statement();
    case T::kGlobal:
    case T::kNonlocal:
      return scope_statement();
    case T::kName:
      if (at_[1].kind == T::kName && is_word("type")) return type_alias();
      break;
    default:
      break;
  }
  return expression_statement();
}

// Places where 3.8 took no starred expression without parentheses.
void Parser::refuse_old_star(const Expr& value) {
  if (value.kind == NodeKind::kStarred)
    fail_version(Profile::kPython39, value.begin, "a starred expression here");
  if (const auto* tuple = node_cast<Tuple>(&value))
    for (const Expr* element : tuple->elts)
      if (element->kind == NodeKind::kStarred)
        fail_version(Profile::kPython39, element->begin, "a starred expression here");
}

const Stmt* Parser::expression_statement() {
  uint32_t begin = at_->begin;
  const Expr* value = yield_or_star_expressions();
  T kind = at_->kind;
  if (kind == T::kAssign) return assignment(value, begin);
  if (kind == T::kColon) return annotated_assignment(value, begin, text_[begin] == '(');
  if (kind >= T::kPlusAssign && kind <= T::kDoubleSlashAssign) {
    if (value->kind != NodeKind::kName && value->kind != NodeKind::kAttribute &&
        value->kind != NodeKind::kSubscript)
      fail(begin, "this expression is an illegal target for augmented assignment",
           "a name, an attribute or a subscript");
    set_context(value, ExprContext::kStore, "assign to");
    auto* node = make<AugAssign>(begin);
    node->target = value;
    node->op = static_cast<BinaryOperator>(static_cast<int>(kind) - static_cast<int>(T::kPlusAssign));
    ++at_;
    uint32_t value_begin = at_->begin;
    node->value = yield_or_star_expressions();
    if (profile_ == Profile::kPython38 && text_[value_begin] != '(') refuse_old_star(*node->value);
    return finish(node);
  }
  if (kind != T::kNewline && kind != T::kSemicolon) {
    const auto* name = node_cast<Name>(value);
    if (name != nullptr && (name->id == "print" || name->id == "exec") && name->end == previous_end() &&
        kind != T::kError)
      fail(begin,
           "Missing parentheses in call to '" + std::string(name->id) + "'. Did you mean " +
               std::string(name->id) + "(...)?",
           "'('");
  }
  auto* node = make<ExprStmt>(begin);
  node->value = value;
  return finish(node);
}

// assignment: (star_targets "=")+ (yield | star_expressions)
const Stmt* Parser::assignment(const Expr* first, uint32_t begin) {
  size_t from = mark();
  const Expr* value = first;
  while (is(T::kAssign)) {
    set_context(value, ExprContext::kStore, "assign to");
    push(value);
    ++at_;
    value = yield_or_star_expressions();
  }
  auto* node = make<Assign>(begin);
  node->targets = take<Expr>(from);
  node->value = value;
  return finish(node);
}

// assignment: target ":" expression ["=" (yield | star_expressions)]
const Stmt* Parser::annotated_assignment(const Expr* target, uint32_t begin, bool parenthesized) {
  if (target->kind == NodeKind::kTuple || target->kind == NodeKind::kList)
    fail(begin,
         std::string("only single target (not ") + (target->kind == NodeKind::kTuple ? "tuple" : "list") +
             ") can be annotated",
         "a name, an attribute or a subscript");
  if (target->kind != NodeKind::kName && target->kind != NodeKind::kAttribute &&
      target->kind != NodeKind::kSubscript)
    fail(at_->begin, "illegal target for annotation", "a name, an attribute or a subscript before ':'");
  set_context(target, ExprContext::kStore, "annotate");
  auto* node = make<AnnAssign>(begin);
  node->target = target;
  node->simple = target->kind == NodeKind::kName && !parenthesized;
  ++at_;
  node->annotation = expression();
  if (accept(T::kAssign)) node->value = yield_or_star_expressions();
  return finish(node);
}

const Stmt* Parser::type_alias() {
  uint32_t begin = at_->begin;
  require(Profile::kPython312, begin, "a type alias statement");
  ++at_;
  auto* node = make<TypeAlias>(begin);
  auto* name = make<Name>(at_->begin);
  name->id = expect_name();
  name->ctx = ExprContext::kStore;
  node->name = finish(name);
  node->type_params = type_parameters();
  if (!is(T::kAssign)) fail_expected("'='");
  ++at_;
  node->value = expression();
  return finish(node);
}

// The operator table of AugAssign relies on this.
static_assert(static_cast<int>(TokenKind::kDoubleSlashAssign) - static_cast<int>(TokenKind::kPlusAssign) ==
              12);

const Stmt* Parser::delete_statement() {
  auto* node = make<Delete>(at_->begin);
  ++at_;
  size_t from = mark();
  do {
    if (mark() > from && (is(T::kNewline) || is(T::kSemicolon))) break;
    const Expr* target = profile_ == Profile::kPython38 ? single_target() : bitwise_or();
    set_context(target, ExprContext::kDel, "delete");
    push(target);
  } while (accept(T::kComma));
  node->targets = take<Expr>(from);
  return finish(node);
}

Identifier Parser::dotted_name() {
  const Token* first = at_;
  Identifier name = expect_name("a module name");
  if (!is(T::kDot)) return name;
  bool contiguous = (first->flags & token_flag::kNonAscii) == 0;
  std::string joined(name);
  while (is(T::kDot)) {
    contiguous = contiguous && at_->begin == at_[-1].end && at_[1].begin == at_->end;
    ++at_;
    contiguous = contiguous && (at_->flags & token_flag::kNonAscii) == 0;
    joined += '.';
    joined += expect_name("a module name");
  }
  if (contiguous) return {text_ + first->begin, previous_end() - first->begin};
  return arena_.copy(joined);
}

const Stmt* Parser::import_statement() {
  auto* node = make<Import>(at_->begin);
  ++at_;
  size_t from = mark();
  do {
    auto* alias = make<Alias>(at_->begin);
    alias->name = dotted_name();
    if (accept(T::kAs)) alias->asname = expect_bound_name();
    push(finish(alias));
  } while (accept(T::kComma));
  node->names = take<Alias>(from);
  return finish(node);
}

const Stmt* Parser::from_import() {
  auto* node = make<ImportFrom>(at_->begin);
  ++at_;
  for (;; ++at_) {
    if (is(T::kDot))
      node->level += 1;
    else if (is(T::kEllipsis))
      node->level += 3;
    else
      break;
  }
  if (node->level == 0 || !is(T::kImport)) node->module = dotted_name();
  if (!is(T::kImport)) fail_expected("'import'");
  ++at_;
  size_t from = mark();
  if (is(T::kStar)) {
    auto* alias = make<Alias>(at_->begin);
    alias->name = token_text(*at_);
    ++at_;
    push(finish(alias));
  } else {
    bool parenthesized = accept(T::kLeftParen);
    for (;;) {
      auto* alias = make<Alias>(at_->begin);
      alias->name = expect_name();
      if (accept(T::kAs)) alias->asname = expect_bound_name();
      push(finish(alias));
      if (!is(T::kComma)) break;
      ++at_;
      if (parenthesized && is(T::kRightParen)) break;
      if (!parenthesized && is(T::kNewline))
        fail(previous_end() - 1, "trailing comma not allowed without surrounding parentheses",
             "another name");
    }
    if (parenthesized) {
      if (!is(T::kRightParen)) fail_expected("',' or ')'");
      ++at_;
    }
  }
  node->names = take<Alias>(from);
  return finish(node);
}

const Stmt* Parser::scope_statement() {
  bool global = is(T::kGlobal);
  uint32_t begin = at_->begin;
  ++at_;
  std::vector<Identifier> names;
  do names.push_back(expect_name());
  while (accept(T::kComma));
  if (global) {
    auto* node = make<Global>(begin);
    node->names = values(names.data(), names.size());
    return finish(node);
  }
  auto* node = make<Nonlocal>(begin);
  node->names = values(names.data(), names.size());
  return finish(node);
}

const Stmt* Parser::raise_statement() {
  auto* node = make<Raise>(at_->begin);
  ++at_;
  if (!is(T::kNewline) && !is(T::kSemicolon)) {
    node->exc = expression();
    if (accept(T::kFrom)) node->cause = expression();
  }
  return finish(node);
}

const Stmt* Parser::assert_statement() {
  auto* node = make<Assert>(at_->begin);
  ++at_;
  node->test = expression();
  if (accept(T::kComma)) node->msg = expression();
  return finish(node);
}

const Stmt* Parser::return_statement() {
  auto* node = make<Return>(at_->begin);
  ++at_;
  if (!is(T::kNewline) && !is(T::kSemicolon)) node->value = star_expressions();
  return finish(node);
}

}  // namespace graft::python
