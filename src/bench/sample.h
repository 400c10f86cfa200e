// Samples on disk: which graphs to evaluate, with which passes, in which order.
//
// A sample folder has graph_list.txt, the graph folders it names, pass_dir/ and, optionally, const_pass_dir/.
// A graph folder alone, or a tree of graph folders, is a sample too.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graft::bench {

// A graph folder holds graph_net.json and model.py, weight_meta.py and input_meta.py.
struct GraphFolder {
  // The line of graph_list.txt, or the path below the given folder. Names the graph in results.
  std::string entry;
  std::string path;
  // Of graph_net.json; without one, the last path component (the one before if that is subgraph[_N]).
  std::string model_name;
  Place place;  // the line of the list; empty without a list
  // Set when the folder cannot be evaluated: absent, a file missing, graph_net.json broken. It still counts
  // as a graph.
  std::optional<Error> failure;

  std::string model_file() const;
  std::string weight_meta_file() const;
  std::string input_meta_file() const;
};

struct PassFile {
  std::string name;  // file stem, as in the order file
  std::string path;
  bool output = true;            // from pass_dir; false: from const_pass_dir
  std::optional<Error> failure;  // named but absent, not a file, name not a plain stem
};

struct Sample {
  std::string name;  // the folder's name
  std::string path;
  std::vector<GraphFolder> graphs;
  std::vector<PassFile> passes;  // the effective list, in order
  std::string pass_dir;          // "" where there is none
  std::string const_pass_dir;
  // What is wrong with the passes as a whole: a broken order file, an order that is no permutation, no output
  // pass. The graphs can still be listed, but not evaluated.
  std::optional<Error> pass_failure;
};

struct SampleOptions {
  std::string pass_dir = {};        // "": <sample>/pass_dir
  std::string const_pass_dir = {};  // "": <sample>/const_pass_dir
  std::string graph_list = {};      // "": <sample>/graph_list.txt where that exists
  bool need_passes = true;          // false: an absent or empty pass list is fine
};

// An Error only when there is no sample to speak of: the folder or the list is absent or unreadable, or no
// graph is below it. Every non-blank line of the list is a graph.
Result<Sample> load_sample(const std::string& path, const SampleOptions& options = {});

// The samples at or below a folder: itself where it has a graph_list.txt or is a graph folder, else every
// folder below that has a graph_list.txt (not looking inside those), sorted; where there is none, the folder
// itself.
Result<std::vector<std::string>> find_samples(const std::string& path);

// A JSON list of pass names (file stems without folders, each once), with the place of what is wrong.
Result<std::vector<std::string>> read_pass_order(const std::string& file);

// The limits on output passes. `functions[i]` identifies the replacement function of rule i (rules with equal
// text share one). First at most `function_limit` distinct functions stay, then at most `pattern_limit`
// rules; < 0: no limit. Returns the kept rules' indices, ascending. `strict`: chosen as the reference does,
// by Python's random.sample after random.seed(123); otherwise the first ones in order stay.
std::vector<size_t> apply_pass_limits(const std::vector<std::string>& functions, int function_limit,
                                      int pattern_limit, bool strict = false);

}  // namespace graft::bench
