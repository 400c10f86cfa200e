#include "graph/pass_file.h"

#include <algorithm>
#include <optional>
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

// A function of the file that becomes a graph. `function` is null where the name is bound, but not by a `def`
// that can be followed.
struct Source {
  std::string name;
  const python::FunctionBase* function = nullptr;
  Place place;
  Graph graph;
  std::optional<Error> failure;  // why its text is no graph
};

Result<Source> find_function(const ModuleScope& scope, std::string_view name) {
  const ModuleScope::Binding* binding = scope.find(name);
  Source source;
  source.name = name;
  source.place = Place{scope.module->source.file(), 0, 0};
  if (binding == nullptr) {
    return input_error("the pass file has no function '" + source.name + "'", source.place,
                       "functions pattern, replacement_args and replacement_func at module level");
  }
  if (binding->kind == ModuleScope::Kind::kFunction) {
    source.function = binding->function;
    source.place = scope.module->source.place(binding->function->begin);
    return source;
  }
  const Error error = input_error(
      "'" + source.name + "' is not defined as a function",
      binding->value != nullptr ? scope.module->source.place(binding->value->begin) : source.place,
      "def " + source.name + "(...)");
  if (binding->kind == ModuleScope::Kind::kClass) return error;
  source.place = error.place;
  source.failure = error;
  return source;
}

void read_function(const ModuleScope& scope, Source& source) {
  if (source.failure) return;
  ImportOptions options;
  options.unroll = true;
  Result<Graph> graph = import_function(scope, *source.function, options);
  if (graph.ok()) {
    source.graph = std::move(*graph);
  } else {
    source.failure = std::move(graph).error();
  }
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

std::vector<Violation> source_violations(const python::ParsedModule& module, const std::string& path) {
  std::vector<Violation> violations = check_source_rules(module);
  std::unordered_set<std::string> visited = {path};
  check_helpers(module, path, visited, violations);
  return violations;
}

// Where a parameter stands in the text; a trace does not say.
void place_parameters(const ModuleScope& scope, Source& source) {
  if (source.function == nullptr) return;
  Graph& graph = source.graph;
  const python::Arguments& arguments = *source.function->args;
  for (const auto* list : {&arguments.posonlyargs, &arguments.args, &arguments.kwonlyargs}) {
    for (const python::Arg* argument : *list) {
      for (const NodeId id : graph.placeholders()) {
        if (graph.target(id) != argument->arg) continue;
        const Place place = scope.module->source.place(argument->begin);
        graph.mutable_annotation(id).lines = {place.line, place.line, place.column};
      }
    }
  }
}

// Settles the functions whose text is no graph: by a trace, or by an Error that says why there is none.
Status trace_where_needed(const ModuleScope& scope, const std::string& path,
                          const std::vector<Violation>& violations, const TraceOptions& options,
                          std::vector<Source*> sources) {
  using When = TraceOptions::When;
  const auto failed =
      std::find_if(sources.begin(), sources.end(), [](Source* source) { return source->failure; });
  if (failed == sources.end() && options.when != When::kAlways) return {};
  const std::optional<Error> reason = failed != sources.end() ? (*failed)->failure : std::nullopt;
  if (options.when == When::kNever) return *reason;
  if (!violations.empty()) {
    if (!reason) return {};
    Error error = *reason;
    error.hint = "it is not traced, because the file breaks a rule: " + violations.front().to_string();
    return error;
  }
  std::vector<TracedFunction> functions;
  for (Source* source : sources) {
    if (!source->failure && options.when != When::kAlways) continue;
    functions.push_back({source->name, source->place, {}});
  }
  const Status status = trace_functions(std::string(scope.module->source.text()), path, functions, options);
  if (!status.ok()) {
    Error error = status.error();
    if (!reason) return error;
    if (error.kind == ErrorKind::kMissing) {
      Error missing = *reason;
      missing.kind = ErrorKind::kMissing;
      missing.hint = "it can be traced by a Python with torch, but " + error.message + "; " + error.hint;
      return missing;
    }
    if (error.hint.empty()) error.hint = "it was traced because its text is no graph: " + reason->to_string();
    return error;
  }
  for (Source* source : sources) {
    for (TracedFunction& function : functions) {
      if (function.name != source->name) continue;
      source->graph = std::move(function.graph);
      source->graph.traced = source->failure ? source->failure->to_string() : "asked for";
      source->failure.reset();
      place_parameters(scope, *source);
    }
  }
  return {};
}

}  // namespace

