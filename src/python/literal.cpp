#include "python/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace graft::python {
namespace {

constexpr int kMaxDepth = 400;
// Values that names and repetition may copy into one expression; what is written out is bounded by the text.
constexpr size_t kMaxCopies = 1'000'000;
constexpr size_t kMaxText = 16'000'000;

using Type = LiteralType;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The text without underscores between digits; nullopt where one stands elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
    } else if (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) {
      return std::nullopt;
    }
  }
  return out;
}

// float(text).
std::optional<double> float_of_text(std::string_view text) {
  auto digits = without_underscores(trimmed(text));
  if (!digits || digits->empty()) return std::nullopt;
  std::string_view rest = *digits;
  bool negative = rest.front() == '-';
  if (rest.front() == '-' || rest.front() == '+') rest.remove_prefix(1);
  // from_chars knows forms Python does not, such as nan(...): only plain letters and digits, and no second
  // sign.
  if (rest.empty() || rest.front() == '-' || rest.find_first_of("()") != std::string_view::npos)
    return std::nullopt;
  double value = 0;
  auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (end != rest.data() + rest.size()) return std::nullopt;
  if (code == std::errc::result_out_of_range) {
    // Too large or too small: the exponent's sign says which.
    size_t exponent = rest.find_first_of("eE");
    bool small = exponent != std::string_view::npos && rest.substr(exponent + 1).starts_with('-');
    value = small ? 0.0 : std::numeric_limits<double>::infinity();
  } else if (code != std::errc()) {
    return std::nullopt;
  }
  return negative ? -value : value;
}

// int(text).
std::optional<int64_t> int_of_text(std::string_view text) {
  auto digits = without_underscores(trimmed(text));
  if (!digits) return std::nullopt;
  std::string_view rest = *digits;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.starts_with('-') && digits->front() == '+') return std::nullopt;
  int64_t value = 0;
  auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (code != std::errc() || end != rest.data() + rest.size()) return std::nullopt;
  return value;
}

// x ** n for n >= 0; nullopt on overflow.
std::optional<int64_t> integer_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return std::nullopt;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return std::nullopt;
  }
  return result;
}

class Folder {
 public:
  Folder(const SourceText& source, const LiteralOptions& options) : source_(source), options_(options) {}

  Result<Literal> fold(const Expr& expression) {
    if (depth_ == kMaxDepth) return failure(expression, "the expression is nested too deeply");
    ++depth_;
    Result<Literal> value = fold_inner(expression);
    --depth_;
    if (value.ok()) value->begin = expression.begin;
    return value;
  }

 private:
  Error failure(const Node& node, std::string message, std::string expected = {}) const {
    return input_error(std::move(message), source_.place(node.begin), std::move(expected));
  }

