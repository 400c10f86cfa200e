#include "graph/scope.h"

#include <algorithm>

namespace graft::graph {
namespace {

void note_import(ModuleScope& scope, std::string_view module) {
  if (std::find(scope.imports.begin(), scope.imports.end(), module) == scope.imports.end()) {
    scope.imports.emplace_back(module);
  }
}

void bind_imports(ModuleScope& scope, const python::Stmt& statement) {
  if (const auto* import = python::node_cast<python::Import>(&statement)) {
    for (const python::Alias* alias : import->names) {
      ModuleScope::Binding binding;
      note_import(scope, alias->name);
      if (python::present(alias->asname)) {
        binding.dotted = alias->name;
        scope.names[alias->asname] = std::move(binding);
      } else {
        // `import a.b` binds a.
        const std::string_view root = alias->name.substr(0, alias->name.find('.'));
        binding.dotted = root;
        scope.names[root] = std::move(binding);
      }
    }
  } else if (const auto* from = python::node_cast<python::ImportFrom>(&statement)) {
    std::string module(from->level, '.');
    if (python::present(from->module)) module += from->module;
    note_import(scope, module);
    for (const python::Alias* alias : from->names) {
      if (alias->name == "*") continue;
      ModuleScope::Binding binding;
      binding.dotted = module + "." + std::string(alias->name);
      scope.names[python::present(alias->asname) ? alias->asname : alias->name] = std::move(binding);
    }
  }
}

}  // namespace

ModuleScope read_scope(const python::ParsedModule& module) {
  ModuleScope scope;
  scope.module = &module;
  for (const python::Stmt* statement : module.module->body) {
    bind_imports(scope, *statement);
    ModuleScope::Binding binding;
    if (const auto* function = python::node_cast<python::FunctionBase>(statement)) {
      binding.kind = ModuleScope::Kind::kFunction;
      binding.function = function;
      scope.names[function->name] = binding;
    } else if (const auto* class_ = python::node_cast<python::ClassDef>(statement)) {
      binding.kind = ModuleScope::Kind::kClass;
      binding.class_ = class_;
      scope.names[class_->name] = binding;
    } else if (const auto* assign = python::node_cast<python::Assign>(statement)) {
      binding.kind = ModuleScope::Kind::kAssignment;
      binding.value = assign->value;
      for (const python::Expr* target : assign->targets) {
        if (const auto* name = python::node_cast<python::Name>(target)) scope.names[name->id] = binding;
      }
    } else if (const auto* annotated = python::node_cast<python::AnnAssign>(statement)) {
      const auto* name = python::node_cast<python::Name>(annotated->target);
      if (name != nullptr && annotated->value != nullptr) {
        binding.kind = ModuleScope::Kind::kAssignment;
        binding.value = annotated->value;
        scope.names[name->id] = binding;
      }
    }
  }
  return scope;
}

}  // namespace graft::graph
