// The classes of the abstract syntax tree: CPython's ASDL (Parser/Python.asdl), class for class and field for
// field. See python/node.h for what all nodes share.
//
// Names differ from CPython's only in case (Arguments for arguments) and in ExprStmt for the statement class
// Expr; class_name() gives CPython's spelling. Fields of all versions are present: type_params is empty where
// the text has none. Not in the tree: type_comment, type_ignores, and the Index/ExtSlice wrappers of 3.8.
#pragma once

#include <cstdint>

#include "python/node.h"

namespace graft::python {

struct Module;
struct FunctionDef;
struct AsyncFunctionDef;
struct ClassDef;
struct Return;
struct Delete;
struct Assign;
struct TypeAlias;
struct AugAssign;
struct AnnAssign;
struct For;
struct AsyncFor;
struct While;
struct If;
struct With;
struct AsyncWith;
struct Match;
struct Raise;
struct Try;
struct TryStar;
struct Assert;
struct Import;
struct ImportFrom;
struct Global;
struct Nonlocal;
struct ExprStmt;
struct Pass;
struct Break;
struct Continue;
struct BoolOp;
struct NamedExpr;
struct BinOp;
struct UnaryOp;
struct Lambda;
struct IfExp;
struct Dict;
struct Set;
struct ListComp;
struct SetComp;
struct DictComp;
struct GeneratorExp;
struct Await;
struct Yield;
struct YieldFrom;
struct Compare;
struct Call;
struct FormattedValue;
struct JoinedStr;
struct Constant;
struct Attribute;
struct Subscript;
struct Starred;
struct Name;
struct List;
struct Tuple;
struct Slice;
struct Comprehension;
struct ExceptHandler;
struct Arguments;
struct Arg;
struct Keyword;
struct Alias;
struct WithItem;
struct MatchCase;
struct MatchValue;
struct MatchSingleton;
struct MatchSequence;
struct MatchMapping;
struct MatchClass;
struct MatchStar;
struct MatchAs;
struct MatchOr;
struct TypeVar;
struct ParamSpec;
struct TypeVarTuple;

#define GRAFT_PYTHON_NODE(Class, Base)                  \
  static constexpr NodeKind kKind = NodeKind::k##Class; \
  static constexpr bool matches(NodeKind node_kind) {   \
    return node_kind == kKind;                          \
  }                                                     \
  Class() : Base(kKind) {}
// fields(f) calls f("name", value) for every field in CPython's declared order. A value is a node pointer
// (maybe null), a Nodes<T>, an Identifier (maybe absent), a Values<Identifier>, an int, a ConstantValue, an
// operator, a Values<CompareOperator> or an ExprContext.
#define GRAFT_PYTHON_FIELDS(...)              \
  template <class F>                          \
  void fields([[maybe_unused]] F&& f) const { \
    __VA_ARGS__                               \
  }

struct Module : Node {
  GRAFT_PYTHON_NODE(Module, Node)
  Nodes<Stmt> body;
  GRAFT_PYTHON_FIELDS(f("body", body);)
};

struct FunctionBase : Stmt {
  static constexpr bool matches(NodeKind node_kind) {
    return node_kind == NodeKind::kFunctionDef || node_kind == NodeKind::kAsyncFunctionDef;
  }
  Identifier name;
  const Arguments* args = nullptr;
  Nodes<Stmt> body;
  Nodes<Expr> decorator_list;
  const Expr* returns = nullptr;  // may be null
  Nodes<TypeParam> type_params;
  GRAFT_PYTHON_FIELDS(f("name", name); f("args", args); f("body", body); f("decorator_list", decorator_list);
                      f("returns", returns); f("type_params", type_params);)

