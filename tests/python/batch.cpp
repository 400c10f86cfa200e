#include "python/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/file.h"

namespace graft::python {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const Result<std::vector<BatchInput>>& inputs, size_t prefix) {
  std::vector<std::string> found;
  if (inputs.ok())
    for (const BatchInput& input : *inputs) found.push_back(input.name.substr(prefix));
  return found;
}

TEST(Batch, FoldersFilesAndRecords) {
  Result<TemporaryDirectory> folder = TemporaryDirectory::create("batch");
  ASSERT_TRUE(folder.ok());
  const std::string& root = folder->path();
  ASSERT_TRUE(make_directories(root + "/b/c").ok());
  for (const char* name : {"/b/z.py", "/b/c/a.py", "/a.py", "/b/note.txt", "/b/c/.py"})
    ASSERT_TRUE(write_file_atomic(root + name, "x = 1\n").ok());
  ASSERT_TRUE(write_file_atomic(root + "/r.jsonl",
                                "{\"name\": \"one\", \"model.py\": \"a = 1\"}\n\n{\"model.py\": \"b\"}")
                  .ok());
  EXPECT_THAT(names(collect_inputs({root}), root.size()), ElementsAre("/a.py", "/b/c/a.py", "/b/z.py"));
  EXPECT_THAT(names(collect_inputs({root + "/b/note.txt"}), root.size()), ElementsAre("/b/note.txt"));
  Result<std::vector<BatchInput>> records = collect_inputs({root + "/r.jsonl"});
  EXPECT_THAT(names(records, root.size()), ElementsAre("/r.jsonl:one", "/r.jsonl:3"));
  EXPECT_EQ(*read_input((*records)[0]), "a = 1");
  EXPECT_EQ(*read_input(collect_inputs({root + "/a.py"})->at(0)), "x = 1\n");
}

TEST(Batch, WrongInputs) {
  Result<TemporaryDirectory> folder = TemporaryDirectory::create("batch");
  ASSERT_TRUE(folder.ok());
  std::string path = folder->path() + "/r.jsonl";
  EXPECT_FALSE(collect_inputs({path}).ok());
  ASSERT_TRUE(write_file_atomic(path, "{\"model.py\": \"a\"}\n{\"name\": \"x\"}\n").ok());
  Result<std::vector<BatchInput>> without = collect_inputs({path});
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().place.line, 2);
  ASSERT_TRUE(write_file_atomic(path, "{\"model.py\": \"a\"}\n{\n").ok());
  Result<std::vector<BatchInput>> broken = collect_inputs({path});
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().place.line, 2);
}

TEST(Batch, EveryIndexOnce) {
  for (int jobs : {1, 4}) {
    std::vector<std::atomic<int>> seen(1000);
    parallel_for(seen.size(), jobs, [&](size_t i) { ++seen[i]; });
    for (const auto& count : seen) ASSERT_EQ(count.load(), 1);
  }
  parallel_for(0, 4, [](size_t) { FAIL(); });
}

}  // namespace
}  // namespace graft::python
