#include "graph/rewriter.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "graph/legality.h"
#include "graph/nearest_miss.h"

namespace graft::graph {
namespace {

class Rewriter {
 public:
  Rewriter(Graph& graph, const PassFile& pass, const std::string& function)
      : graph_(graph), pass_(pass), function_(function) {}

  Result<RewriteReport> run(const RewriteOptions& options) {
    GRAFT_ASSIGN_OR_RETURN(const Matcher matcher, Matcher::create(pass_.pattern, {options.mode}));
    MatchResult found = matcher.match(graph_);
    report_.found = found.matches.size();
    if (const std::optional<NearestMiss> miss = nearest_miss(matcher, graph_, found))
      report_.why_not = miss->to_string();
    report_.refusals = std::move(found.refusals);
    for (Match& match : found.matches) {
      // An earlier replacement may have moved nodes of this match, or closed a cycle through it.
      std::sort(match.nodes.begin(), match.nodes.end(),
                [&](NodeId a, NodeId b) { return graph_.before(a, b); });
      if (std::optional<Refusal> refusal = check_match(matcher, graph_, nullptr, match)) {
        report_.refusals.push_back(*std::move(refusal));
        continue;
      }
      replace(match);
      ++report_.replaced;
    }
    GRAFT_RETURN_IF_ERROR(graph_.verify());
    std::erase_if(report_.made, [&](NodeId id) { return graph_.node(id).removed; });
    std::sort(report_.made.begin(), report_.made.end(),
              [&](NodeId a, NodeId b) { return graph_.before(a, b); });
    return std::move(report_);
  }

 private:
  // What a binding stands for now: values that earlier matches replaced are followed to their replacement.
  Value current(Value value) {
    if (value.is_node()) {
      for (auto found = replaced_.find(value.node()); found != replaced_.end();
           found = replaced_.find(value.node())) {
        value = found->second;
        if (!value.is_node()) break;
      }
      return value;
    }
    if (!value.is_composite()) return value;
    std::vector<Value> children(graph_.children(value).begin(), graph_.children(value).end());
    bool changed = false;
    for (Value& child : children) {
      const Value fresh = current(child);
      changed = changed || fresh.kind != child.kind || fresh.index != child.index;
      child = fresh;
    }
    return changed ? graph_.composite(value.kind, children) : value;
  }

  Value current(const Binding& binding) {
    if (binding.owner != nullptr) return graph_.copy_value(*binding.owner, binding.value, {});
    if (!binding.is_packed) return current(binding.value);
    std::vector<Value> items;
    for (const Value& value : binding.packed) items.push_back(current(value));
    return graph_.composite(ValueKind::kTuple, items);
  }

  NodeId make(Op op, std::string_view target, std::string_view name, std::vector<Value> args,
              std::vector<Keyword> kwargs, NodeId position) {
    const NodeId id = graph_.add(op, target, name, std::move(args), std::move(kwargs), lines_, position);
    report_.made.push_back(id);
    return id;
  }

  void replace(const Match& match) {
    const Graph& arguments = pass_.replacement_args;
    const NodeId position = graph_.next(match.nodes.back());
    lines_ = graph_.node(match.nodes.front()).lines;
    for (const NodeId id : match.nodes) lines_.last = std::max(lines_.last, graph_.node(id).lines.last);

    // The nodes of replacement_args, its parameters standing for what the pattern's parameters are bound to.
    std::vector<Value> map(arguments.pool_size(), Value::unknown());
    for (size_t i = 0; i < arguments.placeholders().size(); ++i) {
      map[arguments.placeholders()[i]] = current(match.bindings[pass_.pattern.placeholders()[i]]);
    }
    for (NodeId id = arguments.first(); id != kNoNode; id = arguments.next(id)) {
      const Node& node = arguments.node(id);
      if (node.op == Op::kPlaceholder || node.op == Op::kOutput) continue;
      std::vector<Value> args;
      for (const Value& value : node.args) args.push_back(graph_.copy_value(arguments, value, map));
      std::vector<Keyword> kwargs;
      for (const Keyword& keyword : node.kwargs) {
        kwargs.push_back(
            {graph_.intern(arguments.text(keyword.name)), graph_.copy_value(arguments, keyword.value, map)});
      }
      map[id] = Value::of_node(make(node.op, arguments.target(id), arguments.node_name(id), std::move(args),
                                    std::move(kwargs), position));
    }
    const Value output = arguments.node(arguments.output()).args[0];
    std::vector<Value> call_args;
    if (output.is_sequence()) {
      for (const Value& value : arguments.children(output))
        call_args.push_back(graph_.copy_value(arguments, value, map));
    } else {
      call_args.push_back(graph_.copy_value(arguments, output, map));
    }
    const NodeId call = make(Op::kCallFunction, function_, "replaced", std::move(call_args), {}, position);

    std::vector<std::pair<NodeId, NodeId>> pairs;  // returned node -> its replacement
    for (size_t i = 0; i < pass_.outputs.size(); ++i) {
      const NodeId p = pass_.outputs[i].node();
      if (pass_.pattern.node(p).op == Op::kPlaceholder) continue;  // handed through: its uses stay
      const NodeId old = match.bindings[p].value.node();
      const bool repeated =
          std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == old; });
      if (repeated) continue;
      NodeId fresh = call;
      if (pass_.multi_output()) {
        fresh = make(Op::kCallFunction, "_operator.getitem", std::string(graph_.node_name(old)),
                     {Value::of_node(call), Value::of_int(static_cast<int64_t>(i))}, {}, position);
      }
      pairs.emplace_back(old, fresh);
    }
    for (const auto& [old, fresh] : pairs) {
      graph_.replace_uses(old, Value::of_node(fresh));
      replaced_[old] = Value::of_node(fresh);
    }
    for (size_t i = match.nodes.size(); i-- > 0;) {
      if (graph_.user_count(match.nodes[i]) == 0) graph_.remove(match.nodes[i]);
    }
    settle_order(pairs, position);
  }

  // A user of a returned value may stand before the new nodes, when the pattern returns several values. Such
  // users, and everything between them and the new nodes that depends on them, move behind the new nodes, in
  // their old order.
  void settle_order(const std::vector<std::pair<NodeId, NodeId>>& pairs, NodeId position) {
    std::unordered_map<NodeId, char> late;
    std::vector<NodeId> queue;
    for (const auto& pair : pairs) {
      const NodeId fresh = pair.second;
      graph_.for_each_user(fresh, [&](NodeId user) {
        if (graph_.before(user, fresh) && late.emplace(user, 1).second) queue.push_back(user);
      });
    }
    if (queue.empty()) return;
    const uint64_t end = position == kNoNode ? UINT64_MAX : graph_.rank(position);
    for (size_t i = 0; i < queue.size(); ++i) {
      graph_.for_each_user(queue[i], [&](NodeId user) {
        if (graph_.rank(user) < end && late.emplace(user, 1).second) queue.push_back(user);
      });
    }
    std::sort(queue.begin(), queue.end(), [&](NodeId a, NodeId b) { return graph_.before(a, b); });
    for (const NodeId id : queue) graph_.move_before(id, position);
  }

  Graph& graph_;
  const PassFile& pass_;
  const std::string& function_;
  RewriteReport report_;
  std::unordered_map<NodeId, Value> replaced_;
  Lines lines_;
};

}  // namespace

Result<RewriteReport> rewrite(Graph& graph, const PassFile& pass, const std::string& function,
                              const RewriteOptions& options) {
  return Rewriter(graph, pass, function).run(options);
}

}  // namespace graft::graph
