// The range of every node of the forms in data/forms.txt, against those recorded from CPython 3.13 by
// make_ranges.py.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "python/parser.h"
#include "python/visitor.h"

namespace graft::python {
namespace {

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (size_t next; (next = text.find(separator, at)) != std::string::npos; at = next + separator.size())
    parts.push_back(text.substr(at, next - at));
  parts.push_back(text.substr(at));
  return parts;
}

// CPython gives these classes no place.
bool has_place(NodeKind kind) {
  return kind != NodeKind::kModule && kind != NodeKind::kArguments && kind != NodeKind::kComprehension &&
         kind != NodeKind::kWithItem && kind != NodeKind::kMatchCase;
}

std::string ranges(const std::string& form) {
  ParseOptions options;
  options.profile = Profile::kPython313;
  Result<ParsedModule> parsed = parse_text(form, {}, options);
  if (!parsed.ok()) return "refused";
  const SourceText& source = parsed->source;
  std::string out;
  walk(*parsed->module, [&](const Node& node) {
    if (!has_place(node.kind)) return;
    if (!out.empty()) out += ';';
    out += class_name(node.kind);
    for (uint32_t offset : {node.begin, node.end})
      out += " " + std::to_string(source.line_of(offset)) + " " + std::to_string(source.column_bytes(offset));
  });
  return out;
}

TEST(Ranges, EqualCPython) {
  const std::string folder = GRAFT_SOURCE_DIR "/tests/python/data/";
  Result<std::string> forms_text = read_file(folder + "forms.txt");
  Result<std::string> answers_text = read_file(folder + "ranges.3.13.txt");
  ASSERT_TRUE(forms_text.ok() && answers_text.ok());
  std::vector<std::string> forms = split(*forms_text, "#====\n");
  std::vector<std::string> answers = split(*answers_text, "\n");
  ASSERT_GT(forms.size(), 500u);
  ASSERT_EQ(forms.size() + 1, answers.size());
  for (size_t i = 0; i < forms.size(); ++i) {
    if (answers[i] == "refused") continue;  // whether they are refused is for forms.cpp
    EXPECT_EQ(ranges(forms[i]), answers[i]) << "form:\n" << forms[i];
  }
}

TEST(Ranges, CountBytesInColumnsAndCodePointsInPlaces) {
  Result<ParsedModule> parsed = parse_text("é = 'ü'; x\r\ny = 1\r\n");
  ASSERT_TRUE(parsed.ok());
  const auto& body = parsed->module->body;
  ASSERT_EQ(body.size(), 3u);
  EXPECT_EQ(parsed->source.column_bytes(body[1]->begin), 11u);
  Place place = parsed->source.place(body[1]->begin);
  EXPECT_EQ(place.line, 1);
  EXPECT_EQ(place.column, 10);
  EXPECT_EQ(parsed->source.line_of(body[2]->begin), 2u);
}

}  // namespace
}  // namespace graft::python
