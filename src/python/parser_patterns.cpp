// Patterns of the match statement (PEP 634).
#include "python/parser_impl.h"

namespace graft::python {

// match_case: "case" patterns ["if" named_expression] ":" block
const MatchCase* Parser::match_case() {
  if (!is_word("case")) fail_expected("'case'");
  auto* node = make<MatchCase>(at_->begin);
  ++at_;
  node->pattern = patterns();
  if (accept(T::kIf)) node->guard = named_expression();
  expect(T::kColon);
  node->body = block("'case' statement", node->begin);
  node->end = line_end_;
  return node;
}

// patterns: open sequence | pattern
const Pattern* Parser::patterns() {
  uint32_t begin = at_->begin;
  const Pattern* first = maybe_star_pattern();
  if (!is(T::kComma)) {
    if (first->kind == NodeKind::kMatchStar) fail_expected("',' after a starred pattern");
    return first;
  }
  size_t from = mark();
  push(first);
  while (accept(T::kComma)) {
    if (is(T::kColon) || is(T::kIf)) break;
    push(maybe_star_pattern());
  }
  auto* node = make<MatchSequence>(begin);
  node->patterns = take<Pattern>(from);
  return finish(node);
}

const Pattern* Parser::maybe_star_pattern() {
  if (!is(T::kStar)) return as_pattern();
  auto* node = make<MatchStar>(at_->begin);
  ++at_;
  if (is_word("_"))
    ++at_;
  else
    node->name = capture_target();
  return finish(node);
}

Identifier Parser::capture_target() {
  if (is_word("_")) fail(at_->begin, "cannot use '_' as a target", "another name");
  Identifier name = expect_name();
  if (is(T::kDot) || is(T::kLeftParen) || is(T::kAssign))
    fail(at_[-1].begin, "invalid pattern target", "a plain name");
  return name;
}

const Pattern* Parser::as_pattern() {
  uint32_t begin = at_->begin;
  const Pattern* pattern = or_pattern();
  if (!accept(T::kAs)) return pattern;
  auto* node = make<MatchAs>(begin);
  node->pattern = pattern;
  node->name = capture_target();
  return finish(node);
}

const Pattern* Parser::or_pattern() {
  uint32_t begin = at_->begin;
  const Pattern* first = closed_pattern();
  if (!is(T::kBar)) return first;
  size_t from = mark();
  push(first);
  while (accept(T::kBar)) push(closed_pattern());
  auto* node = make<MatchOr>(begin);
  node->patterns = take<Pattern>(from);
  return finish(node);
}

const Pattern* Parser::value_pattern(const Expr* value, uint32_t begin) {
  auto* node = make<MatchValue>(begin);
  node->value = value;
  return finish(node);
}

const Pattern* Parser::closed_pattern() {
  uint32_t begin = at_->begin;
  auto singleton = [this, begin](ConstantType type) {
    auto* node = make<MatchSingleton>(begin);
    node->value = ConstantValue::singleton(type);
    ++at_;
    return finish(node);
  };
  switch (at_->kind) {
    case T::kNone:
      return singleton(ConstantType::kNone);
    case T::kTrue:
      return singleton(ConstantType::kTrue);
    case T::kFalse:
      return singleton(ConstantType::kFalse);
    case T::kNumber:
    case T::kMinus:
      return value_pattern(pattern_number(), begin);
    case T::kString:
    case T::kFStringStart:
      return value_pattern(strings(), begin);
    case T::kLeftParen:
    case T::kLeftBracket:
      return sequence_pattern();
    case T::kLeftBrace:
      return mapping_pattern();
    case T::kName:
      break;
    default:
      fail_expected("a pattern");
  }
  // `_` is the wildcard before it is anything else: _.x and _(x) are no patterns.
  if (is_word("_") || (at_[1].kind != T::kDot && at_[1].kind != T::kLeftParen)) {
    auto* node = make<MatchAs>(begin);
    if (is_word("_"))
      ++at_;
    else
      node->name = capture_target();
    return finish(node);
  }
  auto* name = make<Name>(begin);
  name->id = expect_name();
  const Expr* value = finish(name);
  while (accept(T::kDot)) {
    auto* attribute = make<Attribute>(begin);
    attribute->value = value;
    attribute->attr = expect_name("an attribute name");
    value = finish(attribute);
  }
  if (is(T::kLeftParen)) return class_pattern(value, begin);
  return value_pattern(value, begin);
}

// signed_number ["+" | "-" imaginary]
const Expr* Parser::pattern_number() {
  uint32_t begin = at_->begin;
  auto imaginary = [](const Token& token) { return (token.flags & token_flag::kImaginary) != 0; };
  auto* negative = is(T::kMinus) ? make<UnaryOp>(begin) : nullptr;
  if (negative != nullptr) ++at_;
  if (!is(T::kNumber)) fail_expected("a number");
  bool real = !imaginary(*at_);
  const Expr* left = number();
  if (negative != nullptr) {
    negative->op = UnaryOperator::kUSub;
    negative->operand = left;
    left = finish(negative);
  }
  if (!is(T::kPlus) && !is(T::kMinus)) return left;
  if (!real) fail(begin, "real number required in complex literal");
  auto* node = make<BinOp>(begin);
  node->left = left;
  node->op = is(T::kPlus) ? BinaryOperator::kAdd : BinaryOperator::kSub;
  ++at_;
  if (!is(T::kNumber)) fail_expected("an imaginary number");
  if (!imaginary(*at_)) fail(at_->begin, "imaginary number required in complex literal");
  node->right = number();
  return finish(node);
}

// "(" pattern ")" is the pattern itself; with a comma, or in square brackets, it is a sequence.
const Pattern* Parser::sequence_pattern() {
  auto* node = make<MatchSequence>(at_->begin);
  T close = is(T::kLeftParen) ? T::kRightParen : T::kRightBracket;
  ++at_;
  size_t from = mark();
  bool comma = false;
  while (!is(close)) {
    push(maybe_star_pattern());
    comma = accept(T::kComma);
    if (!comma) break;
    if (close == T::kRightParen && mark() == from + 1 && is(close)) break;
  }
  if (!is(close)) fail_expected(close == T::kRightParen ? "',' or ')'" : "',' or ']'");
  ++at_;
  if (close == T::kRightParen && mark() == from + 1 && !comma) {
    const auto* only = static_cast<const Pattern*>(scratch_[from]);
    scratch_.resize(from);
    if (only->kind == NodeKind::kMatchStar)
      fail(only->begin, "a starred pattern needs a sequence", "',' after it");
    return only;
  }
  node->patterns = take<Pattern>(from);
  return finish(node);
}

// "{" [items] ["," "**" NAME] [","] "}"
const Pattern* Parser::mapping_pattern() {
  auto* node = make<MatchMapping>(at_->begin);
  ++at_;
  size_t from = mark();
  while (!is(T::kRightBrace)) {
    if (accept(T::kDoubleStar)) {
      node->rest = capture_target();
      accept(T::kComma);
      if (!is(T::kRightBrace)) fail_expected("'}' after the '**' pattern");
      break;
    }
    uint32_t begin = at_->begin;
    switch (at_->kind) {
      case T::kNumber:
      case T::kMinus:
        push(pattern_number());
        break;
      case T::kString:
      case T::kFStringStart:
        push(strings());
        break;
      case T::kNone:
      case T::kTrue:
      case T::kFalse:
        push(atom());
        break;
      case T::kName: {
        if (at_[1].kind != T::kDot) fail_expected("a literal or a dotted name as a key");
        auto* name = make<Name>(begin);
        name->id = expect_name();
        const Expr* value = finish(name);
        while (accept(T::kDot)) {
          auto* attribute = make<Attribute>(begin);
          attribute->value = value;
          attribute->attr = expect_name("an attribute name");
          value = finish(attribute);
        }
        push(value);
        break;
      }
      default:
        fail_expected("a literal or a dotted name as a key");
    }
    expect(T::kColon);
    push(as_pattern());
    if (!accept(T::kComma)) break;
  }
  if (!is(T::kRightBrace)) fail_expected("',' or '}'");
  ++at_;
  size_t end = mark();
  size_t pairs = (end - from) / 2;
  for (size_t i = 0; i < pairs; ++i) push(scratch_[from + 2 * i + 1]);
  node->patterns = take<Pattern>(end);
  for (size_t i = 0; i < pairs; ++i) scratch_[from + i] = scratch_[from + 2 * i];
  scratch_.resize(from + pairs);
  node->keys = take<Expr>(from);
  return finish(node);
}

// name_or_attr "(" [positional patterns] [keyword patterns] ")"
const Pattern* Parser::class_pattern(const Expr* cls, uint32_t begin) {
  auto* node = make<MatchClass>(begin);
  node->cls = cls;
  ++at_;
  std::vector<Identifier> names;
  std::vector<const void*> named;
  size_t from = mark();
  while (!is(T::kRightParen)) {
    if (is(T::kName) && at_[1].kind == T::kAssign) {
      names.push_back(expect_name());
      ++at_;
      named.push_back(as_pattern());
    } else {
      uint32_t position = at_->begin;
      const Pattern* pattern = as_pattern();
      if (!names.empty()) fail(position, "positional patterns follow keyword patterns");
      push(pattern);
    }
    if (!accept(T::kComma)) break;
  }
  if (!is(T::kRightParen)) fail_expected("',' or ')'");
  ++at_;
  node->patterns = take<Pattern>(from);
  for (const void* pattern : named) push(pattern);
  node->kwd_patterns = take<Pattern>(from);
  node->kwd_attrs = values(names.data(), names.size());
  return finish(node);
}

}  // namespace graft::python
