#include "graph/matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "graph/importer.h"
#include "graph/pass_file.h"
#include "graph/printer.h"

namespace graft::graph {
namespace {

using Random = std::mt19937;

size_t pick(Random& random, size_t count) {
  return std::uniform_int_distribution<size_t>(0, count - 1)(random);
}

// A random graph of a few operators over few inputs. Every node but the last is drawn from earlier ones;
// literals are 1 or 2. A pattern returns one or two of its last values and has no dead ones; nothing where
// the draw gave such a one.
Graph random_graph(Random& random, size_t inputs, size_t operations, bool pattern) {
  Graph graph;
  std::vector<NodeId> values;
  for (size_t i = 0; i < inputs; ++i) {
    values.push_back(graph.add(Op::kPlaceholder, "x" + std::to_string(i), "x" + std::to_string(i)));
  }
  for (size_t i = 0; i < operations; ++i) {
    auto value = [&] {
      return Value::of_node(values[values.size() - 1 - pick(random, std::min<size_t>(values.size(), 4))]);
    };
    std::vector<Value> args;
    const char* target = "torch.relu";
    switch (pick(random, 5)) {
      case 0:
        args = {value()};
        break;
      case 1:
        target = "torch.tanh";
        args = {value()};
        break;
      case 2:
        target = "_operator.add";
        args = {value(), value()};
        break;
      case 3:
        target = "_operator.add";
        args = {value(), Value::of_int(1 + static_cast<int64_t>(pick(random, 2)))};
        break;
      default:
        target = "torch.cat";
        const std::vector<Value> list = {value(), value()};
        args = {graph.composite(ValueKind::kList, list)};
        break;
    }
    values.push_back(graph.add(Op::kCallFunction, target, "v" + std::to_string(i), args));
  }
  std::vector<Value> results;
  if (pattern) {
    results.push_back(Value::of_node(values.back()));
    if (operations > 1 && pick(random, 2) == 0) results.push_back(Value::of_node(values[values.size() - 2]));
  } else {
    for (const NodeId id : values) {
      if (graph.user_count(id) == 0 || pick(random, 6) == 0) results.push_back(Value::of_node(id));
    }
  }
  graph.add(Op::kOutput, "output", "output", {graph.composite(ValueKind::kTuple, results)});
  return graph;
}

// Every assignment of pattern nodes to graph nodes, tried one by one against the definition of a match.
class Exhaustive {
 public:
  Exhaustive(const Graph& pattern, const Graph& graph, bool plain)
      : pattern_(pattern), graph_(graph), plain_(plain) {
    returning_ = pattern.inputs(pattern.output());
    for (const NodeId id : returning_) {
      if (pattern.user_count(id) == 1) anchors_.push_back(id);
    }
    for (NodeId id = pattern.first(); id != kNoNode; id = pattern.next(id)) {
      if (pattern.node(id).op == Op::kCallFunction) computing_.push_back(id);
    }
  }

  std::vector<std::vector<NodeId>> run() {
    assign(0);
    // In the order of the places of the anchors; overlapping ones go.
    std::sort(found_.begin(), found_.end());
    std::set<NodeId> used;
    std::vector<std::vector<NodeId>> kept;
    for (const auto& [key, nodes] : found_) {
      if (std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return used.contains(id); })) continue;
      used.insert(nodes.begin(), nodes.end());
      kept.push_back(nodes);
    }
    return kept;
  }

 private:
  void assign(size_t index) {
    if (index == computing_.size()) {
      check();
      return;
    }
    for (NodeId g = graph_.first(); g != kNoNode; g = graph_.next(g)) {
      if (graph_.node(g).op != Op::kCallFunction || graph_.target(g) != pattern_.target(computing_[index]))
        continue;
      if (std::any_of(map_.begin(), map_.end(), [&](const auto& pair) { return pair.second == g; })) continue;
      map_[computing_[index]] = g;
      assign(index + 1);
      map_.erase(computing_[index]);
    }
  }

