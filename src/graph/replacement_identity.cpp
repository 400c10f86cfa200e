#include "graph/replacement_identity.h"

#include <string_view>

#include "graph/scope.h"
#include "python/ast.h"

namespace graft::graph {
namespace {

// The name in `return NAME` where that is all a function returns; empty otherwise.
std::string_view returned_name(const python::FunctionBase& function) {
  std::string_view name;
  for (const python::Stmt* statement : function.body) {
    const auto* returned = python::node_cast<python::Return>(statement);
    if (returned == nullptr) continue;
    const auto* value =
        returned->value != nullptr ? python::node_cast<python::Name>(returned->value) : nullptr;
    if (value == nullptr || !name.empty()) return {};
    name = value->id;
  }
  return name;
}

}  // namespace

std::string replacement_identity(const python::ParsedModule& module, const std::string& path) {
  const ModuleScope scope = read_scope(module);
  const ModuleScope::Binding* maker = scope.find("replacement_func");
  if (maker == nullptr || maker->kind != ModuleScope::Kind::kFunction) return path;
  const std::string_view name = returned_name(*maker->function);
  if (name.empty()) return path;
  const ModuleScope::Binding* binding = scope.find(name);
  if (binding != nullptr && binding->kind == ModuleScope::Kind::kModule) return binding->dotted;
  return path + ":" + std::string(name);
}

std::string replacement_identity(const std::string& path) {
  Result<python::ParsedModule> module = python::parse_file(path);
  return module.ok() ? replacement_identity(*module, path) : path;
}

}  // namespace graft::graph