  Error not_constant(const Node& node) const {
    std::string_view text = source_.text().substr(node.begin, node.end - node.begin);
    text = text.substr(0, text.find('\n'));
    std::string shown(text.substr(0, 60));
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xc0) == 0x80) shown.pop_back();
    return failure(node, fmt::format("'{}' is not a constant", shown), "a constant expression");
  }

  Result<Literal> fold_inner(const Expr& expression) {
    switch (expression.kind) {
      case NodeKind::kConstant:
        return constant(as<Constant>(expression));
      case NodeKind::kName:
        return name(as<Name>(expression));
      case NodeKind::kAttribute:
        return attribute(as<Attribute>(expression));
      case NodeKind::kUnaryOp:
        return unary(as<UnaryOp>(expression));
      case NodeKind::kBinOp:
        return binary(as<BinOp>(expression));
      case NodeKind::kCall:
        return call(as<Call>(expression));
      case NodeKind::kList:
        return sequence(as<List>(expression).elts, Type::kList);
      case NodeKind::kTuple:
        return sequence(as<Tuple>(expression).elts, Type::kTuple);
      case NodeKind::kDict:
        return dict(as<Dict>(expression));
      case NodeKind::kJoinedStr:
        return joined(as<JoinedStr>(expression));
      case NodeKind::kIfExp: {
        const auto& choice = as<IfExp>(expression);
        GRAFT_ASSIGN_OR_RETURN(Literal test, fold(*choice.test));
        return fold(truth(test) ? *choice.body : *choice.orelse);
      }
      default:
        return not_constant(expression);
    }
  }

  Result<Literal> constant(const Constant& node) {
    Literal value;
    switch (node.value.type()) {
      case ConstantType::kNone:
        return value;
      case ConstantType::kTrue:
        return Literal::of_bool(true);
      case ConstantType::kFalse:
        return Literal::of_bool(false);
      case ConstantType::kInt:
        return Literal::of_int(node.value.integer());
      case ConstantType::kFloat:
        return Literal::of_float(node.value.number());
      case ConstantType::kStr:
        return Literal::of_str(std::string(node.value.text()));
      case ConstantType::kBytes:
        value.type = Type::kBytes;
        value.text = node.value.text();
        return value;
      case ConstantType::kBigInt:
        if (!options_.big_integers) return failure(node, "the integer does not fit 64 bits");
        value.type = Type::kBigInt;
        value.text = node.value.text();
        return value;
      case ConstantType::kEllipsis:
      case ConstantType::kComplex:
        break;
    }
    return not_constant(node);
  }

  Result<Literal> name(const Name& node) {
    if (options_.name)
      if (const Literal* known = options_.name(node.id)) {
        copies_ += weight(*known);
        if (copies_ > kMaxCopies) return failure(node, "the value is too large");
        return *known;
      }
    if (auto value = infinity_or_nan(node.id)) return Literal::of_float(*value);
    return failure(node, fmt::format("the name '{}' has no constant value", node.id),
                   "a constant expression");
  }

  static std::optional<double> infinity_or_nan(std::string_view name) {
    if (name == "inf") return std::numeric_limits<double>::infinity();
    if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
  }

  Result<Literal> attribute(const Attribute& node) {
    const auto* owner = node_cast<Name>(node.value);
    if (owner != nullptr &&
        (owner->id == "math" || owner->id == "numpy" || owner->id == "np" || owner->id == "torch"))
      if (auto value = infinity_or_nan(node.attr)) return Literal::of_float(*value);
    return not_constant(node);
  }

  Result<Literal> sequence(const Nodes<Expr>& elements, Type type) {
    Literal value;
    value.type = type;
    value.items.reserve(elements.size());
    for (const Expr* element : elements) {
      const auto* starred = node_cast<Starred>(element);
      GRAFT_ASSIGN_OR_RETURN(Literal item, fold(starred != nullptr ? *starred->value : *element));
      if (starred == nullptr) {
        value.items.push_back(std::move(item));
        continue;
      }
      if (!item.is_sequence()) return failure(*element, "'*' before what is no list or tuple");
      std::move(item.items.begin(), item.items.end(), std::back_inserter(value.items));
    }
    return value;
  }

  Result<Literal> dict(const Dict& node) {
    Literal value;
    value.type = Type::kDict;
    for (uint32_t i = 0; i < node.values.size(); ++i) {
      GRAFT_ASSIGN_OR_RETURN(Literal item, fold(*node.values[i]));
      if (node.keys[i] == nullptr) {
        if (!item.is(Type::kDict)) return failure(*node.values[i], "'**' before what is no dict");
        for (size_t k = 0; k < item.keys.size(); ++k)
          put(value, std::move(item.keys[k]), std::move(item.items[k]));
        continue;
      }
      GRAFT_ASSIGN_OR_RETURN(Literal key, fold(*node.keys[i]));
      if (key.is(Type::kList) || key.is(Type::kDict))
        return failure(*node.keys[i], fmt::format("a {} cannot be a key of a dict", type_name(key.type)));
      put(value, std::move(key), std::move(item));
    }
    return value;
  }

  // As Python: a repeated key keeps its first spelling and place and gets the last value.
  static void put(Literal& dict, Literal key, Literal value) {
    for (size_t i = 0; i < dict.keys.size(); ++i) {
      if (equal(dict.keys[i], key)) {
        dict.items[i] = std::move(value);
        return;
      }
    }
    dict.keys.push_back(std::move(key));
    dict.items.push_back(std::move(value));
  }

  Result<Literal> joined(const JoinedStr& node) {
    Literal value = Literal::of_str("");
    for (const Expr* part : node.values) {
      const auto* text = node_cast<Constant>(part);
      if (text == nullptr || !text->value.is(ConstantType::kStr)) return not_constant(node);
      value.text += text->value.text();
    }
    return value;
  }

  Result<Literal> call(const Call& node) {
    const auto* function = node_cast<Name>(node.func);
    if (function == nullptr || !node.keywords.empty() || node.args.size() > 1) return not_constant(node);
    std::string_view id = function->id;
    bool container = id == "list" || id == "tuple" || id == "dict";
    if (!container && id != "float" && id != "int") return not_constant(node);
    Literal value;
    if (id == "list") value.type = Type::kList;
    if (id == "tuple") value.type = Type::kTuple;
    if (id == "dict") value.type = Type::kDict;
    if (node.args.empty()) {
      if (container) return value;
      return id == "int" ? Literal::of_int(0) : Literal::of_float(0.0);
    }
    if (node_cast<Starred>(node.args[0]) != nullptr) return not_constant(node);
    GRAFT_ASSIGN_OR_RETURN(Literal argument, fold(*node.args[0]));
    if (id == "dict")
      return argument.is(Type::kDict) ? Result<Literal>(std::move(argument)) : not_constant(node);
    if (container) {
      if (!argument.is_sequence()) return not_constant(node);
      value.items = std::move(argument.items);
      return value;
    }
    if (id == "float") {
      if (argument.is_number()) return Literal::of_float(argument.real);
      if (argument.is_str())
        if (auto number = float_of_text(argument.text)) return Literal::of_float(*number);
    } else {
      if (argument.is_integral()) return Literal::of_int(argument.integer);
      if (argument.is(Type::kFloat) && std::fabs(argument.real) < 9.2e18)
        return Literal::of_int(static_cast<int64_t>(argument.real));
      if (argument.is_str())
        if (auto number = int_of_text(argument.text)) return Literal::of_int(*number);
    }
    return failure(node, fmt::format("{}() of this value is no number", id));
  }

  // The values in a value, itself included.
  static size_t weight(const Literal& value) {
    size_t sum = 1;
    for (const Literal& item : value.items) sum += weight(item);
    for (const Literal& key : value.keys) sum += weight(key);
    return sum;
  }

  static bool truth(const Literal& value) {
    switch (value.type) {
      case Type::kNone:
        return false;
      case Type::kBool:
      case Type::kInt:
        return value.integer != 0;
      case Type::kBigInt:
        return true;
      case Type::kFloat:
        return value.real != 0;
      case Type::kStr:
      case Type::kBytes:
        return !value.text.empty();
      case Type::kList:
      case Type::kTuple:
      case Type::kDict:
        return !value.items.empty();
    }
    return false;
  }

  Result<Literal> unary(const UnaryOp& node) {
    // The one int whose positive form does not fit.
    const auto* operand = node_cast<Constant>(node.operand);
    if (node.op == UnaryOperator::kUSub && operand != nullptr && operand->value.is(ConstantType::kBigInt) &&
        operand->value.text() == "9223372036854775808")
      return Literal::of_int(std::numeric_limits<int64_t>::min());
    GRAFT_ASSIGN_OR_RETURN(Literal value, fold(*node.operand));
    if (node.op == UnaryOperator::kNot) return Literal::of_bool(!truth(value));
    if (value.is(Type::kBigInt) && node.op == UnaryOperator::kUAdd) return value;
    if (value.is(Type::kBigInt) && node.op == UnaryOperator::kUSub) {
      value.text = value.text.starts_with('-') ? value.text.substr(1) : "-" + value.text;
      return value;
    }
    if (value.is(Type::kFloat) && node.op != UnaryOperator::kInvert)
      return Literal::of_float(node.op == UnaryOperator::kUSub ? -value.real : value.real);
    if (!value.is_integral())
      return failure(node, fmt::format("'{}' before a {}", operator_text(node.op), type_name(value.type)));
    if (node.op == UnaryOperator::kUAdd) return Literal::of_int(value.integer);
    if (node.op == UnaryOperator::kInvert) return Literal::of_int(~value.integer);
    if (value.integer == std::numeric_limits<int64_t>::min())
      return failure(node, "the integer does not fit 64 bits");
    return Literal::of_int(-value.integer);
  }

  Result<Literal> binary(const BinOp& node) {
    GRAFT_ASSIGN_OR_RETURN(Literal left, fold(*node.left));
    GRAFT_ASSIGN_OR_RETURN(Literal right, fold(*node.right));
    if (left.is_integral() && right.is_integral()) return integers(node, left.integer, right.integer);
    if (left.is_number() && right.is_number()) return reals(node, left.real, right.real);
    bool same = left.type == right.type;
    if (node.op == BinaryOperator::kAdd && same && (left.is_str() || left.is(Type::kBytes))) {
      left.text += right.text;
      return left;
    }
    if (node.op == BinaryOperator::kAdd && same && left.is_sequence()) {
      std::move(right.items.begin(), right.items.end(), std::back_inserter(left.items));
      return left;
    }
    if (node.op == BinaryOperator::kMult) {
      if (left.is_integral()) std::swap(left, right);
      bool text = left.is_str() || left.is(Type::kBytes);
      if (right.is_integral() && (text || left.is_sequence()))
        return repeat(node, std::move(left), right.integer);
    }
    return failure(node, fmt::format("'{}' between {} and {} is not a constant", operator_text(node.op),
                                     type_name(left.type), type_name(right.type)));
  }

  Result<Literal> repeat(const BinOp& node, Literal value, int64_t times) {
    auto count = static_cast<size_t>(std::max<int64_t>(times, 0));
    size_t length = value.is_sequence() ? value.items.size() : value.text.size();
    size_t limit = value.is_sequence() ? kMaxCopies : kMaxText;
    if (length > 0 && count > limit / length) return failure(node, "the repeated value is too long");
    if (value.is_sequence() && count > 1) {
      size_t copied = weight(value);
      if (count > kMaxCopies / copied || (copies_ += count * copied) > kMaxCopies)
        return failure(node, "the repeated value is too long");
    }
    Literal result;
    result.type = value.type;
    for (size_t i = 0; i < count; ++i) {
      result.text += value.text;
      result.items.insert(result.items.end(), value.items.begin(), value.items.end());
    }
    return result;
  }

  Result<Literal> integers(const BinOp& node, int64_t a, int64_t b) {
    int64_t result = 0;
    bool overflow = false;
    switch (node.op) {
      case BinaryOperator::kAdd:
        overflow = __builtin_add_overflow(a, b, &result);
        break;
      case BinaryOperator::kSub:
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
      case BinaryOperator::kMult:
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
      case BinaryOperator::kDiv:
        return reals(node, static_cast<double>(a), static_cast<double>(b));
      case BinaryOperator::kFloorDiv:
      case BinaryOperator::kMod: {
        if (b == 0) return failure(node, "division by zero");
        if (b == -1) {
          if (node.op == BinaryOperator::kMod) return Literal::of_int(0);
          overflow = __builtin_sub_overflow(int64_t{0}, a, &result);
          break;
        }
        int64_t quotient = a / b;
        int64_t rest = a % b;
        if (rest != 0 && (rest < 0) != (b < 0)) {
          --quotient;
          rest += b;
        }
        result = node.op == BinaryOperator::kMod ? rest : quotient;
        break;
      }
      case BinaryOperator::kPow: {
        if (b < 0) return reals(node, static_cast<double>(a), static_cast<double>(b));
        auto power = integer_power(a, b);
        overflow = !power.has_value();
        result = power.value_or(0);
        break;
      }
      case BinaryOperator::kLShift: {
        if (b < 0) return failure(node, "negative shift count");
        overflow = a != 0 && (b > 62 || __builtin_mul_overflow(a, int64_t{1} << b, &result));
        break;
      }
      case BinaryOperator::kRShift:
        if (b < 0) return failure(node, "negative shift count");
        result = a >> std::min<int64_t>(b, 63);
        break;
      case BinaryOperator::kBitOr:
        result = a | b;
        break;
      case BinaryOperator::kBitXor:
        result = a ^ b;
        break;
      case BinaryOperator::kBitAnd:
        result = a & b;
        break;
      case BinaryOperator::kMatMult:
        return not_constant(node);
    }
    if (overflow) return failure(node, "the integer does not fit 64 bits");
    return Literal::of_int(result);
  }

  Result<Literal> reals(const BinOp& node, double a, double b) {
    switch (node.op) {
      case BinaryOperator::kAdd:
        return Literal::of_float(a + b);
      case BinaryOperator::kSub:
        return Literal::of_float(a - b);
      case BinaryOperator::kMult:
        return Literal::of_float(a * b);
      case BinaryOperator::kDiv:
        if (b == 0) return failure(node, "division by zero");
        return Literal::of_float(a / b);
      case BinaryOperator::kFloorDiv:
      case BinaryOperator::kMod: {
        if (b == 0) return failure(node, "division by zero");
        double rest = std::fmod(a, b);
        double quotient = (a - rest) / b;
        if (rest != 0 && (rest < 0) != (b < 0)) {
          rest += b;
          quotient -= 1;
        }
        if (node.op == BinaryOperator::kMod)
          return Literal::of_float(rest != 0 ? rest : std::copysign(0.0, b));
        // The quotient is nearly whole; the next whole number below may be one short by rounding.
        double whole = std::floor(quotient);
        return Literal::of_float(quotient - whole > 0.5 ? whole + 1 : whole);
      }
      case BinaryOperator::kPow: {
        if (a == 0 && b < 0) return failure(node, "zero to a negative power");
        double power = std::pow(a, b);
        if (std::isnan(power) && !std::isnan(a) && !std::isnan(b)) return not_constant(node);  // complex
        if (std::isinf(power) && std::isfinite(a) && std::isfinite(b))
          return failure(node, "the power does not fit a float");
        return Literal::of_float(power);
      }
      default:
        return not_constant(node);
    }
  }

  const SourceText& source_;
  const LiteralOptions& options_;
  int depth_ = 0;
  size_t copies_ = 0;
};

