#include "graph/rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/apply_passes.h"
#include "graph/importer.h"
#include "graph/printer.h"

namespace graft::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A model from the lines of its forward, "def forward(self, ...):" first.
Graph model(const std::string& forward) {
  std::string text = "import torch\nclass GraphModule(torch.nn.Module):\n";
  size_t begin = 0;
  while (begin < forward.size()) {
    const size_t end = std::min(forward.find('\n', begin), forward.size());
    text += "    " + forward.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  Result<Graph> graph = import_model_text(text, "model.py");
  if (!graph.ok()) {
    ADD_FAILURE() << graph.error().to_string();
    return Graph();
  }
  return *std::move(graph);
}

// A pass from its pattern; replacement_args hands every parameter on.
PassFile pass(const std::string& pattern, const std::string& arguments = {}) {
  std::string text = "import torch\n" + pattern;
  if (arguments.empty()) {
    const size_t open = pattern.find('(');
    const std::string parameters = pattern.substr(open + 1, pattern.find("):") - open - 1);
    text += "\ndef replacement_args(" + parameters + "):\n    return (" + parameters + ",)\n";
  } else {
    text += "\n" + arguments + "\n";
  }
  text += "def replacement_func():\n    return kernel\n";
  Result<PassFile> loaded = load_pass_text(text, "pass");
  if (!loaded.ok()) {
    ADD_FAILURE() << loaded.error().to_string();
    return PassFile();
  }
  return *std::move(loaded);
}

struct Outcome {
  RewriteReport report;
  std::vector<std::string> lines;  // every node but placeholders
  std::string source;
};

Outcome apply(const std::string& forward, const PassFile& rule) {
  Outcome outcome;
  Graph graph = model(forward);
  Result<RewriteReport> report = rewrite(graph, rule, "graft_replacement_0");
  if (!report.ok()) {
    ADD_FAILURE() << report.error().to_string();
    return outcome;
  }
  outcome.report = *std::move(report);
  for (const NodeId id : graph.order()) {
    const Op op = graph.node(id).op;
    if (op != Op::kPlaceholder) outcome.lines.push_back(print_node(graph, id));
  }
  outcome.source = print_module(graph);
  const Result<Graph> again = import_model_text(outcome.source, "printed");
  if (!again.ok()) {
    ADD_FAILURE() << again.error().to_string() << "\n" << outcome.source;
  } else {
    EXPECT_EQ(print_module(*again), outcome.source);
  }
  return outcome;
}

TEST(Rewriter, OneOutput) {
  const Outcome outcome = apply(
      "def forward(self, x, w):\n"
      "    t = torch.relu(x);  x = None\n"
      "    y = t * 2;  t = None\n"
      "    z = y @ w\n"
      "    return (z,)",
      pass("def pattern(a):\n    return torch.relu(a) * 2\n"));
  EXPECT_EQ(outcome.report.replaced, 1U);
  EXPECT_THAT(outcome.lines, ElementsAre("graft_replacement_0(x)", "replaced @ w", "return (z,)"));
}

TEST(Rewriter, SeveralOutputsBecomeElements) {
  const Outcome outcome = apply(
      "def forward(self, x, y, s, w, b):\n"
      "    t = x + y\n"
      "    u = torch.relu(t)\n"
      "    n = torch.nn.functional.layer_norm(t, (4,), w, b, 1e-5)\n"
      "    return (t, n, u)",
      pass("def pattern(x, y, s, w, b):\n    t = x + y\n"
           "    return t, torch.nn.functional.layer_norm(t, s, weight=w, bias=b)\n"));
  EXPECT_EQ(outcome.report.replaced, 1U);
  EXPECT_THAT(outcome.lines, ElementsAre("graft_replacement_0(x, y, (4,), w, b)", "replaced[0]",
                                         "replaced[1]", "torch.relu(t_1)", "return (t_1, n_1, u)"));
}

TEST(Rewriter, UsersOfAReturnedValueMoveBehindTheReplacement) {
  // `q` uses t and stands before `k`, which the pattern needs.
  const Outcome outcome = apply(
      "def forward(self, x, y, w):\n"
      "    t = x + y\n"
      "    q = torch.relu(t)\n"
      "    k = torch.tanh(w)\n"
      "    n = t * k\n"
      "    return (q, n)",
      pass("def pattern(x, y, k):\n    t = x + y\n    return t, t * k\n"));
  EXPECT_EQ(outcome.report.replaced, 1U);
  EXPECT_THAT(outcome.lines, ElementsAre("torch.tanh(w)", "graft_replacement_0(x, y, k)", "replaced[0]",
                                         "replaced[1]", "torch.relu(t_1)", "return (q, n_1)"));
}

TEST(Rewriter, ReplacementArgumentsAreInlined) {
  const Outcome outcome = apply(
      "def forward(self, x):\n"
      "    y = torch.softmax(x, -1)\n"
      "    return y",
      pass("def pattern(a, d):\n    return torch.softmax(a, d)\n",
           "def replacement_args(a, d):\n    return (d, a.shape[-1], a, 'mode', None)"));
  EXPECT_THAT(outcome.lines,
              ElementsAre("x.shape", "getattr_1[-1]", "graft_replacement_0(-1, getitem, x, 'mode', None)",
                          "return replaced"));
}

TEST(Rewriter, AMatchThatWritesOnlyItsOwnValuesIsReplaced) {
  const Outcome outcome = apply(
      "def forward(self, x, m, v, w, b):\n"
      "    y = torch.nn.functional.batch_norm(x, m, v, w, b, False, 0.1, 1e-05)\n"
      "    z = torch.nn.functional.relu(y, inplace = True);  y = None\n"
      "    return (z, x)",
      pass("def pattern(x, m, v, w, b):\n"
           "    y = torch.nn.functional.batch_norm(x, m, v, weight=w, bias=b)\n"
           "    return torch.nn.functional.relu(y, True)\n"));
  EXPECT_EQ(outcome.report.replaced, 1U);
}

TEST(Rewriter, AWriteToWhatIsReadLaterIsKept) {
  const Outcome outcome = apply(
      "def forward(self, x):\n"
      "    t = torch.tanh(x)\n"
      "    z = torch.nn.functional.relu(t, inplace = True)\n"
      "    return (z, t * 2)",
      pass("def pattern(a):\n    return torch.nn.functional.relu(a, inplace=True)\n"));
  EXPECT_EQ(outcome.report.replaced, 0U);
  ASSERT_EQ(outcome.report.refusals.size(), 1U);
  EXPECT_THAT(outcome.report.refusals[0].reason,
              HasSubstr("'z' (line 5) writes to 't' (line 4), which 'mul' (line 6) reads"));
}

TEST(Rewriter, AReturnedViewThatIsWrittenLaterIsKept) {
  const Outcome outcome = apply(
      "def forward(self, x, y):\n"
      "    t = torch.tanh(x)\n"
      "    v = t.view(4).transpose(0, 1)\n"
      "    t += y\n"
      "    return v",
      pass("def pattern(a):\n    return a.view(4).transpose(0, 1)\n"));
  EXPECT_EQ(outcome.report.replaced, 0U);
  ASSERT_EQ(outcome.report.refusals.size(), 1U);
  EXPECT_THAT(outcome.report.refusals[0].reason,
              HasSubstr("is a view of something that 't_1' (line 6) writes to later"));
}

TEST(Rewriter, RandomOperatorsAndRegionBordersAreKept) {
  const Outcome random =
      apply("def forward(self, x):\n    return torch.nn.functional.dropout(x, 0.5, True) + 1",
            pass("def pattern(x):\n    return torch.nn.functional.dropout(x, 0.5, True) + 1\n"));
  EXPECT_EQ(random.report.replaced, 0U);
  EXPECT_THAT(random.report.refusals.at(0).reason, HasSubstr("draws random numbers"));
  const Outcome inactive =
      apply("def forward(self, x):\n    return torch.nn.functional.dropout(x, 0.5, False) + 1",
            pass("def pattern(x):\n    return torch.nn.functional.dropout(x, training=False) + 1\n"));
  EXPECT_EQ(inactive.report.replaced, 1U);
  const Outcome border = apply(
      "def forward(self, x):\n"
      "    y = torch.tanh(x)\n"
      "    enter = torch.amp.autocast_mode._enter_autocast('cpu', None, True, None)\n"
      "    z = y @ y\n"
      "    exit_ = torch.amp.autocast_mode._exit_autocast(enter)\n"
      "    return z",
      pass("def pattern(x):\n    y = torch.tanh(x)\n    return y @ y\n"));
  EXPECT_EQ(border.report.replaced, 0U);
  EXPECT_THAT(border.report.refusals.at(0).reason, HasSubstr("both sides of 'enter' (line 5)"));
}

TEST(Rewriter, MatchesThatWouldCloseACycleTogetherAreReplacedOnce) {
  const Outcome outcome = apply(
      "def forward(self, x, y):\n"
      "    a = torch.tanh(x)\n"
      "    b = torch.tanh(y)\n"
      "    c = a * torch.relu(b)\n"
      "    d = b * torch.relu(a)\n"
      "    return (c, d, a, b)",
      pass("def pattern(p, q):\n    t = torch.tanh(p)\n    return t, t * q\n"));
  EXPECT_EQ(outcome.report.found, 2U);
  EXPECT_EQ(outcome.report.replaced, 1U);
  EXPECT_THAT(outcome.report.refusals.at(0).reason, HasSubstr("comes back into it"));
}

TEST(Rewriter, PassesFollowOneAnother) {
  const Graph graph = model("def forward(self, x):\n    return torch.tanh(torch.relu(x)) + 1");
  const std::vector<PassFile> passes = {pass("def pattern(a):\n    return torch.relu(a)\n"),
                                        pass("def pattern(a):\n    return torch.sigmoid(a)\n"),
                                        pass("def pattern(a):\n    return torch.tanh(a) + 1\n")};
  const Result<RewrittenModel> model = apply_passes(graph, passes);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->matches, 2U);
  EXPECT_EQ(model->passes[0].matches, 1U);
  EXPECT_EQ(model->passes[1].matches, 0U);
  EXPECT_THAT(model->passes[1].why_not, Not(IsEmpty()));
  EXPECT_THAT(model->source, HasSubstr("graft_replacement_0(x)"));
  EXPECT_THAT(model->source, HasSubstr("graft_replacement_2(replaced)"));
}

}  // namespace
}  // namespace graft::graph