 protected:
  explicit FunctionBase(NodeKind node_kind) : Stmt(node_kind) {}
};

struct FunctionDef : FunctionBase {
  GRAFT_PYTHON_NODE(FunctionDef, FunctionBase)
};

struct AsyncFunctionDef : FunctionBase {
  GRAFT_PYTHON_NODE(AsyncFunctionDef, FunctionBase)
};

struct ClassDef : Stmt {
  GRAFT_PYTHON_NODE(ClassDef, Stmt)
  Identifier name;
  Nodes<Expr> bases;
  Nodes<Keyword> keywords;
  Nodes<Stmt> body;
  Nodes<Expr> decorator_list;
  Nodes<TypeParam> type_params;
  GRAFT_PYTHON_FIELDS(f("name", name); f("bases", bases); f("keywords", keywords); f("body", body);
                      f("decorator_list", decorator_list); f("type_params", type_params);)
};

struct Return : Stmt {
  GRAFT_PYTHON_NODE(Return, Stmt)
  const Expr* value = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("value", value);)
};

struct Delete : Stmt {
  GRAFT_PYTHON_NODE(Delete, Stmt)
  Nodes<Expr> targets;
  GRAFT_PYTHON_FIELDS(f("targets", targets);)
};

struct Assign : Stmt {
  GRAFT_PYTHON_NODE(Assign, Stmt)
  Nodes<Expr> targets;
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("targets", targets); f("value", value);)
};

struct TypeAlias : Stmt {
  GRAFT_PYTHON_NODE(TypeAlias, Stmt)
  const Expr* name = nullptr;
  Nodes<TypeParam> type_params;
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("name", name); f("type_params", type_params); f("value", value);)
};

struct AugAssign : Stmt {
  GRAFT_PYTHON_NODE(AugAssign, Stmt)
  BinaryOperator op{};
  const Expr* target = nullptr;
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("target", target); f("op", op); f("value", value);)
};

struct AnnAssign : Stmt {
  GRAFT_PYTHON_NODE(AnnAssign, Stmt)
  bool simple = false;
  const Expr* target = nullptr;
  const Expr* annotation = nullptr;
  const Expr* value = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("target", target); f("annotation", annotation); f("value", value);
                      f("simple", int{simple});)
};

struct ForBase : Stmt {
  static constexpr bool matches(NodeKind node_kind) {
    return node_kind == NodeKind::kFor || node_kind == NodeKind::kAsyncFor;
  }
  const Expr* target = nullptr;
  const Expr* iter = nullptr;
  Nodes<Stmt> body;
  Nodes<Stmt> orelse;
  GRAFT_PYTHON_FIELDS(f("target", target); f("iter", iter); f("body", body); f("orelse", orelse);)

 protected:
  explicit ForBase(NodeKind node_kind) : Stmt(node_kind) {}
};

struct For : ForBase {
  GRAFT_PYTHON_NODE(For, ForBase)
};

struct AsyncFor : ForBase {
  GRAFT_PYTHON_NODE(AsyncFor, ForBase)
};

struct While : Stmt {
  GRAFT_PYTHON_NODE(While, Stmt)
  const Expr* test = nullptr;
  Nodes<Stmt> body;
  Nodes<Stmt> orelse;
  GRAFT_PYTHON_FIELDS(f("test", test); f("body", body); f("orelse", orelse);)
};

struct If : Stmt {
  GRAFT_PYTHON_NODE(If, Stmt)
  const Expr* test = nullptr;
  Nodes<Stmt> body;
  Nodes<Stmt> orelse;
  GRAFT_PYTHON_FIELDS(f("test", test); f("body", body); f("orelse", orelse);)
};

struct WithBase : Stmt {
  static constexpr bool matches(NodeKind node_kind) {
    return node_kind == NodeKind::kWith || node_kind == NodeKind::kAsyncWith;
  }
  Nodes<WithItem> items;
  Nodes<Stmt> body;
  GRAFT_PYTHON_FIELDS(f("items", items); f("body", body);)

 protected:
  explicit WithBase(NodeKind node_kind) : Stmt(node_kind) {}
};

struct With : WithBase {
  GRAFT_PYTHON_NODE(With, WithBase)
};

struct AsyncWith : WithBase {
  GRAFT_PYTHON_NODE(AsyncWith, WithBase)
};

struct Match : Stmt {
  GRAFT_PYTHON_NODE(Match, Stmt)
  const Expr* subject = nullptr;
  Nodes<MatchCase> cases;
  GRAFT_PYTHON_FIELDS(f("subject", subject); f("cases", cases);)
};

