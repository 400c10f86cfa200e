#include "graph/source_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "graph/pass_file.h"

namespace graft::graph {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Violation> check(const std::string& text, bool reference_only = false, bool helper = false) {
  const Result<python::ParsedModule> module = python::parse_text(text, "pass.py");
  if (!module.ok()) {
    ADD_FAILURE() << module.error().to_string();
    return {};
  }
  SourceRuleOptions options;
  options.reference_only = reference_only;
  options.helper = helper;
  return check_source_rules(*module, options);
}

std::vector<std::string> reference(const std::string& text) {
  std::vector<std::string> out;
  for (const Violation& violation : check(text, true)) out.push_back(violation.reference_text);
  return out;
}

// "rule:line" of everything found.
std::vector<std::string> rules(const std::string& text, bool helper = false) {
  std::vector<std::string> out;
  for (const Violation& violation : check(text, false, helper)) {
    out.push_back(violation.rule + ":" + std::to_string(violation.place.line));
  }
  return out;
}

constexpr const char* kHead =
    "import torch\n"
    "import triton\n"
    "def pattern(x):\n"
    "    return torch.nn.functional.relu(x) @ x\n"
    "def replacement_args(x):\n"
    "    return (x,)\n";

TEST(SourceRules, CleanPasses) {
  for (const char* tail :
       {"def replacement_func():\n    return torch.add\n",
        "@triton.jit\ndef kernel(p, n):\n    x = p + n\n    y = -x @ x\n"
        "def run(x):\n    out = torch.empty_like(x)\n    n = x.numel() + 1\n    m = x.shape[0] * "
        "x.stride(0)\n"
        "    kernel[(n,)](x.contiguous(), out, x.view(-1), torch.float16, n - m)\n    return out\n"
        "def replacement_func():\n    return run\n",
        "@torch.fx.wrap\ndef run(x, k):\n    return x\ndef replacement_func():\n    return run\n",
        "from graft.kernels import cpp\nimport graft.kernels as k\nf = cpp('int main;')\n"
        "def replacement_func():\n    return f\n"}) {
    EXPECT_THAT(rules(kHead + std::string(tail)), IsEmpty()) << tail;
    EXPECT_THAT(reference(kHead + std::string(tail)), IsEmpty()) << tail;
  }
}

TEST(SourceRules, ReferenceTexts) {
  EXPECT_THAT(reference("import torch.nn.functional as F\n"),
              ElementsAre("Line 1: blocked import 'torch.nn.functional'"));
  EXPECT_THAT(reference("def pattern(x):\n    from torch.nn import functional\n    return x\n"),
              ElementsAre("Line 2: blocked from-import 'from torch.nn import ...'"));
  EXPECT_THAT(reference("import torch\nF = torch.nn.functional\n"),
              ElementsAre("Line 2: blocked submodule alias 'torch.nn.functional'"));
  EXPECT_THAT(reference("import torch as t\ndef f(x):\n    return t.matmul(x, x)\n"),
              ElementsAre("Line 3: blocked call 't.matmul' (resolves to 'torch.matmul')"));
  EXPECT_THAT(reference("from torch import matmul as mm\ndef f(x):\n    return mm(x, x)\n"),
              ElementsAre("Line 3: blocked call 'mm' (resolves to 'torch.matmul')"));
  EXPECT_THAT(reference("import torch\ndef f(x):\n    return torch.ops.aten.add(x, x)\n"),
              ElementsAre("Line 3: blocked call 'torch.ops.aten.add' (resolves to 'torch.ops.aten.add')"));
  EXPECT_THAT(reference("import torch\ntorch.fx.wrap('f')\n"),
              ElementsAre("Line 2: blocked call 'torch.fx.wrap' (resolves to 'torch.fx.wrap')"));
  EXPECT_THAT(reference("def f(x):\n    return torch_add_kernel(x)\n"),
              ElementsAre("Line 2: blocked call 'torch_add_kernel' (resolves to 'torch_add_kernel')"));
  // Plain functions of these names only, and only at the top.
  EXPECT_THAT(reference("import torch\nasync def pattern(x):\n    return torch.relu(x)\n"),
              ElementsAre("Line 3: blocked call 'torch.relu' (resolves to 'torch.relu')"));
  EXPECT_THAT(reference("import torch\nclass A:\n    def pattern(self, x):\n        return torch.relu(x)\n"),
              ElementsAre("Line 4: blocked call 'torch.relu' (resolves to 'torch.relu')"));
  EXPECT_THAT(reference("from torch import nn\n"), IsEmpty());
}

TEST(SourceRules, WaysAround) {
  const std::string head = kHead;  // six lines
  EXPECT_THAT(rules(head + "def f(x):\n    return getattr(torch, 'matmul')(x, x)\n"),
              ElementsAre("dynamic-access:8"));
  EXPECT_THAT(rules(head + "T = torch\ndef f(x):\n    return T.matmul(x, x)\n"),
              ElementsAre("blocked-call:9"));
  EXPECT_THAT(rules(head + "a, b = 1, torch\nc = b\ndef f(x):\n    return c.matmul(x, x)\n"),
              ElementsAre("blocked-call:10"));
  EXPECT_THAT(rules(head + "@torch.compile\ndef f(x):\n    return x\n"), ElementsAre("blocked-decorator:7"));
  EXPECT_THAT(rules(head + "def f(x):\n    return x.matmul(x)\n"), ElementsAre("tensor-method:8"));
  EXPECT_THAT(rules(head + "def f(x, y):\n    n = x.shape\n    return x + y\n"),
              ElementsAre("tensor-operator:9"));
  EXPECT_THAT(rules(head + "def f(x, y):\n    out = torch.empty_like(x)\n    out += y\n    return out\n"),
              ElementsAre("tensor-operator:9"));
  EXPECT_THAT(rules(head + "def f(x, y):\n    return x @ y\n"), ElementsAre("tensor-operator:8"));
  EXPECT_THAT(rules(head + "def f(x):\n    return x.float().sum(-1)\n"), ElementsAre("tensor-method:8"))
      << "of a parameter";
  EXPECT_THAT(rules(head + "def f(x):\n    return pattern(x)\n"), ElementsAre("calls-exempt:8"));
  EXPECT_THAT(rules(head + "def f(x):\n    return map(torch.relu, x)\n"), ElementsAre("torch-value:8"));
  EXPECT_THAT(rules(head + "torch.matmul = None\n"), ElementsAre("patches-torch:7"));
  EXPECT_THAT(rules(head + "from torch import nn\n"), ElementsAre("blocked-import:7"));
  EXPECT_THAT(rules(head + "import pass_bench.torch.backend\n"), ElementsAre("blocked-import:7"));
  EXPECT_THAT(rules(head + "from graft import referee\n"), ElementsAre("blocked-import:7"));
  EXPECT_THAT(rules(head + "def f(x):\n    return eval('torch.relu')(x)\n"), ElementsAre("dynamic-access:8"));
  EXPECT_THAT(rules(head + "import sys\nm = sys.modules['torch']\n"), ElementsAre("dynamic-access:8"));
  // An own function whose name begins like torch is no fault.
  EXPECT_THAT(rules(head + "def torch_like(x):\n    return x\ndef f(x):\n    return torch_like(x)\n"),
              IsEmpty());
  // A helper's functions are not exempt, whatever they are called.
  EXPECT_THAT(rules("import torch\ndef pattern(x):\n    return torch.relu(x)\n", true),
              ElementsAre("blocked-call:3"));
}

TEST(SourceRules, ComputingInReplacementArgs) {
  const Result<PassFile> pass = load_pass_text(
      "import torch\n"
      "def pattern(x, w):\n    return torch.relu(x @ w)\n"
      "def replacement_args(x, w):\n    y = torch.relu(x)\n    return (y, w.t(), x.shape[0] * 2, x.size(1), "
      "w[0], -x)\n"
      "def replacement_func():\n    return None\n",
      "pass");
  ASSERT_TRUE(pass.ok()) << pass.error().to_string();
  std::vector<std::string> found;
  for (const Violation& violation : pass->violations)
    found.push_back(violation.rule + ": " + violation.message);
  EXPECT_THAT(found, ElementsAre(HasSubstr("torch.relu(x)"), HasSubstr("w.t()"), HasSubstr("-x")));
}

TEST(SourceRules, HelpersOfThePassFolderAreRead) {
  Result<TemporaryDirectory> folder = TemporaryDirectory::create("graft-test");
  ASSERT_TRUE(folder.ok());
  const std::string passes = join_path(folder->path(), "pass_dir");
  ASSERT_TRUE(make_directories(passes).ok());
  ASSERT_TRUE(write_file_atomic(join_path(passes, "helper.py"),
                                "import torch\nfrom . import deeper\n"
                                "def run(x):\n    return torch.relu(x)\n")
                  .ok());
  ASSERT_TRUE(write_file_atomic(join_path(passes, "deeper.py"), "T = __import__('torch')\n").ok());
  ASSERT_TRUE(write_file_atomic(join_path(passes, "rule.py"),
                                "import torch\nfrom pass_dir.helper import run\n"
                                "def pattern(x):\n    return torch.relu(x)\n"
                                "def replacement_args(x):\n    return (x,)\n"
                                "def replacement_func():\n    return run\n")
                  .ok());
  ASSERT_TRUE(write_file_atomic(join_path(passes, "sorted_output_pass_rule_names.json"), "[\"rule\"]").ok());
  const Result<std::vector<PassFile>> loaded = load_pass_folder(passes);
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  ASSERT_EQ(loaded->size(), 1U);
  std::vector<std::string> places;
  for (const Violation& violation : loaded->front().violations) places.push_back(violation.place.to_string());
  EXPECT_THAT(places, Contains(HasSubstr("helper.py:4")));
  EXPECT_THAT(places, Contains(HasSubstr("deeper.py:1")));
}

}  // namespace
}  // namespace graft::graph
