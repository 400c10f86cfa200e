// Source and tree evidence of the golden package, as CPython computed it by importing and inspecting.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "python/canonical.h"
#include "python/definition.h"
#include "python/segment.h"

namespace graft::python {
namespace {

const std::string kGolden = GRAFT_SOURCE_DIR "/../shared/golden/evidence/";

// Targets whose object is another than the definition their path names: made at run time by a decorator or a
// call, or chosen by a condition. What the text alone can say is where the evidence of the definition lies;
// nullptr: nothing in any file.
const std::map<std::string, const char*> kElsewhere = {
    {"minimodel.plain", "minimodel.funcs.plain"},
    {"minimodel.rescale", "minimodel.funcs.scaled"},
    {"minimodel.TABLE.plain", "minimodel.funcs.plain"},
    {"minimodel.TABLE.nested.grid.forward", "minimodel.classes.Grid.forward"},
    {"minimodel.SHARED.forward", "minimodel.classes.Grid.forward"},
    {"minimodel.data.ReExported", "minimodel.classes.Grid"},
    {"minimodel.data.plain_again", "minimodel.funcs.plain"},
    {"minimodel.funcs.half", nullptr},
    {"minimodel.funcs.fast_sqrt", nullptr},
    {"minimodel.funcs.COUNTER", nullptr},
    {"minimodel.classes.INSTANCE", nullptr},
    {"minimodel.classes.Data.__init__", nullptr},
    {"minimodel.classes.Point", nullptr},
    {"minimodel.decorated.bare", "minimodel.decorated.bare"},
    {"minimodel.decorated.loses_source", "minimodel.decorated.bare.<locals>.replaced"},
    {"minimodel.conditional.guarded", "first of two"},
    {"minimodel.conditional.LocalClass", "minimodel.conditional.factory.<locals>.Local"},
    {"minimodel.conditional.local_function", "minimodel.conditional.factory.<locals>.local_function"},
    {"minimodel.lambdas.left", "lambdas:2"},
    {"minimodel.lambdas.right", "lambdas:2"},
    {"minimodel.lambdas.table_a", "lambdas:14"},
    {"minimodel.lambdas.table_b", "lambdas:15"},
    {"builtins.len", nullptr},
};

struct Row {
  std::string target;
  std::string python;
  std::string source;
  std::string ast;
};

std::vector<std::vector<std::string>> read_table(const std::string& path) {
  Result<std::string> text = read_file(path);
  std::vector<std::vector<std::string>> rows;
  if (!text.ok()) return rows;
  std::string_view rest = *text;
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    for (size_t at = 0;;) {
      size_t tab = line.find('\t', at);
      cells.emplace_back(line.substr(at, tab == std::string_view::npos ? tab : tab - at));
      if (tab == std::string_view::npos) break;
      at = tab + 1;
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

Profile profile_of(const std::string& version) {
  size_t dot = version.find('.', 2);
  Result<Profile> profile = parse_profile(version.substr(0, dot));
  return profile.ok() ? *profile : Profile::kDefault;
}

// The file of the longest prefix that is a module, and the rest of the path.
struct Found {
  std::string file;
  std::string qualname;
};
Found locate(const std::string& target) {
  std::string base = kGolden;
  size_t at = 0;
  Found found;
  while (true) {
    size_t dot = target.find('.', at);
    std::string name = target.substr(at, dot == std::string::npos ? dot : dot - at);
    if (is_directory(base + name)) {
      base += name + "/";
      found = {base + "__init__.py", dot == std::string::npos ? "" : target.substr(dot + 1)};
    } else if (is_regular_file(base + name + ".py")) {
      return {base + name + ".py", dot == std::string::npos ? "" : target.substr(dot + 1)};
    } else {
      return found;
    }
    if (dot == std::string::npos) return found;
    at = dot + 1;
  }
}

// The text evidence is made of, or why there is none.
Result<std::string> text_for(const std::string& target, Profile profile) {
  if (target.starts_with("module:")) {
    Found found = locate(target.substr(7));
    GRAFT_ASSIGN_OR_RETURN(std::string bytes, read_file(found.file));
    std::optional<std::string> text = module_segment(bytes);
    if (!text) return input_error("no UTF-8");
    return *text;
  }
  std::string path = target;
  auto elsewhere = kElsewhere.find(target);
  if (elsewhere != kElsewhere.end()) {
    if (elsewhere->second == nullptr) return input_error("nothing in any file");
    path = elsewhere->second;
  }
  ParseOptions options;
  options.profile = profile;
  bool is_lambda = path.starts_with("lambdas:");
  bool is_first = path == "first of two";
  Found found = locate(is_lambda ? "minimodel.lambdas" : is_first ? "minimodel.conditional" : path);
  GRAFT_ASSIGN_OR_RETURN(ParsedModule module, parse_file(found.file, options));
  if (is_lambda) {
    auto line = static_cast<uint32_t>(std::stoul(path.substr(8)));
    GRAFT_ASSIGN_OR_RETURN(uint32_t last, block_end_by_tokens(module.source, line, profile));
    return text_of_lines(module.source, {line, last});
  }
  if (is_first) {
    for (const Definition& definition : all_definitions(*module.module))
      if (definition.qualname == "guarded")
        return text_of_lines(module.source, definition_lines(module, *definition.node, profile));
  }
  GRAFT_ASSIGN_OR_RETURN(Target resolved, find_target(module, found.qualname, profile));
  GRAFT_ASSIGN_OR_RETURN(Segment segment, segment_of(module, resolved, profile));
  return segment.text;
}

class GoldenEvidence : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_directory(kGolden)) GTEST_SKIP() << "skipped: ../shared/golden/evidence is absent";
  }
};

TEST_F(GoldenEvidence, EveryTargetOfTheTable) {
  std::vector<std::vector<std::string>> rows = read_table(kGolden + "expected.tsv");
  ASSERT_GT(rows.size(), 100u);
  size_t compared = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::string& target = rows[i][0];
    // modern312 needs a grammar that 3.11 has not.
    Profile profile = profile_of(rows[i][1]);
    Result<std::string> text = text_for(target, profile);
    if (!text.ok()) {
      EXPECT_TRUE(rows[i][3] == "-" || rows[i][3].starts_with("artifact-v1"))
          << target << ": " << text.error().to_string();
      continue;
    }
    ++compared;
    Evidence evidence = evidence_of(*text, profile);
    EXPECT_EQ(evidence.source, rows[i][3]) << target << "\n" << *text;
    EXPECT_EQ(evidence.ast.value_or("-"), rows[i][4]) << target;
    // The default profile gives the same.
    Result<std::string> by_default = text_for(target, Profile::kDefault);
    ASSERT_TRUE(by_default.ok()) << target;
    EXPECT_EQ(evidence_of(*by_default).source, rows[i][3]) << target;
    EXPECT_EQ(evidence_of(*by_default).ast.value_or("-"), rows[i][4]) << target;
  }
  EXPECT_GT(compared, 95u);
}