struct Raise : Stmt {
  GRAFT_PYTHON_NODE(Raise, Stmt)
  const Expr* exc = nullptr;    // may be null
  const Expr* cause = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("exc", exc); f("cause", cause);)
};

struct TryBase : Stmt {
  static constexpr bool matches(NodeKind node_kind) {
    return node_kind == NodeKind::kTry || node_kind == NodeKind::kTryStar;
  }
  Nodes<Stmt> body;
  Nodes<ExceptHandler> handlers;
  Nodes<Stmt> orelse;
  Nodes<Stmt> finalbody;
  GRAFT_PYTHON_FIELDS(f("body", body); f("handlers", handlers); f("orelse", orelse);
                      f("finalbody", finalbody);)

 protected:
  explicit TryBase(NodeKind node_kind) : Stmt(node_kind) {}
};

struct Try : TryBase {
  GRAFT_PYTHON_NODE(Try, TryBase)
};

struct TryStar : TryBase {
  GRAFT_PYTHON_NODE(TryStar, TryBase)
};

struct Assert : Stmt {
  GRAFT_PYTHON_NODE(Assert, Stmt)
  const Expr* test = nullptr;
  const Expr* msg = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("test", test); f("msg", msg);)
};

struct Import : Stmt {
  GRAFT_PYTHON_NODE(Import, Stmt)
  Nodes<Alias> names;
  GRAFT_PYTHON_FIELDS(f("names", names);)
};

struct ImportFrom : Stmt {
  GRAFT_PYTHON_NODE(ImportFrom, Stmt)
  Identifier module;  // may be absent
  Nodes<Alias> names;
  uint32_t level = 0;
  GRAFT_PYTHON_FIELDS(f("module", module); f("names", names); f("level", static_cast<int>(level));)
};

struct Global : Stmt {
  GRAFT_PYTHON_NODE(Global, Stmt)
  Values<Identifier> names;
  GRAFT_PYTHON_FIELDS(f("names", names);)
};

struct Nonlocal : Stmt {
  GRAFT_PYTHON_NODE(Nonlocal, Stmt)
  Values<Identifier> names;
  GRAFT_PYTHON_FIELDS(f("names", names);)
};

struct ExprStmt : Stmt {
  GRAFT_PYTHON_NODE(ExprStmt, Stmt)
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("value", value);)
};

struct Pass : Stmt {
  GRAFT_PYTHON_NODE(Pass, Stmt)
  GRAFT_PYTHON_FIELDS()
};

struct Break : Stmt {
  GRAFT_PYTHON_NODE(Break, Stmt)
  GRAFT_PYTHON_FIELDS()
};

struct Continue : Stmt {
  GRAFT_PYTHON_NODE(Continue, Stmt)
  GRAFT_PYTHON_FIELDS()
};

struct BoolOp : Expr {
  GRAFT_PYTHON_NODE(BoolOp, Expr)
  BoolOperator op{};
  Nodes<Expr> values;
  GRAFT_PYTHON_FIELDS(f("op", op); f("values", values);)
};

struct NamedExpr : Expr {
  GRAFT_PYTHON_NODE(NamedExpr, Expr)
  const Expr* target = nullptr;
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("target", target); f("value", value);)
};

struct BinOp : Expr {
  GRAFT_PYTHON_NODE(BinOp, Expr)
  BinaryOperator op{};
  const Expr* left = nullptr;
  const Expr* right = nullptr;
  GRAFT_PYTHON_FIELDS(f("left", left); f("op", op); f("right", right);)
};

struct UnaryOp : Expr {
  GRAFT_PYTHON_NODE(UnaryOp, Expr)
  UnaryOperator op{};
  const Expr* operand = nullptr;
  GRAFT_PYTHON_FIELDS(f("op", op); f("operand", operand);)
};

struct Lambda : Expr {
  GRAFT_PYTHON_NODE(Lambda, Expr)
  const Arguments* args = nullptr;
  const Expr* body = nullptr;
  GRAFT_PYTHON_FIELDS(f("args", args); f("body", body);)
};

