#include "graph/matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "graph/commutative.h"
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
    for (size_t i = 1; i < found_.size() && oriented_; ++i)
      ambiguous_ = ambiguous_ || (found_[i - 1].first[0] == found_[i].first[0] && found_[i - 1] != found_[i]);
    std::set<NodeId> used;
    std::vector<std::vector<NodeId>> kept;
    for (const auto& [key, nodes] : found_) {
      if (std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return used.contains(id); })) continue;
      used.insert(nodes.begin(), nodes.end());
      kept.push_back(nodes);
    }
    return kept;
  }

  // The first anchor has several matches at one place, as commutative operands make possible: any is right.
  bool ambiguous() const { return ambiguous_; }
  // For that case: each of `found` is a match, none overlap, and no other match is left beside them.
  bool accepts(const std::vector<std::vector<NodeId>>& found) const {
    std::set<NodeId> used;
    for (const std::vector<NodeId>& nodes : found) {
      const bool known =
          std::any_of(found_.begin(), found_.end(), [&](const auto& entry) { return entry.second == nodes; });
      if (!known) return false;
      for (const NodeId id : nodes) {
        if (!used.insert(id).second) return false;
      }
    }
    return std::all_of(found_.begin(), found_.end(), [&](const auto& entry) {
      return std::any_of(entry.second.begin(), entry.second.end(),
                         [&](NodeId id) { return used.contains(id); });
    });
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

  // Every way to orient the commutative nodes, until one is a match.
  void check() {
    std::vector<NodeId> commutative;
    for (const auto& [p, g] : map_) {
      if (!plain_ && pattern_.node(p).commutative) commutative.push_back(p);
    }
    for (size_t orders = 0; orders < (size_t{1} << commutative.size()); ++orders) {
      std::set<NodeId> swapped;
      for (size_t i = 0; i < commutative.size(); ++i) {
        if ((orders >> i & 1) != 0) swapped.insert(commutative[i]);
      }
      check(swapped);
    }
    oriented_ = oriented_ || !commutative.empty();
  }

  void check(const std::set<NodeId>& swapped) {
    std::map<NodeId, Value> parameters;
    for (const auto& [p, g] : map_) {
      std::vector<Value> args = pattern_.node(p).args;
      if (swapped.contains(p)) std::swap(args[0], args[1]);
      const Node& b = graph_.node(g);
      if (args.size() != b.args.size()) return;
      for (size_t i = 0; i < args.size(); ++i) {
        if (!same(args[i], b.args[i], parameters)) return;
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
  bool oriented_ = false;  // the pattern has hints
  bool ambiguous_ = false;
};

TEST(Matcher, AgreesWithAnExhaustiveSearch) {
  Random random(20240117);
  size_t compared = 0;
  size_t with_matches = 0;
  size_t swapped = 0;  // matches that only a hint makes possible
  for (int round = 0; round < 30000; ++round) {
    Graph pattern = random_graph(random, 1 + pick(random, 3), 1 + pick(random, 3), true);
    const Graph as_written = pattern;
    bool hinted = false;
    for (NodeId id = pattern.first(); id != kNoNode && round % 4 != 1; id = pattern.next(id)) {
      if (!pattern.is_call(id, "_operator.add")) continue;
      ASSERT_TRUE(mark_commutative(pattern, Value::of_node(id), {}).ok());
      hinted = true;
    }
    const bool plain = round % 2 == 0;
    const Result<Matcher> matcher =
        Matcher::create(pattern, {plain ? MatchMode::kPlain : MatchMode::kNormalized});
    if (!matcher.ok()) continue;  // the draw has a dead value or an unused parameter
    for (int i = 0; i < 5; ++i) {
      const Graph graph = random_graph(random, 2, 3 + pick(random, 6), false);
      ASSERT_TRUE(graph.verify().ok());
      Exhaustive search(pattern, graph, plain);
      const std::vector<std::vector<NodeId>> expected = search.run();
      std::vector<std::vector<NodeId>> found;
      for (const Match& match : matcher->match(graph).matches) found.push_back(match.nodes);
      if (search.ambiguous()) {
        EXPECT_TRUE(search.accepts(found)) << print_ir(pattern) << "\n" << print_ir(graph);
        if (!search.accepts(found)) return;
        continue;
      }
      if (hinted && !plain) swapped += expected != Exhaustive(as_written, graph, plain).run() ? 1 : 0;
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
  EXPECT_GT(swapped, 50U);
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

const char* const kHint = "from graft.pattern import commutative\n";

TEST(Matcher, CommutativeOperandsMatchInEitherOrderWhereDeclared) {
  const Graph graph = model_of(
      "        a = torch.relu(x) + y\n"
      "        b = y + torch.relu(w)\n"
      "        c = torch.mul(torch.tanh(x), w)\n"
      "        d = torch.mul(w, other=torch.tanh(y))\n"
      "        e = torch.sigmoid(x).logical_and(y)\n"
      "        f = y.logical_and(torch.sigmoid(w))\n"
      "        g = 2 * torch.abs(x)\n"
      "        return a, b, c, d, e, f, g\n");
  const auto count_both = [&](const std::string& parameters, const std::string& plain,
                              const std::string& hinted) {
    const std::string head = "def pattern(" + parameters + "): return ";
    return std::pair(count(pattern_of(head + plain + "\n"), graph),
                     count(pattern_of(kHint + head + hinted + "\n"), graph));
  };
  EXPECT_EQ(count_both("a, b", "torch.relu(a) + b", "commutative(torch.relu(a) + b)"), std::pair(1UL, 2UL));
  EXPECT_EQ(count_both("a, b", "torch.mul(torch.tanh(a), b)", "commutative(torch.mul(torch.tanh(a), b))"),
            std::pair(1UL, 2UL));
  EXPECT_EQ(count_both("a, b", "torch.mul(input=b, other=torch.tanh(a))",
                       "commutative(torch.mul(input=b, other=torch.tanh(a)))"),
            std::pair(1UL, 2UL));
  EXPECT_EQ(
      count_both("a, b", "torch.sigmoid(a).logical_and(b)", "commutative(torch.sigmoid(a).logical_and(b))"),
      std::pair(1UL, 2UL));
  EXPECT_EQ(count_both("a", "torch.abs(a) * 2", "commutative(torch.abs(a) * 2)"), std::pair(0UL, 1UL));
  EXPECT_EQ(count_both("a", "torch.abs(a) * 2.0", "commutative(torch.abs(a) * 2.0)"), std::pair(0UL, 0UL));
  // The other modes know no hints.
  const Graph hinted =
      pattern_of(std::string(kHint) + "def pattern(a, b): return commutative(torch.relu(a) + b)\n");
  const Result<Matcher> plain = Matcher::create(hinted, {MatchMode::kPlain});
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->match(graph).matches.size(), 1U);
}

TEST(Matcher, AnOrderChosenEarlyIsTakenBack) {
  // The first order fits the sum itself; only the other agrees with the uses that follow.
  const Graph graph = model_of("        s = x + y\n        return torch.relu(s) * y - x\n");
  EXPECT_EQ(count(pattern_of(std::string(kHint) +
                             "def pattern(a, b):\n    return torch.relu(commutative(a + b)) * a - b\n"),
                  graph),
            1U);
  EXPECT_EQ(count(pattern_of("def pattern(a, b):\n    return torch.relu(a + b) * a - b\n"), graph), 0U);
  // Also where the disagreement shows at another returned value.
  const Graph two = model_of("        s = x + y\n        return torch.relu(s), torch.tanh(s * y)\n");
  EXPECT_EQ(count(pattern_of(std::string(kHint) + "def pattern(a, b):\n    s = commutative(a + b)\n    "
                                                  "return torch.relu(s), torch.tanh(s * a)\n"),
                  two),
            1U);
}

TEST(Matcher, ManyHintsStayQuick) {
  // A chain in which every sum is swapped, in a graph of such chains: the time of a search that tried every
  // combination would be 2^12 times as long.
  std::string pattern = std::string(kHint) + "def pattern(a, b):\n";
  std::string body = "        a = x\n";
  for (int i = 0; i < 12; ++i) pattern += "    a = torch.relu(commutative(a + b))\n";
  for (int i = 0; i < 6000; ++i) body += "        a = torch.relu(y + a)\n";
  const Graph graph = model_of(body + "        return a\n");
  const Graph made = pattern_of(pattern + "    return a\n");
  EXPECT_EQ(count(made, graph), 500U);
  const Result<Graph> more =
      load_pattern_text("import torch\n" + pattern + "    return commutative(a * b)\n", "pattern");
  ASSERT_TRUE(more.ok());
  const Result<Matcher> refused = Matcher::create(*more);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().place.line, 16);
}

TEST(Matcher, HintsOnOtherOperatorsAreErrors) {
  for (const auto& [expression, word] : std::map<std::string, std::string>{
           {"commutative(a - b)", "'_operator.sub' is not commutative"},
           {"commutative(torch.add(a, b, alpha=2))", "'torch.add' with 'alpha=' is not commutative"},
           {"commutative(a.add(b, alpha=2))", "'.add' with 'alpha='"},
           {"commutative(torch.add(a, b, out=a))", "'out='"},
           {"commutative(a.add_(b))", "'.add_' is not commutative"},
           {"commutative(a @ b)", "_operator.matmul"},
           {"commutative(torch.cat([a, b]))", "torch.cat"},
           {"torch.relu(commutative(a)) + b", "computes"},
           {"torch.relu(a + b) + commutative(2)", "computes"},
           {"commutative(a + b, 1)", "one value"},
           {"commutative(value=a + b)", "one value"},
           {"graft.pattern.associative(a + b)", "no hint"}}) {
    const Result<Graph> pattern = load_pattern_text(
        "import graft, torch\n" + std::string(kHint) + "def pattern(a, b):\n    return " + expression + "\n",
        "pattern");
    ASSERT_FALSE(pattern.ok()) << expression;
    EXPECT_NE(pattern.error().message.find(word), std::string::npos) << pattern.error().to_string();
    EXPECT_EQ(pattern.error().place.line, 4) << expression;
    EXPECT_GE(pattern.error().place.column, 12) << expression;
  }
  for (const char* expression :
       {"graft.pattern.commutative(a + b)", "commutative(a & b)", "commutative(torch.maximum(a, b))",
        "commutative(a.ne(b))", "commutative(torch.bitwise_xor(a, other=b))", "commutative(a == b)"}) {
    pattern_of("import graft\n" + std::string(kHint) + "def pattern(a, b):\n    return " + expression + "\n");
  }
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
