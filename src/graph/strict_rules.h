// The ways around the published source check, and how they are recognised. Used by check_source_rules().
#pragma once

#include <vector>

#include "graph/source_rules.h"
#include "python/parser.h"

namespace graft::graph {

// Rules, each with the name it is reported under:
//   blocked-import   evaluator, compiler and introspection modules; members of torch that are blocked modules
//   blocked-call     torch reached through `T = torch` and the like
//   dynamic-access   getattr(torch, ...), torch.__dict__, __import__, eval, exec, ...
//   blocked-decorator  @torch.compile and other decorators of torch but torch.fx.wrap
//   torch-value      a function of torch handed to another function
//   patches-torch    an assignment to an attribute of torch
//   tensor-method    a method that computes, of a value known to be a tensor or of a parameter
//   tensor-operator  an operator on a value known to be a tensor
//   calls-exempt     pattern or replacement_args used outside themselves
// Functions decorated by Triton are kernels: tensor rules do not apply to them.
void check_strict_rules(const python::ParsedModule& module, const SourceRuleOptions& options,
                        std::vector<Violation>& violations);

}  // namespace graft::graph
