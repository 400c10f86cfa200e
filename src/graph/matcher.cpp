#include "graph/matcher.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace graft::graph {

Result<Matcher> Matcher::create(const Graph& pattern, MatchOptions options) {
  Matcher matcher(pattern, options);
  const NodeId output = pattern.output();
  if (output == kNoNode) return fault("a pattern without an output");
  matcher.returning_ = pattern.inputs(output);
  bool computes = false;
  for (NodeId id = pattern.first(); id != kNoNode; id = pattern.next(id)) {
    const Node& node = pattern.node(id);
    if (node.op == Op::kOutput) continue;
    computes = computes || node.op != Op::kPlaceholder;
    const Place place{pattern.file, node.lines.first, node.lines.column};
    if (pattern.user_count(id) == 0) {
      const bool parameter = node.op == Op::kPlaceholder;
      return input_error(std::string(parameter ? "parameter '" : "value '") +
                             std::string(pattern.node_name(id)) + "' of the pattern is not used",
                         place, "every parameter and value leads to a returned value");
    }
    if (node.op == Op::kPlaceholder && pattern.user_count(id) == 1) {
      bool only_returned = false;
      pattern.for_each_user(id, [&](NodeId user) { only_returned = user == output; });
      if (only_returned) {
        return input_error(
            "parameter '" + std::string(pattern.node_name(id)) + "' of the pattern is only returned", place,
            "a parameter that the pattern computes with");
      }
    }
  }
  if (!computes) {
    return input_error("the pattern computes nothing",
                       Place{pattern.file, pattern.node(output).lines.first, 0});
  }
  for (const NodeId id : matcher.returning_) {
    if (pattern.user_count(id) == 1) matcher.anchors_.push_back(id);
  }
  return matcher;
}

// One search in one graph.
class MatchRun {
 public:
  MatchRun(const Matcher& matcher, const Graph& graph)
      : matcher_(matcher),
        pattern_(*matcher.pattern_),
        graph_(graph),
        plain_(matcher.options_.mode == MatchMode::kPlain),
        bindings_(pattern_.pool_size(), Value::unknown()),
        image_(graph.pool_size(), 0),
        used_(graph.pool_size(), 0) {
    for (size_t symbol = 0; symbol < pattern_.symbols().size(); ++symbol) {
      translated_.push_back(graph.symbols().find(pattern_.text(static_cast<Symbol>(symbol))));
    }
  }

  MatchResult run() {
    order_anchors();
    for (const NodeId anchor : anchors_) {
      candidates_.push_back(nodes_equal_to(anchor));
      if (candidates_.back().nodes.empty()) return std::move(result_);
    }
    place_anchor(0);
    return std::move(result_);
  }

 private:
  struct Candidates {
    std::vector<NodeId> nodes;  // in graph order
    size_t begin = 0;           // those before are used up by kept matches
  };
  // How to reach an anchor from a pattern node that an earlier anchor has bound: users to follow, the last is
  // the anchor.
  struct Route {
    NodeId from = kNoNode;
    std::vector<NodeId> steps;
  };

  // E(p, g): whether the two nodes are of one kind, arguments aside.
  bool same_operation(NodeId p, NodeId g) const {
    const Node& a = pattern_.node(p);
    if (a.op == Op::kPlaceholder) return true;
    const Node& b = graph_.node(g);
    if (a.op != b.op) return false;
    if (a.op == Op::kGetAttr) return true;  // tensors match whatever their values
    return translated_[a.target] == b.target;
  }

  Candidates nodes_equal_to(NodeId anchor) const {
    Candidates result;
    for (NodeId id = graph_.first(); id != kNoNode; id = graph_.next(id)) {
      if (same_operation(anchor, id)) result.nodes.push_back(id);
    }
    return result;
  }

  // Plans, for every anchor but the first, how it hangs together with those before it.
  void order_anchors() {
    anchors_ = matcher_.anchors_;
    std::vector<char> reached(pattern_.pool_size(), 0);
    for (size_t i = 0; i < anchors_.size(); ++i) {
      Route route;
      if (i > 0) route = find_route(anchors_[i], reached);
      routes_.push_back(std::move(route));
      mark_cone(anchors_[i], reached);
    }
  }

  void mark_cone(NodeId id, std::vector<char>& reached) const {
    if (std::exchange(reached[id], 1)) return;
    pattern_.for_each_input(id, [&](NodeId input) { mark_cone(input, reached); });
  }

