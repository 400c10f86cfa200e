#include "bench/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "golden.h"

namespace graft::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A folder tree to load samples from.
class Tree {
 public:
  Tree() : folder_(TemporaryDirectory::create("graft-sample").value()) {}
  std::string path(const std::string& name = "") const {
    return name.empty() ? folder_.path() : folder_.path() + "/" + name;
  }
  void write(const std::string& name, const std::string& text) const {
    std::string file = path(name);
    ASSERT_TRUE(make_directories(file.substr(0, file.rfind('/'))).ok());
    ASSERT_TRUE(write_file_atomic(file, text).ok());
  }
  void graph(const std::string& name, const std::string& net = "{\"model_name\": \"the model\"}") const {
    write(name + "/model.py", "class GraphModule: pass\n");
    write(name + "/weight_meta.py", "");
    write(name + "/input_meta.py", "");
    write(name + "/graph_net.json", net);
  }
  Sample load(const SampleOptions& options = {}) const {
    auto sample = load_sample(path(), options);
    EXPECT_TRUE(sample.ok()) << sample.error().to_string();
    return sample.ok() ? *sample : Sample();
  }

 private:
  TemporaryDirectory folder_;
};

std::vector<std::string> pass_names(const Sample& sample) {
  std::vector<std::string> names;
  for (const PassFile& pass : sample.passes) names.push_back(pass.name + (pass.output ? "" : " (input)"));
  return names;
}

TEST(Sample, EveryListedLineCounts) {
  Tree tree;
  tree.graph("graphs/a");
  tree.graph("graphs/b", "{\"model_name\": 3}");
  tree.graph("graphs/c", "{");
  tree.graph("graphs/m/subgraph_12", "{}");
  tree.write("graphs/d/model.py", "");
  tree.write("graph_list.txt",
             "graphs/a\r\n\n  graphs/gone  \ngraphs/b\ngraphs/c\ngraphs/d\ngraphs/m/subgraph_12/\n");
  tree.write("pass_dir/sorted_output_pass_rule_names.json", "[\"p\"]");
  tree.write("pass_dir/p.py", "");
  Sample sample = tree.load();
  ASSERT_EQ(sample.graphs.size(), 6U);
  EXPECT_FALSE(sample.graphs[0].failure.has_value());
  EXPECT_EQ(sample.graphs[0].entry, "graphs/a");
  EXPECT_EQ(sample.graphs[0].model_name, "the model");
  EXPECT_EQ(sample.graphs[0].model_file(), tree.path("graphs/a/model.py"));
  ASSERT_TRUE(sample.graphs[1].failure.has_value());
  EXPECT_EQ(sample.graphs[1].failure->place.file, tree.path("graph_list.txt"));
  EXPECT_EQ(sample.graphs[1].failure->place.line, 3);
  EXPECT_THAT(sample.graphs[1].failure->message, HasSubstr("does not exist"));
  EXPECT_THAT(sample.graphs[2].failure->message, HasSubstr("model_name"));
  EXPECT_EQ(sample.graphs[3].failure->place.file, tree.path("graphs/c/graph_net.json"));
  EXPECT_THAT(sample.graphs[4].failure->message, HasSubstr("weight_meta.py"));
  EXPECT_EQ(sample.graphs[5].model_name, "m");
  EXPECT_FALSE(sample.pass_failure.has_value());
  EXPECT_THAT(pass_names(sample), ElementsAre("p"));
}

TEST(Sample, PassOrder) {
  Tree tree;
  tree.graph("g");
  tree.write("graph_list.txt", "g\n");
  for (const char* file :
       {"const_pass_dir/i1.py", "const_pass_dir/i2.py", "pass_dir/i2.py", "pass_dir/o1.py"})
    tree.write(file, "");
  tree.write("const_pass_dir/sorted_input_pass_rule_names.json", "[\"i1\", \"i2\"]");
  tree.write("pass_dir/sorted_output_pass_rule_names.json", "[\"o1\", \"i2\"]");
  EXPECT_THAT(pass_names(tree.load()), ElementsAre("i1 (input)", "i2", "o1"));
  tree.write("pass_dir/sorted_input_pass_rule_names.json", "[\"i2\", \"i1\"]");
  EXPECT_THAT(pass_names(tree.load()), ElementsAre("i2", "i1 (input)", "o1"));
  tree.write("pass_dir/sorted_input_pass_rule_names.json", "[\"i2\"]");
  Sample broken = tree.load();
  ASSERT_TRUE(broken.pass_failure.has_value());
  EXPECT_THAT(broken.pass_failure->to_string(), HasSubstr("no permutation"));
  EXPECT_EQ(broken.graphs.size(), 1U);
}

