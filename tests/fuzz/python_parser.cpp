// Any bytes through the whole front end: decoding, parsing with every profile, canonical text, definitions
// and their evidence. Beyond not crashing, what comes out must be consistent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "python/canonical.h"
#include "python/definition.h"
#include "python/parser.h"
#include "python/segment.h"
#include "python/visitor.h"

using namespace graft;
using namespace graft::python;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_ranges(const ParsedModule& module) {
  uint32_t size = module.source.size();
  walk(*module.module, [size](const Node& node) { require(node.begin <= node.end && node.end <= size); });
  uint32_t end = 0;
  for (const TextRange& comment : module.comments) {
    require(comment.begin >= end && comment.end <= size && module.source.text()[comment.begin] == '#');
    end = comment.end;
  }
}

void check_errors(const ParsedModule& module) {
  for (const Error& error : module.errors) {
    require(!error.message.empty() && error.place.line >= 1 && error.place.column >= 1);
    require(static_cast<uint32_t>(error.place.line) <= module.source.line_count() + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr Profile kProfiles[] = {Profile::kDefault,   Profile::kPython38,  Profile::kPython39,
                                   Profile::kPython310, Profile::kPython311, Profile::kPython312,
                                   Profile::kPython313};
  // The last byte chooses, so that seeds that are programs stay programs.
  ParseOptions options;
  options.profile = kProfiles[data[size - 1] % std::size(kProfiles)];
  Result<SourceText> source =
      SourceText::from_bytes(std::string(reinterpret_cast<const char*>(data), size), "input");
  if (!source.ok()) return 0;
  ParsedModule module = parse_module(*std::move(source), options);
  check_ranges(module);
  check_errors(module);
  if (!module.ok()) return 0;
  Result<std::string> text = canonical_text(*module.module, options.profile);
  if (!text.ok()) return 0;
  require(text->starts_with("Module(") && text->ends_with(")"));
  size_t examined = 0;
  for (const Definition& definition : all_definitions(*module.module)) {
    LineRange lines = definition_lines(module, *definition.node, options.profile);
    require(lines.first >= 1 && lines.first <= lines.last && lines.last <= module.source.line_count());
    if (++examined > 8) continue;
    evidence_of(text_of_lines(module.source, lines), options.profile);
    (void)block_end_by_tokens(module.source, lines.first, options.profile);
    (void)find_target(module, definition.qualname, options.profile);
  }
  return 0;
}
