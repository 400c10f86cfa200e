// Faults that users of pattern rewriting met elsewhere, as small inputs with the right answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "graph/importer.h"
#include "graph/matcher.h"
#include "graph/nearest_miss.h"
#include "graph/plain.h"
#include "graph/printer.h"
#include "graph/rewriter.h"

namespace graft::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The body of a class GraphModule, indented by four spaces.
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

PassFile pass(const std::string& pattern, const std::string& arguments) {
  Result<PassFile> loaded = load_pass_text(
      "import torch\n" + pattern + "\n" + arguments + "\ndef replacement_func():\n    return kernel\n",
      "pass");
  if (!loaded.ok()) {
    ADD_FAILURE() << loaded.error().to_string();
    return PassFile();
  }
  return *std::move(loaded);
}

struct Found {
  size_t matches = 0;
  std::vector<std::string> nodes;  // the last matched node of every match
  std::string reason;
};

Found find(const Graph& graph, const std::string& pattern_text, MatchMode mode = MatchMode::kNormalized) {
  const Result<Graph> read = load_pattern_text("import torch\n" + pattern_text, "pattern");
  if (!read.ok()) {
    ADD_FAILURE() << read.error().to_string();
    return {};
  }
  const Graph pattern = mode == MatchMode::kPlain ? plain_graph(*read) : *read;
  const Graph target = mode == MatchMode::kPlain ? plain_graph(graph) : graph;
  const Result<Matcher> matcher = Matcher::create(pattern, {mode});
  if (!matcher.ok()) {
    ADD_FAILURE() << matcher.error().to_string();
    return {};
  }
  const MatchResult result = matcher->match(target);
  Found found;
  found.matches = result.matches.size();
  for (const Match& match : result.matches) found.nodes.emplace_back(target.node_name(match.nodes.back()));
  if (const auto miss = nearest_miss(*matcher, target, result)) found.reason = miss->to_string();
  return found;
}

TEST(FaultB01, AdjacentMatchesLeaveNoDeadReference) {
  const PassFile joined = pass("def pattern(parts, axis):\n    return torch.cat(parts, axis)\n",
                               "def replacement_args(parts, axis):\n    return (parts, axis)\n");
  Graph graph = model(
      "def forward(self, p, q, r):\n"
      "    h0 = torch.cat([p, q], 1);  p = q = None\n"
      "    h1 = torch.cat([h0, r, h0], 1);  h0 = r = None\n"
      "    return (torch.tanh(h1),)");
  const Result<RewriteReport> report = rewrite(graph, joined, "graft_replacement_0");
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->found, 2U);
  EXPECT_EQ(report->replaced, 2U);
  EXPECT_EQ(report->made.size(), 2U);
  EXPECT_THAT(print_module(graph), HasSubstr("graft_replacement_0([replaced, r, replaced], 1)"));
}

TEST(FaultB01, AChainBehindALongPrefixIsReplacedQuickly) {
  const PassFile joined = pass("def pattern(parts, axis):\n    return torch.cat(parts, axis)\n",
                               "def replacement_args(parts, axis):\n    return (parts, axis)\n");
  std::string text = "def forward(self, p, q):\n    a = p\n";
  for (int i = 0; i < 5000; ++i) text += "    a = torch.tanh(a)\n";
  for (int i = 0; i < 40; ++i) text += "    a = torch.cat([a, q, a], 1)\n";
  Graph graph = model(text + "    return a");
  const auto started = std::chrono::steady_clock::now();
  const Result<RewriteReport> report = rewrite(graph, joined, "graft_replacement_0");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->replaced, 40U);
  EXPECT_LT(seconds, 5.0);
}

TEST(FaultB01, AReplacementThatReturnsItsInput) {
  const PassFile identity =
      pass("def pattern(x):\n    return x.contiguous()\n", "def replacement_args(x):\n    return (x,)\n");
  Graph graph = model("def forward(self, x):\n    return x.contiguous().contiguous().contiguous()");
  const Result<RewriteReport> report = rewrite(graph, identity, "graft_replacement_0");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->replaced, 3U);
  EXPECT_EQ(report->made.size(), 3U);
}

