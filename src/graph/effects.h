// What nodes do besides computing a fresh value: writes, aliases, random numbers, borders of regions.
//
// Facts about torch's functions come from its operator schemas (graph/signatures.h). Where the facts are not
// known, the worse is assumed: an unknown function writes to everything it is given. A function named
// graft_replacement_<k> stands for a kernel, which by the contract of passes only computes.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace graft::graph {

struct Effects {
  std::vector<NodeId> writes;   // values whose storage the node writes to
  std::vector<NodeId> aliases;  // inputs with which the result may share storage
  bool random = false;          // draws random numbers
  bool border = false;          // switches autocast, the grad mode or the like for what follows
};

Effects effects_of(const Graph& graph, NodeId id);

// Who may share storage with whom, and who writes to it, for a whole graph. Two parameters are taken to be
// distinct.
class EffectMap {
 public:
  explicit EffectMap(const Graph& graph);

  // False when no node writes to anything, so that aliases do not matter.
  bool any_writes() const { return !writers_.empty(); }
  // One more than the greatest NodeId of the graph when it was read.
  size_t size() const { return storage_.size(); }
  // Values with one class may share storage.
  NodeId storage(NodeId id) const { return storage_[id]; }
  // The nodes that write to a storage class, in graph order, with the value through which each writes.
  struct Write {
    NodeId writer = kNoNode;
    NodeId through = kNoNode;
  };
  const std::vector<Write>& writes(NodeId storage) const;
  // The values of a class, in graph order.
  const std::vector<NodeId>& members(NodeId storage) const;
  const std::vector<NodeId>& borders() const { return borders_; }  // in graph order
  bool random(NodeId id) const { return random_[id] != 0; }
  // The inputs whose storage the node's value may share.
  const std::vector<NodeId>& aliases(NodeId id) const { return aliases_[id]; }
  bool writes_anything(NodeId id) const { return writing_[id] != 0; }

 private:
  NodeId find(NodeId id);

  std::vector<NodeId> storage_;
  std::vector<std::vector<NodeId>> aliases_;
  std::vector<char> random_;
  std::vector<char> writing_;
  std::unordered_map<NodeId, std::vector<Write>> writers_;
  std::unordered_map<NodeId, std::vector<NodeId>> members_;
  std::vector<NodeId> borders_;
};

}  // namespace graft::graph
