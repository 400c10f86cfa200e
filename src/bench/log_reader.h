// Reads logs of PassBench and GraphNet evaluations. The text is that of programs which share their output
// with the code they evaluate, so a score from a log says what the log says, nothing more.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/score.h"

namespace graft::bench {

struct LogSample {
  std::string model_path;
  GraphStatus status = GraphStatus::kEagerFail;
  std::map<std::string, std::string> config;                  // "device" -> "cuda"
  std::map<std::string, std::string> performance;             // "eager" -> JSON text
  std::map<std::string, std::vector<std::string>> datatypes;  // "eager" -> dtype names
  std::map<std::string, std::vector<double>> correctness;     // "[equal]" -> one number an output
  std::map<std::string, double> speedup;                      // "e2e" -> ratio
  Place place;                                                // the line that starts the sample
};

struct Log {
  std::string name;  // of the curve: the file name without its extension
  std::string file;
  std::vector<LogSample> samples;
};

// A line with "[Processing]" starts a sample; lines before the first are dropped; later lines overwrite
// earlier ones. Text that is no UTF-8 is an error.
Result<Log> parse_log(std::string_view text, const std::string& file);

// A file, or every *.log and *.txt of a folder, sorted by name. Files without samples are left out, so the
// list may be empty.
Result<std::vector<Log>> read_logs(const std::string& path);

// What score() needs. A correct sample without an "[equal]" row counts as correct everywhere (as in the
// reference); one with fewer dtypes than outputs is an error with the sample's place.
Result<std::vector<ScoredGraph>> scored_graphs(const Log& log);

}  // namespace graft::bench