TEST(FaultB02, AWriteBetweenIsNotCrossed) {
  const std::string pattern = "def pattern(u):\n    t = torch.tanh(u)\n    return t - u\n";
  const Found direct = find(model("def forward(self, u, v):\n"
                                  "    s = torch.tanh(u)\n"
                                  "    mul_ = u.mul_(v);  v = mul_ = None\n"
                                  "    d = s - u;  s = u = None\n"
                                  "    return (d,)"),
                            pattern);
  EXPECT_EQ(direct.matches, 0U);
  EXPECT_THAT(direct.reason, HasSubstr("value 'u' (line 3) is written by 'mul_' (line 5)"));
  const Found view = find(model("def forward(self, u, v):\n"
                                "    s = torch.tanh(u)\n"
                                "    w = u[0];  w.zero_()\n"
                                "    d = s - u\n"
                                "    return (d,)"),
                          pattern);
  EXPECT_EQ(view.matches, 0U);
  EXPECT_THAT(view.reason, HasSubstr("zero_"));
  for (const char* write :
       {"u[0] = v", "u += v", "torch.add(v, v, out=u)", "torch.nn.functional.relu(u, inplace=True)",
        "u.T.fill_(0)", "u.view(-1).masked_fill_(v, 1)"}) {
    const Found found = find(model("def forward(self, u, v):\n    s = torch.tanh(u)\n    k = u\n    " +
                                   std::string(write) + "\n    d = s - k\n    return (d,)"),
                             pattern);
    EXPECT_EQ(found.matches, 0U) << write;
  }
  // Writes to something else, and calls that only look like writes.
  for (const char* other :
       {"w = v.mul_(2)", "w = torch.nn.functional.relu(u, inplace=False)", "w = torch.add(v, u)",
        "w = v.clone();  w += u", "w = torch.empty_like(u);  torch.add(v, v, out=w)"}) {
    const Found found = find(model("def forward(self, u, v):\n    s = torch.tanh(u)\n    " +
                                   std::string(other) + "\n    d = s - u\n    return (d, w)"),
                             pattern);
    EXPECT_EQ(found.matches, 1U) << other << ": " << found.reason;
  }
}

TEST(FaultB04, AMatchThatDoesNotExistIsNotReported) {
  const Graph graph = model(
      "def forward(self, x, v):\n"
      "    k = torch.rsqrt(v);  v = None\n"
      "    half = k * 0.5\n"
      "    y = x * k;  k = None\n"
      "    z = x - half;  x = half = None\n"
      "    return (y, z)");
  for (const MatchMode mode : {MatchMode::kPlain, MatchMode::kNormalized}) {
    const Found found =
        find(graph, "def pattern(x, v):\n    k = torch.rsqrt(v)\n    h = k * 0.5\n    return x * h\n", mode);
    EXPECT_EQ(found.matches, 0U);
    EXPECT_THAT(found.reason, Not(HasSubstr("fault")));
  }
  // Two equal chains over different parameters against one shared chain.
  const Graph shared = model("def forward(self, v):\n    k = torch.rsqrt(v)\n    return k * k");
  const std::string twice = "def pattern(a, b):\n    return torch.rsqrt(a) * torch.rsqrt(b)\n";
  EXPECT_EQ(find(shared, twice, MatchMode::kPlain).matches, 0U);
  EXPECT_EQ(find(shared, twice).matches, 0U);
}