TEST(Sample, WhatIsWrongWithPasses) {
  Tree tree;
  tree.graph("g");
  tree.write("graph_list.txt", "g\n");
  EXPECT_THAT(tree.load().pass_failure->message, HasSubstr("no folder with passes"));
  EXPECT_FALSE(tree.load({.need_passes = false}).pass_failure.has_value());
  tree.write("pass_dir/x.py", "");
  EXPECT_THAT(tree.load().pass_failure->message, HasSubstr("order file of the passes is absent"));
  std::string order = "pass_dir/sorted_output_pass_rule_names.json";
  struct Case {
    const char* text;
    const char* place;
    const char* message;
  };
  const Case cases[] = {
      {"[]", "", "names no pass"},
      {"[\"x\",", ":1:", "ends too early"},
      {"{\"x\": 1}", ":1:1", "no JSON list"},
      {"[1]", "", "entry 1"},
      {"[\"x\",\n \"../x\"]", ":2:2", "no pass name"},
      {"[\"x.py\"]", ":1:2", "without .py"},
      {"[\"x\", \"x\"]", ":1:2", "named twice"},
  };
  for (const Case& item : cases) {
    SCOPED_TRACE(item.text);
    tree.write(order, item.text);
    Sample sample = tree.load();
    ASSERT_TRUE(sample.pass_failure.has_value());
    EXPECT_THAT(sample.pass_failure->to_string(), HasSubstr(tree.path(order) + item.place));
    EXPECT_THAT(sample.pass_failure->to_string(), HasSubstr(item.message));
  }
  tree.write(order, "[\"x\",\n\"gone\"]");
  Sample sample = tree.load();
  EXPECT_FALSE(sample.pass_failure.has_value());
  EXPECT_FALSE(sample.passes[0].failure.has_value());
  ASSERT_TRUE(sample.passes[1].failure.has_value());
  EXPECT_EQ(sample.passes[1].failure->place.line, 2);
}

TEST(Sample, GraphFoldersAndTrees) {
  Tree tree;
  tree.graph("deep/b");
  tree.graph("a");
  std::filesystem::create_directory_symlink(tree.path("deep"), tree.path("deep/loop"));
  std::filesystem::create_directory_symlink(tree.path("a"), tree.path("z_link"));
  Sample sample = tree.load({.need_passes = false});
  std::vector<std::string> entries;
  for (const GraphFolder& graph : sample.graphs) entries.push_back(graph.entry);
  EXPECT_THAT(entries, ElementsAre("a", "deep/b"));
  auto one = load_sample(tree.path("a/"), {.need_passes = false});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->name, "a");
  ASSERT_EQ(one->graphs.size(), 1U);
  EXPECT_EQ(one->graphs[0].path, tree.path("a"));
}

TEST(Sample, LinkedGraphFoldersAreFollowed) {
  Tree tree;
  tree.graph("store/x");
  tree.write("s/graph_list.txt", "graphs/x\n../store/x\n");
  ASSERT_TRUE(make_directories(tree.path("s/graphs")).ok());
  std::filesystem::create_directory_symlink("../../store/x", tree.path("s/graphs/x"));
  auto sample = load_sample(tree.path("s"), {.need_passes = false});
  ASSERT_TRUE(sample.ok());
  for (const GraphFolder& graph : sample->graphs) EXPECT_FALSE(graph.failure.has_value()) << graph.entry;
}

TEST(Sample, NoSampleIsAnError) {
  Tree tree;
  EXPECT_THAT(load_sample(tree.path("gone")).error().to_string(), HasSubstr("does not exist"));
  EXPECT_THAT(load_sample(tree.path()).error().to_string(), HasSubstr("no graph here"));
  tree.write("graph_list.txt", "\n\n");
  EXPECT_THAT(load_sample(tree.path()).error().to_string(), HasSubstr("names no graph"));
  tree.write("file", "");
  EXPECT_THAT(load_sample(tree.path("file")).error().to_string(), HasSubstr("not a folder"));
  EXPECT_FALSE(load_sample(tree.path(), {.graph_list = tree.path("other.txt")}).ok());
}

TEST(Sample, FindsSamplesBelowAFolder) {
  Tree tree;
  tree.write("b/graph_list.txt", "x\n");
  tree.write("a/inner/graph_list.txt", "x\n");
  tree.graph("c");
  auto found = find_samples(tree.path());
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, ElementsAre(tree.path("a/inner"), tree.path("b")));
  EXPECT_THAT(*find_samples(tree.path("b")), ElementsAre(tree.path("b")));
  EXPECT_THAT(*find_samples(tree.path("c")), ElementsAre(tree.path("c")));
  EXPECT_FALSE(find_samples(tree.path("gone")).ok());
}

TEST(Sample, PassLimits) {
  std::vector<std::string> functions = {"f", "g", "f", "h"};
  EXPECT_THAT(apply_pass_limits(functions, -1, -1), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(apply_pass_limits(functions, 3, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(apply_pass_limits(functions, 1, 100), ElementsAre(0, 2));
  EXPECT_THAT(apply_pass_limits(functions, 2, 2), ElementsAre(0, 1));
  // random.seed(123): sample(range(3), 1) == [0], sample(range(4), 2) is [0, 1] sorted.
  EXPECT_THAT(apply_pass_limits(functions, 1, 100, true), ElementsAre(0, 2));
  EXPECT_THAT(apply_pass_limits(functions, -1, 2, true), ElementsAre(0, 1));
  EXPECT_THAT(apply_pass_limits({"a", "b", "c", "d", "e"}, 2, 100, true), ElementsAre(0, 2));
}

}  // namespace
}  // namespace graft::bench
