// Expressions: precedence climbing over one operator table, primaries, lambda, yield, targets.
#include <array>
#include <utility>

#include "python/parser_impl.h"

namespace graft::python {
namespace {

struct Infix {
  uint8_t precedence = 0;  // 0: not an infix operator
  uint8_t op = 0;
};

constexpr std::array<Infix, kTokenKinds> make_infix() {
  std::array<Infix, kTokenKinds> table{};
  auto set = [&table](TokenKind kind, uint8_t precedence, auto op) {
    table[static_cast<size_t>(kind)] = {precedence, static_cast<uint8_t>(op)};
  };
  using T = TokenKind;
  set(T::kOr, 1, BoolOperator::kOr);
  set(T::kAnd, 2, BoolOperator::kAnd);
  set(T::kEqual, 4, CompareOperator::kEq);
  set(T::kNotEqual, 4, CompareOperator::kNotEq);
  set(T::kLess, 4, CompareOperator::kLt);
  set(T::kLessEqual, 4, CompareOperator::kLtE);
  set(T::kGreater, 4, CompareOperator::kGt);
  set(T::kGreaterEqual, 4, CompareOperator::kGtE);
  set(T::kIn, 4, CompareOperator::kIn);
  set(T::kNot, 4, CompareOperator::kNotIn);
  set(T::kIs, 4, CompareOperator::kIs);
  set(T::kBar, 5, BinaryOperator::kBitOr);
  set(T::kCaret, 6, BinaryOperator::kBitXor);
  set(T::kAmpersand, 7, BinaryOperator::kBitAnd);
  set(T::kLeftShift, 8, BinaryOperator::kLShift);
  set(T::kRightShift, 8, BinaryOperator::kRShift);
  set(T::kPlus, 9, BinaryOperator::kAdd);
  set(T::kMinus, 9, BinaryOperator::kSub);
  set(T::kStar, 10, BinaryOperator::kMult);
  set(T::kAt, 10, BinaryOperator::kMatMult);
  set(T::kSlash, 10, BinaryOperator::kDiv);
  set(T::kPercent, 10, BinaryOperator::kMod);
  set(T::kDoubleSlash, 10, BinaryOperator::kFloorDiv);
  return table;
}
constexpr std::array<Infix, kTokenKinds> kInfix = make_infix();

// Tokens that may begin an expression, after which a comma does not end a list.
constexpr std::array<bool, kTokenKinds> make_starts() {
  std::array<bool, kTokenKinds> table{};
  using T = TokenKind;
  for (T kind : {T::kName, T::kNumber, T::kString, T::kFStringStart, T::kLeftParen, T::kLeftBracket,
                 T::kLeftBrace, T::kEllipsis, T::kTilde, T::kPlus, T::kMinus, T::kStar, T::kFalse, T::kNone,
                 T::kTrue, T::kAwait, T::kLambda, T::kNot, T::kError})
    table[static_cast<size_t>(kind)] = true;
  return table;
}
constexpr std::array<bool, kTokenKinds> kStarts = make_starts();

}  // namespace

const Expr* Parser::star_expressions() {
  uint32_t begin = at_->begin;
  const Expr* first = star_expression();
  if (!is(T::kComma)) return first;
  size_t from = mark();
  push(first);
  while (accept(T::kComma)) {
    if (!kStarts[static_cast<size_t>(at_->kind)]) break;
    push(star_expression());
  }
  auto* tuple = make<Tuple>(begin);
  tuple->elts = take<Expr>(from);
  return finish(tuple);
}

const Expr* Parser::star_expression() {
  if (!is(T::kStar)) return expression();
  auto* starred = make<Starred>(at_->begin);
  ++at_;
  starred->value = bitwise_or();
  return finish(starred);
}

const Expr* Parser::named_expression() {
  if (is(T::kName) && at_[1].kind == T::kWalrus) {
    auto* named = make<NamedExpr>(at_->begin);
    auto* target = make<Name>(at_->begin);
    target->id = expect_bound_name();
    target->ctx = ExprContext::kStore;
    named->target = finish(target);
    ++at_;
    named->value = expression();
    return finish(named);
  }
  const Expr* value = expression();
  if (is(T::kWalrus))
    fail(at_->begin, "cannot use assignment expressions with this target", "a name on the left of ':='");
  return value;
}

const Expr* Parser::star_named_expression() {
  if (is(T::kStar)) return star_expression();
  return named_expression();
}

const Expr* Parser::expression() {
  if (is(T::kLambda)) return lambda();
  uint32_t begin = at_->begin;
  const Expr* body = disjunction();
  if (!is(T::kIf)) return body;
  Depth depth(*this);
  auto* conditional = make<IfExp>(begin);
  conditional->body = body;
  ++at_;
  conditional->test = disjunction();
  if (!is(T::kElse)) fail_expected("'else' after the 'if' expression");
  ++at_;
  conditional->orelse = expression();
  return finish(conditional);
}

const Expr* Parser::binary(int precedence) {
  uint32_t begin = at_->begin;
  const Expr* left;
  if (is(T::kNot)) {
    if (precedence > kNotPrecedence) fail_expected("an operand ('not' needs parentheses here)");
    Depth depth(*this);
    auto* negation = make<UnaryOp>(begin);
    negation->op = UnaryOperator::kNot;
    ++at_;
    negation->operand = binary(kNotPrecedence);
    left = finish(negation);
  } else if (is(T::kName) || is(T::kString) || is(T::kNumber)) {
    // What most operands begin with: the same as unary(), two calls shorter.
    left = primary();
    if (is(T::kDoubleStar)) left = power_of(left, begin);
  } else {
    left = unary();
  }
  for (;;) {
    Infix infix = kInfix[static_cast<size_t>(at_->kind)];
    if (infix.precedence == 0 || infix.precedence < precedence) return left;
    if (infix.precedence > kComparePrecedence) {
      ++at_;
      const Expr* right = binary(infix.precedence + 1);
      auto* operation = make<BinOp>(begin);
      operation->left = left;
      operation->op = static_cast<BinaryOperator>(infix.op);
      operation->right = right;
      left = finish(operation);
    } else if (infix.precedence == kComparePrecedence) {
      if (is(T::kNot) && at_[1].kind != T::kIn) return left;
      left = comparison(left, begin);
    } else {
      left = boolean(left, begin, infix.precedence);
    }
  }
}

const Expr* Parser::boolean(const Expr* left, uint32_t begin, int precedence) {
  T keyword = at_->kind;
  size_t from = mark();
  push(left);
  while (accept(keyword)) push(binary(precedence + 1));
  auto* operation = make<BoolOp>(begin);
  operation->op = keyword == T::kOr ? BoolOperator::kOr : BoolOperator::kAnd;
  operation->values = take<Expr>(from);
  return finish(operation);
}

const Expr* Parser::comparison(const Expr* left, uint32_t begin) {
  CompareOperator first_ops[8];
  std::vector<CompareOperator> more_ops;
  size_t count = 0;
  size_t from = mark();
  for (;;) {
    Infix infix = kInfix[static_cast<size_t>(at_->kind)];
    if (infix.precedence != kComparePrecedence) break;
    auto op = static_cast<CompareOperator>(infix.op);
    if (is(T::kNot)) {
      if (at_[1].kind != T::kIn) break;
      ++at_;
    } else if (is(T::kIs) && at_[1].kind == T::kNot) {
      op = CompareOperator::kIsNot;
      ++at_;
    }
    ++at_;
    if (count < 8)
      first_ops[count] = op;
    else if (count == 8)
      more_ops.assign(first_ops, first_ops + 8);
    if (count >= 8) more_ops.push_back(op);
    ++count;
    push(bitwise_or());
  }
  auto* node = make<Compare>(begin);
  node->left = left;
  node->ops = values(count <= 8 ? first_ops : more_ops.data(), count);
  node->comparators = take<Expr>(from);
  return finish(node);
}

const Expr* Parser::unary() {
  UnaryOperator op;
  switch (at_->kind) {
    case T::kMinus:
      op = UnaryOperator::kUSub;
      break;
    case T::kPlus:
      op = UnaryOperator::kUAdd;
      break;
    case T::kTilde:
      op = UnaryOperator::kInvert;
      break;
    default:
      return power();
  }
  Depth depth(*this);
  auto* node = make<UnaryOp>(at_->begin);
  node->op = op;
  ++at_;
  node->operand = unary();
  return finish(node);
}

const Expr* Parser::power() {
  uint32_t begin = at_->begin;
  const Expr* base;
  if (is(T::kAwait)) {
    auto* await = make<Await>(begin);
    ++at_;
    await->value = primary();
    base = finish(await);
  } else {
    base = primary();
  }
  return is(T::kDoubleStar) ? power_of(base, begin) : base;
}

const Expr* Parser::power_of(const Expr* base, uint32_t begin) {
  Depth depth(*this);
  ++at_;
  auto* node = make<BinOp>(begin);
  node->left = base;
  node->op = BinaryOperator::kPow;
  node->right = unary();
  return finish(node);
}

const Expr* Parser::primary() {
  uint32_t begin = at_->begin;
  const Expr* value = atom();
  for (;;) {
    switch (at_->kind) {
      case T::kDot: {
        ++at_;
        auto* node = make<Attribute>(begin);
        node->value = value;
        node->attr = expect_name("an attribute name");
        value = finish(node);
        break;
      }
      case T::kLeftParen:
        value = call(value, begin);
        break;
      case T::kLeftBracket:
        value = subscript(value, begin);
        break;
      default:
        return value;
    }
  }
}

const Expr* Parser::atom() {
  auto constant = [this](ConstantType type) {
    auto* node = make<Constant>(at_->begin);
    node->value = ConstantValue::singleton(type);
    ++at_;
    return finish(node);
  };
  switch (at_->kind) {
    case T::kName: {
      auto* node = make<Name>(at_->begin);
      node->end = at_->end;
      node->id = identifier(*at_);
      ++at_;
      return node;
    }
    case T::kNumber:
      return number();
    case T::kString:
    case T::kFStringStart:
      return strings();
    case T::kLeftParen:
      return parenthesized();
    case T::kLeftBracket:
      return list_display();
    case T::kLeftBrace:
      return brace_display();
    case T::kTrue:
      return constant(ConstantType::kTrue);
    case T::kFalse:
      return constant(ConstantType::kFalse);
    case T::kNone:
      return constant(ConstantType::kNone);
    case T::kEllipsis:
      return constant(ConstantType::kEllipsis);
    default:
      fail_expected("an expression");
  }
}

const Expr* Parser::lambda() {
  Depth depth(*this);
  auto* node = make<Lambda>(at_->begin);
  ++at_;
  node->args = parameters(T::kColon, false);
  expect(T::kColon);
  node->body = expression();
  return finish(node);
}

const Expr* Parser::yield_expression() {
  uint32_t begin = at_->begin;
  ++at_;
  if (accept(T::kFrom)) {
    auto* node = make<YieldFrom>(begin);
    node->value = expression();
    return finish(node);
  }
  auto* node = make<Yield>(begin);
  if (kStarts[static_cast<size_t>(at_->kind)]) node->value = star_expressions();
  return finish(node);
}

const Expr* Parser::yield_or_star_expressions() {
  return is(T::kYield) ? yield_expression() : star_expressions();
}

const Expr* Parser::single_target() {
  if (!is(T::kStar)) return bitwise_or();
  auto* starred = make<Starred>(at_->begin);
  ++at_;
  if (is(T::kStar)) fail_expected("a target");
  starred->value = bitwise_or();
  return finish(starred);
}

const Expr* Parser::target_list(std::string_view what) {
  uint32_t begin = at_->begin;
  const Expr* target = single_target();
  if (is(T::kComma)) {
    size_t from = mark();
    push(target);
    while (accept(T::kComma)) {
      if (!kStarts[static_cast<size_t>(at_->kind)]) break;
      push(single_target());
    }
    auto* tuple = make<Tuple>(begin);
    tuple->elts = take<Expr>(from);
    target = finish(tuple);
  }
  set_context(target, ExprContext::kStore, what);
  return target;
}

// Nodes are shared with nobody before they are returned, so their context may still be set. Nesting is
// bounded by brackets.
void Parser::set_context(const Expr* target, ExprContext context, std::string_view action) {
  switch (target->kind) {
    case NodeKind::kName:
      const_cast<Name*>(as<Name>(target))->ctx = context;
      if (profile_ == Profile::kPython38 && context == ExprContext::kStore)
        refuse_debug(as<Name>(target)->id, target->begin);
      return;
    case NodeKind::kAttribute:
      const_cast<Attribute*>(as<Attribute>(target))->ctx = context;
      if (profile_ == Profile::kPython38 && context == ExprContext::kStore)
        refuse_debug(as<Attribute>(target)->attr, target->begin);
      return;
    case NodeKind::kSubscript:
      const_cast<Subscript*>(as<Subscript>(target))->ctx = context;
      return;
    case NodeKind::kStarred: {
      if (context == ExprContext::kDel && profile_ != Profile::kPython38) fail_target(target, action);
      auto* starred = const_cast<Starred*>(as<Starred>(target));
      starred->ctx = context;
      if (starred->value->kind == NodeKind::kStarred) fail_target(target, action);
      set_context(starred->value, context, action);
      return;
    }
    case NodeKind::kTuple: {
      auto* tuple = const_cast<Tuple*>(as<Tuple>(target));
      tuple->ctx = context;
      for (const Expr* element : tuple->elts) set_context(element, context, action);
      return;
    }
    case NodeKind::kList: {
      auto* list = const_cast<List*>(as<List>(target));
      list->ctx = context;
      for (const Expr* element : list->elts) set_context(element, context, action);
      return;
    }
    default:
      fail_target(target, action);
  }
}

void Parser::fail_target(const Expr* target, std::string_view action) {
  std::string what;
  switch (target->kind) {
    case NodeKind::kBoolOp:
    case NodeKind::kBinOp:
    case NodeKind::kUnaryOp:
      what = "expression";
      break;
    case NodeKind::kCall:
      what = "function call";
      break;
    case NodeKind::kConstant: {
      const ConstantValue& value = as<Constant>(target)->value;
      what = value.is(ConstantType::kTrue)       ? "True"
             : value.is(ConstantType::kFalse)    ? "False"
             : value.is(ConstantType::kNone)     ? "None"
             : value.is(ConstantType::kEllipsis) ? "ellipsis"
                                                 : "literal";
      break;
    }
    case NodeKind::kJoinedStr:
    case NodeKind::kFormattedValue:
      what = "f-string expression";
      break;
    case NodeKind::kCompare:
      what = "comparison";
      break;
    case NodeKind::kLambda:
      what = "lambda";
      break;
    case NodeKind::kIfExp:
      what = "conditional expression";
      break;
    case NodeKind::kDict:
      what = "dict literal";
      break;
    case NodeKind::kSet:
      what = "set display";
      break;
    case NodeKind::kListComp:
      what = "list comprehension";
      break;
    case NodeKind::kSetComp:
      what = "set comprehension";
      break;
    case NodeKind::kDictComp:
      what = "dict comprehension";
      break;
    case NodeKind::kGeneratorExp:
      what = "generator expression";
      break;
    case NodeKind::kYield:
    case NodeKind::kYieldFrom:
      what = "yield expression";
      break;
    case NodeKind::kAwait:
      what = "await expression";
      break;
    case NodeKind::kStarred:
      what = "starred";
      break;
    case NodeKind::kNamedExpr:
      what = "named expression";
      break;
    case NodeKind::kTuple:
      what = "tuple";
      break;
    case NodeKind::kList:
      what = "list";
      break;
    default:
      what = std::string(class_name(target->kind));
  }
  fail(target->begin, "cannot " + std::string(action) + " " + what, "a name, an attribute or a subscript");
}

}  // namespace graft::python
