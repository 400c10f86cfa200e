#include "graph/fold.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace graft::graph {
namespace {

using python::BinaryOperator;
using python::CompareOperator;
using python::UnaryOperator;

bool is_integral(Value value) {
  return value.kind == ValueKind::kInt || value.kind == ValueKind::kBool;
}
bool is_real(Value value) {
  return is_integral(value) || value.kind == ValueKind::kFloat;
}
double as_double(Value value) {
  return value.kind == ValueKind::kFloat ? value.real : static_cast<double>(value.integer);
}

std::optional<Value> integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return std::nullopt;
    return Value::of_float(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
    if (result == 0 || (result == 1 && base == 1)) break;
    if (i > 64 && base != -1) return std::nullopt;
    if (base == -1) return Value::of_int(exponent % 2 == 0 ? 1 : -1);
  }
  return Value::of_int(result);
}

std::optional<Value> fold_integers(BinaryOperator op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case BinaryOperator::kAdd:
      if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
      return Value::of_int(result);
    case BinaryOperator::kSub:
      if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
      return Value::of_int(result);
    case BinaryOperator::kMult:
      if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
      return Value::of_int(result);
    case BinaryOperator::kDiv:
      // Exact only while both fit a double's mantissa.
      if (b == 0 || std::abs(static_cast<double>(a)) > 9007199254740992.0 ||
          std::abs(static_cast<double>(b)) > 9007199254740992.0) {
        return std::nullopt;
      }
      return Value::of_float(static_cast<double>(a) / static_cast<double>(b));
    case BinaryOperator::kFloorDiv:
    case BinaryOperator::kMod: {
      if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
      int64_t quotient = a / b;
      if (a % b != 0 && (a < 0) != (b < 0)) --quotient;
      return Value::of_int(op == BinaryOperator::kFloorDiv ? quotient : a - quotient * b);
    }
    case BinaryOperator::kPow:
      return integer_power(a, b);
    case BinaryOperator::kBitOr:
      return Value::of_int(a | b);
    case BinaryOperator::kBitAnd:
      return Value::of_int(a & b);
    case BinaryOperator::kBitXor:
      return Value::of_int(a ^ b);
    case BinaryOperator::kLShift:
      if (b < 0 || b > 62 || a > (INT64_MAX >> b) || a < (INT64_MIN >> b)) return std::nullopt;
      return Value::of_int(a * (int64_t{1} << b));
    case BinaryOperator::kRShift:
      if (b < 0) return std::nullopt;
      return Value::of_int(b > 63 ? (a < 0 ? -1 : 0) : a >> b);
    case BinaryOperator::kMatMult:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Value> fold_reals(BinaryOperator op, double a, double b) {
  switch (op) {
    case BinaryOperator::kAdd:
      return Value::of_float(a + b);
    case BinaryOperator::kSub:
      return Value::of_float(a - b);
    case BinaryOperator::kMult:
      return Value::of_float(a * b);
    case BinaryOperator::kDiv:
      if (b == 0) return std::nullopt;
      return Value::of_float(a / b);
    case BinaryOperator::kFloorDiv:
    case BinaryOperator::kMod: {
      if (b == 0) return std::nullopt;
      double rest = std::fmod(a, b);
      if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
      if (op == BinaryOperator::kMod) return Value::of_float(rest);
      double quotient = (a - rest) / b;
      double floored = std::floor(quotient);
      if (quotient - floored > 0.5) floored += 1;
      return Value::of_float(floored);
    }
    case BinaryOperator::kPow:
      // Python raises for 0 ** -x and gives a complex number for a negative base with a fractional exponent.
      if ((a == 0 && b < 0) || (a < 0 && b != std::floor(b))) return std::nullopt;
      return Value::of_float(std::pow(a, b));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Value> fold_binary(Graph& graph, BinaryOperator op, Value left, Value right) {
  if (left.kind == ValueKind::kBool && right.kind == ValueKind::kBool &&
      (op == BinaryOperator::kBitOr || op == BinaryOperator::kBitAnd || op == BinaryOperator::kBitXor)) {
    const auto bits = fold_integers(op, left.integer, right.integer);
    return Value::boolean(bits->integer != 0);
  }
  if (is_integral(left) && is_integral(right)) return fold_integers(op, left.integer, right.integer);
  if (is_real(left) && is_real(right)) return fold_reals(op, as_double(left), as_double(right));
  if (op == BinaryOperator::kAdd && left.is_sequence() && right.kind == left.kind) {
    std::vector<Value> all(graph.children(left).begin(), graph.children(left).end());
    const auto more = graph.children(right);
    all.insert(all.end(), more.begin(), more.end());
    return graph.composite(left.kind, all);
  }
  if (op == BinaryOperator::kAdd && left.kind == ValueKind::kString && right.kind == ValueKind::kString) {
    return graph.string(std::string(graph.text(left.index)) + std::string(graph.text(right.index)));
  }
  if (op == BinaryOperator::kMult && is_integral(left) && right.is_sequence()) std::swap(left, right);
  if (op == BinaryOperator::kMult && left.is_sequence() && is_integral(right)) {
    const std::vector<Value> once(graph.children(left).begin(), graph.children(left).end());
    if (right.integer > 0 && static_cast<uint64_t>(right.integer) * once.size() > 100000) return std::nullopt;
    std::vector<Value> all;
    for (int64_t i = 0; i < right.integer; ++i) all.insert(all.end(), once.begin(), once.end());
    return graph.composite(left.kind, all);
  }
  return std::nullopt;
}

std::optional<Value> fold_unary(UnaryOperator op, Value operand) {
  switch (op) {
    case UnaryOperator::kUSub:
      if (is_integral(operand)) {
        if (operand.integer == INT64_MIN) return std::nullopt;
        return Value::of_int(-operand.integer);
      }
      if (operand.kind == ValueKind::kFloat || operand.kind == ValueKind::kComplex) {
        operand.real = -operand.real;
        return operand;
      }
      return std::nullopt;
    case UnaryOperator::kUAdd:
      if (is_integral(operand)) return Value::of_int(operand.integer);
      if (operand.kind == ValueKind::kFloat || operand.kind == ValueKind::kComplex) return operand;
      return std::nullopt;
    case UnaryOperator::kInvert:
      if (is_integral(operand)) return Value::of_int(~operand.integer);
      return std::nullopt;
    case UnaryOperator::kNot:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<bool> truth(const Graph& graph, Value value) {
  switch (value.kind) {
    case ValueKind::kNone:
      return false;
    case ValueKind::kBool:
    case ValueKind::kInt:
      return value.integer != 0;
    case ValueKind::kFloat:
    case ValueKind::kComplex:
      return value.real != 0;
    case ValueKind::kString:
    case ValueKind::kBytes:
      return !graph.text(value.index).empty();
    case ValueKind::kTuple:
    case ValueKind::kList:
    case ValueKind::kDict:
      return value.count != 0;
    case ValueKind::kNode:
    case ValueKind::kUnknown:
      return std::nullopt;
    default:
      return true;
  }
}

std::optional<Value> fold_compare(const Graph& graph, CompareOperator op, Value left, Value right) {
  if (left.is_node() || right.is_node() || left.kind == ValueKind::kUnknown ||
      right.kind == ValueKind::kUnknown) {
    return std::nullopt;
  }
  if (is_real(left) && is_real(right)) {
    const double a = as_double(left);
    const double b = as_double(right);
    const bool both_integral = is_integral(left) && is_integral(right);
    const int order = both_integral ? (left.integer < right.integer   ? -1
                                       : left.integer > right.integer ? 1
                                                                      : 0)
                                    : (a < b   ? -1
                                       : a > b ? 1
                                               : 0);
    const bool ordered = both_integral || !(std::isnan(a) || std::isnan(b));
    switch (op) {
      case CompareOperator::kEq:
        return Value::boolean(ordered && order == 0);
      case CompareOperator::kNotEq:
        return Value::boolean(!ordered || order != 0);
      case CompareOperator::kLt:
        return Value::boolean(ordered && order < 0);
      case CompareOperator::kLtE:
        return Value::boolean(ordered && order <= 0);
      case CompareOperator::kGt:
        return Value::boolean(ordered && order > 0);
      case CompareOperator::kGtE:
        return Value::boolean(ordered && order >= 0);
      default:
        break;
    }
  }
  if (op == CompareOperator::kIs || op == CompareOperator::kIsNot) {
    // Identity is settled by the language only for None, True, False and Ellipsis.
    auto singleton = [](Value value) {
      return value.is_none() || value.kind == ValueKind::kBool || value.kind == ValueKind::kEllipsis;
    };
    if (!singleton(left) && !singleton(right)) return std::nullopt;
    const bool same = equal_literals(graph, left, graph, right);
    return Value::boolean(op == CompareOperator::kIs ? same : !same);
  }
  if (op == CompareOperator::kEq || op == CompareOperator::kNotEq) {
    if (left.is_composite() || right.is_composite()) return std::nullopt;
    const bool same = equal_literals(graph, left, graph, right);
    return Value::boolean(op == CompareOperator::kEq ? same : !same);
  }
  return std::nullopt;
}

std::optional<Value> fold_getitem(Graph& graph, Value container, Value index) {
  if (container.kind == ValueKind::kDict) {
    const auto children = graph.children(container);
    for (size_t i = 0; i + 1 < children.size(); i += 2) {
      if (equal_literals(graph, children[i], graph, index)) return children[i + 1];
    }
    return std::nullopt;
  }
  if (!container.is_sequence()) return std::nullopt;
  const int64_t size = container.count;
  if (is_integral(index)) {
    const int64_t at = index.integer < 0 ? index.integer + size : index.integer;
    if (at < 0 || at >= size) return std::nullopt;
    return graph.children(container)[static_cast<size_t>(at)];
  }
  if (index.kind != ValueKind::kSlice) return std::nullopt;
  const auto parts = graph.children(index);
  auto bound = [&](Value part, int64_t otherwise) -> std::optional<int64_t> {
    if (part.is_none()) return otherwise;
    if (!is_integral(part)) return std::nullopt;
    return part.integer;
  };
  const auto step = bound(parts[2], 1);
  if (!step || *step == 0) return std::nullopt;
  const int64_t stride = std::clamp<int64_t>(*step, -size - 1, size + 1);
  const bool forward = stride > 0;
  auto clamp = [&](int64_t at) {
    if (at < 0) at += size;
    const int64_t low = forward ? 0 : -1;
    const int64_t high = forward ? size : size - 1;
    return at < low ? low : at > high ? high : at;
  };
  std::optional<int64_t> start = bound(parts[0], forward ? 0 : size - 1);
  std::optional<int64_t> stop = bound(parts[1], forward ? size : -size - 1);
  if (!start || !stop) return std::nullopt;
  const int64_t last = clamp(*stop);
  std::vector<Value> chosen;
  for (int64_t at = clamp(*start); forward ? at < last : at > last; at += stride) {
    chosen.push_back(graph.children(container)[static_cast<size_t>(at)]);
  }
  return graph.composite(container.kind, chosen);
}

}  // namespace graft::graph