TEST(FaultB05, SpellingsOfOneCallAreOneCall) {
  const Graph graph = model(
      "def forward(self, s):\n"
      "    a = torch.nn.functional.softmax(s, -1, _stacklevel = 3, dtype = None)\n"
      "    b = torch.sum(s, 1, True)\n"
      "    c = s.sum(dim = 1, keepdim = True);  s = None\n"
      "    return (a, b, c)");
  EXPECT_THAT(find(graph, "def pattern(s): return torch.nn.functional.softmax(s, dim=-1)\n").nodes,
              testing::ElementsAre("a"));
  EXPECT_THAT(find(graph, "def pattern(s): return torch.sum(s, dim=1, keepdim=True)\n").nodes,
              testing::ElementsAre("b"));
  const Found no = find(graph, "def pattern(s): return torch.sum(s, dim=1, keepdim=False)\n");
  EXPECT_EQ(no.matches, 0U);
  EXPECT_THAT(no.reason, HasSubstr("keepdim"));
  EXPECT_EQ(find(graph, "def pattern(s): return torch.sum(s, axis=[1], keepdims=True)\n").matches, 1U);
  EXPECT_EQ(find(graph, "def pattern(s): return torch.sum(s, dim=(1,), keepdim=True, dtype=None)\n").matches,
            1U);
  EXPECT_EQ(
      find(graph, "def pattern(s): return torch.sum(s, dim=1, keepdim=True, dtype=torch.float64)\n").matches,
      0U);
  // An unknown operator is compared as written.
  const Graph unknown = model("def forward(self, x):\n    return torch.ops.mine.op(x, 1, b=2)");
  EXPECT_EQ(find(unknown, "def pattern(x): return torch.ops.mine.op(x, 1, b=2)\n").matches, 1U);
  EXPECT_EQ(find(unknown, "def pattern(x): return torch.ops.mine.op(x, a=1, b=2)\n").matches, 0U);
}

TEST(FaultB05, ListsDefaultsAndTypes) {
  const Graph graph = model(
      "def forward(self, x, w):\n"
      "    a = torch.conv2d(x, w)\n"
      "    b = torch.conv2d(a, w, None, (1, 1), [0, 0], 1, 1)\n"
      "    c = b.view(1, -1, 8)\n"
      "    d = c.permute((0, 2, 1))\n"
      "    e = d + 1\n"
      "    f = e + 1.0\n"
      "    return f + True");
  EXPECT_EQ(find(graph, "def pattern(x, w): return torch.conv2d(x, w, stride=1, padding=(0, 0))\n").matches,
            2U);
  EXPECT_EQ(find(graph, "def pattern(x, w, s): return torch.conv2d(x, w, None, s)\n").matches, 2U);
  EXPECT_EQ(find(graph, "def pattern(x, w): return torch.conv2d(x, w, stride=2)\n").matches, 0U);
  EXPECT_EQ(find(graph, "def pattern(x): return x.view((1, -1, 8))\n").matches, 1U);
  EXPECT_EQ(find(graph, "def pattern(x, s): return x.view(s)\n").matches, 1U);
  EXPECT_EQ(find(graph, "def pattern(x): return x.permute(0, 2, 1)\n").matches, 1U);
  EXPECT_EQ(find(graph, "def pattern(x): return x + 1\n").matches, 1U);
  EXPECT_EQ(find(graph, "def pattern(x): return x + 1.0\n").matches, 1U);
  EXPECT_EQ(find(graph, "def pattern(x): return x + True\n").matches, 1U);
  EXPECT_EQ(find(graph, "def pattern(x, n): return x + n\n").matches, 3U);
}

TEST(FaultB05, ABoundDefaultReachesTheReplacement) {
  Graph graph = model("def forward(self, x, w):\n    return torch.conv2d(x, w).view(2, -1)");
  const PassFile rule =
      pass("def pattern(x, w, s, shape):\n    return torch.conv2d(x, w, None, s).view(shape)\n",
           "def replacement_args(x, w, s, shape):\n    return (x, w, s, shape)\n");
  const Result<RewriteReport> report = rewrite(graph, rule, "graft_replacement_0");
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(print_module(graph), HasSubstr("graft_replacement_0(x, w, [1, 1], (2, -1))"));
}

TEST(FaultB07, InnerValuesThatEscape) {
  const Graph graph = model(
      "def forward(self, x, w):\n"
      "    n1 = x @ w;  w = None\n"
      "    n2 = torch.relu(n1);  n1 = None\n"
      "    n3 = n2 * 2.0\n"
      "    n4 = n2.amax(-1);  n2 = None\n"
      "    n5 = x + n3;  x = n3 = None\n"
      "    return (n5, n4)");
  for (const MatchMode mode : {MatchMode::kPlain, MatchMode::kNormalized}) {
    const Found refused =
        find(graph, "def pattern(x, w):\n    t = torch.relu(x @ w)\n    return t * 2.0\n", mode);
    EXPECT_EQ(refused.matches, 0U);
    EXPECT_THAT(refused.reason, HasSubstr("value 'n2' (line 5) is also used by 'n4' (line 7)"));
    EXPECT_EQ(
        find(graph, "def pattern(x, w):\n    t = torch.relu(x @ w)\n    return t * 2.0, t\n", mode).matches,
        1U);
  }
}

