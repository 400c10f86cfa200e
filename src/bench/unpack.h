// Turns records of a JSON-lines file into sample folders.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace graft::bench {

struct UnpackOptions {
  int limit = -1;  // at most so many records; < 0: all
  // Only records of these names; empty: all. A name that is not there is an error.
  std::vector<std::string> only = {};
  bool force = false;  // replace sample folders that exist
};

struct UnpackedSample {
  std::string name;  // as in the record
  std::string path;  // the sample folder
};

// A record is an object with `name` and the texts `model.py`, `weight_meta.py`, `input_meta.py` (absent:
// empty), `graph_net.json`; further members whose name is a plain file name in .py, .json or .txt become
// files of the graph folder too. Sample folders: <directory>/<safe name>/{graph_list.txt, graphs/<name>/...,
// pass_dir/, entry.sh}. Everything is checked before anything is written: bad JSON, a record that lacks a
// member, two records of the same name or folder, an existing folder without `force` are errors with file and
// line.
Result<std::vector<UnpackedSample>> unpack(const std::string& file, const std::string& directory,
                                           const UnpackOptions& options = {});

// The folder name of a record: path separators become "__", everything but letters, digits, '.', '_', '-',
// '+' and '=' becomes '_', and leading dots go. Empty when nothing is left.
std::string safe_folder_name(std::string_view name);

}  // namespace graft::bench
