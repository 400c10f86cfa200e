#include "python/dedent.h"

#include <optional>

namespace graft::python {
namespace {

// Calls visit(line without its LF, whether an LF follows) for every line.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    size_t end = text.find('\n');
    bool terminated = end != std::string_view::npos;
    visit(text.substr(0, end), terminated);
    text.remove_prefix(terminated ? end + 1 : text.size());
  }
}

}  // namespace

std::string dedent(std::string_view text) {
  std::optional<std::string_view> margin;
  for_each_line(text, [&](std::string_view line, bool) {
    size_t content = line.find_first_not_of(" \t");
    if (content == std::string_view::npos) return;
    std::string_view indent = line.substr(0, content);
    if (!margin) margin = indent;
    size_t common = 0;
    while (common < margin->size() && common < indent.size() && (*margin)[common] == indent[common]) ++common;
    margin = margin->substr(0, common);
  });
  size_t cut = margin ? margin->size() : 0;
  std::string out;
  out.reserve(text.size());
  for_each_line(text, [&](std::string_view line, bool terminated) {
    if (line.find_first_not_of(" \t") != std::string_view::npos) out += line.substr(cut);
    if (terminated) out += '\n';
  });
  return out;
}

}  // namespace graft::python
