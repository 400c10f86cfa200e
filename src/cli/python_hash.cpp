// graft python hash PATH... [--definitions]
#include <cstdio>
#include <memory>

#include <fmt/core.h>

#include "base/hash.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/python_common.h"
#include "python/batch.h"
#include "python/canonical.h"
#include "python/definition.h"
#include "python/segment.h"

namespace graft::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string profile = "default";
  int jobs = 0;
  bool definitions = false;
};

struct DefinitionHash {
  std::string qualname;
  python::LineRange lines;
  python::Evidence evidence;
};

struct Outcome {
  size_t bytes = 0;
  std::optional<std::string> ast;
  std::optional<Error> error;
  std::vector<DefinitionHash> definitions;
};

Outcome hash_one(const python::BatchInput& input, const python::ParseOptions& options, bool definitions) {
  Outcome outcome;
  Result<std::string> bytes = python::read_input(input);
  if (!bytes.ok()) {
    outcome.error = std::move(bytes).error();
    return outcome;
  }
  outcome.bytes = bytes->size();
  Result<python::ParsedModule> module = python::parse_text(*std::move(bytes), input.name, options);
  if (!module.ok()) {
    outcome.error = std::move(module).error();
    return outcome;
  }
  Result<std::string> hash = python::ast_hash(*module->module, options.profile);
  if (!hash.ok()) {
    outcome.error = std::move(hash).error();
    return outcome;
  }
  outcome.ast = *std::move(hash);
  if (!definitions) return outcome;
  for (python::Definition& definition : python::all_definitions(*module->module)) {
    python::LineRange lines = python::definition_lines(*module, *definition.node, options.profile);
    outcome.definitions.push_back(
        {std::move(definition.qualname), lines,
         python::evidence_of(python::text_of_lines(module->source, lines), options.profile)});
  }
  return outcome;
}

Json json_of(const std::string& name, const Outcome& outcome, bool definitions) {
  Json entry = Json::object({{"path", name}, {"ast", outcome.ast ? Json(*outcome.ast) : Json()}});
  if (outcome.error) {
    entry.set("error", Json::object({{"line", outcome.error->place.line},
                                     {"column", outcome.error->place.column},
                                     {"message", outcome.error->message}}));
  }
  if (!definitions) return entry;
  Json list = Json::array();
  for (const DefinitionHash& definition : outcome.definitions) {
    list.push_back(
        Json::object({{"target", definition.qualname},
                      {"source", definition.evidence.source},
                      {"ast", definition.evidence.ast ? Json(*definition.evidence.ast) : Json()},
                      {"lines", Json(Json::Array{Json(static_cast<int64_t>(definition.lines.first)),
                                                 Json(static_cast<int64_t>(definition.lines.last))})}}));
  }
  return entry.set("definitions", std::move(list));
}

void print_lines(const std::string& name, const Outcome& outcome) {
  if (outcome.error) {
    fmt::print("error\t{}\t{}:{}\t{}\n", name, outcome.error->place.line, outcome.error->place.column,
               outcome.error->message);
    return;
  }
  fmt::print("{}\t{}\n", *outcome.ast, name);
  for (const DefinitionHash& definition : outcome.definitions)
    fmt::print("{}\t{}\t{}-{}\t{}\n", definition.evidence.ast.value_or("-"), definition.evidence.source,
               definition.lines.first, definition.lines.last, definition.qualname);
}

Result<int> run(const Options& options, const Context& context) {
  python::ParseOptions parse_options;
  GRAFT_ASSIGN_OR_RETURN(parse_options.profile, python::parse_profile(options.profile));
  parse_options.max_errors = 1;
  GRAFT_ASSIGN_OR_RETURN(std::vector<python::BatchInput> inputs, python::collect_inputs(options.paths));
  std::vector<Outcome> outcomes(inputs.size());
  python::parallel_for(inputs.size(), effective_jobs(options.jobs), [&](size_t i) {
    outcomes[i] = hash_one(inputs[i], parse_options, options.definitions);
    if (i % 64 == 63) log_progress(fmt::format("{} of {} files", i, inputs.size()));
  });

  // One hash for everything: over the ast-v1 of every file and definition in order, one a line, "-" where
  // there is none.
  Sha256 total;
  size_t definitions = 0;
  size_t bytes = 0;
  size_t refused = 0;
  auto add = [&](const std::optional<std::string>& hash) {
    total.update(hash ? *hash : "-");
    total.update("\n");
  };
  Json files = Json::array();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    bytes += outcome.bytes;
    refused += outcome.error ? 1 : 0;
    definitions += outcome.definitions.size();
    add(outcome.ast);
    for (const DefinitionHash& definition : outcome.definitions) add(definition.evidence.ast);
    if (context.json)
      files.push_back(json_of(inputs[i].name, outcome, options.definitions));
    else
      print_lines(inputs[i].name, outcome);
  }
  std::string hash = total.hex();
  if (context.json) {
    print_json(Json::object({{"schema", "graft/python-hash/v1"},
                             {"files", uint64_t{inputs.size()}},
                             {"bytes", uint64_t{bytes}},
                             {"definitions", uint64_t{definitions}},
                             {"refused", uint64_t{refused}},
                             {"hash", hash},
                             {"results", std::move(files)}}));
  } else {
    fmt::print("total\t{}\t{} files, {} definitions, {} bytes, {} refused\n", hash, inputs.size(),
               definitions, bytes, refused);
  }
  return refused == 0 ? 0 : 1;
}

}  // namespace

Command python_hash_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "python hash";
  command.summary = "ast-v1 of many files, and of everything they define";
  command.details =
      "One line a file: its ast-v1 and its path. With --definitions a line follows for every function and "
      "class:\n"
      "ast-v1 (or -), source-v1, lines, qualified name. The last line has one hash over all of them: SHA-256 "
      "of the\n"
      "ast-v1 values in order, each followed by a newline, with - where there is none. Exit code 1 where a "
      "file has\n"
      "syntax errors.";
  Option paths;
  paths.name = "PATH";
  paths.help = "files, folders, .jsonl files";
  paths.list = &options->paths;
  paths.required = true;
  Option definitions;
  definitions.name = "--definitions";
  definitions.help = "also every function and class";
  definitions.flag = &options->definitions;
  command.options = {paths, definitions, profile_option(&options->profile), jobs_option(&options->jobs)};
  command.run = [options](const Context& context) { return run(*options, context); };
  return command;
}

}  // namespace graft::cli
