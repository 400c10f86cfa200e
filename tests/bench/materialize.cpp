#include "bench/materialize.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>

#include "golden.h"

namespace graft::bench {
namespace {

std::vector<TensorMeta> metas(const std::string& text) {
  auto parsed = parse_tensor_meta(text, "weight_meta.py");
  EXPECT_TRUE(parsed.ok()) << parsed.error().to_string();
  return parsed.ok() ? *parsed : std::vector<TensorMeta>();
}

MaterializePlan plan_of(const std::string& weights, const std::string& inputs = "") {
  auto plan = plan_materialization(metas(inputs), metas(weights));
  EXPECT_TRUE(plan.ok()) << plan.error().to_string();
  return plan.ok() ? *plan : MaterializePlan();
}

std::string meta_class(const std::string& suffix, const std::string& body) {
  std::string text = "class Program_weight_tensor_meta_" + suffix + ":\n";
  size_t at = 0;
  while (at < body.size()) {
    size_t end = body.find(';', at);
    if (end == std::string::npos) end = body.size();
    text += "    " + body.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

struct Filled {
  MaterializePlan plan;
  std::vector<unsigned char> buffer;
  Materialized result;

  std::vector<double> values(std::string_view name) const {
    const PlannedTensor* tensor = plan.find(name);
    std::vector<double> out;
    if (tensor == nullptr) return out;
    for (int64_t i = 0; i < tensor->count; ++i)
      out.push_back(load_double(
          tensor->meta.dtype,
          buffer.data() + tensor->offset + static_cast<size_t>(i) * item_size(tensor->meta.dtype)));
    return out;
  }
};

Filled fill(MaterializePlan plan) {
  Filled filled;
  filled.plan = std::move(plan);
  filled.buffer.resize(filled.plan.total_bytes);
  filled.result = materialize(filled.plan, filled.buffer.data());
  return filled;
}

TEST(Materialize, LaysTensorsOutAligned) {
  MaterializePlan plan = plan_of(meta_class("b", "name = 'y';shape = [3];dtype = 'torch.bool'") +
                                 meta_class("a", "name = 'x';shape = [2, 5]"));
  ASSERT_EQ(plan.tensors.size(), 2U);
  EXPECT_EQ(plan.tensors[0].meta.name, "x");
  EXPECT_EQ(plan.tensors[0].bytes, 40U);
  EXPECT_EQ(plan.tensors[1].offset, 64U);
  EXPECT_EQ(plan.total_bytes, 128U);
  EXPECT_EQ(plan.find("z"), nullptr);
}

TEST(Materialize, LaterClassOfTheSameNameTakesThePlace) {
  // Visited in class order: a, b, c; c replaces a's tensor, b keeps its place behind it.
  std::string text = meta_class("c", "name = 'x';shape = [3];data = [1, 2, 3]") +
                     meta_class("b", "name = 'y';shape = []") + meta_class("a", "name = 'x';shape = [100]");
  MaterializePlan plan = plan_of(text);
  ASSERT_EQ(plan.tensors.size(), 2U);
  EXPECT_EQ(plan.tensors[0].meta.name, "x");
  Filled filled = fill(plan);
  EXPECT_EQ(filled.values("x"), (std::vector<double>{1, 2, 3}));
}

TEST(Materialize, DrawsOfReplacedAndInputClassesCount) {
  std::string range = "dtype = 'torch.int64';shape = [4];min_val = 0;max_val = 9";
  Filled plain = fill(plan_of(meta_class("b", "name = 'x';" + range)));
  Filled after_input =
      fill(plan_of(meta_class("b", "name = 'x';" + range), meta_class("i", "name = 'i';" + range)));
  Filled replaced =
      fill(plan_of(meta_class("a", "name = 'x';" + range) + meta_class("b", "name = 'x';" + range)));
  EXPECT_NE(plain.values("x"), after_input.values("x"));
  EXPECT_EQ(after_input.values("x"), replaced.values("x"));
}

TEST(Materialize, ConstantsAndData) {
  Filled filled =
      fill(plan_of(meta_class("a", "name = 'a';shape = [2];mean = 3.5;std = 0") +
                   meta_class("b", "name = 'b';shape = [2, 2];data = [[1, 2], [3, 4.5]];min_val = 3") +
                   meta_class("c", "name = 'c';shape = [];dtype = 'int8';data = -3") +
                   meta_class("d", "name = 'd';shape = [0, 7]") +
                   meta_class("e", "name = 'e';shape = [1];dtype = 'torch.int64';data = [2.9]")));
  EXPECT_EQ(filled.values("a"), (std::vector<double>{3.5, 3.5}));
  EXPECT_EQ(filled.values("b"), (std::vector<double>{1, 2, 3, 4.5}));
  EXPECT_EQ(filled.values("c"), std::vector<double>{-3});
  EXPECT_TRUE(filled.values("d").empty());
  EXPECT_EQ(filled.values("e"), std::vector<double>{2});
  EXPECT_TRUE(filled.result.nonfinite.empty());
}

TEST(Materialize, ClampsToBoundsAndToTheRange) {
  Filled filled =
      fill(plan_of(meta_class("a", "name = 'a';shape = [1000];std = 50;min_val = -0.5;max_val = 4") +
                   meta_class("b", "name = 'b';shape = [1000];std = 5000;dtype = 'torch.bfloat16'") +
                   meta_class("c", "name = 'c';shape = [100];mean = 500;std = 0;dtype = 'torch.int32'") +
                   meta_class("d", "name = 'd';shape = [100];std = 90;dtype = 'torch.uint8';min_val = 7")));
  for (double value : filled.values("a")) EXPECT_TRUE(value >= -0.5 && value <= 4);
  bool edge = false;
  for (double value : filled.values("b")) {
    EXPECT_LE(std::fabs(value), 100);
    edge = edge || value == 100;
  }
  EXPECT_TRUE(edge);
  for (double value : filled.values("c")) EXPECT_EQ(value, 500);  // the range is for floating types
  for (double value : filled.values("d")) EXPECT_GE(value, 7);
}

TEST(Materialize, NonfiniteElementsAreReportedAndFinished) {
  Filled filled =
      fill(plan_of(meta_class("a", "name = 'a';shape = [5000];mean = float('inf')") +
                   meta_class("b", "name = 'b';shape = [4]") +
                   meta_class("c", "name = 'c';shape = [3000];dtype = 'torch.float16';std = 2e5") +
                   meta_class("d", "name = 'd';shape = [2];mean = float('inf');max_val = 3")));
  ASSERT_EQ(filled.result.nonfinite.size(), 2U);
  EXPECT_EQ(filled.result.nonfinite[0].tensor, 0U);
  EXPECT_EQ(filled.result.nonfinite[0].indices.size(), 5000U);
  EXPECT_EQ(filled.result.nonfinite[0].indices[4999], 4999);
  const NonfiniteTensor& some = filled.result.nonfinite[1];
  EXPECT_EQ(some.tensor, 2U);
  EXPECT_GT(some.indices.size(), 100U);
  EXPECT_LT(some.indices.size(), 2900U);
  std::vector<double> replacements(some.indices.size(), 0.25);
  replacements[0] = 1e9;
  const PlannedTensor& tensor = filled.plan.tensors[2];
  finish_nonfinite(tensor, filled.buffer.data() + tensor.offset, some.indices, replacements);
  std::vector<double> values = filled.values("c");
  EXPECT_EQ(values[static_cast<size_t>(some.indices[0])], 100);
  EXPECT_EQ(values[static_cast<size_t>(some.indices[1])], 0.25);
  for (double value : values) EXPECT_LE(std::fabs(value), 100);
  EXPECT_EQ(filled.values("d"), (std::vector<double>{3, 3}));
}

TEST(Materialize, SameMetadataSameKey) {
  std::string text = meta_class("a", "name = 'a';shape = [5]");
  EXPECT_EQ(materialize_key(plan_of(text)), materialize_key(plan_of(text)));
  EXPECT_NE(materialize_key(plan_of(text)), materialize_key(plan_of(text), 124));
  EXPECT_NE(materialize_key(plan_of(text)), materialize_key(plan_of(text, meta_class("b", "name = 'b'"))));
  EXPECT_NE(materialize_key(plan_of(text)),
            materialize_key(plan_of(meta_class("a", "name = 'a';shape = [5];mean = 0.1"))));
}

TEST(Materialize, RefusesWhatTheReferenceCannotMake) {
  struct Case {
    const char* body;
    int line;
    const char* message;
  };
  const Case cases[] = {
      {"name = 'a';shape = [3];data = [1, 2]", 4, "has 2 elements"},
      {"name = 'a';shape = [1];dtype = 'torch.uint8';data = [300]", 5, "does not fit uint8"},
      {"name = 'a';shape = [1];dtype = 'torch.int64';data = [float('nan')]", 5, "does not fit int64"},
      {"name = 'a';shape = [1];dtype = 'torch.int64';min_val = 5;max_val = 4", 1, "above max_val"},
      {"name = 'a';shape = [1];dtype = 'torch.int64';min_val = 5;max_val = float('inf')", 1,
       "no 64-bit integer"},
  };
  for (const Case& item : cases) {
    SCOPED_TRACE(item.body);
    auto plan = plan_materialization({}, metas(meta_class("a", item.body)));
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().place.file, "weight_meta.py");
    EXPECT_EQ(plan.error().place.line, item.line);
    EXPECT_NE(plan.error().to_string().find(item.message), std::string::npos) << plan.error().to_string();
  }
}

std::string python_value(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.as_bool() ? "True" : "False";
  return value.dump();
}

void flatten(const Json& value, std::vector<double>& out) {
  if (!value.is_array()) out.push_back(value.is_bool() ? value.as_bool() : value.as_double());
  for (const Json& item : value.items()) flatten(item, out);
}

TEST(Materialize, GoldenTensors) {
  GRAFT_NEEDS_SHARED("golden/passbench/extra");
  Json golden = read_json(shared_path("golden/passbench/extra/tensor_materialisation.json"));
  std::string text;
  for (const Json& meta : golden["metas"].items()) {
    text += "class " + meta["class"].as_string() + ":\n";
    for (const auto& [key, value] : meta.members())
      if (key != "class") text += "    " + key + " = " + python_value(value) + "\n";
  }
  Filled filled = fill(plan_of(text));
  const auto& expected = golden["expected_in_materialisation_order"].members();
  ASSERT_EQ(filled.plan.tensors.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(filled.plan.tensors[i].meta.name, expected[i].first);
    std::vector<double> values;
    flatten(expected[i].second, values);
    EXPECT_EQ(filled.values(expected[i].first), values) << expected[i].first;
  }
}

TEST(Materialize, ThirtyMillionElements) {
  MaterializePlan plan = plan_of(meta_class("a", "name = 'a';shape = [30, 1000, 1000]"));
  std::vector<unsigned char> buffer(plan.total_bytes);
  auto start = std::chrono::steady_clock::now();
  materialize(plan, buffer.data());
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds", std::to_string(seconds.count()));
  EXPECT_LT(seconds.count(), 20.0);  // a bound for busy machines; about 1 s on an idle one
}

}  // namespace
}  // namespace graft::bench
