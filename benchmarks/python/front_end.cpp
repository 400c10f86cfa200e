// Stages of the Python front end on texts made here: parsing, canonical text, ast-v1, evidence of every
// definition.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "python/canonical.h"
#include "python/definition.h"
#include "python/parser.h"
#include "python/segment.h"

namespace graft::python {
namespace {

// About 1 MB of what captured graphs look like: long straight-line functions.
const std::string& graph_text() {
  static const std::string text = [] {
    std::string out =
        "import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x_0: torch.Tensor):\n";
    for (int i = 0; out.size() < 1'000'000; ++i) {
      std::string from = "x_" + std::to_string(i);
      std::string to = "x_" + std::to_string(i + 1);
      out += "        " + to + " = torch.nn.functional.dropout(" + from + ", 0.1, False, inplace = True);  " +
             from + " = None\n";
    }
    return out;
  }();
  return text;
}

// About 1 MB of classes with methods, comments and documentation.
const std::string& library_text() {
  static const std::string text = [] {
    std::string out;
    for (int i = 0; out.size() < 1'000'000; ++i) {
      std::string n = std::to_string(i);
      out += "class Layer" + n +
             "(Base):\n    \"\"\"A layer.\n\n    Longer text about it, on lines of its own.\n    \"\"\"\n\n"
             "    def __init__(self, size, *, scale=1.5, name=None):\n"
             "        super().__init__()\n        # what the layer remembers\n"
             "        self.size = {key: value for key, value in size.items() if value is not None}\n"
             "        self.label = f\"{name or 'layer'}-{scale:.2f}\"\n\n"
             "    def forward(self, x, mask=None):\n"
             "        if mask is not None and (x.shape[0] != mask.shape[0] or x.dim() > 3):\n"
             "            raise ValueError(\"shapes differ: %s\" % (mask.shape,))\n"
             "        return x[:, 1:-1] * self.scale + 0x10 - 1e-5\n\n\n";
    }
    return out;
  }();
  return text;
}

ParsedModule parsed(const std::string& text) {
  Result<ParsedModule> module = parse_text(text);
  if (!module.ok()) std::abort();
  return *std::move(module);
}

void count_bytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(text.size()));
}

void BM_Parse(benchmark::State& state, const std::string& text) {
  for (auto _ : state) benchmark::DoNotOptimize(parse_text(text));
  count_bytes(state, text);
}
BENCHMARK_CAPTURE(BM_Parse, graph, graph_text())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Parse, library, library_text())->Unit(benchmark::kMillisecond);

void BM_CanonicalText(benchmark::State& state, const std::string& text) {
  ParsedModule module = parsed(text);
  for (auto _ : state) benchmark::DoNotOptimize(canonical_text(*module.module));
  count_bytes(state, text);
}
BENCHMARK_CAPTURE(BM_CanonicalText, library, library_text())->Unit(benchmark::kMillisecond);

void BM_AstHash(benchmark::State& state, const std::string& text) {
  ParsedModule module = parsed(text);
  for (auto _ : state) benchmark::DoNotOptimize(ast_hash(*module.module));
  count_bytes(state, text);
}
BENCHMARK_CAPTURE(BM_AstHash, library, library_text())->Unit(benchmark::kMillisecond);

void BM_EvidenceOfEveryDefinition(benchmark::State& state, const std::string& text) {
  ParsedModule module = parsed(text);
  for (auto _ : state) {
    for (const Definition& definition : all_definitions(*module.module)) {
      LineRange lines = definition_lines(module, *definition.node);
      benchmark::DoNotOptimize(evidence_of(text_of_lines(module.source, lines)));
    }
  }
  count_bytes(state, text);
}
BENCHMARK_CAPTURE(BM_EvidenceOfEveryDefinition, library, library_text())->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace graft::python

BENCHMARK_MAIN();
