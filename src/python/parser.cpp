#include "python/parser.h"

#include <utility>

#include "python/parser_impl.h"
#include "python/unicode.h"

namespace graft::python {

Result<Profile> parse_profile(std::string_view name) {
  static constexpr std::pair<std::string_view, Profile> kNames[] = {
      {"default", Profile::kDefault}, {"3.8", Profile::kPython38},   {"3.9", Profile::kPython39},
      {"3.10", Profile::kPython310},  {"3.11", Profile::kPython311}, {"3.12", Profile::kPython312},
      {"3.13", Profile::kPython313}};
  for (const auto& [text, profile] : kNames)
    if (text == name) return profile;
  return input_error("unknown profile '" + std::string(name) + "'", {},
                     "default, 3.8, 3.9, 3.10, 3.11, 3.12 or 3.13");
}

Parser::Parser(const SourceText& source, const ParseOptions& options, ParsedModule& result)
    : source_(source),
      text_(source.text().data()),
      arena_(result.arena),
      profile_(options.profile),
      max_errors_(options.max_errors == 0 ? 1 : options.max_errors),
      errors_(result.errors),
      comments_(result.comments),
      lexer_(source, options.profile, result.comments) {
  scratch_.reserve(1024);
}

const Module* Parser::parse() {
  auto* module = make<Module>(0);
  advance_line();
  try {
    for (;;) {
      statements();
      if (is(T::kEnd)) break;
      ++at_;  // a DEDENT left over from lines that could not be read
    }
  } catch (const SyntaxFailure&) {
    // Enough errors.
    scratch_.clear();
  }
  module->body = take<Stmt>(0);
  module->end = source_.size();
  return module;
}

Identifier Parser::normalized(const Token& token) {
  std::string_view text = token_text(token);
  std::string normal = normalize_identifier(text);
  return normal == text ? text : arena_.copy(normal);
}

void Parser::record(uint32_t offset, std::string message, std::string expected) {
  errors_.push_back(input_error(std::move(message), source_.place(offset), std::move(expected)));
}

void Parser::fail(uint32_t offset, std::string message, std::string expected) {
  record(offset, std::move(message), std::move(expected));
  throw SyntaxFailure{};
}

void Parser::fail_expected(std::string_view expected) {
  if (is(T::kError)) {
    const LexError& error = lexer_.error();
    fail(error.offset, error.message, error.expected);
  }
  // A bracket that is open at the end of the file explains everything after it.
  if (lexer_.last()->kind == T::kError && lexer_.bracket_open() &&
      lexer_.error().offset == lexer_.open_bracket() && lexer_.open_bracket() < at_->begin)
    fail(lexer_.error().offset, lexer_.error().message, lexer_.error().expected);
  if (is(T::kIndent)) fail(at_->end, "unexpected indent", std::string(expected));
  fail(at_->begin, "invalid syntax", std::string(expected) + ", found " + std::string(describe(at_->kind)));
}

void Parser::fail_version(Profile since, uint32_t offset, std::string_view feature) {
  fail(offset, std::string(feature) + " needs Python 3." + std::to_string(static_cast<int>(since)));
}

void Parser::recover() {
  spec_depth_ = 0;
  if (lexer_.last()->kind == T::kError) {
    bool never_closed = lexer_.bracket_open() && lexer_.error().offset == lexer_.open_bracket();
    lexer_.resume_after(is(T::kError) || never_closed ? lexer_.error().offset : at_->begin);
  }
  advance_line();
}

ParsedModule parse_module(SourceText source, const ParseOptions& options) {
  ParsedModule result{std::move(source), {}, nullptr, {}, {}};
  result.module = Parser(result.source, options, result).parse();
  return result;
}

Result<ParsedModule> parse_text(std::string bytes, std::string file, const ParseOptions& options) {
  GRAFT_ASSIGN_OR_RETURN(SourceText source, SourceText::from_bytes(std::move(bytes), std::move(file)));
  ParsedModule parsed = parse_module(std::move(source), options);
  if (!parsed.ok()) return std::move(parsed.errors.front());
  return parsed;
}

Result<ParsedModule> parse_file(const std::string& path, const ParseOptions& options) {
  GRAFT_ASSIGN_OR_RETURN(SourceText source, SourceText::load(path));
  ParsedModule parsed = parse_module(std::move(source), options);
  if (!parsed.ok()) return std::move(parsed.errors.front());
  return parsed;
}

}  // namespace graft::python
