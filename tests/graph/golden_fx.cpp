// The plain mode against what torch.fx reports on the data set.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "graph/importer.h"
#include "graph/matcher.h"
#include "graph/plain.h"

namespace graft::graph {
namespace {

struct Data {
  std::map<std::string, std::string> models;
  Json golden;
};

// Empty models where the data are absent.
Data load() {
  Data data;
  const std::string shared = std::string(GRAFT_SOURCE_DIR) + "/../shared";
  const std::string graphs = shared + "/data/graphs.jsonl";
  const std::string golden = shared + "/golden/fx/matches.json";
  if (!is_regular_file(graphs) || !is_regular_file(golden)) return data;
  const Result<std::string> golden_text = read_file(golden);
  const Result<std::string> text = read_file(graphs);
  if (!golden_text.ok() || !text.ok()) return data;
  const Result<Json> parsed = Json::parse(*golden_text, golden);
  if (!parsed.ok()) return data;
  data.golden = *parsed;
  size_t begin = 0;
  while (begin < text->size()) {
    const size_t end = std::min(text->find('\n', begin), text->size());
    const Result<Json> record = Json::parse(std::string_view(*text).substr(begin, end - begin));
    begin = end + 1;
    if (record.ok()) data.models[(*record)["name"].as_string()] = (*record)["model.py"].as_string();
  }
  return data;
}

std::string describe(const Graph& graph, NodeId id) {
  return std::string(op_name(graph.node(id).op)) + " " + std::string(graph.target(id));
}

TEST(GoldenFx, NodesKindsTargetsAndMatches) {
  const Data data = load();
  if (data.models.empty()) GTEST_SKIP() << "../shared/data/graphs.jsonl or ../shared/golden/fx is absent";
  std::map<std::string, Graph> patterns;
  for (const auto& [name, text] : data.golden["patterns"].members()) {
    const Result<python::ParsedModule> module = python::parse_text("import torch\n" + text.as_string(), name);
    ASSERT_TRUE(module.ok());
    const ModuleScope scope = read_scope(*module);
    ImportOptions options;
    options.unroll = true;
    const Result<Graph> pattern = import_function(scope, *scope.find("pattern")->function, options);
    ASSERT_TRUE(pattern.ok()) << name << ": " << pattern.error().to_string();
    patterns[name] = plain_graph(*pattern);
  }
  size_t entries = 0;
  size_t not_empty = 0;
  for (const auto& [name, golden] : data.golden["graphs"].members()) {
    const Result<Graph> text_graph = import_model_text(data.models.at(name), name);
    ASSERT_TRUE(text_graph.ok()) << text_graph.error().to_string();
    const Graph graph = plain_graph(*text_graph);
    ASSERT_TRUE(graph.verify().ok()) << name;
    if (golden.find("error") != nullptr) continue;
    EXPECT_EQ(static_cast<int64_t>(graph.size()), golden["nodes"].as_int()) << name;
    std::map<std::string, int64_t> kinds;
    std::vector<std::string> targets;
    for (const NodeId id : graph.order()) {
      ++kinds[std::string(op_name(graph.node(id).op))];
      if (graph.node(id).op != Op::kPlaceholder && graph.node(id).op != Op::kOutput)
        targets.push_back(describe(graph, id));
    }
    for (const auto& [kind, count] : golden["kinds"].members())
      EXPECT_EQ(kinds[kind], count.as_int()) << name << " " << kind;
    std::vector<std::string> expected;
    for (const Json& target : golden["targets"].items()) {
      expected.push_back(target.items()[0].as_string() + " " + target.items()[1].as_string());
    }
    EXPECT_EQ(targets, expected) << name;
    const std::vector<uint32_t> numbers = graph.numbering();
    for (const auto& [pattern, wanted] : golden["matches"].members()) {
      const Result<Matcher> matcher = Matcher::create(patterns.at(pattern), {MatchMode::kPlain});
      ASSERT_TRUE(matcher.ok()) << pattern << ": " << matcher.error().to_string();
      Json found = Json::array();
      for (const Match& match : matcher->match(graph).matches) {
        Json nodes = Json::array();
        for (const NodeId id : match.nodes) nodes.push_back(static_cast<int64_t>(numbers[id]));
        found.push_back(std::move(nodes));
      }
      EXPECT_EQ(found.dump(), wanted.is_array() ? wanted.dump() : "no list") << name << " " << pattern;
      ++entries;
      not_empty += wanted.items().empty() ? 0 : 1;
    }
  }
  EXPECT_GT(entries, 0U);
  EXPECT_GT(not_empty, 0U);
  RecordProperty("entries", static_cast<int>(entries));
  RecordProperty("not_empty", static_cast<int>(not_empty));
  if (std::getenv("GRAFT_PRINT_FIGURES") != nullptr)
    std::printf("%zu entries, %zu not empty\n", entries, not_empty);
}

}  // namespace
}  // namespace graft::graph
