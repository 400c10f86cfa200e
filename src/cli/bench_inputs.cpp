#include <memory>

#include <fmt/core.h>

#include "base/file.h"
#include "base/log.h"
#include "bench/materialize.h"
#include "bench/sample.h"
#include "cli/commands.h"
#include "referee/shared_memory.h"

namespace graft::cli {
namespace {

struct Arguments {
  std::string model;
  std::string out;
};

Result<std::vector<bench::TensorMeta>> metas_of(const std::string& file) {
  GRAFT_ASSIGN_OR_RETURN(std::string text, read_file(file));
  return bench::parse_tensor_meta(text, file);
}

Result<int> run(const Arguments& arguments, const Context& context) {
  GRAFT_ASSIGN_OR_RETURN(auto sample, bench::load_sample(arguments.model, {.need_passes = false}));
  if (sample.graphs.size() != 1)
    return input_error(fmt::format("{} graphs are below this folder", sample.graphs.size()),
                       {sample.path, 0, 0}, "the folder of one graph");
  const bench::GraphFolder& graph = sample.graphs.front();
  if (graph.failure) return *graph.failure;
  GRAFT_ASSIGN_OR_RETURN(auto inputs, metas_of(graph.input_meta_file()));
  GRAFT_ASSIGN_OR_RETURN(auto weights, metas_of(graph.weight_meta_file()));
  GRAFT_ASSIGN_OR_RETURN(auto plan, bench::plan_materialization(std::move(inputs), std::move(weights)));

  referee::SharedBuffer buffer;  // refused where the memory is not enough
  bench::Materialized made;
  if (!arguments.out.empty()) {
    GRAFT_ASSIGN_OR_RETURN(buffer, referee::SharedBuffer::create("inputs", plan.total_bytes,
                                                                 referee::SharedBuffer::Access::kReadWrite));
    made = bench::materialize(plan, buffer.data());
    GRAFT_RETURN_IF_ERROR(make_directories(arguments.out));
  }
  Json tensors = Json::array();
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const bench::PlannedTensor& tensor = plan.tensors[i];
    Json shape = Json::array();
    for (int64_t extent : tensor.meta.shape) shape.push_back(extent);
    Json json = Json::object({{"name", tensor.meta.name},
                              {"dtype", bench::dtype_name(tensor.meta.dtype)},
                              {"shape", std::move(shape)},
                              {"bytes", static_cast<int64_t>(tensor.bytes)}});
    if (!arguments.out.empty()) {
      std::string file = join_path(arguments.out, fmt::format("{}.bin", i));
      GRAFT_RETURN_IF_ERROR(write_file_atomic(
          file, {reinterpret_cast<const char*>(buffer.data()) + tensor.offset, tensor.bytes}));
      json.set("file", file);
      int64_t nonfinite = 0;
      for (const auto& entry : made.nonfinite)
        if (entry.tensor == i) nonfinite = static_cast<int64_t>(entry.indices.size());
      json.set("nonfinite", nonfinite);
    }
    if (!context.json)
      fmt::print("{}  {} {}\n", tensor.meta.name, json["dtype"].as_string(), json["shape"].dump());
    tensors.push_back(std::move(json));
  }
  if (context.json)
    print_json(Json::object({{"schema", "graft/bench-inputs/v1"},
                             {"graph", graph.path},
                             {"key", bench::materialize_key(plan)},
                             {"tensors", std::move(tensors)}}));
  log_info(fmt::format("{} tensors, {:.1f} MB{}", plan.tensors.size(),
                       static_cast<double>(plan.total_bytes) / 1e6,
                       arguments.out.empty() ? "" : " in " + arguments.out));
  return 0;
}

}  // namespace

Command bench_inputs_command() {
  auto arguments = std::make_shared<Arguments>();
  Command command;
  command.name = "bench inputs";
  command.summary = "the tensors a graph is evaluated on";
  command.details =
      "Lists name, dtype and shape of each; with --out, writes their bytes to DIR/<number>.bin.\n"
      "Elements that torch would have to draw (infinite or NaN ones) are left as they are and counted.";
  command.options = {
      {.name = "MODEL", .help = "a graph folder", .text = &arguments->model, .required = true},
      {.name = "-o,--out", .help = "a folder for the bytes", .text = &arguments->out},
  };
  command.run = [arguments](const Context& context) { return run(*arguments, context); };
  return command;
}

}  // namespace graft::cli