struct IfExp : Expr {
  GRAFT_PYTHON_NODE(IfExp, Expr)
  const Expr* test = nullptr;
  const Expr* body = nullptr;
  const Expr* orelse = nullptr;
  GRAFT_PYTHON_FIELDS(f("test", test); f("body", body); f("orelse", orelse);)
};

struct Dict : Expr {
  GRAFT_PYTHON_NODE(Dict, Expr)
  Nodes<Expr> keys;  // an element may be null
  Nodes<Expr> values;
  GRAFT_PYTHON_FIELDS(f("keys", keys); f("values", values);)
};

struct Set : Expr {
  GRAFT_PYTHON_NODE(Set, Expr)
  Nodes<Expr> elts;
  GRAFT_PYTHON_FIELDS(f("elts", elts);)
};

struct ListComp : Expr {
  GRAFT_PYTHON_NODE(ListComp, Expr)
  const Expr* elt = nullptr;
  Nodes<Comprehension> generators;
  GRAFT_PYTHON_FIELDS(f("elt", elt); f("generators", generators);)
};

struct SetComp : Expr {
  GRAFT_PYTHON_NODE(SetComp, Expr)
  const Expr* elt = nullptr;
  Nodes<Comprehension> generators;
  GRAFT_PYTHON_FIELDS(f("elt", elt); f("generators", generators);)
};

struct DictComp : Expr {
  GRAFT_PYTHON_NODE(DictComp, Expr)
  const Expr* key = nullptr;
  const Expr* value = nullptr;
  Nodes<Comprehension> generators;
  GRAFT_PYTHON_FIELDS(f("key", key); f("value", value); f("generators", generators);)
};

struct GeneratorExp : Expr {
  GRAFT_PYTHON_NODE(GeneratorExp, Expr)
  const Expr* elt = nullptr;
  Nodes<Comprehension> generators;
  GRAFT_PYTHON_FIELDS(f("elt", elt); f("generators", generators);)
};

struct Await : Expr {
  GRAFT_PYTHON_NODE(Await, Expr)
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("value", value);)
};

struct Yield : Expr {
  GRAFT_PYTHON_NODE(Yield, Expr)
  const Expr* value = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("value", value);)
};

struct YieldFrom : Expr {
  GRAFT_PYTHON_NODE(YieldFrom, Expr)
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("value", value);)
};

struct Compare : Expr {
  GRAFT_PYTHON_NODE(Compare, Expr)
  const Expr* left = nullptr;
  Values<CompareOperator> ops;
  Nodes<Expr> comparators;
  GRAFT_PYTHON_FIELDS(f("left", left); f("ops", ops); f("comparators", comparators);)
};

struct Call : Expr {
  GRAFT_PYTHON_NODE(Call, Expr)
  const Expr* func = nullptr;
  Nodes<Expr> args;
  Nodes<Keyword> keywords;
  GRAFT_PYTHON_FIELDS(f("func", func); f("args", args); f("keywords", keywords);)
};

struct FormattedValue : Expr {
  GRAFT_PYTHON_NODE(FormattedValue, Expr)
  int8_t conversion = -1;  // -1, 's', 'r' or 'a'
  const Expr* value = nullptr;
  const JoinedStr* format_spec = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("value", value); f("conversion", int{conversion}); f("format_spec", format_spec);)
};

struct JoinedStr : Expr {
  GRAFT_PYTHON_NODE(JoinedStr, Expr)
  Nodes<Expr> values;
  GRAFT_PYTHON_FIELDS(f("values", values);)
};

struct Constant : Expr {
  GRAFT_PYTHON_NODE(Constant, Expr)
  bool u_prefix = false;  // written u"..."
  ConstantValue value;
  GRAFT_PYTHON_FIELDS(f("value", value); f("kind", u_prefix ? Identifier("u") : Identifier());)
};

struct Attribute : Expr {
  GRAFT_PYTHON_NODE(Attribute, Expr)
  ExprContext ctx = ExprContext::kLoad;
  const Expr* value = nullptr;
  Identifier attr;
  GRAFT_PYTHON_FIELDS(f("value", value); f("attr", attr); f("ctx", ctx);)
};

