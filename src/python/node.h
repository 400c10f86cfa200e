// What all nodes of the abstract syntax tree share: kinds, operators, arrays, constants, casts.
//
// Every node carries its range in the text as byte offsets [begin, end); SourceText turns them into lines and
// columns. Ranges equal CPython's lineno/col_offset/end_lineno/end_col_offset; the classes to which CPython
// gives none (Module, arguments, comprehension, withitem, match_case) carry the range of their text. A
// decorated definition begins at `def` or `class`.
//
// The tree lies in an arena (python/arena.h) and is immutable for its readers. It may be as deep as the text
// is long along left spines (a+b+c+...), attribute chains and elif chains: walk it with python/visitor.h or
// with a bound on the recursion.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string_view>

namespace graft::python {

// X(Class, "CPython's name"), grouped: module, statements, expressions, helpers, patterns, type parameters.
#define GRAFT_PYTHON_NODE_KINDS(X)        \
  X(Module, "Module")                     \
  X(FunctionDef, "FunctionDef")           \
  X(AsyncFunctionDef, "AsyncFunctionDef") \
  X(ClassDef, "ClassDef")                 \
  X(Return, "Return")                     \
  X(Delete, "Delete")                     \
  X(Assign, "Assign")                     \
  X(TypeAlias, "TypeAlias")               \
  X(AugAssign, "AugAssign")               \
  X(AnnAssign, "AnnAssign")               \
  X(For, "For")                           \
  X(AsyncFor, "AsyncFor")                 \
  X(While, "While")                       \
  X(If, "If")                             \
  X(With, "With")                         \
  X(AsyncWith, "AsyncWith")               \
  X(Match, "Match")                       \
  X(Raise, "Raise")                       \
  X(Try, "Try")                           \
  X(TryStar, "TryStar")                   \
  X(Assert, "Assert")                     \
  X(Import, "Import")                     \
  X(ImportFrom, "ImportFrom")             \
  X(Global, "Global")                     \
  X(Nonlocal, "Nonlocal")                 \
  X(ExprStmt, "Expr")                     \
  X(Pass, "Pass")                         \
  X(Break, "Break")                       \
  X(Continue, "Continue")                 \
  X(BoolOp, "BoolOp")                     \
  X(NamedExpr, "NamedExpr")               \
  X(BinOp, "BinOp")                       \
  X(UnaryOp, "UnaryOp")                   \
  X(Lambda, "Lambda")                     \
  X(IfExp, "IfExp")                       \
  X(Dict, "Dict")                         \
  X(Set, "Set")                           \
  X(ListComp, "ListComp")                 \
  X(SetComp, "SetComp")                   \
  X(DictComp, "DictComp")                 \
  X(GeneratorExp, "GeneratorExp")         \
  X(Await, "Await")                       \
  X(Yield, "Yield")                       \
  X(YieldFrom, "YieldFrom")               \
  X(Compare, "Compare")                   \
  X(Call, "Call")                         \
  X(FormattedValue, "FormattedValue")     \
  X(JoinedStr, "JoinedStr")               \
  X(Constant, "Constant")                 \
  X(Attribute, "Attribute")               \
  X(Subscript, "Subscript")               \
  X(Starred, "Starred")                   \
  X(Name, "Name")                         \
  X(List, "List")                         \
  X(Tuple, "Tuple")                       \
  X(Slice, "Slice")                       \
  X(Comprehension, "comprehension")       \
  X(ExceptHandler, "ExceptHandler")       \
  X(Arguments, "arguments")               \
  X(Arg, "arg")                           \
  X(Keyword, "keyword")                   \
  X(Alias, "alias")                       \
  X(WithItem, "withitem")                 \
  X(MatchCase, "match_case")              \
  X(MatchValue, "MatchValue")             \
  X(MatchSingleton, "MatchSingleton")     \
  X(MatchSequence, "MatchSequence")       \
  X(MatchMapping, "MatchMapping")         \
  X(MatchClass, "MatchClass")             \
  X(MatchStar, "MatchStar")               \
  X(MatchAs, "MatchAs")                   \
  X(MatchOr, "MatchOr")                   \
  X(TypeVar, "TypeVar")                   \
  X(ParamSpec, "ParamSpec")               \
  X(TypeVarTuple, "TypeVarTuple")

enum class NodeKind : uint8_t {
#define GRAFT_PYTHON_KIND(Class, name) k##Class,
  GRAFT_PYTHON_NODE_KINDS(GRAFT_PYTHON_KIND)
#undef GRAFT_PYTHON_KIND
};

enum class ExprContext : uint8_t { kLoad, kStore, kDel };
enum class BoolOperator : uint8_t { kAnd, kOr };
enum class BinaryOperator : uint8_t {
  kAdd,
  kSub,
  kMult,
  kMatMult,
  kDiv,
  kMod,
  kPow,
  kLShift,
  kRShift,
  kBitOr,
  kBitXor,
  kBitAnd,
  kFloorDiv
};
enum class UnaryOperator : uint8_t { kInvert, kNot, kUAdd, kUSub };
enum class CompareOperator : uint8_t { kEq, kNotEq, kLt, kLtE, kGt, kGtE, kIs, kIsNot, kIn, kNotIn };

// CPython's class names: "Load", "BitOr", "NotIn", "FunctionDef", "arguments", ...
std::string_view class_name(NodeKind kind);
std::string_view class_name(ExprContext context);
std::string_view class_name(BoolOperator op);
std::string_view class_name(BinaryOperator op);
std::string_view class_name(UnaryOperator op);
std::string_view class_name(CompareOperator op);
// As written in a program: "|", "not in", "and", "not".
std::string_view operator_text(BoolOperator op);
std::string_view operator_text(BinaryOperator op);
std::string_view operator_text(UnaryOperator op);
std::string_view operator_text(CompareOperator op);

// NFKC-normalised, as CPython stores it. An optional identifier that is absent has a null data().
using Identifier = std::string_view;
inline bool present(Identifier identifier) {
  return identifier.data() != nullptr;
}

// A fixed array in the arena: one pointer to the number of elements, which follow it. Null is the empty
// array.
template <class T>
class ArenaArray {
 public:
  struct Header {
    uint64_t size;
  };
  ArenaArray() = default;
  explicit ArenaArray(const Header* header) : header_(header) {}
  uint32_t size() const { return header_ ? static_cast<uint32_t>(header_->size) : 0; }
  bool empty() const { return header_ == nullptr; }
  const T* begin() const { return header_ ? reinterpret_cast<const T*>(header_ + 1) : nullptr; }
  const T* end() const { return begin() + size(); }
  const T& operator[](uint32_t index) const {
    assert(index < size());
    return begin()[index];
  }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size() - 1]; }

 private:
  const Header* header_ = nullptr;
};
template <class T>
using Nodes = ArenaArray<const T*>;
template <class T>
using Values = ArenaArray<T>;

