// What each CPython from 3.8 to 3.13 says of the forms in data/forms.txt, against the profile of that
// version. The answers were recorded by make_forms.py.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "python/canonical.h"
#include "python/parser.h"

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

std::string answer(const std::string& form, Profile profile) {
  ParseOptions options;
  options.profile = profile;
  Result<ParsedModule> module = parse_text(form, {}, options);
  if (!module.ok()) return "refused";
  Result<std::string> text = canonical_text(*module->module, profile);
  return text.ok() ? *text : "refused";
}

// Left as they are: a lambda as a condition, which only the older parser of 3.8 takes, and an oddity of 3.12,
// an empty Constant before a dictionary in a format specification.
const std::set<std::string> kExceptions = {
    "3.8 [x for x in y if lambda: z]\n",
    "3.12 f\"{x:{{}}}\"\n",
};

class Forms : public testing::TestWithParam<std::pair<const char*, Profile>> {};

TEST_P(Forms, EqualCPython) {
  const auto& [version, profile] = GetParam();
  const std::string folder = GRAFT_SOURCE_DIR "/tests/python/data/";
  Result<std::string> forms_text = read_file(folder + "forms.txt");
  Result<std::string> answers_text = read_file(folder + "forms." + version + ".txt");
  ASSERT_TRUE(forms_text.ok() && answers_text.ok());
  std::vector<std::string> forms = split(*forms_text, "#====\n");
  std::vector<std::string> answers = split(*answers_text, "\n");
  ASSERT_GT(forms.size(), 500u);
  ASSERT_EQ(forms.size() + 1, answers.size());
  for (size_t i = 0; i < forms.size(); ++i) {
    if (answers[i] == "fault" || kExceptions.count(std::string(version) + " " + forms[i]) != 0) continue;
    EXPECT_EQ(answer(forms[i], profile), answers[i]) << version << ", form:\n" << forms[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Versions, Forms,
    testing::Values(std::pair("3.8", Profile::kPython38), std::pair("3.9", Profile::kPython39),
                    std::pair("3.10", Profile::kPython310), std::pair("3.11", Profile::kPython311),
                    std::pair("3.12", Profile::kPython312), std::pair("3.13", Profile::kPython313)),
    [](const auto& one) {
      std::string name = std::string("CPython") + one.param.first;
      name[8] = '_';
      return name;
    });

// The default takes every form that 3.11 or 3.13 takes; where both give a tree, it is 3.11's.
TEST(Forms, TheDefaultTakesTheNewestGrammarWith311Rules) {
  const std::string folder = GRAFT_SOURCE_DIR "/tests/python/data/";
  Result<std::string> forms_text = read_file(folder + "forms.txt");
  Result<std::string> old_text = read_file(folder + "forms.3.11.txt");
  Result<std::string> new_text = read_file(folder + "forms.3.13.txt");
  ASSERT_TRUE(forms_text.ok() && old_text.ok() && new_text.ok());
  std::vector<std::string> forms = split(*forms_text, "#====\n");
  std::vector<std::string> old_answers = split(*old_text, "\n");
  std::vector<std::string> new_answers = split(*new_text, "\n");
  for (size_t i = 0; i < forms.size(); ++i) {
    if (new_answers[i] == "refused" && old_answers[i] != "refused") continue;
    const std::string& expected = old_answers[i] != "refused" ? old_answers[i] : new_answers[i];
    EXPECT_EQ(answer(forms[i], Profile::kDefault), expected) << "form:\n" << forms[i];
  }
}

}  // namespace
}  // namespace graft::python