struct Subscript : Expr {
  GRAFT_PYTHON_NODE(Subscript, Expr)
  ExprContext ctx = ExprContext::kLoad;
  const Expr* value = nullptr;
  const Expr* slice = nullptr;
  GRAFT_PYTHON_FIELDS(f("value", value); f("slice", slice); f("ctx", ctx);)
};

struct Starred : Expr {
  GRAFT_PYTHON_NODE(Starred, Expr)
  ExprContext ctx = ExprContext::kLoad;
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("value", value); f("ctx", ctx);)
};

struct Name : Expr {
  GRAFT_PYTHON_NODE(Name, Expr)
  ExprContext ctx = ExprContext::kLoad;
  Identifier id;
  GRAFT_PYTHON_FIELDS(f("id", id); f("ctx", ctx);)
};

struct List : Expr {
  GRAFT_PYTHON_NODE(List, Expr)
  ExprContext ctx = ExprContext::kLoad;
  Nodes<Expr> elts;
  GRAFT_PYTHON_FIELDS(f("elts", elts); f("ctx", ctx);)
};

struct Tuple : Expr {
  GRAFT_PYTHON_NODE(Tuple, Expr)
  ExprContext ctx = ExprContext::kLoad;
  Nodes<Expr> elts;
  GRAFT_PYTHON_FIELDS(f("elts", elts); f("ctx", ctx);)
};

struct Slice : Expr {
  GRAFT_PYTHON_NODE(Slice, Expr)
  const Expr* lower = nullptr;  // may be null
  const Expr* upper = nullptr;  // may be null
  const Expr* step = nullptr;   // may be null
  GRAFT_PYTHON_FIELDS(f("lower", lower); f("upper", upper); f("step", step);)
};

struct Comprehension : Node {
  GRAFT_PYTHON_NODE(Comprehension, Node)
  bool is_async = false;
  const Expr* target = nullptr;
  const Expr* iter = nullptr;
  Nodes<Expr> ifs;
  GRAFT_PYTHON_FIELDS(f("target", target); f("iter", iter); f("ifs", ifs); f("is_async", int{is_async});)
};

struct ExceptHandler : Node {
  GRAFT_PYTHON_NODE(ExceptHandler, Node)
  const Expr* type = nullptr;  // may be null
  Identifier name;             // may be absent
  Nodes<Stmt> body;
  GRAFT_PYTHON_FIELDS(f("type", type); f("name", name); f("body", body);)
};

struct Arguments : Node {
  GRAFT_PYTHON_NODE(Arguments, Node)
  Nodes<Arg> posonlyargs;
  Nodes<Arg> args;
  const Arg* vararg = nullptr;  // may be null
  Nodes<Arg> kwonlyargs;
  Nodes<Expr> kw_defaults;     // an element may be null
  const Arg* kwarg = nullptr;  // may be null
  Nodes<Expr> defaults;
  GRAFT_PYTHON_FIELDS(f("posonlyargs", posonlyargs); f("args", args); f("vararg", vararg);
                      f("kwonlyargs", kwonlyargs); f("kw_defaults", kw_defaults); f("kwarg", kwarg);
                      f("defaults", defaults);)
};

struct Arg : Node {
  GRAFT_PYTHON_NODE(Arg, Node)
  Identifier arg;
  const Expr* annotation = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("arg", arg); f("annotation", annotation);)
};

struct Keyword : Node {
  GRAFT_PYTHON_NODE(Keyword, Node)
  Identifier arg;  // may be absent
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("arg", arg); f("value", value);)
};

struct Alias : Node {
  GRAFT_PYTHON_NODE(Alias, Node)
  Identifier name;
  Identifier asname;  // may be absent
  GRAFT_PYTHON_FIELDS(f("name", name); f("asname", asname);)
};

struct WithItem : Node {
  GRAFT_PYTHON_NODE(WithItem, Node)
  const Expr* context_expr = nullptr;
  const Expr* optional_vars = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("context_expr", context_expr); f("optional_vars", optional_vars);)
};

