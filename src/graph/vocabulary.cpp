#include "graph/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "graph/signatures.h"

namespace graft::graph {
namespace {

// Spellings of torch.dtype objects; the second is the one torch prints.
const std::unordered_map<std::string_view, std::string_view>& dtypes() {
  static const std::unordered_map<std::string_view, std::string_view> kDtypes = {
      {"float32", "float32"},
      {"float", "float32"},
      {"float64", "float64"},
      {"double", "float64"},
      {"float16", "float16"},
      {"half", "float16"},
      {"bfloat16", "bfloat16"},
      {"uint8", "uint8"},
      {"int8", "int8"},
      {"int16", "int16"},
      {"short", "int16"},
      {"int32", "int32"},
      {"int", "int32"},
      {"int64", "int64"},
      {"long", "int64"},
      {"bool", "bool"},
      {"complex32", "complex32"},
      {"chalf", "complex32"},
      {"complex64", "complex64"},
      {"cfloat", "complex64"},
      {"complex128", "complex128"},
      {"cdouble", "complex128"},
      {"quint8", "quint8"},
      {"qint8", "qint8"},
      {"qint32", "qint32"},
      {"quint4x2", "quint4x2"},
      {"quint2x4", "quint2x4"},
      {"uint16", "uint16"},
      {"uint32", "uint32"},
      {"uint64", "uint64"},
      {"bits8", "bits8"},
      {"bits16", "bits16"},
      {"float8_e4m3fn", "float8_e4m3fn"},
      {"float8_e5m2", "float8_e5m2"},
      {"float8_e4m3fnuz", "float8_e4m3fnuz"},
      {"float8_e5m2fnuz", "float8_e5m2fnuz"},
      {"float8_e8m0fnu", "float8_e8m0fnu"},
      {"float4_e2m1fn_x2", "float4_e2m1fn_x2"}};
  return kDtypes;
}

constexpr std::array<OperatorSyntax, 39> kOperators = {{
    {"add", "+", 2, false},       {"sub", "-", 2, false},        {"mul", "*", 2, false},
    {"matmul", "@", 2, false},    {"truediv", "/", 2, false},    {"mod", "%", 2, false},
    {"pow", "**", 2, false},      {"lshift", "<<", 2, false},    {"rshift", ">>", 2, false},
    {"or_", "|", 2, false},       {"xor", "^", 2, false},        {"and_", "&", 2, false},
    {"floordiv", "//", 2, false}, {"eq", "==", 2, false},        {"ne", "!=", 2, false},
    {"lt", "<", 2, false},        {"le", "<=", 2, false},        {"gt", ">", 2, false},
    {"ge", ">=", 2, false},       {"is_", "is", 2, false},       {"is_not", "is not", 2, false},
    {"invert", "~", 1, false},    {"not_", "not ", 1, false},    {"pos", "+", 1, false},
    {"neg", "-", 1, false},       {"iadd", "+=", 2, true},       {"isub", "-=", 2, true},
    {"imul", "*=", 2, true},      {"imatmul", "@=", 2, true},    {"itruediv", "/=", 2, true},
    {"imod", "%=", 2, true},      {"ipow", "**=", 2, true},      {"ilshift", "<<=", 2, true},
    {"irshift", ">>=", 2, true},  {"ior", "|=", 2, true},        {"ixor", "^=", 2, true},
    {"iand", "&=", 2, true},      {"ifloordiv", "//=", 2, true}, {"contains", "in", 2, false},
}};

constexpr std::string_view kOperatorModule = "_operator.";

}  // namespace

std::optional<Value> literal_of_global(Graph& graph, std::string_view dotted) {
  const size_t dot = dotted.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view module = dotted.substr(0, dot);
  const std::string_view name = dotted.substr(dot + 1);
  if (module != "torch" && module != "math") return std::nullopt;
  if (name == "inf") return Value::of_float(std::numeric_limits<double>::infinity());
  if (name == "nan") return Value::of_float(std::numeric_limits<double>::quiet_NaN());
  if (name == "pi") return Value::of_float(3.141592653589793);
  if (name == "e") return Value::of_float(2.718281828459045);
  if (module == "math") return std::nullopt;
  if (const auto found = dtypes().find(name); found != dtypes().end()) {
    return Value::of_symbol(ValueKind::kDtype, graph.intern("torch." + std::string(found->second)));
  }
  static const std::unordered_set<std::string_view> kLayouts = {
      "strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "jagged"};
  if (kLayouts.contains(name)) return Value::of_symbol(ValueKind::kLayout, graph.intern(dotted));
  static const std::unordered_set<std::string_view> kFormats = {"contiguous_format", "preserve_format",
                                                                "channels_last", "channels_last_3d"};
  if (kFormats.contains(name)) return Value::of_symbol(ValueKind::kMemoryFormat, graph.intern(dotted));
  return std::nullopt;
}

std::string canonical_function(std::string_view dotted) {
  if (dotted.starts_with("operator.")) return std::string(kOperatorModule) + std::string(dotted.substr(9));
  return std::string(preferred_name(dotted));
}

bool is_callable_builtin(std::string_view name) {
  static const std::unordered_set<std::string_view> kNames = {
      "abs", "bool", "divmod", "float", "getattr", "int", "len", "max", "min", "pow", "round", "sum"};
  return kNames.contains(name);
}

const OperatorSyntax* operator_syntax(std::string_view target) {
  if (!target.starts_with(kOperatorModule)) return nullptr;
  target.remove_prefix(kOperatorModule.size());
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                   [&](const OperatorSyntax& syntax) { return syntax.function == target; });
  return found == kOperators.end() ? nullptr : found;
}

}  // namespace graft::graph