// The versions in the columns same_on_source and same_on_ast give the very same values, expected_variants.tsv
// has the others.
TEST_F(GoldenEvidence, EveryVersion) {
  std::map<std::pair<std::string, std::string>, std::string> variants;  // {target field, version} -> value
  for (const auto& row : read_table(kGolden + "expected_variants.tsv"))
    if (row.size() >= 4) variants[{row[0] + " " + row[2], row[1].substr(0, row[1].find('.', 2))}] = row[3];
  // Evidence of a class that a decorator replaced is that of the class in the decorator.
  std::vector<std::vector<std::string>> rows = read_table(kGolden + "expected.tsv");
  size_t compared = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::string& target = rows[i][0];
    if (rows[i][3].starts_with("artifact-v1")) continue;  // of a shared library, not of text
    for (const char* version : {"3.8", "3.9", "3.10", "3.11", "3.12", "3.13"}) {
      // On 3.13 this class has lost its place, which only running it shows.
      if (target == "minimodel.decorated.Replaced" && std::string(version) == "3.13") continue;
      auto has = [&](const std::string& list) {
        return ("," + list + ",").find("," + std::string(version) + ",") != std::string::npos;
      };
      Profile profile = profile_of(version);
      Result<std::string> text = text_for(target, profile);
      std::optional<Evidence> evidence;
      if (text.ok()) evidence = evidence_of(*text, profile);
      auto expect = [&](const char* field, const std::string& same, const std::string& base,
                        const std::string& got) {
        auto variant = variants.find({target + " " + field, version});
        if (variant == variants.end() && !has(same)) return;  // no module on that version
        ++compared;
        EXPECT_EQ(got, variant != variants.end() ? variant->second : base)
            << target << " " << field << " " << version;
      };
      expect("source", rows[i][6], rows[i][3], evidence ? evidence->source : "-");
      expect("ast", rows[i][7], rows[i][4], evidence ? evidence->ast.value_or("-") : "-");
    }
  }
  EXPECT_GT(compared, 1200u);
}

// dump/NAME.source.txt and dump/NAME.canon.txt are the very texts.
TEST_F(GoldenEvidence, EveryDump) {
  Result<std::vector<std::string>> names = list_directory(kGolden + "dump");
  ASSERT_TRUE(names.ok());
  size_t compared = 0;
  for (const std::string& name : *names) {
    size_t dot = name.size() - std::string(".source.txt").size();
    if (!name.ends_with(".source.txt")) continue;
    std::string target = name.substr(0, dot);
    if (target.starts_with("module_")) target[6] = ':';
    Profile profile =
        target.find("modern312") != std::string::npos ? Profile::kPython313 : Profile::kPython311;
    Result<std::string> dumped = read_file(kGolden + "dump/" + name);
    ASSERT_TRUE(dumped.ok());
    Result<std::string> text = text_for(target, profile);
    ASSERT_TRUE(text.ok()) << target << ": " << text.error().to_string();
    EXPECT_EQ(*text, *dumped) << target;
    Result<std::string> canon = read_file(kGolden + "dump/" + name.substr(0, dot) + ".canon.txt");
    Result<ParsedModule> module = parse_segment(*text, profile);
    ASSERT_EQ(module.ok(), canon.ok()) << target;
    ++compared;
    if (!canon.ok()) continue;
    Result<std::string> tree = canonical_text(*module->module, profile);
    ASSERT_TRUE(tree.ok());
    EXPECT_EQ(*tree, *canon) << target;
    ++compared;
  }
  EXPECT_EQ(compared, names->size() + 0u) << "files in dump/ against texts compared";
}

}  // namespace
}  // namespace graft::python
