#include "graph/legality.h"

#include <algorithm>
#include <unordered_set>

namespace graft::graph {
namespace {

class Check {
 public:
  Check(const Matcher& matcher, const Graph& graph, const EffectMap* effects, const Match& match)
      : matcher_(matcher),
        pattern_(matcher.pattern()),
        graph_(graph),
        effects_(effects),
        match_(match),
        inside_(match.nodes.begin(), match.nodes.end()),
        last_(match.nodes.back()) {}

  std::optional<Refusal> run() {
    if (auto refusal = check_contained()) return refusal;
    if (auto refusal = check_cycles()) return refusal;
    if (effects_ == nullptr) return std::nullopt;
    if (auto refusal = check_parameters()) return refusal;
    if (auto refusal = check_random_and_borders()) return refusal;
    if (!effects_->any_writes()) return std::nullopt;
    if (auto refusal = check_reads()) return refusal;
    if (auto refusal = check_own_writes()) return refusal;
    if (auto refusal = check_returned_views()) return refusal;
    return check_moves();
  }

 private:
  std::string label(NodeId id) const {
    std::string text = "'" + std::string(graph_.node_name(id)) + "'";
    if (graph_.node(id).lines.first > 0)
      text += " (line " + std::to_string(graph_.node(id).lines.first) + ")";
    return text;
  }
  bool inside(NodeId id) const { return inside_.contains(id); }
  bool known(NodeId id) const { return id < known_size(); }
  size_t known_size() const { return effects_->size(); }
  NodeId storage(NodeId id) const { return known(id) ? effects_->storage(id) : id; }
  bool returned(NodeId p) const {
    const auto& returning = matcher_.returning();
    return std::find(returning.begin(), returning.end(), p) != returning.end();
  }

  std::optional<Refusal> check_contained() const {
    for (NodeId p = pattern_.first(); p != kNoNode; p = pattern_.next(p)) {
      const Op op = pattern_.node(p).op;
      if (op == Op::kPlaceholder || op == Op::kOutput || returned(p)) continue;
      const NodeId node = match_.bindings[p].value.node();
      NodeId outside = kNoNode;
      graph_.for_each_user(node, [&](NodeId user) {
        if (outside == kNoNode && !inside(user)) outside = user;
      });
      if (outside == kNoNode) continue;
      return Refusal{"value " + label(node) + " is also used by " + label(outside),
                     "return it from the pattern as well (the pattern's '" +
                         std::string(pattern_.node_name(p)) + "'), or include that user",
                     outside, p};
    }
    return std::nullopt;
  }

  // Follows what depends on returned values up to the last matched node. What is met there must move behind
  // the replacement.
  std::optional<Refusal> check_cycles() {
    if (match_.nodes.size() < 2) return std::nullopt;
    std::vector<NodeId> queue;
    std::unordered_set<NodeId> seen;
    auto visit = [&](NodeId user) {
      if (!graph_.before(last_, user) && seen.insert(user).second) queue.push_back(user);
    };
    for (const NodeId id : match_.nodes) {
      graph_.for_each_user(id, [&](NodeId user) {
        if (!inside(user)) visit(user);
      });
    }
    for (size_t i = 0; i < queue.size(); ++i) {
      if (inside(queue[i])) {
        return Refusal{"a value leaves the match and comes back into it at " + label(queue[i]),
                       "include what lies between in the pattern", queue[i], kNoNode};
      }
      graph_.for_each_user(queue[i], visit);
    }
    moved_ = std::move(queue);
    return std::nullopt;
  }

  std::optional<Refusal> check_parameters() const {
    for (const NodeId p : pattern_.placeholders()) {
      const Binding& binding = match_.bindings[p];
      NodeId inner = kNoNode;
      auto visit = [&](NodeId id) {
        if (inside(id)) inner = id;
      };
      graph_node_visit(binding, visit);
      if (inner == kNoNode) continue;
      return Refusal{"parameter '" + std::string(pattern_.node_name(p)) + "' would stand for " +
                         label(inner) + ", which the pattern itself computes",
                     "write the pattern with that value in its place", inner, p};
    }
    return std::nullopt;
  }

  template <class Visit>
  void graph_node_visit(const Binding& binding, Visit& visit) const {
    if (binding.owner != nullptr) return;
    if (binding.is_packed) {
      for (const Value& value : binding.packed) graph_.for_each_node(value, visit);
    } else if (binding.bound()) {
      graph_.for_each_node(binding.value, visit);
    }
  }

  std::optional<Refusal> check_random_and_borders() const {
    for (const NodeId id : match_.nodes) {
      if (known(id) && effects_->random(id)) {
        return Refusal{
            label(id) + " draws random numbers, which a replacement would not draw in the same order",
            "leave it out of the pattern", id, kNoNode};
      }
    }
    const NodeId first = match_.nodes.front();
    for (const NodeId border : effects_->borders()) {
      if (graph_.node(border).removed || !graph_.before(first, border) || !graph_.before(border, last_))
        continue;
      return Refusal{"the match lies on both sides of " + label(border) +
                         ", which switches autocast, the grad mode or the like",
                     "match one side of it", border, kNoNode};
    }
    return std::nullopt;
  }

