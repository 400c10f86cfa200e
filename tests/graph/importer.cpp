#include "graph/importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "base/json.h"
#include "graph/pass_file.h"
#include "graph/printer.h"

namespace graft::graph {
namespace {

std::string model(const std::string& parameters, const std::string& body) {
  std::string text =
      "import torch\nfrom torch import device, inf\n\n\nclass GraphModule(torch.nn.Module):\n    def "
      "forward(self" +
      (parameters.empty() ? "" : ", " + parameters) + "):\n";
  size_t begin = 0;
  while (begin < body.size()) {
    const size_t end = std::min(body.find('\n', begin), body.size());
    text += "        " + body.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

Graph import_or_die(const std::string& parameters, const std::string& body) {
  Result<Graph> graph = import_model_text(model(parameters, body), "model.py");
  if (!graph.ok()) {
    ADD_FAILURE() << graph.error().to_string();
    return Graph();
  }
  const Status status = graph->verify();
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().to_string());
  return *std::move(graph);
}

Error import_error(const std::string& parameters, const std::string& body) {
  Result<Graph> graph = import_model_text(model(parameters, body), "model.py");
  EXPECT_FALSE(graph.ok());
  return graph.ok() ? Error{} : graph.error();
}

// "target(args)" of every node that is neither placeholder nor output.
std::vector<std::string> expressions(const Graph& graph) {
  std::vector<std::string> out;
  for (const NodeId id : graph.order()) {
    const Op op = graph.node(id).op;
    if (op != Op::kPlaceholder && op != Op::kOutput) out.push_back(print_node(graph, id));
  }
  return out;
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Importer, StraightLine) {
  const Graph graph = import_or_die("x, w",
                                    "y = torch.nn.functional.relu(x, inplace = True);  x = None\n"
                                    "z = y @ w;  y = w = (None)\n"
                                    "return (z,)");
  EXPECT_THAT(expressions(graph), ElementsAre("torch.nn.functional.relu(x, inplace=True)", "y @ w"));
  EXPECT_EQ(print_node(graph, graph.output()), "return (z,)");
  EXPECT_EQ(graph.node(graph.order()[2]).lines.first, 7);
}

TEST(Importer, LiteralsAndContainers) {
  const Graph graph = import_or_die("x",
                                    "a = torch.empty([2, -3], dtype=torch.half, device=device(type='cuda', "
                                    "index=1), layout=torch.strided)\n"
                                    "b = torch.full((2,), -inf)\n"
                                    "c = x[(slice(None, 3, None), Ellipsis, None)]\n"
                                    "d = torch.clamp(c, float('-inf'), float('nan'))\n"
                                    "e = d.to(memory_format=torch.channels_last)\n"
                                    "f = foo = torch.stack([a, [b, (c, {'k': e})]], dim=-1)\n"
                                    "return f");
  EXPECT_THAT(
      expressions(graph),
      ElementsAre("torch.empty([2, -3], dtype=torch.float16, device=torch.device(type='cuda', index=1), "
                  "layout=torch.strided)",
                  "torch.full((2,), float('-inf'))", "x[(slice(None, 3, None), ..., None)]",
                  "torch.clamp(c, float('-inf'), float('nan'))", "d.to(memory_format=torch.channels_last)",
                  "torch.stack([a, [b, (c, {'k': e})]], dim=-1)"));
}

TEST(Importer, WritesAndUnpacking) {
  const Graph graph = import_or_die("x, y",
                                    "x += y\n"
                                    "z = x\n"
                                    "z[0] = y;  setitem = z\n"
                                    "z[1:] *= 2\n"
                                    "a, b = z.chunk(2)\n"
                                    "del z\n"
                                    "return a + b");
  EXPECT_THAT(expressions(graph), ElementsAre("x += y", "x_1[0] = y", "x_1[slice(1, None, None)]",
                                              "getitem *= 2", "x_1[slice(1, None, None)] = imul",
                                              "x_1.chunk(2)", "chunk[0]", "chunk[1]", "a + b"));
}

TEST(Importer, FoldsConstants) {
  const Graph graph =
      import_or_die("x", "n = 7 // 2 - -1\nreturn x.view(n, -(2 ** 3), 1 / 4, 5 % -3, (1, 2)[1])");
  EXPECT_THAT(expressions(graph), ElementsAre("x.view(4, -8, 0.25, -1, 2)"));
}

TEST(Importer, ShapeArithmetic) {
  const Graph graph = import_or_die("s0 : torch.SymInt, x : torch.Tensor",
                                    "rows = x.reshape(s0 * 2, 8)\nhalf = s0 // 2\n"
                                    "return rows[(slice(None, half, None),)], x.shape[0]");
  EXPECT_THAT(expressions(graph), ElementsAre("s0 * 2", "x.reshape(mul, 8)", "s0 // 2",
                                              "rows[(slice(None, half, None),)]", "x.shape", "getattr_1[0]"));
  EXPECT_EQ(graph.text(graph.node(graph.placeholders()[0]).annotation), "torch.SymInt");
}

TEST(Importer, ScopesDecideWhatANameMeans) {
  const Graph graph = import_or_die("inf, device", "return torch.add(inf, device)");
  EXPECT_THAT(expressions(graph), ElementsAre("torch.add(inf, device)"));
  EXPECT_TRUE(graph.node(graph.order()[2]).args[0].is_node());
}

TEST(Importer, KeywordOnlyParametersAndDefaults) {
  const Graph graph = import_or_die("x, *, y=2, z: int = -1", "return torch.add(x, y, alpha=z)");
  ASSERT_EQ(graph.placeholders().size(), 3U);
  EXPECT_FALSE(graph.node(graph.placeholders()[0]).keyword_only);
  EXPECT_TRUE(graph.node(graph.placeholders()[2]).keyword_only);
  EXPECT_THAT(print_module(graph), HasSubstr("def forward(self, x, *, y=2, z: int = -1):"));
}

TEST(Importer, WhatIsNotUnderstoodIsAnErrorWithItsPlace) {
  struct Case {
    const char* body;
    const char* message;
    int line;
  };
  const std::vector<Case> cases = {
      {"y = place(x, [Shard(dim=0)])\nreturn y", "name 'place' is not defined", 7},
      {"y = torch.add(x, tensor([0.1, 0.2]))\nreturn y", "name 'tensor' is not defined", 7},
      {"y = torch.ones([2], layout = strided)\nreturn y", "name 'strided' is not defined", 7},
      {"z = x\nif x:\n    y = 1\nreturn z", "'If'", 8},
      {"return [x for _ in range(2)]", "comprehension", 7},
      {"return lambda: x", "Lambda", 7},
      {"x.data = 3\nreturn x", "an assignment to 'x.data'", 7},
      {"return f'{x}'", "JoinedStr", 7},
      {"return x < x < x", "chained comparison", 7},
      {"a, *b = x\nreturn a", "starred", 7},
      {"y = x;  del y\nreturn y", "name 'y' is not defined", 8},
      {"return x and 1", "'and'", 7},
      {"with torch.no_grad():\n    y = x\nreturn y", "'With'", 7},
      {"return 1 << 100", "operator '<<'", 7},
      {"return torch.foo(x, a=1, a=2)", "a", 7},
      {"return self", "the module itself", 7},
  };
  for (const Case& c : cases) {
    const Error error = import_error("x", c.body);
    EXPECT_THAT(error.message, HasSubstr(c.message)) << c.body;
    EXPECT_EQ(error.place.line, c.line) << c.body;
    EXPECT_EQ(error.place.file, "model.py");
  }
}

TEST(Importer, PythonThatDoesNotParseIsAnError) {
  const Error error = import_error("x", "d = route(x, <Mode.FAST: 1>)\nreturn d");
  EXPECT_EQ(error.place.line, 7);
  EXPECT_GT(error.place.column, 0);
}

// Every graph of the data set: imported, printed, imported again as the same text.
TEST(Importer, DataRoundTrip) {
  for (const char* name : {"graphs.jsonl", "subgraphs.jsonl"}) {
    const std::string path = std::string(GRAFT_SOURCE_DIR) + "/../shared/data/" + name;
    if (!is_regular_file(path)) GTEST_SKIP() << path << " is absent";
    const Result<std::string> text = read_file(path);
    ASSERT_TRUE(text.ok());
    size_t begin = 0;
    while (begin < text->size()) {
      const size_t end = std::min(text->find('\n', begin), text->size());
      const Result<Json> record = Json::parse(std::string_view(*text).substr(begin, end - begin));
      begin = end + 1;
      ASSERT_TRUE(record.ok());
      const std::string& label = (*record)["name"].as_string();
      const Result<Graph> graph = import_model_text((*record)["model.py"].as_string(), label);
      ASSERT_TRUE(graph.ok()) << graph.error().to_string();
      ASSERT_TRUE(graph->verify().ok()) << label;
      const std::string printed = print_module(*graph);
      const Result<Graph> again = import_model_text(printed, label + "/printed");
      ASSERT_TRUE(again.ok()) << again.error().to_string();
      EXPECT_EQ(print_module(*again), printed) << label;
    }
  }
}

TEST(Importer, PatternsThatNeedPythonAreErrors) {
  const std::string head = "import math, torch\nimport numpy as np\nfrom pass_dir.helper import scale, EPS\n";
  for (const auto& [text, line] : std::map<std::string, int>{
           {"def pattern(x): return x * math.sqrt(64)\n", 4},
           {"def pattern(x): return x * np.pi\n", 4},
           {"def pattern(x): return x * scale(3)\n", 4},
           {"def pattern(x): return scale(x)\n", 4},
           {"def pattern(x): return x + EPS\n", 4},
           {"def pattern(x): return x.masked_fill(x > 0, torch.finfo(torch.float32).min)\n", 4},
           {"@torch.fx.wrap\ndef pattern(x): return torch.relu(x)\n", 4},
           {"N = 1\nN += 1\ndef pattern(x): return x + N\n", 6},
           {"S = []\nfor i in range(3): S.append(i)\ndef pattern(x): return x + len(S)\n", 6},
           {"S = [1]\nS.append(2)\ndef pattern(x): return x + len(S)\n", 6},
           {"S = {}\nS['a'] = 2\ndef pattern(x): return x + S['a']\n", 6},
           {"if torch.cuda.is_available():\n    N = 1\nelse:\n    N = 2\ndef pattern(x): return x + N\n", 8},
           {"N = 1\ndef change():\n    global N\n    N = 2\nchange()\ndef pattern(x): return x + N\n", 9},
           {"N, M = 1, 2\ndef pattern(x): return x + N\n", 5}}) {
    const Result<Graph> pattern = load_pattern_text(head + text, "pattern");
    ASSERT_FALSE(pattern.ok()) << text;
    EXPECT_EQ(pattern.error().place.line, line) << pattern.error().to_string();
    EXPECT_EQ(pattern.error().kind, ErrorKind::kInput);
  }
  // Names that such statements do not touch are read as they are.
  const Result<Graph> pattern = load_pattern_text(head +
                                                      "EPS2 = 1e-5\nSIZES = (1, 2)\nprint(EPS2, SIZES)\n"
                                                      "if __name__ == '__main__':\n    EPS2 = 3\n"
                                                      "def pattern(x):\n    return x.view(SIZES) + EPS2\n",
                                                  "pattern");
  ASSERT_TRUE(pattern.ok()) << pattern.error().to_string();
  EXPECT_NE(print_ir(*pattern).find("_operator.add(view, 1e-05)"), std::string::npos) << print_ir(*pattern);
}

}  // namespace
}  // namespace graft::graph
