// Functions of a pass file whose text cannot be read as a graph, traced instead: torch.fx runs them in a
// child process (python/graft/trace_pattern.py) and what it records is imported.
//
// The child leads a process group of its own, which is killed whole at the deadline and at the end; it stands
// in an empty folder, gets the environment of workers (base/worker_environment.h), 4 GiB of memory beyond
// what torch takes, and writes files of 64 MiB at most. What the pass prints is dropped.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace graft::graph {

struct TraceOptions {
  enum class When {
    kNever,   // the text is all there is
    kNeeded,  // where the text cannot be read and the file keeps the source rules
    kAlways,  // also what can be read, to compare
  };
  When when = When::kNever;
  std::chrono::milliseconds deadline = std::chrono::seconds(60);

  // kNeeded, with a deadline of $GRAFT_TRACE_TIMEOUT seconds where that is a number from 0.1 to 600.
  static TraceOptions needed();
};

// One function of the file.
struct TracedFunction {
  std::string name;
  Place place;  // of its definition
  Graph graph;  // the answer
};

// Runs the module `text` as the file `path` (its folder's parent comes to the front of the import path; an
// empty path: nothing does) and traces `functions` in it. Whether the text may be run is the caller's
// decision.
//
// Errors: kMissing where no Python with torch is found; kInput with the place in the file where the code
// raised, ended its process, or was still running at the deadline, and where it made what a graph cannot
// hold.
Status trace_functions(const std::string& text, const std::string& path,
                       std::vector<TracedFunction>& functions, const TraceOptions& options);

}  // namespace graft::graph
