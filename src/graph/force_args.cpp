#include "graph/force_args.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/plain.h"
#include "graph/signatures.h"

namespace graft::graph {
namespace {

class Forcer {
 public:
  explicit Forcer(Graph traced) : from_(std::move(traced)), map_(from_.pool_size()) {}

  Graph run() {
    to_.name = from_.name;
    to_.file = from_.file;
    to_.traced = from_.traced;
    for (NodeId id = from_.first(); id != kNoNode; id = from_.next(id)) visit(id);
    return std::move(to_);
  }

 private:
  void visit(NodeId id) {
    const Node& node = from_.node(id);
    std::string target(from_.target(id));
    if (target.starts_with("torch._ops.")) target = "torch.ops." + target.substr(11);
    std::vector<Value> args;
    std::vector<Keyword> kwargs;
    if (node.op != Op::kCallFunction || !force(id, args)) {
      args.clear();
      for (const Value& value : node.args) args.push_back(to_.copy_value(from_, value, map_));
      for (const Keyword& keyword : node.kwargs) {
        kwargs.push_back({to_.intern(from_.text(keyword.name)), to_.copy_value(from_, keyword.value, map_)});
      }
    }
    map_[id] = Value::of_node(
        to_.add(node.op, target, from_.node_name(id), std::move(args), std::move(kwargs), node.lines));
  }

  bool force(NodeId id, std::vector<Value>& args) {
    const Callable* callable = find_callable(from_, id);
    if (callable == nullptr || !callable->python) return false;
    const Node& node = from_.node(id);
    if (callable->wrapped) {
      // The wrapper's signature is (*args, **kwargs): keywords bind, and are dropped.
      for (const Value& value : node.args) args.push_back(to_.copy_value(from_, value, map_));
      return true;
    }
    const std::optional<BoundCall> bound = bind_call(from_, id);
    if (!bound) return false;
    const std::vector<Parameter>& parameters = bound->signature->parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].keyword_only || parameters[i].variadic) break;
      if (bound->arguments[i].source == BoundCall::Source::kValue) {
        args.push_back(to_.copy_value(from_, bound->arguments[i].value, map_));
      } else {
        args.push_back(to_.copy_value(default_values(), parameters[i].default_value, {}));
      }
    }
    return true;
  }

  Graph from_;
  Graph to_;
  std::vector<Value> map_;
};

}  // namespace

Graph force_args(const Graph& pattern) {
  return Forcer(plain_graph(pattern)).run();
}

}  // namespace graft::graph
