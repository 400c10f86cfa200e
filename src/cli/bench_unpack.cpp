#include <memory>

#include <fmt/core.h>

#include "base/log.h"
#include "bench/unpack.h"
#include "cli/commands.h"

namespace graft::cli {
namespace {

struct Arguments {
  std::string file;
  std::string directory;
  bench::UnpackOptions options;
};

Result<int> run(const Arguments& arguments, const Context& context) {
  GRAFT_ASSIGN_OR_RETURN(auto samples, bench::unpack(arguments.file, arguments.directory, arguments.options));
  if (context.json) {
    Json list = Json::array();
    for (const auto& sample : samples)
      list.push_back(Json::object({{"name", sample.name}, {"path", sample.path}}));
    print_json(Json::object({{"schema", "graft/bench-unpack/v1"}, {"samples", std::move(list)}}));
  } else {
    for (const auto& sample : samples) fmt::print("{}\n", sample.path);
  }
  log_info(fmt::format("{} sample folder{} in {}", samples.size(), samples.size() == 1 ? "" : "s",
                       arguments.directory));
  return 0;
}

}  // namespace

Command bench_unpack_command() {
  auto arguments = std::make_shared<Arguments>();
  Command command;
  command.name = "bench unpack";
  command.summary = "turns records of a JSON-lines file into sample folders";
  command.details =
      "Each record has a name and the texts model.py, weight_meta.py, input_meta.py and graph_net.json.\n"
      "Everything is checked before anything is written.";
  command.options = {
      {.name = "FILE",
       .help = "a .jsonl file, one record a line",
       .text = &arguments->file,
       .required = true},
      {.name = "DIR", .help = "where the sample folders go", .text = &arguments->directory, .required = true},
      {.name = "--limit",
       .help = "at most so many records (-1: all)",
       .number = &arguments->options.limit,
       .minimum = -1},
      {.name = "--only",
       .help = "only the record of this name (repeatable)",
       .list = &arguments->options.only},
      {.name = "--force", .help = "replace sample folders that exist", .flag = &arguments->options.force},
  };
  command.run = [arguments](const Context& context) { return run(*arguments, context); };
  return command;
}

}  // namespace graft::cli
