#include "referee/outputs.h"

#include <gtest/gtest.h>

namespace graft::referee {
namespace {

Result<OutputReport> read(std::string_view text) {
  auto json = Json::parse(text);
  EXPECT_TRUE(json.ok()) << json.error().to_string();
  return read_output_report(*json);
}

TEST(OutputsTest, ReadsTensorsAndValues) {
  auto report = read(R"({"outputs": [
      {"dtype": "float32", "shape": [2, 3], "stride": [3, 1], "device": "cpu", "aliases": ["in_0"]},
      {"dtype": "float32", "shape": [], "stride": []},
      {"dtype": "int", "value": "7"}], "inputs_changed": ["in_1"]})");
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  ASSERT_EQ(report->outputs.size(), 3U);
  EXPECT_EQ(report->outputs[0].to_string(), "float32[2, 3]");
  EXPECT_EQ(report->outputs[0].stride, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(report->outputs[0].aliases, std::vector<std::string>{"in_0"});
  EXPECT_TRUE(report->outputs[1].is_tensor);
  EXPECT_EQ(report->outputs[1].to_string(), "float32[]");
  EXPECT_FALSE(report->outputs[2].is_tensor);
  EXPECT_EQ(report->outputs[2].to_string(), "int");
  EXPECT_EQ(report->inputs_changed, std::vector<std::string>{"in_1"});
}

TEST(OutputsTest, AnythingElseIsAnError) {
  for (std::string_view text :
       {R"({})", R"({"outputs": 1, "inputs_changed": []})", R"({"outputs": [1], "inputs_changed": []})",
        R"({"outputs": [{"shape": [1]}], "inputs_changed": []})",
        R"({"outputs": [{"dtype": "float32", "shape": "x"}], "inputs_changed": []})",
        R"({"outputs": [{"dtype": "float32", "shape": [1.5]}], "inputs_changed": []})",
        R"({"outputs": [{"dtype": "float32", "shape": [1], "stride": [null]}], "inputs_changed": []})",
        R"({"outputs": [{"dtype": "float32", "shape": [1], "aliases": [1]}], "inputs_changed": []})",
        R"({"outputs": []})"}) {
    EXPECT_FALSE(read(text).ok()) << text;
  }
}

TEST(OutputsTest, SlotsAreAlignedAndDoNotOverlap) {
  size_t total = 0;
  auto first = place_tensor("a", bench::DType::kBool, {3}, total);
  auto second = place_tensor("b", bench::DType::kFloat64, {2, 5}, total);
  auto empty = place_tensor("c", bench::DType::kFloat32, {0, 4}, total);
  auto scalar = place_tensor("d", bench::DType::kFloat16, {}, total);
  ASSERT_TRUE(first && second && empty && scalar);
  EXPECT_EQ(first->offset, 0U);
  EXPECT_EQ(second->offset, 64U);
  EXPECT_EQ(second->bytes, 80U);
  EXPECT_EQ(empty->offset, 192U);
  EXPECT_EQ(empty->bytes, 0U);
  EXPECT_EQ(scalar->offset, 192U);
  EXPECT_EQ(scalar->bytes, 2U);
  EXPECT_EQ(total, 256U);
}

TEST(OutputsTest, SizesThatOverflowHaveNoPlace) {
  size_t total = 0;
  EXPECT_FALSE(place_tensor("", bench::DType::kFloat64, {int64_t{1} << 40, int64_t{1} << 40}, total));
  EXPECT_FALSE(place_tensor("", bench::DType::kFloat32, {-1}, total));
  EXPECT_FALSE(place_tensor("", bench::DType::kBool, {INT64_MAX, 2}, total));
  EXPECT_EQ(total, 0U);
}

}  // namespace
}  // namespace graft::referee
