// graft python parse PATH...
#include <chrono>
#include <memory>

#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/python_common.h"
#include "python/batch.h"
#include "python/parser.h"

namespace graft::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string profile = "default";
  int jobs = 0;
};

struct Outcome {
  size_t bytes = 0;
  std::vector<std::pair<Error, std::string>> errors;  // with the line each one is about
};

Outcome parse_one(const python::BatchInput& input, const python::ParseOptions& options) {
  Outcome outcome;
  Result<std::string> bytes = python::read_input(input);
  if (!bytes.ok()) {
    outcome.errors.emplace_back(std::move(bytes).error(), "");
    return outcome;
  }
  outcome.bytes = bytes->size();
  Result<python::SourceText> source = python::SourceText::from_bytes(*std::move(bytes), input.name);
  if (!source.ok()) {
    outcome.errors.emplace_back(std::move(source).error(), "");
    return outcome;
  }
  python::ParsedModule module = python::parse_module(*std::move(source), options);
  for (Error& error : module.errors) {
    std::string line;
    if (error.place.line > 0 && static_cast<uint32_t>(error.place.line) <= module.source.line_count())
      line = module.source.line_text(static_cast<uint32_t>(error.place.line));
    outcome.errors.emplace_back(std::move(error), std::move(line));
  }
  return outcome;
}

Result<int> run(const Options& options, const Context& context) {
  auto started = std::chrono::steady_clock::now();
  python::ParseOptions parse_options;
  GRAFT_ASSIGN_OR_RETURN(parse_options.profile, python::parse_profile(options.profile));
  GRAFT_ASSIGN_OR_RETURN(std::vector<python::BatchInput> inputs, python::collect_inputs(options.paths));
  std::vector<Outcome> outcomes(inputs.size());
  python::parallel_for(inputs.size(), effective_jobs(options.jobs),
                       [&](size_t i) { outcomes[i] = parse_one(inputs[i], parse_options); });
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();

  size_t bytes = 0;
  size_t wrong_files = 0;
  Json errors = Json::array();
  for (size_t i = 0; i < outcomes.size(); ++i) {
    bytes += outcomes[i].bytes;
    wrong_files += outcomes[i].errors.empty() ? 0 : 1;
    for (const auto& [error, line] : outcomes[i].errors) {
      if (context.json) {
        Json entry = Json::object({{"path", inputs[i].name},
                                   {"line", error.place.line},
                                   {"column", error.place.column},
                                   {"message", error.message}});
        if (!error.expected.empty()) entry.set("expected", error.expected);
        errors.push_back(std::move(entry));
      } else {
        fmt::print(stderr, "{}\n", with_caret(error, line));
      }
    }
  }
  double rate = seconds > 0 ? static_cast<double>(bytes) / 1e6 / seconds : 0;
  if (context.json) {
    print_json(Json::object({{"schema", "graft/python-parse/v1"},
                             {"files", uint64_t{inputs.size()}},
                             {"bytes", uint64_t{bytes}},
                             {"seconds", seconds},
                             {"mb_per_s", rate},
                             {"errors", std::move(errors)}}));
  } else {
    fmt::print("{} files, {} bytes, {:.3f} s, {:.1f} MB/s; {} with errors\n", inputs.size(), bytes, seconds,
               rate, wrong_files);
  }
  return wrong_files == 0 ? 0 : 1;
}

}  // namespace

Command python_parse_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "python parse";
  command.summary = "parses Python files without running them";
  command.details =
      "Folders are searched for *.py; of a .jsonl file the member model.py of every record is taken.\n"
      "Exit code 1 where a file has syntax errors: they are listed with line, column and what was expected.";
  Option paths;
  paths.name = "PATH";
  paths.help = "files, folders, .jsonl files";
  paths.list = &options->paths;
  paths.required = true;
  command.options = {paths, profile_option(&options->profile), jobs_option(&options->jobs)};
  command.run = [options](const Context& context) { return run(*options, context); };
  return command;
}

}  // namespace graft::cli
