// The rules a pass file's source must keep, so that a replacement is the author's own kernel and not torch
// again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "python/parser.h"

namespace graft::graph {

struct Violation {
  std::string rule;     // "blocked-import", "blocked-call", ...
  std::string message;  // one sentence
  Place place;
  // Where the published reference check reports the same thing, its text ("Line 3: blocked import
  // 'torch.nn'"); else empty: then the rule is one of the stricter ones.
  std::string reference_text;

  std::string to_string() const;
};

struct SourceRuleOptions {
  // Only what the reference check finds. Default: also the ways around it (aliases of torch by assignment,
  // getattr with a name, decorators, tensor methods that compute, computation in replacement_args, pattern()
  // called, evaluator modules).
  bool reference_only = false;
  // The file is a helper that passes import, not a pass: the exempt functions `pattern` and
  // `replacement_args` are not exempt.
  bool helper = false;
};

std::vector<Violation> check_source_rules(const python::ParsedModule& module,
                                          const SourceRuleOptions& options = {});

}  // namespace graft::graph
