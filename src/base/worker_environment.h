// What of this process's environment a child that runs code of others gets.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace graft {

// The environment a worker gets: what Python, torch, Triton, CUDA and compilers read, out of this process's
// environment. Everything else, keys of other services above all, stays here.
std::vector<std::pair<std::string, std::string>> worker_environment();

}  // namespace graft
