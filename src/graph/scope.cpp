#include "graph/scope.h"

#include <algorithm>

#include "python/visitor.h"

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

// A value that no call or method can change: a number, a text, arithmetic on these.
bool is_immutable(const python::Expr* value) {
  using python::NodeKind;
  if (value == nullptr) return false;
  bool plain = true;
  python::walk(*value, [&](const python::Node& node) {
    plain = plain && (node.kind == NodeKind::kConstant || node.kind == NodeKind::kUnaryOp ||
                      node.kind == NodeKind::kBinOp || node.kind == NodeKind::kTuple ||
                      node.kind == NodeKind::kAttribute || node.kind == NodeKind::kName);
  });
  return plain;
}

bool is_main_guard(const python::Stmt& statement) {
  const auto* condition = python::node_cast<python::If>(&statement);
  const auto* compare = condition != nullptr ? python::node_cast<python::Compare>(condition->test) : nullptr;
  const auto* name = compare != nullptr ? python::node_cast<python::Name>(compare->left) : nullptr;
  return name != nullptr && name->id == "__name__" && compare->ops[0] == python::CompareOperator::kEq;
}

// Names that a statement other than a definition, an import or a plain assignment binds or may change.
void note_dynamic(ModuleScope& scope, const python::Stmt& statement) {
  auto bind = [&](std::string_view name) {
    ModuleScope::Binding binding;
    binding.kind = ModuleScope::Kind::kDynamic;
    scope.names[name] = binding;
  };
  python::walk(statement, [&](const python::Node& node) {
    if (const auto* function = python::node_cast<python::FunctionBase>(&node)) {
      bind(function->name);
      return python::Visit::kSkipChildren;
    }
    if (const auto* class_ = python::node_cast<python::ClassDef>(&node)) {
      bind(class_->name);
      return python::Visit::kSkipChildren;
    }
    const auto* name = python::node_cast<python::Name>(&node);
    if (name == nullptr) return python::Visit::kContinue;
    if (name->ctx != python::ExprContext::kLoad) {
      bind(name->id);
    } else if (const ModuleScope::Binding* known = scope.find(name->id);
               known != nullptr && known->kind == ModuleScope::Kind::kAssignment &&
               !is_immutable(known->value)) {
      bind(name->id);
    }
    return python::Visit::kContinue;
  });
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
        if (const auto* name = python::node_cast<python::Name>(target)) {
          scope.names[name->id] = binding;
        } else {
          note_dynamic(scope, *statement);
          break;
        }
      }
    } else if (const auto* annotated = python::node_cast<python::AnnAssign>(statement)) {
      const auto* name = python::node_cast<python::Name>(annotated->target);
      if (name != nullptr && annotated->value != nullptr) {
        binding.kind = ModuleScope::Kind::kAssignment;
        binding.value = annotated->value;
        scope.names[name->id] = binding;
      }
    } else if (statement->kind != python::NodeKind::kImport &&
               statement->kind != python::NodeKind::kImportFrom && !is_main_guard(*statement)) {
      note_dynamic(scope, *statement);
    }
  }
  return scope;
}

void note_globals(ModuleScope& scope) {
  python::walk(*scope.module->module, [&](const python::Node& node) {
    const auto* global = python::node_cast<python::Global>(&node);
    if (global == nullptr) return;
    for (const std::string_view name : global->names) {
      ModuleScope::Binding binding;
      binding.kind = ModuleScope::Kind::kDynamic;
      scope.names[name] = binding;
    }
  });
}

}  // namespace graft::graph