TEST(FaultB08, AParameterNamedLikeAConstantDoesNotHideIt) {
  const Graph graph = model(
      "def forward(self, inf, x):\n"
      "    fence = torch.full([2], float('-inf'))\n"
      "    lifted = x + inf;  x = inf = None\n"
      "    out = torch.maximum(lifted, fence);  lifted = fence = None\n"
      "    return (out,)");
  const std::string printed = print_module(graph);
  EXPECT_THAT(printed, HasSubstr("torch.full([2], float('-inf'))"));
  EXPECT_THAT(printed, HasSubstr("x + inf"));
  const Result<Graph> again = import_model_text(printed);
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(print_module(*again), printed);

  const Graph keyword = model("def forward(self, nan, x):\n    return torch.nan_to_num(x, nan = 0.5) + nan");
  EXPECT_THAT(print_module(keyword), HasSubstr("torch.nan_to_num(x, nan=0.5)"));

  // Parameters that hide the very names a printed module needs.
  const Graph hidden = model(
      "def forward(self, float, slice, getattr, x):\n"
      "    y = x[1:] * float\n"
      "    return (torch.clamp(y, max=1e999), slice, getattr)");
  const std::string text = print_module(hidden);
  EXPECT_THAT(text, HasSubstr("_graft_float('inf')"));
  EXPECT_THAT(text, HasSubstr("_graft_slice(1, None, None)"));
  const Result<Graph> read = import_model_text(text);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(print_module(*read), text);
}

TEST(FaultB10, FormsThatCannotBeReadBack) {
  auto verdict = [](const std::string& line) {
    return import_model_text(
        "import torch\nclass GraphModule(torch.nn.Module):\n    def forward(self, x):\n        " + line +
            "\n        return x\n",
        "model.py");
  };
  const Result<Graph> accepted = verdict("a = torch.empty([2], device = device(type='cuda', index=0))");
  ASSERT_TRUE(accepted.ok());
  EXPECT_THAT(print_module(*accepted), HasSubstr("device=torch.device(type='cuda', index=0)"));
  struct Case {
    const char* line;
    const char* token;
  };
  for (const Case& c :
       {Case{"b = torch.ones([2], layout = strided)", "strided"},
        Case{"c = place(x, [Shard(dim=0)])", "place"}, Case{"d = route(x, <Mode.FAST: 1>)", ""},
        Case{"e = torch.add(x, tensor([0.1000, 0.2000]))", "tensor"}}) {
    const Result<Graph> refused = verdict(c.line);
    ASSERT_FALSE(refused.ok()) << c.line;
    EXPECT_THAT(refused.error().message, HasSubstr(c.token));
    EXPECT_EQ(refused.error().place.line, 4);
    EXPECT_GT(refused.error().place.column, 8);
  }
  EXPECT_THAT(verdict("e = torch.add(x, tensor([0.1000, 0.2000]))").error().hint,
              HasSubstr("beside the file"));
}

TEST(FaultB11, SymbolArithmeticIsKept) {
  const Graph graph = model(
      "def forward(self, s3 : torch.SymInt, L_tok_ : torch.Tensor, L_w_ : torch.Tensor):\n"
      "    rows = L_tok_.reshape(s3 * 2, 8);  L_tok_ = None\n"
      "    half = s3 // 2;  s3 = None\n"
      "    top = rows[(slice(None, half, None),)];  rows = None\n"
      "    out = top @ L_w_;  top = L_w_ = None\n"
      "    return (out, half)");
  const std::string printed = print_module(graph);
  EXPECT_THAT(printed, HasSubstr("s3: torch.SymInt"));
  EXPECT_THAT(printed, HasSubstr("= s3 * 2"));
  EXPECT_THAT(printed, HasSubstr("= s3 // 2"));
  EXPECT_THAT(printed, HasSubstr("rows[(slice(None, half, None),)]"));
  const Result<Graph> again = import_model_text(printed);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(print_module(*again), printed);
}

}  // namespace
}  // namespace graft::graph
