// Any text as the body of a forward: imported, printed, read back as the same graph, rewritten.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "graph/apply_passes.h"
#include "graph/importer.h"
#include "graph/plain.h"
#include "graph/printer.h"

using namespace graft::graph;

namespace {

const PassFile& pass() {
  static const PassFile kPass = [] {
    auto loaded = load_pass_text(
        "import torch\n"
        "def pattern(a, b):\n    t = torch.relu(a)\n    return t + b, t\n"
        "def replacement_args(a, b):\n    return (b, a, 1)\n"
        "def replacement_func():\n    return None\n",
        "rule");
    if (!loaded.ok()) std::abort();
    return *std::move(loaded);
  }();
  return kPass;
}

void check(const Graph& graph) {
  if (!graph.verify().ok()) std::abort();
  const std::string printed = print_module(graph);
  const auto again = import_model_text(printed, "printed");
  if (!again.ok() || print_module(*again) != printed) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  std::string text =
      "import torch\nfrom torch import device, inf\nclass GraphModule(torch.nn.Module):\n"
      "    def forward(self, x, y, w=1, *, k):\n";
  std::string_view body(reinterpret_cast<const char*>(data), size);
  while (!body.empty()) {
    const size_t end = body.find('\n');
    text += "        " + std::string(body.substr(0, end)) + "\n";
    body = end == std::string_view::npos ? std::string_view{} : body.substr(end + 1);
  }
  text += "        return (x, y)\n";
  const auto graph = import_model_text(text, "model.py");
  if (!graph.ok()) return 0;
  check(*graph);
  if (!plain_graph(*graph).verify().ok()) std::abort();
  const auto rewritten = apply_passes(*graph, {pass()});
  if (!rewritten.ok()) std::abort();
  check(rewritten->graph);
  return 0;
}
