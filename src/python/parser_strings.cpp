// Number and string literals, implicit concatenation and f-strings (PEP 701).
#include <utility>

#include "python/token_value.h"
#include "python/parser_impl.h"

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
  if ((token.flags & token_flag::kBackslash) == 0 || (token.flags & token_flag::kRaw) != 0) return inside;
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

void Parser::append_text(Text& text, std::string_view piece, uint32_t begin, uint32_t end) {
  if (piece.empty()) return;
  if (text.single.empty() && !text.several) {
    text.single = piece;
    text.begin = begin;
  } else {
    if (!text.several) text.joined = text.single;
    text.several = true;
    text.joined += piece;
  }
  text.end = end;
}

void Parser::flush_text(Text& text, bool u_prefix) {
  if (text.single.empty() && !text.several) return;
  auto* node = make<Constant>(text.begin);
  node->end = text.end;
  node->value =
      ConstantValue::of_text(ConstantType::kStr, text.several ? arena_.copy(text.joined) : text.single);
  node->u_prefix = u_prefix;
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
      append_text(text, string_value(*at_), at_->begin, at_->end);
      ++at_;
    } else if (is(T::kFStringStart)) {
      ++at_;
      fstring(text, u_prefix);
      expect(T::kFStringEnd);
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
      append_text(text, string_value(*at_), at_->begin, at_->end);
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
  if (is(T::kAssign)) {
    ++at_;
    uint32_t debug_end = at_->begin;
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
  }
  const JoinedStr* spec = nullptr;
  if (is(T::kColon)) {
    auto* joined = make<JoinedStr>(at_->begin);
    ++at_;
    size_t from = mark();
    Text spec_text;
    fstring(spec_text, u_prefix);
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

}  // namespace graft::python