  // Breadth first from the anchor down to the nearest node that is already reached.
  Route find_route(NodeId anchor, const std::vector<char>& reached) const {
    std::vector<NodeId> parent(pattern_.pool_size(), kNoNode);
    std::vector<NodeId> queue{anchor};
    for (size_t i = 0; i < queue.size(); ++i) {
      const NodeId id = queue[i];
      if (reached[id]) {
        Route route;
        route.from = id;
        for (NodeId step = parent[id]; step != kNoNode; step = parent[step]) route.steps.push_back(step);
        if (route.steps.empty()) return {};
        return route;
      }
      pattern_.for_each_input(id, [&](NodeId input) {
        if (input == anchor || parent[input] != kNoNode) return;
        parent[input] = id;
        queue.push_back(input);
      });
    }
    return {};
  }

  // Graph nodes the anchor could be, in graph order, through what its route's start is bound to.
  Candidates* reachable(size_t index) {
    const Route& route = routes_[index];
    if (route.from == kNoNode) return &candidates_[index];
    const Value start = bindings_[route.from];
    if (!start.is_node()) return &candidates_[index];
    const uint64_t key = (uint64_t{start.node()} << 32) | index;
    const auto [entry, inserted] = reachable_.try_emplace(key);
    if (inserted) {
      std::vector<NodeId> level{start.node()};
      for (const NodeId step : route.steps) {
        std::vector<NodeId> next;
        for (const NodeId id : level) {
          graph_.for_each_user(id, [&](NodeId user) {
            if (same_operation(step, user)) next.push_back(user);
          });
        }
        std::sort(next.begin(), next.end(), [&](NodeId a, NodeId b) { return graph_.before(a, b); });
        next.erase(std::unique(next.begin(), next.end()), next.end());
        level = std::move(next);
      }
      entry->second.nodes = std::move(level);
    }
    return &entry->second;
  }

  // Places the anchors from `index` on in every way until one way is kept. True when a match was kept:
  // everything that shares the first anchor would overlap it.
  bool place_anchor(size_t index) {
    if (index == anchors_.size()) return keep();
    Candidates& candidates = *reachable(index);
    while (candidates.begin < candidates.nodes.size() && used_[candidates.nodes[candidates.begin]])
      ++candidates.begin;
    for (size_t i = candidates.begin; i < candidates.nodes.size(); ++i) {
      const NodeId node = candidates.nodes[i];
      if (used_[node]) continue;
      const size_t mark = trail_.size();
      const bool kept = match_nodes(anchors_[index], node) && place_anchor(index + 1);
      undo(mark);
      if (kept && index > 0) return true;
    }
    return false;
  }

  void bind(NodeId p, Value value) {
    bindings_[p] = value;
    trail_.push_back(p);
    if (value.is_node()) ++image_[value.node()];
  }

  void undo(size_t mark) {
    while (trail_.size() > mark) {
      const NodeId p = trail_.back();
      trail_.pop_back();
      if (bindings_[p].is_node()) --image_[bindings_[p].node()];
      bindings_[p] = Value::unknown();
    }
  }

  bool bound(NodeId p) const { return bindings_[p].kind != ValueKind::kUnknown; }

  bool match_nodes(NodeId p, NodeId g) {
    if (bound(p)) return bindings_[p].is_node() && bindings_[p].node() == g;
    const bool parameter = pattern_.node(p).op == Op::kPlaceholder;
    if (image_[g] != 0 && (plain_ || !parameter)) return false;
    if (!parameter && used_[g]) return false;
    if (!same_operation(p, g)) return false;
    bind(p, Value::of_node(g));
    return parameter || match_arguments(p, g);
  }

  bool match_arguments(NodeId p, NodeId g) {
    const Node& a = pattern_.node(p);
    const Node& b = graph_.node(g);
    if (a.args.size() != b.args.size() || a.kwargs.size() != b.kwargs.size()) return false;
    if (plain_) {
      for (size_t i = 0; i < a.kwargs.size(); ++i) {
        if (translated_[a.kwargs[i].name] != b.kwargs[i].name) return false;
      }
    }
    for (size_t i = 0; i < a.args.size(); ++i) {
      if (!match_values(a.args[i], b.args[i])) return false;
    }
    for (size_t i = 0; i < a.kwargs.size(); ++i) {
      const Keyword* other = &b.kwargs[i];
      if (!plain_) {
        const auto found = std::find_if(b.kwargs.begin(), b.kwargs.end(), [&](const Keyword& keyword) {
          return keyword.name == translated_[a.kwargs[i].name];
        });
        if (found == b.kwargs.end()) return false;
        other = &*found;
      }
      if (!match_values(a.kwargs[i].value, other->value)) return false;
    }
    return true;
  }

