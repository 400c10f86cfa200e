// Any text as a pass file: read, checked, and matched against a graph.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "graph/force_args.h"
#include "graph/importer.h"
#include "graph/nearest_miss.h"
#include "graph/rewriter.h"

using namespace graft::graph;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  static const Graph kModel = [] {
    auto graph = import_model_text(
        "import torch\nclass GraphModule(torch.nn.Module):\n    def forward(self, x, y, w):\n"
        "        a = torch.relu(x) + y\n        b = torch.conv2d(a, w, None, (1, 1), 0)\n"
        "        a += b\n        c = b.view(1, -1).transpose(0, 1)\n        d = "
        "torch.nn.functional.softmax(c, dim=-1)\n"
        "        e = torch.cat([d, a, d], 1)\n        e[0] = y\n        return (e, b.sum(1, "
        "keepdim=True))\n");
    if (!graph.ok()) std::abort();
    return *std::move(graph);
  }();
  const auto pass = load_pass_text(std::string(reinterpret_cast<const char*>(data), size), "rule");
  if (!pass.ok()) return 0;
  for (const MatchMode mode : {MatchMode::kPlain, MatchMode::kNormalized}) {
    const Graph pattern = mode == MatchMode::kPlain ? force_args(pass->pattern) : pass->pattern;
    const auto matcher = Matcher::create(pattern, {mode});
    if (!matcher.ok()) continue;
    const MatchResult found = matcher->match(kModel);
    const auto miss = nearest_miss(*matcher, kModel, found);
    if (miss && miss->to_string().empty()) std::abort();
  }
  Graph graph = kModel;
  const auto report = rewrite(graph, *pass, "graft_replacement_0");
  if (report.ok() && !graph.verify().ok()) std::abort();
  return 0;
}