  // The matched nodes will read at the place of the last of them.
  std::optional<Refusal> check_reads() const {
    for (const NodeId id : match_.nodes) {
      std::optional<Refusal> refusal;
      auto check = [&](NodeId value) {
        if (refusal) return;
        for (const EffectMap::Write& write : effects_->writes(storage(value))) {
          if (inside(write.writer) || graph_.node(write.writer).removed) continue;
          if (!graph_.before(id, write.writer) || !graph_.before(write.writer, last_)) continue;
          refusal =
              Refusal{"value " + label(value) + " is written by " + label(write.writer) + " between " +
                          label(id) + " and " + label(last_),
                      "a replacement would read it after that write; match the part before or behind it",
                      write.writer, kNoNode};
          return;
        }
      };
      graph_.for_each_input(id, check);
      check(id);
      if (refusal) return refusal;
    }
    return std::nullopt;
  }

  // Whether a value is made from the match's own result by views: its reader will see the replacement's
  // value.
  bool derived(NodeId id) const {
    std::vector<NodeId> queue{id};
    std::unordered_set<NodeId> seen;
    for (size_t i = 0; i < queue.size(); ++i) {
      if (inside(queue[i])) return true;
      if (!known(queue[i])) continue;
      for (const NodeId input : effects_->aliases(queue[i])) {
        if (seen.insert(input).second) queue.push_back(input);
      }
    }
    return false;
  }

  std::optional<Refusal> check_own_writes() const {
    for (const NodeId id : match_.nodes) {
      if (!known(id) || !effects_->writes_anything(id)) continue;
      for (const NodeId input : graph_.inputs(id)) {
        for (const EffectMap::Write& write : effects_->writes(storage(input))) {
          if (write.writer != id) continue;
          for (const NodeId member : effects_->members(storage(input))) {
            if (graph_.node(member).removed || inside(member) || derived(member)) continue;
            NodeId reader = kNoNode;
            graph_.for_each_user(member, [&](NodeId user) {
              if (reader == kNoNode && !inside(user) && graph_.before(id, user)) reader = user;
            });
            if (reader == kNoNode) continue;
            return Refusal{
                label(id) + " writes to " + label(member) + ", which " + label(reader) + " reads later",
                "a replacement would not write to it; return the written value from the pattern and use that",
                reader, kNoNode};
          }
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Refusal> check_returned_views() const {
    for (const NodeId p : matcher_.returning()) {
      if (pattern_.node(p).op == Op::kPlaceholder) continue;
      const NodeId id = match_.bindings[p].value.node();
      const NodeId shared = storage(id);
      const EffectMap::Write* late = nullptr;
      for (const EffectMap::Write& write : effects_->writes(shared)) {
        const bool counts =
            !inside(write.writer) && !graph_.node(write.writer).removed && graph_.before(id, write.writer);
        if (counts && late == nullptr) late = &write;
      }
      if (late == nullptr) continue;
      for (const NodeId member : effects_->members(shared)) {
        if (graph_.node(member).removed || inside(member) || derived(member)) continue;
        return Refusal{
            "value " + label(id) + " is a view of something that " + label(late->writer) + " writes to later",
            "a replacement would return a copy that the write does not reach", late->writer, p};
      }
    }
    return std::nullopt;
  }

  std::optional<Refusal> check_moves() const {
    for (const NodeId id : moved_) {
      if (id == last_ || !known(id)) continue;
      if (effects_->writes_anything(id) || effects_->random(id)) {
        return Refusal{label(id) + ", which uses a returned value, would have to move behind " +
                           label(last_) + ", but it has an effect",
                       "match fewer values at once", id, kNoNode};
      }
      std::optional<Refusal> refusal;
      graph_.for_each_input(id, [&](NodeId value) {
        for (const EffectMap::Write& write : effects_->writes(storage(value))) {
          if (refusal || graph_.node(write.writer).removed) continue;
          if (!graph_.before(id, write.writer) || graph_.before(last_, write.writer)) continue;
          refusal = Refusal{label(id) + ", which uses a returned value, would have to move behind " +
                                label(write.writer) + ", which writes to " + label(value),
                            "match fewer values at once", id, kNoNode};
        }
      });
      if (refusal) return refusal;
    }
    return std::nullopt;
  }

  const Matcher& matcher_;
  const Graph& pattern_;
  const Graph& graph_;
  const EffectMap* effects_;
  const Match& match_;
  std::unordered_set<NodeId> inside_;
  NodeId last_;
  std::vector<NodeId> moved_;
};

}  // namespace

std::optional<Refusal> check_match(const Matcher& matcher, const Graph& graph, const EffectMap* effects,
                                   const Match& match) {
  return Check(matcher, graph, effects, match).run();
}

}  // namespace graft::graph
