#include "graph/apply_passes.h"

#include <utility>

#include "graph/printer.h"

namespace graft::graph {

Result<RewrittenModel> apply_passes(const Graph& graph, const std::vector<PassFile>& passes,
                                    const RewriteOptions& options) {
  RewrittenModel model;
  model.graph = graph;
  for (size_t i = 0; i < passes.size(); ++i) {
    const PassFile& pass = passes[i];
    AppliedPass applied;
    applied.name = pass.name;
    applied.path = pass.path;
    applied.replacement = "graft_replacement_" + std::to_string(i);
    GRAFT_ASSIGN_OR_RETURN(const RewriteReport report,
                           rewrite(model.graph, pass, applied.replacement, options));
    applied.matches = report.replaced;
    if (report.replaced == 0) {
      applied.why_not = !report.why_not.empty()    ? report.why_not
                        : !report.refusals.empty() ? report.refusals.front().reason
                                                   : "the pattern occurs nowhere in the graph";
    }
    model.matches += report.replaced;
    model.passes.push_back(std::move(applied));
  }
  model.source = print_module(model.graph);
  return model;
}

}  // namespace graft::graph