  bool same(Value p, Value g, std::map<NodeId, Value>& parameters) {
    if (p.is_node() && pattern_.node(p.node()).op == Op::kPlaceholder) {
      const auto [entry, inserted] = parameters.emplace(p.node(), g);
      auto equal_nodes = [](NodeId a, NodeId b) { return a == b; };
      return inserted || equal_values(graph_, entry->second, graph_, g, equal_nodes);
    }
    if (p.is_node()) return g.is_node() && map_.at(p.node()) == g.node();
    if (g.is_node()) return false;
    if (p.is_sequence() && g.is_sequence()) {
      if (p.count != g.count) return false;
      for (uint32_t i = 0; i < p.count; ++i) {
        if (!same(pattern_.children(p)[i], graph_.children(g)[i], parameters)) return false;
      }
      return true;
    }
    return equal_literals(pattern_, p, graph_, g);
  }

  void check() {
    std::map<NodeId, Value> parameters;
    for (const auto& [p, g] : map_) {
      const Node& a = pattern_.node(p);
      const Node& b = graph_.node(g);
      if (a.args.size() != b.args.size()) return;
      for (size_t i = 0; i < a.args.size(); ++i) {
        if (!same(a.args[i], b.args[i], parameters)) return;
      }
    }
    std::set<NodeId> nodes;
    for (const auto& [p, g] : map_) nodes.insert(g);
    std::set<NodeId> bound;
    for (const auto& [p, value] : parameters) {
      bool inner = false;
      auto visit = [&](NodeId id) { inner = inner || nodes.contains(id); };
      // Plain: a parameter's node is no other pattern node's; lists are not looked into.
      if (value.is_node() || !plain_) graph_.for_each_node(value, visit);
      if (inner) return;
      if (plain_ && value.is_node() && !bound.insert(value.node()).second) return;
    }
    for (const auto& [p, g] : map_) {
      if (std::find(returning_.begin(), returning_.end(), p) != returning_.end()) continue;
      for (const NodeId user : graph_.users(g)) {
        if (!nodes.contains(user)) return;
      }
    }
    // No path out of the set and back.
    for (const NodeId start : nodes) {
      std::vector<NodeId> queue;
      for (const NodeId user : graph_.users(start)) {
        if (!nodes.contains(user)) queue.push_back(user);
      }
      for (size_t i = 0; i < queue.size(); ++i) {
        if (nodes.contains(queue[i])) return;
        for (const NodeId user : graph_.users(queue[i])) queue.push_back(user);
        if (queue.size() > 10000) break;
      }
    }
    std::vector<uint64_t> key;
    for (const NodeId anchor : anchors_) key.push_back(graph_.rank(map_.at(anchor)));
    std::vector<NodeId> sorted(nodes.begin(), nodes.end());
    std::sort(sorted.begin(), sorted.end(), [&](NodeId a, NodeId b) { return graph_.before(a, b); });
    found_.emplace_back(std::move(key), std::move(sorted));
  }

  const Graph& pattern_;
  const Graph& graph_;
  const bool plain_;
  std::vector<NodeId> returning_;
  std::vector<NodeId> anchors_;
  std::vector<NodeId> computing_;
  std::map<NodeId, NodeId> map_;
  std::vector<std::pair<std::vector<uint64_t>, std::vector<NodeId>>> found_;
};

