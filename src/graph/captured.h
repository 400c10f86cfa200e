// Graphs that Dynamo captured on an installed torch, stored as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "graph/graph.h"
#include "graph/pass_file.h"

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
  // By place among graph.placeholders(): the parameter of forward() whose tensor it is, "" where it is
  // something else, and where Dynamo found it, such as "L['in_0']"; "" where that is unknown.
  std::vector<std::string> parameters;
  std::vector<std::string> sources;
  std::vector<NodeId> unnamed;  // calls of functions that no dotted name leads to
};

// A place where Dynamo gave up and began another graph.
struct GraphBreak {
  std::string reason;  // one line
  std::string detail;  // what Dynamo says beyond it; may be empty
  std::string file;    // "model.py" for the model's own text; "" where unknown
  int line = 0;
  std::string function;

  // "model.py:14: <reason>"
  std::string to_string() const;
};

struct Capture {
  std::string torch;                  // version, without the build: "2.11.0"
  std::vector<CapturedGraph> graphs;  // more than one after a graph break
  std::vector<GraphBreak> breaks;     // in order
  Json result;                        // what forward() returned, see python/graft/capture.py
};

// The schema of the documents that are read.
inline constexpr std::string_view kCaptureSchema = "graft/capture/v2";

// The document python/graft/capture.py writes. Errors name the node at fault.
Result<Capture> read_capture(const Json& document, const std::string& file = {});

// One graph of such a document, {"nodes": [...]}. A node may also have "lines": [first, last, column] of
// `file`, and "commutative": true, the hint of graft.pattern.
Result<Graph> read_graph_nodes(const Json& document, const std::string& file);

// Differences between the text graph and a captured one, one sentence each: operators that only one has,
// placeholders in another order. Empty where the two have the same operators in the same order with the same
// inputs.
std::vector<std::string> capture_differences(const Graph& text, const Graph& captured);
// The same for a whole capture: its breaks first, and what the one captured graph has that the text has not,
// or the other way round. At most kMaxDifferences sentences, the last of which then says how many were left
// out.
inline constexpr size_t kMaxDifferences = 200;
std::vector<std::string> capture_differences(const Graph& text, const Capture& capture);

// The captured graph as a graph of the text's forward(): its parameters in their order (also those that the
// captured graph does not need), the captured nodes, and what forward() returns. It prints as a module that
// is called like the original. An Error (kInput) says why a capture has no such form: none or several graphs,
// an input that is no parameter, a symbolic size, a function without a name, a result that no output holds.
Result<Graph> graph_of_capture(const Graph& text, const Capture& capture);

// The leaves of what forward() returned, tuples and lists opened: which output of the captured graph each is;
// -1 for a parameter or a plain value.
std::vector<int64_t> output_of_leaves(const Capture& capture);

// The pass with its pattern in the form in which the reference evaluator matches it (see force_args.h), to be
// applied in MatchMode::kPlain to a captured graph.
PassFile force_args_pass(const PassFile& pass);

}  // namespace graft::graph
