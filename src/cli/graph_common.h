// What the commands of the group `graph` share.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/command.h"
#include "graph/graph.h"
#include "graph/trace_pattern.h"

namespace graft::cli {

struct ModelText {
  std::string name;  // the path, or FILE.jsonl:RECORD
  std::string text;
};

// The models of a list of paths: files as they are, the model.py of every record of a .jsonl, every model.py
// below a folder.
Result<std::vector<ModelText>> collect_models(const std::vector<std::string>& paths);

// A value as JSON: literals as themselves where JSON has them, nodes as {"node": number}, everything else as
// Python text.
Json value_json(const graph::Graph& graph, graph::Value value, const std::vector<uint32_t>& numbers);

// The document of `graph show --json`.
Json graph_json(const graph::Graph& graph);

// --no-trace: pass files are read, never run.
Option no_trace_option(bool* flag);
graph::TraceOptions trace_options(bool no_trace);
// Says on stderr that functions of a pass file were traced, and why; nothing where `reason` is empty.
void note_traced(const std::string& path, const std::string& reason);

}  // namespace graft::cli