Result<PassFile> load_pass_text(std::string text, std::string name, std::string path,
                                const TraceOptions& trace) {
  GRAFT_ASSIGN_OR_RETURN(const python::ParsedModule module,
                         python::parse_text(std::move(text), path.empty() ? name + ".py" : path));
  PassFile pass;
  pass.name = std::move(name);
  pass.path = std::move(path);
  ModuleScope scope = read_scope(module);
  note_globals(scope);
  GRAFT_ASSIGN_OR_RETURN(Source pattern, find_function(scope, "pattern"));
  GRAFT_ASSIGN_OR_RETURN(Source arguments, find_function(scope, "replacement_args"));
  GRAFT_ASSIGN_OR_RETURN(const Source function, find_function(scope, "replacement_func"));
  if (function.failure) return *function.failure;
  const auto& parameters = *function.function->args;
  if (parameters.posonlyargs.size() + parameters.args.size() > parameters.defaults.size()) {
    return input_error("replacement_func must take no arguments", function.place, "def replacement_func():");
  }

  pass.violations = source_violations(module, pass.path);
  for (Source* source : {&pattern, &arguments}) read_function(scope, *source);
  GRAFT_RETURN_IF_ERROR(trace_where_needed(scope, pass.path, pass.violations, trace, {&pattern, &arguments}));
  pass.pattern = std::move(pattern.graph);
  pass.replacement_args = std::move(arguments.graph);
  pass.pattern.name = pass.replacement_args.name = pass.name;
  if (parameter_names(pass.pattern) != parameter_names(pass.replacement_args)) {
    // A replacement_args that takes the pattern's values positionally under other names is fine; a different
    // count is not.
    if (pass.pattern.placeholders().size() != pass.replacement_args.placeholders().size()) {
      return input_error("replacement_args takes " +
                             std::to_string(pass.replacement_args.placeholders().size()) +
                             " parameters, pattern " + std::to_string(pass.pattern.placeholders().size()),
                         arguments.place, "the parameters of pattern, in the same order");
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
    return input_error("pattern must return values it computes", pattern.place,
                       "one value or a flat tuple of values");
  }
  check_replacement_args(pass);
  return pass;
}

Result<PassFile> load_pass_file(const std::string& path, const TraceOptions& trace) {
  GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(path));
  return load_pass_text(std::move(text), stem_of(path), path, trace);
}

Result<Graph> load_pattern_text(std::string text, std::string name, std::string path,
                                const TraceOptions& trace) {
  GRAFT_ASSIGN_OR_RETURN(const python::ParsedModule module,
                         python::parse_text(std::move(text), path.empty() ? name + ".py" : path));
  ModuleScope scope = read_scope(module);
  note_globals(scope);
  GRAFT_ASSIGN_OR_RETURN(Source pattern, find_function(scope, "pattern"));
  read_function(scope, pattern);
  std::vector<Violation> violations;
  if (trace.when != TraceOptions::When::kNever &&
      (pattern.failure || trace.when == TraceOptions::When::kAlways))
    violations = source_violations(module, path);
  GRAFT_RETURN_IF_ERROR(trace_where_needed(scope, path, violations, trace, {&pattern}));
  pattern.graph.name = std::move(name);
  return std::move(pattern.graph);
}

Result<Graph> load_pattern_file(const std::string& path, const TraceOptions& trace) {
  GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(path));
  return load_pattern_text(std::move(text), stem_of(path), path, trace);
}

Result<std::vector<Violation>> check_pass_source(const std::string& path) {
  GRAFT_ASSIGN_OR_RETURN(const python::ParsedModule module, python::parse_file(path));
  return source_violations(module, path);
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

Result<std::vector<PassFile>> load_pass_folder(const std::string& pass_dir, const std::string& const_pass_dir,
                                               const TraceOptions& trace) {
  if (!is_directory(pass_dir)) return input_error("there is no pass folder", Place{pass_dir, 0, 0});
  GRAFT_ASSIGN_OR_RETURN(const std::vector<PassListEntry> entries, read_pass_list(pass_dir, const_pass_dir));
  std::vector<PassFile> passes;
  std::optional<Error> missing;
  for (const PassListEntry& entry : entries) {
    Result<PassFile> pass = load_pass_file(entry.path, trace);
    if (pass.ok()) {
      passes.push_back(std::move(*pass));
    } else if (pass.error().kind != ErrorKind::kMissing) {
      return std::move(pass).error();
    } else if (!missing) {
      missing = std::move(pass).error();
    }
  }
  if (missing) return *missing;
  return passes;
}

}  // namespace graft::graph
