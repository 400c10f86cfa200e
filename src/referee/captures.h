// What Dynamo makes of graphs on the torch at hand: captured once by the trusted worker, kept in the cache.
//
// The store is the folder `captures` of the cache (base/cache.h), one JSON file a capture, named by the
// SHA-256 of everything that decides it: the document's schema, torch's version, the device, the model's text
// and the tensors' metadata. Files are written atomically; one that cannot be read is captured again and
// replaced.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "base/python_environment.h"
#include "base/result.h"
#include "bench/materialize.h"
#include "graph/captured.h"
#include "referee/evaluator.h"
#include "referee/prepare.h"

namespace graft::referee {

// What is captured. The text is that of the device: see graph/device.h.
struct CaptureRequest {
  std::string source;  // model.py
  std::string file;    // its path, for messages of Python
  bench::MaterializePlan plan;

  static CaptureRequest of(const PreparedGraph& graph) {
    return {graph.source, graph.folder.model_file(), graph.plan};
  }
  // Reads a graph folder: model.py, weight_meta.py, input_meta.py.
  static Result<CaptureRequest> read(const std::string& folder, const std::string& device);
};

struct StoredCapture {
  graph::Capture capture;
  Json document;
  std::string key;
  std::string file;     // in the store; "" where it could not be written
  bool stored = false;  // it was there already: Dynamo did not run
};

// A capture that failed, as data: of the model, of Dynamo, or of the worker.
struct CaptureFailure {
  std::string error_class;  // Python's, "" where the worker ended or was too slow
  std::string message;      // one line
  std::string traceback;
};

struct CaptureOutcome {
  std::optional<StoredCapture> capture;
  CaptureFailure failure;  // where there is no capture
};

class CaptureStore {
 public:
  // `torch`: a version with or without the build behind '+'.
  CaptureStore(std::string torch, std::string device);

  std::string key(const CaptureRequest& request) const;

  // The capture when the store has it. An unreadable file, or one that is no capture of this schema and
  // torch, counts as absent.
  std::optional<StoredCapture> find(const CaptureRequest& request) const;

  // The same, or else the worker captures it, within the evaluator's time limit for a graph, and it is
  // stored. A store that cannot be written is told on stderr and changes nothing else. Errors: kInterrupted,
  // or what keeps the worker from starting.
  Result<CaptureOutcome> get(Evaluator& evaluator, const CaptureRequest& request) const;

 private:
  std::string torch_;
  std::string device_;
};

// The version of the torch that Python would import, read from its metadata without importing it (about 0.1
// s). kMissing where there is none.
Result<std::string> installed_torch(const PythonEnvironment& python);

// --mode passbench: matches the passes on what Dynamo makes of the graph and, where every captured graph
// matches, prints the rewritten captured graph. `graph` was prepared with PassMode::kPassbench. What cannot
// be captured or rewritten becomes graph.failure. Errors as of CaptureStore::get().
Status match_on_capture(const CaptureStore& store, Evaluator& evaluator,
                        const std::vector<graph::PassFile>& passes, PreparedGraph& graph);

// What Dynamo makes of a graph that was matched on its text, for the report: where the two differ. Errors as
// above.
Result<CaptureReport> compare_with_capture(const CaptureStore& store, Evaluator& evaluator,
                                           const PreparedGraph& graph);

}  // namespace graft::referee
