// Documents of captured graphs: what is read, what is refused, and the module they print as.
#include "graph/captured.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "graph/importer.h"
#include "graph/printer.h"

namespace graft::graph {
namespace {

Graph text_graph() {
  auto graph = import_model_text(
      "import torch\n"
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, unused, x, w):\n"
      "        y = torch.relu(x * w)\n"
      "        return (y, x)\n",
      "model.py");
  EXPECT_TRUE(graph.ok());
  return *std::move(graph);
}

// A capture of that graph. The parts in the arguments replace those of the right document.
std::string document(const std::string& parameter = R"("x")",
                     const std::string& relu_arg = R"({"node": "mul"})",
                     const std::string& result = R"({"tuple": [{"output": [0, 0]}, {"parameter": "x"}]})",
                     const std::string& more = "") {
  return R"({"schema": "graft/capture/v2", "torch": "2.11.0", "graphs": [{"nodes": [
    {"name": "l_w_", "op": "placeholder", "target": "L_w_", "args": [], "kwargs": [], "parameter": "w"},
    {"name": "l_x_", "op": "placeholder", "target": "L_x_", "args": [], "kwargs": [], "parameter": )" +
         parameter + R"(, "source": "L['x']"},
    {"name": "mul", "op": "call_function", "target": "_operator.mul", "args": [{"node": "l_x_"}, {"node": "l_w_"}],
     "kwargs": []},
    {"name": "x", "op": "call_function", "target": "torch.relu", "args": [)" +
         relu_arg + R"(], "kwargs": [])" + more + R"(},
    {"name": "output", "op": "output", "target": "output", "args": [{"tuple": [{"node": "x"}]}], "kwargs": []}]}],
    "breaks": [], "result": )" +
         result + "}";
}

Result<Capture> read(const std::string& text) {
  auto json = Json::parse(text);
  EXPECT_TRUE(json.ok()) << text;
  return read_capture(*json, "captured.json");
}

std::string refusal(const std::string& text) {
  auto capture = read(text);
  if (!capture.ok()) return capture.error().message;
  auto graph = graph_of_capture(text_graph(), *capture);
  return graph.ok() ? "" : graph.error().message;
}

TEST(Captured, PrintsWithTheParametersOfForward) {
  auto capture = read(document());
  ASSERT_TRUE(capture.ok()) << capture.error().to_string();
  EXPECT_EQ(capture->graphs[0].parameters, (std::vector<std::string>{"w", "x"}));
  auto graph = graph_of_capture(text_graph(), *capture);
  ASSERT_TRUE(graph.ok()) << graph.error().to_string();
  const std::string printed = print_module(*graph);
  EXPECT_NE(printed.find("def forward(self, unused, x, w):"), std::string::npos) << printed;
  // The captured node `x` is not the parameter of that name.
  EXPECT_NE(printed.find("mul = x * w;  w = None\n        x_1 = torch.relu(mul);  mul = None\n"
                         "        return (x_1, x)"),
            std::string::npos)
      << printed;
}

TEST(Captured, SaysWhyThereIsNoModule) {
  EXPECT_EQ(refusal(document()), "");
  EXPECT_NE(refusal(document("null")).find("(L['x']) is no parameter of forward()"), std::string::npos);
  EXPECT_NE(refusal(document(R"("elsewhere")")).find("is no parameter"), std::string::npos);
  EXPECT_NE(refusal(document(R"("x")", R"({"symbol": "s0"})")).find("no text can write"), std::string::npos);
  EXPECT_NE(
      refusal(document(R"("x")", R"({"node": "mul"})", R"({"output": [0, 1]})")).find("no captured output"),
      std::string::npos);
  EXPECT_NE(
      refusal(document(R"("x")", R"({"node": "mul"})", R"({"output": [0, -1]})")).find("no captured output"),
      std::string::npos);
  EXPECT_NE(
      refusal(document(R"("x")", R"({"node": "mul"})", "null", R"(, "unnamed": true)")).find("no name leads"),
      std::string::npos);
  EXPECT_NE(
      refusal(
          R"({"schema": "graft/capture/v2", "graphs": [], "breaks": [{"reason": "print", "file": "model.py", "line": 4}]})")
          .find("captured no graph: model.py:4: print"),
      std::string::npos);
}

TEST(Captured, RefusesWhatIsNoCapture) {
  EXPECT_EQ(refusal("{}"), "this is no capture");
  EXPECT_EQ(refusal(R"({"schema": "graft/capture/v1"})"), "this is no capture");
  EXPECT_NE(refusal(R"({"schema": "graft/capture/v2", "breaks": [1]})").find("without a reason"),
            std::string::npos);
  EXPECT_NE(refusal(document(R"("x")", R"({"node": "later"})")).find("unknown node 'later'"),
            std::string::npos);
}

TEST(Captured, TellsDifferences) {
  auto capture = read(document());
  ASSERT_TRUE(capture.ok());
  // The text has three inputs, of which the captured graph needs two.
  EXPECT_EQ(capture_differences(text_graph(), *capture),
            (std::vector<std::string>{"the text has 3 inputs, the captured graph 2"}));
  capture->breaks.push_back({"print", "", "model.py", 4, "forward"});
  EXPECT_EQ(capture_differences(text_graph(), *capture)[0], "the graph breaks: model.py:4: print");
}

}  // namespace
}  // namespace graft::graph
