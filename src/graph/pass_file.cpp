#include "graph/pass_file.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "graph/importer.h"
#include "graph/printer.h"
#include "python/visitor.h"

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

// replacement_args may look at its values (shapes, elements of tuples, arithmetic on both), not compute with
// them.
void check_replacement_args(PassFile& pass) {
  const Graph& graph = pass.replacement_args;
  std::vector<char> plain(graph.pool_size(), 0);  // numbers and tuples of numbers
  for (NodeId id = graph.first(); id != kNoNode; id = graph.next(id)) {
    const Node& node = graph.node(id);
    if (node.op == Op::kPlaceholder || node.op == Op::kOutput) continue;
    const std::string_view target = graph.target(id);
    if (node.op == Op::kCallMethod) {
      static const std::unordered_set<std::string_view> kQueries = {
          "size",       "stride",       "dim",           "numel",         "nelement",
          "ndimension", "element_size", "is_contiguous", "storage_offset"};
      plain[id] = kQueries.contains(target) ? 1 : 0;
    } else if (node.op == Op::kCallFunction && target == "builtins.getattr") {
      const bool view = node.args.size() > 1 && node.args[1].kind == ValueKind::kString &&
                        (graph.text(node.args[1].index) == "T" || graph.text(node.args[1].index) == "mT");
      plain[id] = view ? 0 : 1;
    } else if (node.op == Op::kCallFunction &&
               (target.starts_with("_operator.") || target.starts_with("builtins.") ||
                target.starts_with("math."))) {
      plain[id] = 1;
      // An element of a parameter may be an element of a tuple as well as a slice of a tensor: a view either
      // way.
      if (target == "_operator.getitem") continue;
      graph.for_each_input(id, [&](NodeId input) {
        if (!plain[input]) plain[id] = 0;
      });
    }
    if (plain[id]) continue;
    Violation violation;
    violation.rule = "computes-arguments";
    violation.message =
        "replacement_args computes " + print_node(graph, id) + ", which runs outside the replacement";
    violation.place = Place{graph.file, node.lines.first, node.lines.column};
    pass.violations.push_back(std::move(violation));
  }
}

// Modules of the same folder tree that a pass imports are held to the same rules. The parent of the pass
// folder is on the import path when a pass runs.
void check_helpers(const python::ParsedModule& module, const std::string& path,
                   std::unordered_set<std::string>& visited, std::vector<Violation>& violations) {
  if (path.empty()) return;
  auto parent = [](const std::string& of) {
    const size_t slash = of.rfind('/');
    return slash == std::string::npos ? std::string(".") : of.substr(0, slash);
  };
  const std::string folder = parent(path);
  const std::string root = join_path(folder, "..");
  auto visit = [&](const std::string& base, std::string_view dotted) {
    std::string relative(dotted);
    std::replace(relative.begin(), relative.end(), '.', '/');
    for (const std::string& candidate :
         {join_path(base, relative + ".py"), join_path(base, relative + "/__init__.py")}) {
      if (!is_regular_file(candidate) || !visited.insert(candidate).second) continue;
      const Result<python::ParsedModule> helper = python::parse_file(candidate);
      if (!helper.ok()) {
        violations.push_back({"helper", helper.error().message, helper.error().place, ""});
        continue;
      }
      SourceRuleOptions options;
      options.helper = true;
      const std::vector<Violation> found = check_source_rules(*helper, options);
      violations.insert(violations.end(), found.begin(), found.end());
      check_helpers(*helper, candidate, visited, violations);
    }
  };
  // `from pass_dir.helper import f`: the name before the first dot is the folder itself, whatever it is
  // called here.
  auto visit_absolute = [&](std::string_view dotted) {
    visit(root, dotted);
    visit(folder, dotted);
    const size_t dot = dotted.find('.');
    if (dot != std::string_view::npos && !is_directory(join_path(root, dotted.substr(0, dot)))) {
      visit(folder, dotted.substr(dot + 1));
    }
  };
  python::walk(*module.module, [&](const python::Node& node) {
    if (const auto* import = python::node_cast<python::Import>(&node)) {
      for (const python::Alias* alias : import->names) visit_absolute(alias->name);
    } else if (const auto* from = python::node_cast<python::ImportFrom>(&node)) {
      const std::string_view name = python::present(from->module) ? from->module : std::string_view{};
      if (from->level == 0) {
        visit_absolute(name);
        for (const python::Alias* alias : from->names)
          visit_absolute(std::string(name) + "." + std::string(alias->name));
        return;
      }
      std::string base = folder;
      for (uint32_t i = 1; i < from->level; ++i) base = join_path(base, "..");
      if (!name.empty()) visit(base, name);
      for (const python::Alias* alias : from->names) {
        visit(base, (name.empty() ? "" : std::string(name) + ".") + std::string(alias->name));
      }
    }
  });
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
  check_replacement_args(pass);
  std::unordered_set<std::string> visited = {pass.path};
  check_helpers(module, pass.path, visited, pass.violations);
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