TEST(Matcher, AgreesWithAnExhaustiveSearch) {
  Random random(20240117);
  size_t compared = 0;
  size_t with_matches = 0;
  for (int round = 0; round < 4000; ++round) {
    const Graph pattern = random_graph(random, 1 + pick(random, 3), 1 + pick(random, 3), true);
    const bool plain = round % 2 == 0;
    const Result<Matcher> matcher =
        Matcher::create(pattern, {plain ? MatchMode::kPlain : MatchMode::kNormalized});
    if (!matcher.ok()) continue;  // the draw has a dead value or an unused parameter
    for (int i = 0; i < 5; ++i) {
      const Graph graph = random_graph(random, 2, 3 + pick(random, 6), false);
      ASSERT_TRUE(graph.verify().ok());
      const std::vector<std::vector<NodeId>> expected = Exhaustive(pattern, graph, plain).run();
      std::vector<std::vector<NodeId>> found;
      for (const Match& match : matcher->match(graph).matches) found.push_back(match.nodes);
      EXPECT_EQ(found, expected) << (plain ? "plain" : "normalized") << "\n"
                                 << print_ir(pattern) << "\n"
                                 << print_ir(graph);
      if (found != expected) return;
      ++compared;
      with_matches += expected.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(compared, 3000U);
  EXPECT_GT(with_matches, 300U);
}

Graph pattern_of(const std::string& text) {
  Result<Graph> pattern = load_pattern_text("import torch\n" + text, "pattern");
  if (!pattern.ok()) {
    ADD_FAILURE() << pattern.error().to_string();
    return Graph();
  }
  return *std::move(pattern);
}

Graph model_of(const std::string& body) {
  Result<Graph> graph = import_model_text(
      "import torch\nclass GraphModule(torch.nn.Module):\n    def forward(self, x, y, w):\n" + body,
      "model.py");
  if (!graph.ok()) {
    ADD_FAILURE() << graph.error().to_string();
    return Graph();
  }
  return *std::move(graph);
}

size_t count(const Graph& pattern, const Graph& graph) {
  const Result<Matcher> matcher = Matcher::create(pattern);
  EXPECT_TRUE(matcher.ok()) << (matcher.ok() ? "" : matcher.error().to_string());
  return matcher.ok() ? matcher->match(graph).matches.size() : 0;
}

TEST(Matcher, OneNodeForTwoParameters) {
  const Graph pattern = pattern_of("def pattern(a, b):\n    return a * b\n");
  const Graph graph = model_of("        return x * x\n");
  EXPECT_EQ(count(pattern, graph), 1U);
  const Result<Matcher> plain = Matcher::create(pattern, {MatchMode::kPlain});
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->match(graph).matches.size(), 0U);
  // One parameter used twice needs one value.
  EXPECT_EQ(count(pattern_of("def pattern(a):\n    return a * a\n"), model_of("        return x * y\n")), 0U);
}

TEST(Matcher, LoopsHelpersAndClosuresOfPatterns) {
  const Graph pattern = pattern_of(
      "SCALE = 2.0\n"
      "def step(v, n=1):\n"
      "    return torch.relu(v) * SCALE + n\n"
      "def pattern(a):\n"
      "    def outer(v):\n"
      "        return step(v, n=k)\n"
      "    for k in range(2):\n"
      "        a = outer(a)\n"
      "    return [torch.tanh(v) for v in (a,)][0]\n");
  const Graph graph = model_of(
      "        a = torch.relu(x) * 2.0 + 0\n"
      "        b = torch.relu(a) * 2.0 + 1\n"
      "        return torch.tanh(b)\n");
  EXPECT_EQ(count(pattern, graph), 1U);
}

TEST(Matcher, AnchorsWithoutAConnectionAreFound) {
  const Graph pattern = pattern_of("def pattern(a, b):\n    return torch.relu(a), torch.tanh(b)\n");
  const Graph graph = model_of("        return torch.relu(x), torch.tanh(y), torch.tanh(w), torch.relu(w)\n");
  EXPECT_EQ(count(pattern, graph), 2U);
}

TEST(Matcher, PatternsThatCannotMatchAreRefused) {
  for (const char* text :
       {"def pattern(a, b):\n    return torch.relu(a)\n", "def pattern(a):\n    return a\n",
        "def pattern(a, b):\n    return torch.relu(a), b\n",
        "def pattern(a):\n    torch.tanh(a)\n    return torch.relu(a)\n"}) {
    const Result<Graph> pattern = load_pattern_text(std::string("import torch\n") + text, "pattern");
    ASSERT_TRUE(pattern.ok());
    const Result<Matcher> matcher = Matcher::create(*pattern);
    EXPECT_FALSE(matcher.ok()) << text;
    if (!matcher.ok()) {
      EXPECT_GT(matcher.error().place.line, 0) << text;
    }
  }
}

}  // namespace
}  // namespace graft::graph
