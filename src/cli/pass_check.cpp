// graft pass check FILE...
#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/graph_common.h"
#include "graph/matcher.h"
#include "graph/pass_file.h"

namespace graft::cli {
namespace {

Json place_json(const Place& place) {
  return Json::object({{"path", place.file}, {"line", place.line}, {"column", place.column}});
}

struct Options {
  std::vector<std::string> paths;
  bool no_trace = false;
};

Result<int> run(const Options& options, const Context& context) {
  Json files = Json::array();
  bool clean = true;
  std::optional<Error> missing;
  for (const std::string& path : options.paths) {
    const Result<graph::PassFile> pass = graph::load_pass_file(path, trace_options(options.no_trace));
    std::vector<graph::Violation> broken;
    std::optional<Error> unfit;  // why the pattern cannot be used
    if (pass.ok()) {
      broken = pass->violations;
      note_traced(path, pass->traced());
      const Result<graph::Matcher> matcher = graph::Matcher::create(pass->pattern);
      if (!matcher.ok()) unfit = matcher.error();
    } else if (pass.error().kind == ErrorKind::kMissing) {
      if (!missing) missing = pass.error();
      continue;
    } else {
      // What breaks a rule is never run, so a pattern that only running could tell stays unread.
      if (const Result<std::vector<graph::Violation>> found = graph::check_pass_source(path); found.ok())
        broken = *found;
      if (broken.empty()) return pass.error();
      unfit = pass.error();
    }
    Json violations = Json::array();
    for (const graph::Violation& violation : broken) {
      Json entry = place_json(violation.place);
      entry.set("rule", violation.rule).set("message", violation.message);
      violations.push_back(std::move(entry));
      if (!context.json) fmt::print("{}\n", violation.to_string());
    }
    if (unfit) {
      Json entry = place_json(unfit->place);
      entry.set("rule", "pattern").set("message", unfit->message);
      violations.push_back(std::move(entry));
      if (!context.json) fmt::print("{} [pattern]\n", unfit->to_string());
    }
    const bool good = violations.items().empty();
    clean = clean && good;
    if (!context.json && good) fmt::print("{}: keeps the rules\n", path);
    Json file = Json::object(
        {{"path", path},
         {"name", pass.ok() ? Json(pass->name) : Json()},
         {"ok", good},
         {"parameters", pass.ok() ? Json(uint64_t{pass->pattern.placeholders().size()}) : Json()},
         {"outputs", pass.ok() ? Json(uint64_t{pass->outputs.size()}) : Json()}});
    const std::string traced = pass.ok() ? pass->traced() : std::string();
    file.set("traced", !traced.empty()).set("traced_because", traced.empty() ? Json() : Json(traced));
    file.set("violations", std::move(violations));
    files.push_back(std::move(file));
  }
  if (missing) return *missing;
  if (context.json) {
    print_json(Json::object({{"schema", "graft/pass-check/v1"}, {"ok", clean}, {"files", std::move(files)}}));
  }
  return clean ? 0 : 1;
}

}  // namespace

Command pass_check_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "pass check";
  command.summary = "checks the rules a pass file must keep";
  command.details =
      "Each violation is printed with its line. A file is run (under torch.fx, in a process of its own) only "
      "where it "
      "keeps\n"
      "the rules and its pattern cannot be read from the text. Exit code 1 where there is one, 2 where a "
      "file is no pass.";
  Option option;
  option.name = "FILE";
  option.help = "pass files";
  option.list = &options->paths;
  option.required = true;
  command.options = {option, no_trace_option(&options->no_trace)};
  command.run = [options](const Context& context) { return run(*options, context); };
  return command;
}

}  // namespace graft::cli
