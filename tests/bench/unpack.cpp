#include "bench/unpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "bench/sample.h"
#include "golden.h"

namespace graft::bench {
namespace {

using testing::HasSubstr;

std::string record(const std::string& name, const std::string& more = "") {
  return "{\"name\": \"" + name +
         "\", \"model.py\": \"import torch\\n\", \"weight_meta.py\": \"class A: pass\\n\", "
         "\"graph_net.json\": \"{}\"" +
         more + "}\n";
}

class Unpack : public testing::Test {
 protected:
  void SetUp() override { folder_.emplace(TemporaryDirectory::create("graft-unpack").value()); }
  std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
  Result<std::vector<UnpackedSample>> run(const std::string& text, const UnpackOptions& options = {}) const {
    EXPECT_TRUE(write_file_atomic(path("in.jsonl"), text).ok());
    return unpack(path("in.jsonl"), path("out"), options);
  }
  std::string text_of(const std::string& name) const {
    auto text = read_file(path(name));
    return text.ok() ? *text : "(absent)";
  }
  std::optional<TemporaryDirectory> folder_;
};

TEST_F(Unpack, MakesSamplesThatLoad) {
  auto samples = run(record("a/b c",
                            ", \"extra.txt\": \"more\", \"ops\": [\"add\"], \"../evil.py\": \"x\", "
                            "\"subgraph_sources.json\": {\"k\": [1]}") +
                     "\n" + record("d", ", \"input_meta.py\": \"# inputs\\n\""));
  ASSERT_TRUE(samples.ok()) << samples.error().to_string();
  ASSERT_EQ(samples->size(), 2U);
  EXPECT_EQ((*samples)[0].name, "a/b c");
  EXPECT_EQ((*samples)[0].path, path("out/a__b_c"));
  EXPECT_EQ(text_of("out/a__b_c/graph_list.txt"), "graphs/a__b_c\n");
  EXPECT_EQ(text_of("out/a__b_c/graphs/a__b_c/model.py"), "import torch\n");
  EXPECT_EQ(text_of("out/a__b_c/graphs/a__b_c/input_meta.py"), "");
  EXPECT_EQ(text_of("out/a__b_c/graphs/a__b_c/extra.txt"), "more");
  EXPECT_THAT(text_of("out/a__b_c/graphs/a__b_c/subgraph_sources.json"), HasSubstr("\"k\": [1]"));
  EXPECT_EQ(list_directory(path("out/a__b_c/graphs/a__b_c"))->size(), 6U);
  EXPECT_EQ(text_of("out/d/graphs/d/input_meta.py"), "# inputs\n");
  EXPECT_EQ(access(path("out/d/entry.sh").c_str(), X_OK), 0);
  EXPECT_TRUE(list_directory(path("out/d/pass_dir"))->empty());
  EXPECT_EQ(*list_directory(path("out")), (std::vector<std::string>{"a__b_c", "d"}));
  auto sample = load_sample(path("out/a__b_c"), {.need_passes = false});
  ASSERT_TRUE(sample.ok());
  EXPECT_FALSE(sample->graphs[0].failure.has_value());
}

TEST_F(Unpack, BadRecordsLeaveNothing) {
  struct Case {
    std::string text;
    const char* place;
    const char* message;
  };
  const Case cases[] = {
      {record("a") + "{\"name\": \"b\",\n", ":2:", "no key"},
      {record("a") + "[]\n", ":2", "no JSON object"},
      {"{\"model.py\": \"\"}\n", ":1", "no name"},
      {"{\"name\": \"x\", \"model.py\": \"\"}\n", ":1", "has no \"weight_meta.py\""},
      {record("a") + "\n" + record("a"), ":3", "second record is called a"},
      {record("a/b") + record("a__b"), ":2", "the same folder"},
      {record(".."), ":1", "gives no folder name"},
      {"{\"name\": \"x\", \"model.py\": 1, \"weight_meta.py\": \"\", \"graph_net.json\": \"\"}\n", ":1",
       "is no text"},
  };
  for (const Case& item : cases) {
    SCOPED_TRACE(item.text);
    auto samples = run(item.text);
    ASSERT_FALSE(samples.ok());
    EXPECT_THAT(samples.error().to_string(), HasSubstr(path("in.jsonl") + item.place));
    EXPECT_THAT(samples.error().to_string(), HasSubstr(item.message));
    EXPECT_FALSE(is_directory(path("out")));
  }
  EXPECT_FALSE(unpack(path("gone.jsonl"), path("out")).ok());
}

TEST_F(Unpack, LimitAndOnly) {
  std::string text = record("a") + record("b") + record("c");
  EXPECT_EQ(run(text, {.limit = 2})->size(), 2U);
  auto only = run(text, {.only = {"c"}});
  ASSERT_TRUE(only.ok());
  EXPECT_EQ(only->front().name, "c");
  EXPECT_THAT(run(text, {.only = {"z"}}).error().to_string(), HasSubstr("no record is called z"));
}

TEST_F(Unpack, ExistingFoldersNeedForce) {
  ASSERT_TRUE(run(record("a")).ok());
  ASSERT_TRUE(write_file_atomic(path("out/a/pass_dir/mine.py"), "x").ok());
  auto again = run(record("b") + record("a"));
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().to_string(), HasSubstr("exists"));
  EXPECT_FALSE(is_directory(path("out/b")));
  EXPECT_EQ(text_of("out/a/pass_dir/mine.py"), "x");
  ASSERT_TRUE(run(record("a"), {.force = true}).ok());
  EXPECT_EQ(text_of("out/a/pass_dir/mine.py"), "(absent)");
  EXPECT_EQ(list_directory(path("out"))->size(), 1U);
}

TEST(UnpackNames, AreSafe) {
  EXPECT_EQ(safe_folder_name("timm/x.y/sub_1"), "timm__x.y__sub_1");
  EXPECT_EQ(safe_folder_name("../../etc"), "__..__etc");
  EXPECT_EQ(safe_folder_name("/abs"), "__abs");
  EXPECT_EQ(safe_folder_name("a\nb\x01 c*"), "a_b__c_");
  EXPECT_EQ(safe_folder_name("..."), "");
  EXPECT_EQ(safe_folder_name(std::string(1000, 'a')).size(), 200U);
}

TEST_F(Unpack, TheCorpus) {
  GRAFT_NEEDS_SHARED("data");
  auto samples = unpack(shared_path("data/subgraphs.jsonl"), path("corpus"));
  ASSERT_TRUE(samples.ok()) << samples.error().to_string();
  EXPECT_EQ(samples->size(), 84U);
  for (const UnpackedSample& item : *samples) {
    auto sample = load_sample(item.path, {.need_passes = false});
    ASSERT_TRUE(sample.ok()) << sample.error().to_string();
    ASSERT_EQ(sample->graphs.size(), 1U);
    EXPECT_FALSE(sample->graphs[0].failure.has_value());
  }
}

}  // namespace
}  // namespace graft::bench
