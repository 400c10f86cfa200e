#include "referee/prepare.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "base/file.h"
#include "base/log.h"
#include "bench/tensor_meta.h"
#include "graph/apply_passes.h"
#include "graph/device.h"
#include "graph/importer.h"
#include "graph/pass_file.h"
#include "graph/printer.h"
#include "graph/replacement_identity.h"

namespace graft::referee {
namespace {

namespace fs = std::filesystem;

// The passes of a sample, read once for all its graphs.
struct LoadedPasses {
  std::vector<graph::PassFile> files;
  std::optional<Error> failure;
  std::optional<std::string> forbidden;
  std::vector<std::string> import_folders;
};

LoadedPasses load_passes(const bench::Sample& sample, const graph::TraceOptions& trace) {
  LoadedPasses passes;
  for (const bench::PassFile& file : sample.passes) {
    Result<graph::PassFile> loaded = graph::load_pass_file(file.path, trace);
    if (!loaded.ok()) {
      // A pattern that stays unread because the file must not run is forbidden, not broken.
      if (const Result<std::vector<graph::Violation>> broken = graph::check_pass_source(file.path);
          broken.ok() && !broken->empty() && trace.when != graph::TraceOptions::When::kNever)
        passes.forbidden = broken->front().to_string();
      passes.failure = std::move(loaded).error();
      return passes;
    }
    for (const graph::Violation& violation : loaded->violations) {
      if (!passes.forbidden) passes.forbidden.emplace();
      if (!passes.forbidden->empty()) *passes.forbidden += "; ";
      *passes.forbidden += violation.to_string();
    }
    passes.files.push_back(std::move(*loaded));
    std::string folder = fs::path(file.path).parent_path().parent_path().string();
    if (std::find(passes.import_folders.begin(), passes.import_folders.end(), folder) ==
        passes.import_folders.end())
      passes.import_folders.push_back(folder);
  }
  return passes;
}

// Drops output passes over the limits. A sample of which no output pass is left cannot be evaluated.
Status limit_passes(bench::Sample& sample, const PrepareOptions& options) {
  if (options.function_limit < 0 && options.pattern_limit < 0) return {};
  std::vector<std::string> functions;
  std::vector<size_t> outputs;
  for (size_t i = 0; i < sample.passes.size(); ++i) {
    if (!sample.passes[i].output) continue;
    functions.push_back(graph::replacement_identity(sample.passes[i].path));
    outputs.push_back(i);
  }
  std::vector<bool> stays(sample.passes.size(), true);
  for (size_t i : outputs) stays[i] = false;
  std::vector<size_t> kept = bench::apply_pass_limits(functions, options.function_limit,
                                                      options.pattern_limit, options.strict_passbench);
  for (size_t i : kept) stays[outputs[i]] = true;
  if (kept.empty())
    return input_error(fmt::format("no output pass is left of {}", outputs.size()), {sample.pass_dir, 0, 0},
                       "limits of at least 1", "raise --function-limit or --pattern-limit");
  std::string dropped;
  size_t next = 0;
  for (size_t i = 0; i < stays.size(); ++i) {
    if (stays[i])
      std::swap(sample.passes[next++], sample.passes[i]);
    else
      dropped += (dropped.empty() ? "" : ", ") + sample.passes[i].name;
  }
  sample.passes.resize(next);
  if (!dropped.empty()) log_warning(fmt::format("{}: over the limits, not used: {}", sample.name, dropped));
  return {};
}

Status prepare(PreparedGraph& prepared, const LoadedPasses& passes, const PrepareOptions& options) {
  std::string file = prepared.folder.model_file();
  GRAFT_ASSIGN_OR_RETURN(prepared.source, read_file(file));
  GRAFT_ASSIGN_OR_RETURN(prepared.source,
                         graph::rewrite_device_literals(std::move(prepared.source), options.device, file));
  GRAFT_ASSIGN_OR_RETURN(prepared.plan, read_plan(prepared.folder));
  GRAFT_ASSIGN_OR_RETURN(prepared.text, graph::import_model_text(prepared.source, file));
  if (options.candidate != CandidateKind::kPasses) {
    prepared.matched = true;
    prepared.rewritten =
        options.candidate == CandidateKind::kIdentity ? graph::print_module(prepared.text) : prepared.source;
    return {};
  }
  prepared.forbidden = passes.forbidden;
  prepared.pass_failure = passes.failure;
  prepared.import_folders = passes.import_folders;
  if (passes.failure || prepared.mode == PassMode::kPassbench) return {};
  prepared.matched_on = "text";
  Result<graph::RewrittenModel> rewritten = graph::apply_passes(prepared.text, passes.files);
  if (!rewritten.ok()) {
    prepared.pass_failure = std::move(rewritten).error();
    return {};
  }
  for (size_t i = 0; i < rewritten->passes.size(); ++i) {
    const graph::AppliedPass& pass = rewritten->passes[i];
    prepared.passes.push_back(
        {pass.name, pass.path, static_cast<int>(pass.matches), pass.why_not, passes.files[i].traced()});
    if (pass.matches > 0) prepared.replacements.push_back({pass.replacement, pass.name, pass.path});
  }
  prepared.matched = rewritten->matches > 0;
  if (prepared.matched) prepared.rewritten = std::move(rewritten->source);
  return {};
}

}  // namespace

std::string_view pass_mode_name(PassMode mode) {
  return mode == PassMode::kPassbench ? "passbench" : "normalized";
}

Result<bench::MaterializePlan> read_plan(const bench::GraphFolder& folder) {
  GRAFT_ASSIGN_OR_RETURN(std::string input_text, read_file(folder.input_meta_file()));
  GRAFT_ASSIGN_OR_RETURN(auto inputs, bench::parse_tensor_meta(input_text, folder.input_meta_file()));
  GRAFT_ASSIGN_OR_RETURN(std::string weight_text, read_file(folder.weight_meta_file()));
  GRAFT_ASSIGN_OR_RETURN(auto weights, bench::parse_tensor_meta(weight_text, folder.weight_meta_file()));
  return bench::plan_materialization(std::move(inputs), std::move(weights));
}

Result<PreparedSample> prepare_sample(const std::string& path, const bench::SampleOptions& options,
                                      const PrepareOptions& prepare_options) {
  PreparedSample prepared;
  // Workers stand in folders of their own, so every path they get must be absolute.
  bench::SampleOptions absolute = options;
  for (std::string* folder : {&absolute.pass_dir, &absolute.const_pass_dir, &absolute.graph_list})
    if (!folder->empty()) *folder = fs::absolute(*folder).lexically_normal().string();
  std::string folder = fs::absolute(path).lexically_normal().string();
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  GRAFT_ASSIGN_OR_RETURN(prepared.sample, bench::load_sample(folder, absolute));
  LoadedPasses passes;
  if (prepare_options.candidate == CandidateKind::kPasses) {
    if (prepared.sample.pass_failure) return *prepared.sample.pass_failure;
    for (const bench::PassFile& pass : prepared.sample.passes)
      if (pass.failure) return *pass.failure;
    GRAFT_RETURN_IF_ERROR(limit_passes(prepared.sample, prepare_options));
    passes = load_passes(prepared.sample, prepare_options.trace);
  }
  bool any = false;
  for (const bench::GraphFolder& graph_folder : prepared.sample.graphs) {
    PreparedGraph graph;
    graph.folder = graph_folder;
    graph.failure = graph_folder.failure;
    graph.mode = prepare_options.mode;
    if (!graph.failure) {
      Status status = prepare(graph, passes, prepare_options);
      if (!status.ok()) graph.failure = std::move(status).error();
    }
    any = any || !graph.failure;
    prepared.graphs.push_back(std::move(graph));
  }
  if (!any) return *prepared.graphs.front().failure;
  prepared.passes = std::move(passes.files);
  return prepared;
}

Result<std::vector<std::string>> find_samples(const std::vector<std::string>& paths, bool with_pass_dir) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    if (!is_directory(path))
      return input_error(fmt::format("'{}' is not a folder", path), {},
                         "a sample folder, or a folder of samples");
    auto is_sample = [&](const std::string& folder) {
      return is_regular_file(join_path(folder, "graph_list.txt")) ||
             is_directory(join_path(folder, "pass_dir"));
    };
    bool is_graph = is_regular_file(join_path(path, "model.py"));
    if (is_sample(path) || is_graph || with_pass_dir) {
      if (is_graph && !is_sample(path) && !with_pass_dir)
        return input_error(fmt::format("'{}' is a graph without passes", path), {}, "a sample folder",
                           "name the passes with --pass-dir");
      found.push_back(path);
      continue;
    }
    std::vector<std::string> below;
    std::error_code code;
    auto options =
        fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied;
    fs::recursive_directory_iterator walk(path, options, code), end;
    constexpr int kMaxDepth = 12;  // links may form a ring
    for (; !code && walk != end; walk.increment(code)) {
      std::error_code ignored;
      if (!walk->is_directory(ignored)) continue;
      if (is_sample(walk->path().string())) {
        below.push_back(walk->path().string());
        walk.disable_recursion_pending();
      } else if (walk.depth() >= kMaxDepth) {
        walk.disable_recursion_pending();
      }
    }
    if (below.empty())
      return input_error(fmt::format("no sample in '{}'", path), {},
                         "folders with graph_list.txt and pass_dir/",
                         "`graft bench unpack` makes samples of records");
    std::sort(below.begin(), below.end());
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

}  // namespace graft::referee
