// A pass file, read from its text: pattern, replacement_args, replacement_func, and the rules its source must
// keep. A function whose text cannot be read as a graph because it needs Python is traced in a child process
// where the caller's TraceOptions allow it and the file keeps the rules; Graph::traced then says why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/source_rules.h"
#include "graph/trace_pattern.h"

namespace graft::graph {

struct PassFile {
  std::string name;  // file stem
  std::string path;
  // The pattern: placeholders are its parameters, the output is the value or the tuple of values it returns.
  Graph pattern;
  // replacement_args: the same parameters by name; the output is the tuple (or the one value) passed to the
  // replacement.
  Graph replacement_args;
  // The values of the pattern's output in order, repeats included: one for a single value or a tuple of one.
  std::vector<Value> outputs;
  // What the source rules object to. A pass with violations must not run.
  std::vector<Violation> violations;

  bool multi_output() const { return outputs.size() > 1; }
  // Why functions of the file were traced; empty where all were read.
  const std::string& traced() const {
    return pattern.traced.empty() ? replacement_args.traced : pattern.traced;
  }
};

// Errors: an unreadable file, a syntax error, a missing or unsuitable pattern, replacement_args or
// replacement_func, a body that can neither be read as a graph nor traced. The Error is kMissing where
// tracing could help but this machine has no torch.
Result<PassFile> load_pass_file(const std::string& path, const TraceOptions& trace = {});
Result<PassFile> load_pass_text(std::string text, std::string name, std::string path = {},
                                const TraceOptions& trace = {});

// Only the function `pattern` of a file, which need not be a whole pass.
Result<Graph> load_pattern_file(const std::string& path, const TraceOptions& trace = {});
Result<Graph> load_pattern_text(std::string text, std::string name, std::string path = {},
                                const TraceOptions& trace = {});

// What the source rules object to in a file and the modules of its folder that it imports, for a file that is
// no readable pass. Errors: an unreadable file, a syntax error.
Result<std::vector<Violation>> check_pass_source(const std::string& path);

// The pass names of a folder in order: sorted_output_pass_rule_names.json of `pass_dir`, or of the input
// passes merged with it (spec of pass-list files: an input pass also among the output passes is replaced in
// place by the output version, other output passes follow). A folder without the list has no passes.
struct PassListEntry {
  std::string name;
  std::string path;
  bool input = false;  // from const_pass_dir
};
Result<std::vector<PassListEntry>> read_pass_list(const std::string& pass_dir,
                                                  const std::string& const_pass_dir = {});

// All passes of a folder in list order. The first that is wrong is the Error; one that only lacks torch,
// where none is wrong.
Result<std::vector<PassFile>> load_pass_folder(const std::string& pass_dir,
                                               const std::string& const_pass_dir = {},
                                               const TraceOptions& trace = {});

}  // namespace graft::graph
