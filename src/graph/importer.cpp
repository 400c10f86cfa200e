#include "graph/importer.h"

#include <utility>

#include "base/file.h"
#include "graph/evaluator.h"

namespace graft::graph {

Result<Graph> import_function(const ModuleScope& scope, const python::FunctionBase& function,
                              const ImportOptions& options) {
  return Evaluator(scope, options).run(function);
}

Result<Graph> import_model(const python::ParsedModule& module) {
  if (!module.ok()) return module.errors.front();
  const ModuleScope scope = read_scope(module);
  const std::string& file = module.source.file();
  const ModuleScope::Binding* binding = scope.find("GraphModule");
  if (binding == nullptr || binding->kind != ModuleScope::Kind::kClass) {
    return input_error("the file has no class GraphModule", Place{file, 0, 0},
                       "class GraphModule(torch.nn.Module)");
  }
  const python::FunctionBase* forward = nullptr;
  for (const python::Stmt* member : binding->class_->body) {
    const auto* function = python::node_cast<python::FunctionBase>(member);
    if (function != nullptr && function->name == "forward") forward = function;
  }
  if (forward == nullptr) {
    return input_error("class GraphModule has no forward", module.source.place(binding->class_->begin),
                       "def forward(self, ...)");
  }
  ImportOptions options;
  options.method = true;
  GRAFT_ASSIGN_OR_RETURN(Graph graph, import_function(scope, *forward, options));
  graph.name = "GraphModule";
  graph.imports = scope.imports;
  // The text of whole lines, so that the printer can put it back with its indentation.
  auto append_lines = [&](std::string& out, const python::Node& node, uint32_t begin) {
    const python::SourceText& source = module.source;
    const uint32_t first = source.line_begin(source.line_of(begin));
    out += source.text().substr(first, node.end - first);
    out += '\n';
  };
  auto begin_of = [](const python::Stmt& statement) {
    const auto* function = python::node_cast<python::FunctionBase>(&statement);
    const auto* inner = python::node_cast<python::ClassDef>(&statement);
    const auto& decorators = function != nullptr ? function->decorator_list
                             : inner != nullptr  ? inner->decorator_list
                                                 : python::Nodes<python::Expr>();
    return decorators.empty() ? statement.begin : decorators.front()->begin;
  };
  for (const python::Stmt* member : binding->class_->body) {
    if (member != forward && member->kind != python::NodeKind::kPass)
      append_lines(graph.members, *member, begin_of(*member));
  }
  std::string import_lines;
  for (const python::Stmt* statement : module.module->body) {
    if (statement == binding->class_) break;
    if (statement->kind == python::NodeKind::kImport || statement->kind == python::NodeKind::kImportFrom) {
      const std::string text(
          module.source.text().substr(statement->begin, statement->end - statement->begin));
      if (import_lines.find(text + "\n") == std::string::npos) import_lines += text + "\n";
      continue;
    }
    // Names the printer saved; it saves them again where they are needed.
    if (const auto* assign = python::node_cast<python::Assign>(statement)) {
      const auto* name = python::node_cast<python::Name>(assign->targets[0]);
      if (name != nullptr && name->id.starts_with("_graft_")) continue;
    }
    append_lines(graph.prelude, *statement, begin_of(*statement));
  }
  // Text that is kept needs the names it was written with.
  if (!graph.prelude.empty() || !graph.members.empty()) graph.prelude = import_lines + graph.prelude;
  return graph;
}

Result<Graph> import_model_text(std::string text, std::string file) {
  GRAFT_ASSIGN_OR_RETURN(const python::ParsedModule module,
                         python::parse_text(std::move(text), std::move(file)));
  return import_model(module);
}

Result<Graph> import_model_file(const std::string& path) {
  GRAFT_ASSIGN_OR_RETURN(const python::ParsedModule module, python::parse_file(path));
  return import_model(module);
}

}  // namespace graft::graph