  bool match_values(Value p, Value g) {
    if (p.is_node() && g.is_node()) return match_nodes(p.node(), g.node());
    if (p.is_sequence() && g.is_sequence()) return match_children(p, g);
    if (p.is_node()) {
      if (pattern_.node(p.node()).op != Op::kPlaceholder || g.kind == ValueKind::kUnknown) return false;
      if (bound(p.node())) {
        auto same = [](NodeId x, NodeId y) { return x == y; };
        return equal_values(graph_, bindings_[p.node()], graph_, g, same);
      }
      bind(p.node(), g);
      return true;
    }
    if (g.is_node()) return false;
    if (!plain_ && p.kind == g.kind && p.is_composite()) return match_children(p, g);
    return equal_literals(pattern_, p, graph_, g);
  }

  bool match_children(Value p, Value g) {
    if (p.count != g.count) return false;
    const auto a = pattern_.children(p);
    const auto b = graph_.children(g);
    for (size_t i = 0; i < a.size(); ++i) {
      if (!match_values(a[i], b[i])) return false;
    }
    return true;
  }

  // The finished assignment, checked as a whole; recorded when legal.
  bool keep() {
    Match match;
    match.bindings = bindings_;
    for (NodeId p = pattern_.first(); p != kNoNode; p = pattern_.next(p)) {
      if (pattern_.node(p).op == Op::kOutput) continue;
      if (!bound(p)) return false;
      if (pattern_.node(p).op != Op::kPlaceholder) match.nodes.push_back(bindings_[p].node());
    }
    std::sort(match.nodes.begin(), match.nodes.end(),
              [&](NodeId a, NodeId b) { return graph_.before(a, b); });
    if (!is_contained(match) || !is_acyclic(match)) return false;
    for (const NodeId id : match.nodes) used_[id] = 1;
    result_.matches.push_back(std::move(match));
    return true;
  }

  bool in_match(const Match& match, NodeId id) const {
    return std::binary_search(match.nodes.begin(), match.nodes.end(), id,
                              [&](NodeId a, NodeId b) { return graph_.before(a, b); });
  }

  bool is_contained(const Match& match) const {
    for (NodeId p = pattern_.first(); p != kNoNode; p = pattern_.next(p)) {
      const Op op = pattern_.node(p).op;
      if (op == Op::kPlaceholder || op == Op::kOutput) continue;
      if (std::find(matcher_.returning_.begin(), matcher_.returning_.end(), p) != matcher_.returning_.end())
        continue;
      bool inside = true;
      graph_.for_each_user(bindings_[p].node(),
                           [&](NodeId user) { inside = inside && in_match(match, user); });
      if (!inside) return false;
    }
    return true;
  }

  // No value leaves the match and comes back into it. Only nodes before the last matched one can lead back.
  bool is_acyclic(const Match& match) const {
    if (match.nodes.size() < 2) return true;
    const uint64_t end = graph_.rank(match.nodes.back());
    std::vector<NodeId> queue;
    std::unordered_map<NodeId, char> seen;
    auto visit = [&](NodeId user) {
      if (graph_.rank(user) <= end && seen.emplace(user, 1).second) queue.push_back(user);
    };
    for (const NodeId id : match.nodes) {
      graph_.for_each_user(id, [&](NodeId user) {
        if (!in_match(match, user)) visit(user);
      });
    }
    while (!queue.empty()) {
      const NodeId id = queue.back();
      queue.pop_back();
      if (in_match(match, id)) return false;
      graph_.for_each_user(id, visit);
    }
    return true;
  }

  const Matcher& matcher_;
  const Graph& pattern_;
  const Graph& graph_;
  const bool plain_;
  std::vector<Symbol>
      translated_;  // symbols of the pattern -> symbols of the graph, kNoSymbol where it has none
  std::vector<Value> bindings_;
  std::vector<uint32_t> image_;  // by NodeId of the graph: how many pattern nodes are bound to it
  std::vector<char> used_;       // by NodeId of the graph: taken by a kept match
  std::vector<NodeId> trail_;
  std::vector<NodeId> anchors_;
  std::vector<Route> routes_;
  std::vector<Candidates> candidates_;
  std::unordered_map<uint64_t, Candidates> reachable_;
  MatchResult result_;
};

MatchResult Matcher::match(const Graph& graph) const {
  return MatchRun(*this, graph).run();
}

}  // namespace graft::graph
