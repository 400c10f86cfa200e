// graft python ast FILE [--target QUALNAME] [--hash]
#include <cstdio>
#include <memory>

#include <fmt/core.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/python_common.h"
#include "python/canonical.h"
#include "python/definition.h"
#include "python/segment.h"

namespace graft::cli {
namespace {

struct Options {
  std::string file;
  std::string target;
  std::string profile = "default";
  bool hash = false;
};

class StdoutSink : public python::TextSink {
 public:
  void write(std::string_view piece) override { std::fwrite(piece.data(), 1, piece.size(), stdout); }
};

Json or_null(const std::optional<std::string>& value) {
  return value ? Json(*value) : Json();
}

Json lines_json(uint32_t first, uint32_t last) {
  return Json(Json::Array{Json(static_cast<int64_t>(first)), Json(static_cast<int64_t>(last))});
}

struct Answer {
  Json target;
  std::optional<std::string> source;
  std::optional<std::string> ast;
  uint32_t first = 0;
  uint32_t last = 0;
  bool ambiguous = false;
};

int print_answer(const Answer& answer, const Context& context) {
  if (context.json) {
    Json document = Json::object({{"schema", "graft/python-ast/v1"},
                                  {"target", answer.target},
                                  {"source", or_null(answer.source)},
                                  {"ast", or_null(answer.ast)},
                                  {"lines", lines_json(answer.first, answer.last)}});
    if (!answer.target.is_null()) document.set("ambiguous", answer.ambiguous);
    print_json(document);
  } else {
    fmt::print("{}\n{}\n", answer.source.value_or("source-v1: none"), answer.ast.value_or("ast-v1: none"));
  }
  return 0;
}

// Prints the canonical text and a final newline (which is not part of what is hashed).
Result<int> print_text(const python::Module& tree, python::Profile profile, const Context& context) {
  if (context.json) {
    GRAFT_ASSIGN_OR_RETURN(std::string text, python::canonical_text(tree, profile));
    print_json(Json::object({{"schema", "graft/python-ast-text/v1"}, {"text", std::move(text)}}));
    return 0;
  }
  StdoutSink sink;
  GRAFT_RETURN_IF_ERROR(python::write_canonical(tree, profile, sink));
  fmt::print("\n");
  return 0;
}

Result<int> run_file(const Options& options, const python::ParsedModule& module, python::Profile profile,
                     const Context& context) {
  if (!options.hash) return print_text(*module.module, profile, context);
  GRAFT_ASSIGN_OR_RETURN(std::string ast, python::ast_hash(*module.module, profile));
  GRAFT_ASSIGN_OR_RETURN(std::string bytes, read_file(options.file));
  Answer answer;
  if (auto text = python::module_segment(bytes)) answer.source = "source-v1:" + sha256_hex(*text);
  answer.ast = std::move(ast);
  answer.first = 1;
  answer.last = module.source.line_count();
  return print_answer(answer, context);
}

Result<int> run(const Options& options, const Context& context) {
  GRAFT_ASSIGN_OR_RETURN(python::Profile profile, python::parse_profile(options.profile));
  python::ParseOptions parse_options;
  parse_options.profile = profile;
  GRAFT_ASSIGN_OR_RETURN(python::SourceText source, python::SourceText::load(options.file));
  python::ParsedModule module = python::parse_module(std::move(source), parse_options);
  if (!module.ok()) {
    const Place& place = module.errors[0].place;
    if (place.line > 0 && static_cast<uint32_t>(place.line) <= module.source.line_count()) {
      std::string shown =
          with_caret(module.errors[0], module.source.line_text(static_cast<uint32_t>(place.line)));
      size_t caret = shown.find('\n');
      // The error itself is printed by the program; the line and the caret go before it.
      if (caret != std::string::npos) fmt::print(stderr, "{}\n", shown.substr(caret + 1));
    }
    return std::move(module.errors[0]);
  }
  if (options.target.empty()) return run_file(options, module, profile, context);

  GRAFT_ASSIGN_OR_RETURN(python::Target target, python::find_target(module, options.target, profile));
  GRAFT_ASSIGN_OR_RETURN(python::Segment segment, python::segment_of(module, target, profile));
  if (target.ambiguous)
    log_warning(fmt::format("'{}' is defined more than once in {}; this is the one at line {}",
                            options.target, options.file, segment.lines.first));
  if (options.hash) {
    python::Evidence evidence = python::evidence_of(segment.text, profile);
    return print_answer({Json(options.target), evidence.source, evidence.ast, segment.lines.first,
                         segment.lines.last, target.ambiguous},
                        context);
  }
  Result<python::ParsedModule> alone = python::parse_segment(segment.text, profile);
  if (!alone.ok())
    return input_error(
        fmt::format("the text of '{}' is no program of its own, so it has no canonical text: {}",
                    options.target, alone.error().message),
        Place{options.file, static_cast<int>(segment.lines.first), 0});
  return print_text(*alone->module, profile, context);
}

}  // namespace

Command python_ast_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "python ast";
  command.summary = "canonical text of a syntax tree, or its hashes";
  command.details =
      "With --target, of one function, class, property or lambda: its text as inspect.getsource gives it, "
      "dedented\n"
      "and parsed. With --hash, the identities source-v1 and ast-v1 instead of the text.";
  Option file;
  file.name = "FILE";
  file.help = "a Python file";
  file.text = &options->file;
  file.required = true;
  Option target;
  target.name = "--target";
  target.help = "qualified name: f, Class.method, f.<locals>.g";
  target.text = &options->target;
  Option hash;
  hash.name = "--hash";
  hash.help = "print source-v1 and ast-v1";
  hash.flag = &options->hash;
  command.options = {file, target, hash, profile_option(&options->profile)};
  command.run = [options](const Context& context) { return run(*options, context); };
  return command;
}

}  // namespace graft::cli