struct MatchCase : Node {
  GRAFT_PYTHON_NODE(MatchCase, Node)
  const Pattern* pattern = nullptr;
  const Expr* guard = nullptr;  // may be null
  Nodes<Stmt> body;
  GRAFT_PYTHON_FIELDS(f("pattern", pattern); f("guard", guard); f("body", body);)
};

struct MatchValue : Pattern {
  GRAFT_PYTHON_NODE(MatchValue, Pattern)
  const Expr* value = nullptr;
  GRAFT_PYTHON_FIELDS(f("value", value);)
};

struct MatchSingleton : Pattern {
  GRAFT_PYTHON_NODE(MatchSingleton, Pattern)
  ConstantValue value;
  GRAFT_PYTHON_FIELDS(f("value", value);)
};

struct MatchSequence : Pattern {
  GRAFT_PYTHON_NODE(MatchSequence, Pattern)
  Nodes<Pattern> patterns;
  GRAFT_PYTHON_FIELDS(f("patterns", patterns);)
};

struct MatchMapping : Pattern {
  GRAFT_PYTHON_NODE(MatchMapping, Pattern)
  Nodes<Expr> keys;
  Nodes<Pattern> patterns;
  Identifier rest;  // may be absent
  GRAFT_PYTHON_FIELDS(f("keys", keys); f("patterns", patterns); f("rest", rest);)
};

struct MatchClass : Pattern {
  GRAFT_PYTHON_NODE(MatchClass, Pattern)
  const Expr* cls = nullptr;
  Nodes<Pattern> patterns;
  Values<Identifier> kwd_attrs;
  Nodes<Pattern> kwd_patterns;
  GRAFT_PYTHON_FIELDS(f("cls", cls); f("patterns", patterns); f("kwd_attrs", kwd_attrs);
                      f("kwd_patterns", kwd_patterns);)
};

struct MatchStar : Pattern {
  GRAFT_PYTHON_NODE(MatchStar, Pattern)
  Identifier name;  // may be absent
  GRAFT_PYTHON_FIELDS(f("name", name);)
};

struct MatchAs : Pattern {
  GRAFT_PYTHON_NODE(MatchAs, Pattern)
  const Pattern* pattern = nullptr;  // may be null
  Identifier name;                   // may be absent
  GRAFT_PYTHON_FIELDS(f("pattern", pattern); f("name", name);)
};

struct MatchOr : Pattern {
  GRAFT_PYTHON_NODE(MatchOr, Pattern)
  Nodes<Pattern> patterns;
  GRAFT_PYTHON_FIELDS(f("patterns", patterns);)
};

struct TypeVar : TypeParam {
  GRAFT_PYTHON_NODE(TypeVar, TypeParam)
  Identifier name;
  const Expr* bound = nullptr;          // may be null
  const Expr* default_value = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("name", name); f("bound", bound); f("default_value", default_value);)
};

struct ParamSpec : TypeParam {
  GRAFT_PYTHON_NODE(ParamSpec, TypeParam)
  Identifier name;
  const Expr* default_value = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("name", name); f("default_value", default_value);)
};

struct TypeVarTuple : TypeParam {
  GRAFT_PYTHON_NODE(TypeVarTuple, TypeParam)
  Identifier name;
  const Expr* default_value = nullptr;  // may be null
  GRAFT_PYTHON_FIELDS(f("name", name); f("default_value", default_value);)
};

#undef GRAFT_PYTHON_NODE
#undef GRAFT_PYTHON_FIELDS

// Calls f(concrete reference) for the class of `node`.
template <class F>
decltype(auto) dispatch(const Node& node, F&& f) {
  switch (node.kind) {
#define GRAFT_PYTHON_CASE(Class, name) \
  case NodeKind::k##Class:             \
    return f(static_cast<const Class&>(node));
    GRAFT_PYTHON_NODE_KINDS(GRAFT_PYTHON_CASE)
#undef GRAFT_PYTHON_CASE
  }
  __builtin_unreachable();
}

}  // namespace graft::python
