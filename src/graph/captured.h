// Graphs that Dynamo captured on an installed torch, stored as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "graph/graph.h"

namespace graft::graph {

// What is known of a captured value: the fake tensor Dynamo computed for it.
struct CapturedValue {
  NodeId node = kNoNode;
  std::string kind;            // "tensor", "symint", "int", ...
  std::vector<int64_t> shape;  // symbolic sizes are -1
  std::vector<int64_t> stride;
  std::string dtype;  // "torch.float32"
};

struct CapturedGraph {
  Graph graph;
  std::vector<CapturedValue> values;
};

struct Capture {
  std::string torch;                  // version
  std::vector<CapturedGraph> graphs;  // more than one after a graph break
  std::vector<std::string> breaks;    // why the capture broke, in order
};

// The document python/graft/capture.py writes. Errors name the node at fault.
Result<Capture> read_capture(const Json& document, const std::string& file = {});

// Differences between the text graph and a captured one, one sentence each: operators that only one has,
// placeholders in another order. Empty where the two have the same operators in the same order with the same
// inputs.
std::vector<std::string> capture_differences(const Graph& text, const Graph& captured);

}  // namespace graft::graph
