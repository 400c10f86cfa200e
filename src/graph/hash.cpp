#include "graph/hash.h"

#include <cstring>

#include "base/hash.h"

namespace graft::graph {
namespace {

// A text in which every part is delimited, so that no two graphs share one.
class Serializer {
 public:
  explicit Serializer(const Graph& graph) : graph_(graph), numbers_(graph.numbering()) {}

  std::string run() {
    for (NodeId id = graph_.first(); id != kNoNode; id = graph_.next(id)) {
      const Node& node = graph_.node(id);
      out_ += op_name(node.op);
      // A parameter's target is its name.
      if (node.op == Op::kPlaceholder) {
        out_ += node.keyword_only ? " keyword-only" : "";
      } else {
        text(graph_.target(id));
      }
      count(node.args.size());
      for (const Value& argument : node.args) value(argument);
      count(node.kwargs.size());
      for (const Keyword& keyword : node.kwargs) {
        text(graph_.text(keyword.name));
        value(keyword.value);
      }
      out_ += '\n';
    }
    return std::move(out_);
  }

 private:
  void count(size_t number) {
    out_ += ' ';
    out_ += std::to_string(number);
  }

  void text(std::string_view string) {
    count(string.size());
    out_ += ':';
    out_ += string;
  }

  void value(Value item) {
    out_ += ' ';
    out_ += static_cast<char>('a' + static_cast<int>(item.kind));
    switch (item.kind) {
      case ValueKind::kBool:
      case ValueKind::kInt:
        out_ += std::to_string(item.integer);
        return;
      case ValueKind::kFloat:
      case ValueKind::kComplex: {
        uint64_t bits = 0;
        // One pattern for every NaN.
        const double number = item.real != item.real ? __builtin_nan("") : item.real;
        std::memcpy(&bits, &number, sizeof bits);
        out_ += std::to_string(bits);
        return;
      }
      case ValueKind::kNode:
        out_ += std::to_string(numbers_[item.node()]);
        return;
      default:
        break;
    }
    if (item.has_symbol()) {
      text(graph_.text(item.index));
    } else if (item.is_composite()) {
      count(item.count);
      for (const Value& child : graph_.children(item)) value(child);
    }
  }

  const Graph& graph_;
  std::vector<uint32_t> numbers_;
  std::string out_;
};

}  // namespace

std::string graph_hash(const Graph& graph) {
  return "graph-v1:" + sha256_hex(Serializer(graph).run());
}

}  // namespace graft::graph
