// graft pass check FILE...
#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "graph/matcher.h"
#include "graph/pass_file.h"

namespace graft::cli {
namespace {

Json place_json(const Place& place) {
  return Json::object({{"path", place.file}, {"line", place.line}, {"column", place.column}});
}

Result<int> run(const std::vector<std::string>& paths, const Context& context) {
  Json files = Json::array();
  bool clean = true;
  for (const std::string& path : paths) {
    GRAFT_ASSIGN_OR_RETURN(const graph::PassFile pass, graph::load_pass_file(path));
    const Result<graph::Matcher> matcher = graph::Matcher::create(pass.pattern);
    Json violations = Json::array();
    for (const graph::Violation& violation : pass.violations) {
      Json entry = place_json(violation.place);
      entry.set("rule", violation.rule).set("message", violation.message);
      violations.push_back(std::move(entry));
      if (!context.json) fmt::print("{}\n", violation.to_string());
    }
    if (!matcher.ok()) {
      Json entry = place_json(matcher.error().place);
      entry.set("rule", "pattern").set("message", matcher.error().message);
      violations.push_back(std::move(entry));
      if (!context.json) fmt::print("{} [pattern]\n", matcher.error().to_string());
    }
    const bool good = violations.items().empty();
    clean = clean && good;
    if (!context.json && good) fmt::print("{}: keeps the rules\n", path);
    files.push_back(Json::object({{"path", path},
                                  {"name", pass.name},
                                  {"ok", good},
                                  {"parameters", uint64_t{pass.pattern.placeholders().size()}},
                                  {"outputs", uint64_t{pass.outputs.size()}},
                                  {"violations", std::move(violations)}}));
  }
  if (context.json) {
    print_json(Json::object({{"schema", "graft/pass-check/v1"}, {"ok", clean}, {"files", std::move(files)}}));
  }
  return clean ? 0 : 1;
}

}  // namespace

Command pass_check_command() {
  auto paths = std::make_shared<std::vector<std::string>>();
  Command command;
  command.name = "pass check";
  command.summary = "checks the rules a pass file must keep, without running it";
  command.details =
      "Each violation is printed with its line. Exit code 1 where there is one, 2 where a file is no pass.";
  Option option;
  option.name = "FILE";
  option.help = "pass files";
  option.list = paths.get();
  option.required = true;
  command.options = {option};
  command.run = [paths](const Context& context) { return run(*paths, context); };
  return command;
}

}  // namespace graft::cli
