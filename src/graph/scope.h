// The names a module binds at its top level, read from its text: imports, functions, and assignments of names
// or literals.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "python/parser.h"

namespace graft::graph {

struct ModuleScope {
  // kDynamic: bound or changed by a statement whose effect only running the file tells.
  enum class Kind { kModule, kFunction, kAssignment, kClass, kDynamic };
  struct Binding {
    Kind kind = Kind::kModule;
    std::string dotted;  // kModule: what the name stands for, such as "torch.nn.functional"
    const python::FunctionBase* function = nullptr;  // kFunction
    const python::Expr* value = nullptr;             // kAssignment: the right side
    const python::ClassDef* class_ = nullptr;        // kClass
  };

  const python::ParsedModule* module = nullptr;
  std::unordered_map<std::string_view, Binding> names;
  std::vector<std::string> imports;  // modules named by import statements, in order, each once

  const Binding* find(std::string_view name) const {
    const auto found = names.find(name);
    return found == names.end() ? nullptr : &found->second;
  }
};

// Later bindings of a name replace earlier ones. Names that loops, conditions, augmented assignments and the
// like bind, and containers that a later statement may have changed, are kDynamic. The views refer to
// `module`, which must outlive the scope.
ModuleScope read_scope(const python::ParsedModule& module);

// Makes the names that some function declares `global` kDynamic as well. Walks the whole file.
void note_globals(ModuleScope& scope);

}  // namespace graft::graph
