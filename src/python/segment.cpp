#include "python/segment.h"

#include <algorithm>

#include "base/hash.h"
#include "base/utf8.h"
#include "python/canonical.h"
#include "python/dedent.h"

namespace graft::python {
namespace {

constexpr std::string_view kBlank = " \t\f";

const Nodes<Expr>& decorators_of(const Stmt& definition) {
  return definition.kind == NodeKind::kClassDef ? as<ClassDef>(definition).decorator_list
                                                : as<FunctionBase>(definition).decorator_list;
}

const Nodes<Stmt>& body_of(const Stmt& definition) {
  return definition.kind == NodeKind::kClassDef ? as<ClassDef>(definition).body
                                                : as<FunctionBase>(definition).body;
}

bool is_definition(const Stmt& statement) {
  return statement.kind == NodeKind::kClassDef || FunctionBase::matches(statement.kind);
}

// The comment that holds the byte at `offset`, or null.
const TextRange* comment_at(const ParsedModule& module, uint32_t offset) {
  auto after = std::upper_bound(module.comments.begin(), module.comments.end(), offset,
                                [](uint32_t value, const TextRange& range) { return value < range.begin; });
  if (after == module.comments.begin()) return nullptr;
  const TextRange& range = *(after - 1);
  return offset < range.end ? &range : nullptr;
}

// Where a statement begins, the '@' of its first decorator included.
uint32_t begin_with_decorators(const ParsedModule& module, const Stmt& statement) {
  if (!is_definition(statement) || decorators_of(statement).empty()) return statement.begin;
  std::string_view text = module.source.text();
  uint32_t at = decorators_of(statement)[0]->begin;
  // Between '@' and the expression there are only blanks, brackets and, inside those, comments.
  while (at > 0) {
    --at;
    if (const TextRange* comment = comment_at(module, at))
      at = comment->begin;
    else if (text[at] == '@')
      return at;
  }
  return statement.begin;
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f');
}

// Up to 3.12 inspect goes back from a code object's first line to one that looks like a definition.
bool looks_like_definition(std::string_view line) {
  size_t indent = 0;
  while (indent < line.size() && is_space(line[indent])) ++indent;
  std::string_view rest = line.substr(indent);
  auto space_at = [](std::string_view text, size_t at) { return at >= text.size() || is_space(text[at]); };
  if (rest.starts_with('@') || (rest.starts_with("def") && space_at(rest, 3))) return true;
  if (rest.starts_with("async")) {
    size_t at = 5;
    while (at < rest.size() && is_space(rest[at])) ++at;
    if (at > 5 && rest.substr(at).starts_with("def") && space_at(rest, at + 3)) return true;
  }
  for (size_t at = line.find("lambda"); at != std::string_view::npos; at = line.find("lambda", at + 1)) {
    if (at > 0) {
      auto before = static_cast<unsigned char>(line[at - 1]);
      if (before >= 0x80 || before == '_' || (before >= '0' && before <= '9') ||
          ((before | 0x20) >= 'a' && (before | 0x20) <= 'z'))
        continue;
    }
    if (space_at(line, at + 6) || line[at + 6] == ':') return true;
  }
  return false;
}

uint32_t first_line_of_code(const SourceText& source, uint32_t line, Profile profile) {
  if (minor_version(profile) >= 13) return line;
  while (line > 1 && !looks_like_definition(source.line_text(line))) --line;
  return line;
}

// Whether the body begins on a line of its own that no backslash joins to the one before.
bool has_block(const ParsedModule& module, uint32_t body_begin) {
  const SourceText& source = module.source;
  uint32_t line = source.line_of(body_begin);
  uint32_t line_begin = source.line_begin(line);
  std::string_view before = source.text().substr(line_begin, body_begin - line_begin);
  if (before.find_first_not_of(kBlank) != std::string_view::npos) return false;
  if (line == 1 || !source.line_text(line - 1).ends_with('\\')) return true;
  return comment_at(module, line_begin - 2) != nullptr;
}

Result<std::pair<LineRange, std::string>> text_of_node(const ParsedModule& module, const Node& node,
                                                       Profile profile) {
  LineRange lines;
  if (const auto* lambda = node_cast<Lambda>(&node)) {
    GRAFT_ASSIGN_OR_RETURN(lines, lambda_lines(module, *lambda, profile));
  } else {
    lines = definition_lines(module, as<Stmt>(node), profile);
  }
  return std::pair(lines, text_of_lines(module.source, lines));
}

}  // namespace

LineRange definition_lines(const ParsedModule& module, const Stmt& definition, Profile profile) {
  const SourceText& source = module.source;
  bool is_class = definition.kind == NodeKind::kClassDef;
  const Nodes<Expr>& decorators = decorators_of(definition);
  bool decorated = !decorators.empty() && !(is_class && minor_version(profile) == 8);
  LineRange lines;
  lines.first = source.line_of(decorated ? decorators[0]->begin : definition.begin);
  if (!is_class) lines.first = first_line_of_code(source, lines.first, profile);

  const Nodes<Stmt>& body = body_of(definition);
  const Stmt& final = *body.back();
  lines.last = source.line_of(std::max(final.end, final.begin + 1) - 1);
  uint32_t body_begin = begin_with_decorators(module, *body.front());
  if (!has_block(module, body_begin)) return lines;
  uint32_t column = body_begin - source.line_begin(source.line_of(body_begin));
  for (uint32_t line = lines.last + 1; line <= source.line_count(); ++line) {
    std::string_view text = source.line_text(line);
    size_t content = text.find_first_not_of(kBlank);
    if (content == std::string_view::npos) continue;
    if (text[content] != '#') break;
    if (content >= column) lines.last = line;
  }
  return lines;
}

Result<LineRange> lambda_lines(const ParsedModule& module, const Lambda& lambda, Profile profile) {
  LineRange lines;
  lines.first = first_line_of_code(module.source, module.source.line_of(lambda.begin), profile);
  GRAFT_ASSIGN_OR_RETURN(lines.last, block_end_by_tokens(module.source, lines.first, profile));
  return lines;
}

std::string text_of_lines(const SourceText& source, LineRange lines) {
  uint32_t begin = source.line_begin(lines.first);
  uint32_t end = lines.last >= source.line_count() ? source.size() : source.line_begin(lines.last + 1);
  std::string text(source.text().substr(begin, end - begin));
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

Result<Segment> segment_of(const ParsedModule& module, const Target& target, Profile profile) {
  if (target.kind != Target::Kind::kProperty) {
    GRAFT_ASSIGN_OR_RETURN(auto found, text_of_node(module, *target.node, profile));
    return Segment{std::move(found.second), found.first};
  }
  Segment segment;
  const std::pair<std::string_view, const Node*> accessors[] = {
      {"fget", target.getter}, {"fset", target.setter}, {"fdel", target.deleter}};
  for (const auto& [role, accessor] : accessors) {
    if (accessor == nullptr) continue;
    GRAFT_ASSIGN_OR_RETURN(auto found, text_of_node(module, *accessor, profile));
    if (segment.text.empty())
      segment.lines = found.first;
    else
      segment.text += '\n';
    segment.lines.first = std::min(segment.lines.first, found.first.first);
    segment.lines.last = std::max(segment.lines.last, found.first.last);
    segment.text += "__turbo_physai_property_accessor__ = '";
    segment.text += role;
    segment.text += "'\n";
    segment.text += dedent(found.second);
  }
  return segment;
}

std::optional<std::string> module_segment(std::string_view bytes) {
  if (!is_valid_utf8(bytes)) return std::nullopt;
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != '\r') {
      text += bytes[at];
      continue;
    }
    text += '\n';
    if (at + 1 < bytes.size() && bytes[at + 1] == '\n') ++at;
  }
  return text;
}

Result<ParsedModule> parse_segment(std::string_view text, Profile profile) {
  GRAFT_ASSIGN_OR_RETURN(SourceText source, SourceText::from_utf8(dedent(text)));
  ParseOptions options;
  options.profile = profile;
  options.max_errors = 1;
  ParsedModule module = parse_module(std::move(source), options);
  if (!module.ok()) return std::move(module.errors[0]);
  return module;
}

Evidence evidence_of(std::string_view text, Profile profile) {
  Evidence evidence;
  evidence.source = "source-v1:" + sha256_hex(text);
  Result<ParsedModule> module = parse_segment(text, profile);
  if (!module.ok()) return evidence;
  Result<std::string> hash = ast_hash(*module->module, profile);
  if (hash.ok()) evidence.ast = std::move(*hash);
  return evidence;
}

}  // namespace graft::python
