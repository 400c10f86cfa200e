// What is known about torch's functions: parameters, defaults, aliases, writes, random numbers. The table is
// made from torch's own operator schemas by scripts/make_torch_signatures.py.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace graft::graph {

// The torch the table was made from, such as "2.11.0".
std::string_view signature_table_version();

struct Parameter {
  std::string_view name;
  std::string_view type;   // "Tensor", "int[2]", "ScalarType?"; "any" for functions written in Python
  std::string_view alias;  // the alias set of the schema, empty for none
  bool written = false;    // the argument is written to
  bool keyword_only = false;
  bool variadic = false;  // *name or **name
  bool has_default = false;
  Value default_value;  // lies in default_values(); kUnknown where the default cannot be written down
};

struct Signature {
  std::vector<Parameter> parameters;
  std::vector<std::string_view>
      result_aliases;      // per result: the alias set it shares, empty for a fresh value
  bool random = false;     // draws random numbers
  bool may_alias = false;  // may return (a view of) its first argument
};

struct Callable {
  std::string_view name;           // "torch.sum", ".sum" for the method
  std::string_view operator_name;  // of torch.ops.aten: "sum"; empty for functions written in Python
  bool python = false;
  bool wrapped = false;  // reached through a Python wrapper of *args and **kwargs
  std::vector<Signature> overloads;
  // How a function written in Python hands its arguments to __torch_function__; both empty where that is not
  // known.
  std::vector<std::string_view> dispatch_positional;
  std::vector<std::string_view> dispatch_keywords;
};

// The graph whose value pool and symbols the default values belong to.
const Graph& default_values();

// The facts about what a node calls, or nullptr where the table has none. Thread-safe; pointers stay valid.
const Callable* find_callable(const Graph& graph, NodeId id);
const Callable* find_function(std::string_view name);
const Callable* find_method(std::string_view name);

// The name of the same function object that the table's torch prefers, or `name` itself.
std::string_view preferred_name(std::string_view name);

// One call with its arguments under the names of a signature.
struct BoundCall {
  enum class Source : uint8_t { kDefault, kValue, kPacked };
  struct Argument {
    Source source = Source::kDefault;
    Value value;  // kValue: the value as written
    uint32_t first =
        0;  // kPacked: the positional arguments [first, first + count) form one list, as in x.view(2, 3)
    uint32_t count = 0;
  };
  const Callable* callable = nullptr;
  const Signature* signature = nullptr;
  std::vector<Argument> arguments;  // by parameter of the signature

  // The argument of a parameter, or nullptr where the signature has none of that name.
  const Argument* find(std::string_view parameter) const;
};

// Binds a node's arguments. Nothing where the call is unknown, fits no overload, or fits several that would
// give an argument different names.
std::optional<BoundCall> bind_call(const Graph& graph, NodeId id);
// All overloads the call fits, in the table's order.
std::vector<BoundCall> bind_all(const Graph& graph, NodeId id);

}  // namespace graft::graph
