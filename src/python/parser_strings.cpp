// Number and string literals, implicit concatenation and f-strings (PEP 701).
#include <algorithm>
#include <utility>

#include "python/parser_impl.h"
#include "python/token_value.h"

namespace graft::python {

const Expr* Parser::number() {
  const Token& token = *at_;
  if (profile_ != Profile::kDefault && profile_ < Profile::kPython38) fail_expected("an expression");
  auto* node = make<Constant>(token.begin);
  if (!number_value(token_text(token), token.flags, arena_, &node->value))
    fail(token.begin, "the integer literal has more than 4300 digits",
         "a hexadecimal literal for a huge integer");
  ++at_;
  return finish(node);
}

std::string_view Parser::escaped_value(const Token& token, std::string_view inside, bool bytes) {
  buffer_.clear();
  EscapeError error;
  if (!decode_escapes(inside, bytes, buffer_, &error)) {
    auto offset = static_cast<uint32_t>(inside.data() - text_ + static_cast<ptrdiff_t>(error.offset));
    (void)token;
    fail(offset, std::move(error.message), bytes ? "two hexadecimal digits" : "a complete escape sequence");
  }
  return arena_.copy(buffer_);
}

std::string_view Parser::string_value(const Token& token) {
  std::string_view inside = token_text(token);
  bool bytes = (token.flags & token_flag::kBytes) != 0;
  if (token.kind == T::kString) {
    size_t quote = inside.find_first_of("'\"");
    size_t width = (token.flags & token_flag::kTriple) != 0 ? 3 : 1;
    inside = inside.substr(quote + width, inside.size() - quote - 2 * width);
    if (bytes && (token.flags & token_flag::kNonAscii) != 0)
      fail(token.begin, "bytes can only contain ASCII literal characters", "an escape such as \\xe9");
  }
  if ((token.flags & token_flag::kBackslash) == 0) return inside;
  // 3.12 and 3.13 read escapes in the format specifications of raw f-strings, too.
  bool raw = (token.flags & token_flag::kRaw) != 0 &&
             ((token.flags & token_flag::kInSpec) == 0 || profile_ < Profile::kPython312);
  if (raw) return inside;
  return escaped_value(token, inside, bytes);
}

// strings: (fstring | STRING)+
const Expr* Parser::strings() {
  uint32_t begin = at_->begin;
  bool u_prefix = text_[begin] == 'u';
  if (is(T::kString) && at_[1].kind != T::kString && at_[1].kind != T::kFStringStart) {
    auto* node = make<Constant>(begin);
    bool bytes = (at_->flags & token_flag::kBytes) != 0;
    node->value =
        ConstantValue::of_text(bytes ? ConstantType::kBytes : ConstantType::kStr, string_value(*at_));
    node->u_prefix = u_prefix;
    ++at_;
    return finish(node);
  }
  // Look ahead for what the pieces are.
  bool bytes = is(T::kString) && (at_->flags & token_flag::kBytes) != 0;
  bool formatted = false;
  size_t fstring_depth = 0;
  for (const Token* token = at_;; ++token) {
    if (token->kind == T::kFStringStart) {
      formatted = true;
      ++fstring_depth;
    } else if (token->kind == T::kFStringEnd) {
      --fstring_depth;
    } else if (fstring_depth > 0) {
      if (token->kind == T::kError || token->kind == T::kEnd) break;
      continue;
    } else if (token->kind != T::kString) {
      break;
    }
    if (fstring_depth == 0 && token->kind == T::kString &&
        ((token->flags & token_flag::kBytes) != 0) != bytes)
      fail(token->begin, "cannot mix bytes and nonbytes literals");
    if (formatted && bytes) fail(begin, "cannot mix bytes and nonbytes literals");
  }
  if (formatted) return formatted_strings(begin, u_prefix);
  std::string joined;
  while (is(T::kString)) {
    joined += string_value(*at_);
    ++at_;
  }
  auto* node = make<Constant>(begin);
  node->value =
      ConstantValue::of_text(bytes ? ConstantType::kBytes : ConstantType::kStr, arena_.copy(joined));
  node->u_prefix = u_prefix;
  return finish(node);
}

void Parser::append_text(Text& text, std::string_view piece, uint32_t begin, uint32_t end, bool u_prefix) {
  // An empty piece counts for the range and the prefix.
  if (!text.started) {
    text.u_prefix = u_prefix;
    text.begin = begin;
  }
  text.started = true;
  text.end = end;
  if (piece.empty()) return;
  if (text.single.empty() && !text.several) {
    text.single = piece;
  } else {
    if (!text.several) text.joined = text.single;
    text.several = true;
    text.joined += piece;
  }
}

void Parser::flush_text(Text& text, bool u_prefix) {
  text.started = false;
  if (text.single.empty() && !text.several) return;
  auto* node = make<Constant>(text.begin);
  node->end = text.end;
  node->value =
      ConstantValue::of_text(ConstantType::kStr, text.several ? arena_.copy(text.joined) : text.single);
  node->u_prefix = profile_ >= Profile::kPython312 ? text.u_prefix : u_prefix;
  push(node);
  text.single = {};
  text.joined.clear();
  text.several = false;
}

const Expr* Parser::formatted_strings(uint32_t begin, bool u_prefix) {
  size_t from = mark();
  Text text;
  for (;;) {
    if (is(T::kString)) {
      append_text(text, string_value(*at_), at_->begin, at_->end, text_[at_->begin] == 'u');
      ++at_;
    } else if (is(T::kFStringStart)) {
      check_old_fstring();
      ++at_;
      int outer_depth = std::exchange(spec_depth_, 0);
      fstring(text, u_prefix);
      expect(T::kFStringEnd);
      spec_depth_ = outer_depth;
    } else {
      break;
    }
  }
  flush_text(text, u_prefix);
  auto* node = make<JoinedStr>(begin);
  node->values = take<Expr>(from);
  return finish(node);
}

// fstring_middle*: text and fields, up to the end of the f-string or of the format specification.
void Parser::fstring(Text& text, bool u_prefix) {
  for (;;) {
    if (is(T::kFStringMiddle)) {
      // Of a doubled brace the token holds one, the range both.
      char last = text_[at_->end - 1];
      bool doubled = (last == '{' || last == '}') && text_[at_->end] == last;
      append_text(text, string_value(*at_), at_->begin, at_->end + (doubled ? 1 : 0));
      ++at_;
    } else if (is(T::kLeftBrace)) {
      fstring_field(text, u_prefix);
    } else {
      return;
    }
  }
}

// "{" (yield | star_expressions) ["="] ["!" NAME] [":" spec] "}"
void Parser::fstring_field(Text& text, bool u_prefix) {
  uint32_t begin = at_->begin;
  uint32_t inside = at_->end;
  ++at_;
  if (is(T::kRightBrace) || is(T::kColon) || is(T::kExclamation) || is(T::kAssign))
    fail(at_->begin, "f-string: valid expression required before " + std::string(describe(at_->kind)),
         "an expression");
  uint32_t value_begin = at_->begin;
  const Expr* value = yield_or_star_expressions();
  if (at_comprehension() && profile_ <= Profile::kPython311) {
    // Up to 3.11 a field is parsed as if it had parentheses.
    auto* generator = make<GeneratorExp>(value_begin);
    generator->elt = value;
    generator->generators = comprehension_clauses();
    value = finish(generator);
  }
  int8_t conversion = -1;
  uint32_t expression_end = at_->begin;
  if (is(T::kAssign)) {
    ++at_;
    uint32_t debug_end = at_->begin;
    expression_end = debug_end;
    append_text(text, {text_ + inside, debug_end - inside}, inside, debug_end);
    if (!is(T::kExclamation) && !is(T::kColon)) conversion = 'r';
  }
  if (is(T::kExclamation)) {
    uint32_t mark_end = at_->end;
    ++at_;
    if (!is(T::kName)) fail(at_->begin, "f-string: invalid conversion character", "'s', 'r' or 'a'");
    if (at_->begin != mark_end)
      fail(at_->begin, "f-string: conversion type must come right after the exclamation mark",
           "'s', 'r' or 'a'");
    std::string_view name = token_text(*at_);
    if (name != "s" && name != "r" && name != "a")
      fail(at_->begin, "f-string: invalid conversion character '" + std::string(name) + "'",
           "'s', 'r' or 'a'");
    conversion = static_cast<int8_t>(name[0]);
    ++at_;
    if (old_fstrings() && at_->begin != previous_end())
      fail(at_->begin, "f-string: expecting '}'", "':' or '}'");
  }
  if (old_fstrings()) check_old_field(inside, expression_end, *value);
  const JoinedStr* spec = nullptr;
  if (is(T::kColon)) {
    auto* joined = make<JoinedStr>(at_->begin);
    ++at_;
    size_t from = mark();
    Text spec_text;
    ++spec_depth_;
    fstring(spec_text, u_prefix);
    --spec_depth_;
    flush_text(spec_text, u_prefix);
    joined->values = take<Expr>(from);
    spec = finish(joined);
  }
  if (!is(T::kRightBrace)) {
    if (is(T::kError)) fail_expected("'}'");
    fail(at_->begin, "f-string: expecting '}'", spec != nullptr ? "'}'" : "'=', '!', ':' or '}'");
  }
  ++at_;
  flush_text(text, u_prefix);
  auto* node = make<FormattedValue>(begin);
  node->value = value;
  node->conversion = conversion;
  node->format_spec = spec;
  push(finish(node));
}

void Parser::check_old_fstring() {
  if (!old_fstrings()) return;
  const Token* end = at_;
  for (int depth = 0;; ++end) {
    if (end->kind == T::kFStringStart) ++depth;
    if (end->kind == T::kFStringEnd && --depth == 0) break;
    if (end->kind == T::kError || end->kind == T::kEnd) return;  // reported when the parser gets there
  }
  char quote = text_[end->begin];
  bool triple = (at_->flags & token_flag::kTriple) != 0;
  uint32_t at = at_->end;
  while (at < end->begin) {
    char c = text_[at];
    if (c == '\\') {
      at += 2;
      continue;
    }
    if (c == quote && (!triple || (text_[at + 1] == quote && text_[at + 2] == quote)))
      fail_version(Profile::kPython312, at, "the quotes of an f-string inside it");
    if (c == '\n' && !triple) fail_version(Profile::kPython312, at, "a line end in an f-string of one line");
    ++at;
  }
}

void Parser::check_old_field(uint32_t begin, uint32_t end, const Expr& value) {
  if (spec_depth_ >= 2) fail(begin, "f-string: expressions nested too deeply", "at most 2 levels");
  const void* backslash = std::memchr(text_ + begin, '\\', end - begin);
  if (backslash != nullptr) {
    auto offset = static_cast<uint32_t>(static_cast<const char*>(backslash) - text_);
    fail_version(Profile::kPython312, offset, "a backslash in the expression of an f-string");
  }
  auto comment =
      std::lower_bound(comments_.begin(), comments_.end(), begin,
                       [](const TextRange& range, uint32_t offset) { return range.begin < offset; });
  if (comment != comments_.end() && comment->begin < end)
    fail_version(Profile::kPython312, comment->begin, "a comment in an f-string");
  if (value.kind == NodeKind::kStarred && profile_ != Profile::kPython38)
    fail(value.begin, "f-string: cannot use starred expression here", "an expression or a tuple");
}

}  // namespace graft::python