// The value of a Constant.
enum class ConstantType : uint8_t {
  kNone,
  kTrue,
  kFalse,
  kEllipsis,
  kInt,
  kBigInt,
  kFloat,
  kComplex,
  kStr,
  kBytes
};

class ConstantValue {
 public:
  ConstantValue() : integer_(0) {}
  static ConstantValue singleton(ConstantType type) { return ConstantValue(type); }
  static ConstantValue of_int(int64_t value) {
    ConstantValue result(ConstantType::kInt);
    result.integer_ = value;
    return result;
  }
  // kFloat or kComplex.
  static ConstantValue of_number(ConstantType type, double value) {
    ConstantValue result(type);
    result.number_ = value;
    return result;
  }
  // kStr, kBytes or kBigInt; `text` lies in the source or the arena.
  static ConstantValue of_text(ConstantType type, std::string_view text) {
    ConstantValue result(type);
    result.data_ = text.data();
    result.size_ = static_cast<uint32_t>(text.size());
    return result;
  }

  ConstantType type() const { return type_; }
  // kInt only: 0 <= value < 2**63 (a minus sign is a UnaryOp).
  int64_t integer() const {
    assert(type_ == ConstantType::kInt);
    return integer_;
  }
  // kFloat: the value (inf when the literal overflows). kComplex: the imaginary part; the real part is 0.
  double number() const {
    assert(type_ == ConstantType::kFloat || type_ == ConstantType::kComplex);
    return number_;
  }
  // kStr: the decoded text as UTF-8, a lone surrogate as its three-byte form (ED A0 80 to ED BF BF). kBytes:
  // the bytes. kBigInt: decimal digits; beyond 4300 digits, which CPython refuses to print, the literal in
  // lower-case hexadecimal "0x...".
  std::string_view text() const {
    assert(type_ == ConstantType::kStr || type_ == ConstantType::kBytes || type_ == ConstantType::kBigInt);
    return {data_, size_};
  }
  bool is(ConstantType type) const { return type_ == type; }

 private:
  explicit ConstantValue(ConstantType type) : integer_(0), type_(type) {}
  union {
    int64_t integer_;
    double number_;
    const char* data_;
  };
  uint32_t size_ = 0;
  ConstantType type_ = ConstantType::kNone;
};

struct Node {
  uint32_t begin = 0;  // byte offset of the first byte
  uint32_t end = 0;    // byte offset after the last byte
  const NodeKind kind;
  static constexpr bool matches(NodeKind) { return true; }

 protected:
  explicit Node(NodeKind node_kind) : kind(node_kind) {}
};

struct Stmt : Node {
  static constexpr bool matches(NodeKind node_kind) {
    return node_kind >= NodeKind::kFunctionDef && node_kind <= NodeKind::kContinue;
  }

 protected:
  using Node::Node;
};
struct Expr : Node {
  static constexpr bool matches(NodeKind node_kind) {
    return node_kind >= NodeKind::kBoolOp && node_kind <= NodeKind::kSlice;
  }

 protected:
  using Node::Node;
};
struct Pattern : Node {
  static constexpr bool matches(NodeKind node_kind) {
    return node_kind >= NodeKind::kMatchValue && node_kind <= NodeKind::kMatchOr;
  }

 protected:
  using Node::Node;
};
struct TypeParam : Node {
  static constexpr bool matches(NodeKind node_kind) {
    return node_kind >= NodeKind::kTypeVar && node_kind <= NodeKind::kTypeVarTuple;
  }

 protected:
  using Node::Node;
};

// `if (const auto* call = node_cast<Call>(node))`: null when the node is null or of another class.
template <class T>
const T* node_cast(const Node* node) {
  return node != nullptr && T::matches(node->kind) ? static_cast<const T*>(node) : nullptr;
}
// The caller knows the class.
template <class T>
const T& as(const Node& node) {
  assert(T::matches(node.kind));
  return static_cast<const T&>(node);
}
template <class T>
const T* as(const Node* node) {
  assert(node != nullptr && T::matches(node->kind));
  return static_cast<const T*>(node);
}
}  // namespace graft::python
