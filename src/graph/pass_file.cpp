#include "graph/pass_file.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "graph/importer.h"

namespace graft::graph {
namespace {

constexpr std::string_view kOutputList = "sorted_output_pass_rule_names.json";
constexpr std::string_view kInputList = "sorted_input_pass_rule_names.json";

std::string stem_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name.ends_with(".py")) name.remove_suffix(3);
  return std::string(name);
}

Result<const python::FunctionBase*> find_function(const ModuleScope& scope, std::string_view name) {
  const ModuleScope::Binding* binding = scope.find(name);
  if (binding == nullptr) {
    return input_error("the pass file has no function '" + std::string(name) + "'",
                       Place{scope.module->source.file(), 0, 0},
                       "functions pattern, replacement_args and replacement_func at module level");
  }
  if (binding->kind != ModuleScope::Kind::kFunction) {
    const uint32_t at = binding->value != nullptr ? binding->value->begin : 0;
    return input_error("'" + std::string(name) + "' is not defined as a function",
                       scope.module->source.place(at), "def " + std::string(name) + "(...)");
  }
  return binding->function;
}

std::vector<std::string> parameter_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.placeholders()) names.emplace_back(graph.target(id));
  return names;
}

Result<std::vector<std::string>> read_names(const std::string& path) {
  std::vector<std::string> names;
  if (!is_regular_file(path)) return names;
  GRAFT_ASSIGN_OR_RETURN(const std::string text, read_file(path));
  GRAFT_ASSIGN_OR_RETURN(const Json list, Json::parse(text, path));
  if (!list.is_array())
    return input_error("the pass list is no list", Place{path, 1, 1}, "a JSON list of file stems");
  for (const Json& item : list.items()) {
    if (!item.is_string())
      return input_error("the pass list holds something that is no name", Place{path, 1, 1});
    names.push_back(item.as_string());
  }
  return names;
}

}  // namespace

Result<PassFile> load_pass_text(std::string text, std::string name, std::string path) {
  GRAFT_ASSIGN_OR_RETURN(const python::ParsedModule module,
                         python::parse_text(std::move(text), path.empty() ? name + ".py" : path));
  PassFile pass;
  pass.name = std::move(name);
  pass.path = std::move(path);
  const ModuleScope scope = read_scope(module);
  GRAFT_ASSIGN_OR_RETURN(const python::FunctionBase* pattern, find_function(scope, "pattern"));
  GRAFT_ASSIGN_OR_RETURN(const python::FunctionBase* arguments, find_function(scope, "replacement_args"));
  GRAFT_ASSIGN_OR_RETURN(const python::FunctionBase* function, find_function(scope, "replacement_func"));
  const python::SourceText& source = module.source;
  const auto& parameters = *function->args;
  if (parameters.posonlyargs.size() + parameters.args.size() > parameters.defaults.size()) {
    return input_error("replacement_func must take no arguments", source.place(function->begin),
                       "def replacement_func():");
  }

  ImportOptions options;
  options.unroll = true;
  GRAFT_ASSIGN_OR_RETURN(pass.pattern, import_function(scope, *pattern, options));
  pass.pattern.name = pass.name;
  GRAFT_ASSIGN_OR_RETURN(pass.replacement_args, import_function(scope, *arguments, options));
  pass.replacement_args.name = pass.name;
  if (parameter_names(pass.pattern) != parameter_names(pass.replacement_args)) {
    // A replacement_args that takes the pattern's values positionally under other names is fine; a different
    // count is not.
    if (pass.pattern.placeholders().size() != pass.replacement_args.placeholders().size()) {
      return input_error("replacement_args takes " +
                             std::to_string(pass.replacement_args.placeholders().size()) +
                             " parameters, pattern " + std::to_string(pass.pattern.placeholders().size()),
                         source.place(arguments->begin), "the parameters of pattern, in the same order");
    }
  }

  const Value output = pass.pattern.node(pass.pattern.output()).args[0];
  if (output.is_sequence()) {
    const auto children = pass.pattern.children(output);
    pass.outputs.assign(children.begin(), children.end());
  } else {
    pass.outputs.push_back(output);
  }
  if (pass.outputs.empty() ||
      std::any_of(pass.outputs.begin(), pass.outputs.end(), [](Value value) { return !value.is_node(); })) {
    return input_error("pattern must return values it computes", source.place(pattern->begin),
                       "one value or a flat tuple of values");
  }
  pass.violations = check_source_rules(module);
  return pass;
}

Result<PassFile> load_pass_file(const std::string& path) {
  GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(path));
  return load_pass_text(std::move(text), stem_of(path), path);
}

Result<Graph> load_pattern_text(std::string text, std::string name, std::string path) {
  GRAFT_ASSIGN_OR_RETURN(const python::ParsedModule module,
                         python::parse_text(std::move(text), path.empty() ? name + ".py" : std::move(path)));
  const ModuleScope scope = read_scope(module);
  GRAFT_ASSIGN_OR_RETURN(const python::FunctionBase* function, find_function(scope, "pattern"));
  ImportOptions options;
  options.unroll = true;
  GRAFT_ASSIGN_OR_RETURN(Graph pattern, import_function(scope, *function, options));
  pattern.name = std::move(name);
  return pattern;
}

Result<Graph> load_pattern_file(const std::string& path) {
  GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(path));
  return load_pattern_text(std::move(text), stem_of(path), path);
}

Result<std::vector<PassListEntry>> read_pass_list(const std::string& pass_dir,
                                                  const std::string& const_pass_dir) {
  GRAFT_ASSIGN_OR_RETURN(const std::vector<std::string> outputs,
                         read_names(join_path(pass_dir, kOutputList)));
  std::vector<std::string> inputs;
  if (!const_pass_dir.empty()) {
    GRAFT_ASSIGN_OR_RETURN(inputs, read_names(join_path(const_pass_dir, kInputList)));
  }
  const std::string reorder_path = join_path(pass_dir, kInputList);
  if (is_regular_file(reorder_path)) {
    GRAFT_ASSIGN_OR_RETURN(std::vector<std::string> reordered, read_names(reorder_path));
    std::vector<std::string> a = inputs;
    std::vector<std::string> b = reordered;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    if (a != b) {
      return input_error("the order of the input passes must name exactly the input passes",
                         Place{reorder_path, 1, 1},
                         "a permutation of " + std::string(kInputList) + " of the input folder");
    }
    inputs = std::move(reordered);
  }
  std::vector<PassListEntry> entries;
  auto is_output = [&](const std::string& name) {
    return std::find(outputs.begin(), outputs.end(), name) != outputs.end();
  };
  for (const std::string& name : inputs) {
    const bool replaced = is_output(name);
    entries.push_back({name, join_path(replaced ? pass_dir : const_pass_dir, name + ".py"), !replaced});
  }
  for (const std::string& name : outputs) {
    if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) {
      entries.push_back({name, join_path(pass_dir, name + ".py"), false});
    }
  }
  return entries;
}

Result<std::vector<PassFile>> load_pass_folder(const std::string& pass_dir,
                                               const std::string& const_pass_dir) {
  if (!is_directory(pass_dir)) return input_error("there is no pass folder", Place{pass_dir, 0, 0});
  GRAFT_ASSIGN_OR_RETURN(const std::vector<PassListEntry> entries, read_pass_list(pass_dir, const_pass_dir));
  std::vector<PassFile> passes;
  for (const PassListEntry& entry : entries) {
    GRAFT_ASSIGN_OR_RETURN(PassFile pass, load_pass_file(entry.path));
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace graft::graph