// Whether every entry of dict `a` is in dict `b`.
bool same_entries(const Literal& a, const Literal& b) {
  for (size_t i = 0; i < a.keys.size(); ++i) {
    auto key = std::find_if(b.keys.begin(), b.keys.end(),
                            [&](const Literal& other) { return equal(a.keys[i], other); });
    if (key == b.keys.end() || !equal(a.items[i], b.items[static_cast<size_t>(key - b.keys.begin())]))
      return false;
  }
  return true;
}

}  // namespace

std::string_view type_name(LiteralType type) {
  switch (type) {
    case Type::kNone:
      return "None";
    case Type::kBool:
      return "bool";
    case Type::kInt:
    case Type::kBigInt:
      return "int";
    case Type::kFloat:
      return "float";
    case Type::kStr:
      return "str";
    case Type::kBytes:
      return "bytes";
    case Type::kList:
      return "list";
    case Type::kTuple:
      return "tuple";
    case Type::kDict:
      return "dict";
  }
  return "";
}

Literal Literal::of_bool(bool value) {
  Literal literal = of_int(value ? 1 : 0);
  literal.type = Type::kBool;
  return literal;
}

Literal Literal::of_int(int64_t value) {
  Literal literal;
  literal.type = Type::kInt;
  literal.integer = value;
  literal.real = static_cast<double>(value);
  return literal;
}

Literal Literal::of_float(double value) {
  Literal literal;
  literal.type = Type::kFloat;
  literal.real = value;
  return literal;
}

Literal Literal::of_str(std::string value) {
  Literal literal;
  literal.type = Type::kStr;
  literal.text = std::move(value);
  return literal;
}

bool equal(const Literal& a, const Literal& b) {
  if (a.is_integral() && b.is_integral()) return a.integer == b.integer;
  if (a.is_number() && b.is_number()) return a.real == b.real;
  if (a.type != b.type) return false;
  switch (a.type) {
    case Type::kNone:
      return true;
    case Type::kList:
    case Type::kTuple:
      return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), equal);
    case Type::kDict:
      return a.keys.size() == b.keys.size() && same_entries(a, b);
    default:
      return a.text == b.text;
  }
}

Result<Literal> fold_literal(const Expr& expression, const SourceText& source,
                             const LiteralOptions& options) {
  return Folder(source, options).fold(expression);
}

}  // namespace graft::python
