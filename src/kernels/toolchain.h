// The system's C++ compiler, and what identifies the code it makes on this machine.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace graft::kernels {

struct Toolchain {
  std::vector<std::string> command;  // {"g++"}; $CXX may hold more words
  std::string version;               // first line of `--version`
  std::string target;                // what -march=native means here, as the compiler spells it out
  bool is_clang = false;

  // The three above in one text: part of every cache key.
  std::string identity() const;
};

// $CXX, else the first of g++, c++, clang++ that answers `--version`. $CXX that does not answer is an error,
// not skipped. Asked once a process for each value of $CXX and $PATH; children of fork() inherit the answer.
// Fails with kMissing.
Result<Toolchain> find_toolchain();

// Flags of every kernel. NaN, infinities and the order of operations stay those of the text (no -ffast-math);
// only errno and floating-point traps, which no kernel uses, are given up so that loops with math calls and
// conditions vectorize.
const std::vector<std::string>& standard_flags();

}  // namespace graft::kernels
