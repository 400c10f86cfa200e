#include "bench/tensor_meta.h"

#include <gtest/gtest.h>

#include <limits>

#include "golden.h"

namespace graft::bench {
namespace {

TEST(TensorMeta, AllAttributes) {
  auto metas = parse_tensor_meta(
      "\"\"\"Metadata.\"\"\"\n"
      "import torch\n"
      "from math import inf\n"
      "ROWS = 4\n"
      "\n"
      "class B:\n"
      "    name = \"w\"\n"
      "    shape = [ROWS, ROWS * 2]\n"
      "    dtype = \"torch.bfloat16\"\n"
      "    device = \"cuda:0\"\n"
      "    mean = None\n"
      "    std = float(\"nan\")\n"
      "    min_val = -1\n"
      "    max_val = 2.5\n"
      "    original_name = 'L_self_w'\n"
      "    __hidden = object\n"
      "\n"
      "class A:\n"
      "    'no shape: a scalar'\n"
      "    name = 'x'\n"
      "    data = [[1, True], (2.5, -inf)]\n"
      "    def helper(self):\n"
      "        return 1\n",
      "weight_meta.py");
  ASSERT_FALSE(metas.ok());  // object is no constant
  EXPECT_EQ(metas.error().place.to_string(), "weight_meta.py:16:16");

  metas = parse_tensor_meta(
      "from math import inf\n"
      "ROWS = 4\n"
      "class B:\n"
      "    name = \"w\"\n"
      "    shape = [ROWS, ROWS * 2]\n"
      "    dtype = \"torch.bfloat16\"\n"
      "    device: str = \"cuda:0\"\n"
      "    mean = None\n"
      "    std = float(\"nan\")\n"
      "    min_val = -1\n"
      "    max_val = 2.5\n"
      "    original_name = 'L_self_w'\n"
      "class A:\n"
      "    'no shape: a scalar'\n"
      "    name = 'x'\n"
      "    data = [[1, True], (2.5, -inf)]\n"
      "    def helper(self):\n"
      "        return 1\n"
      "class A2(B, object):\n"
      "    name = 'derived'\n",
      "weight_meta.py");
  ASSERT_TRUE(metas.ok()) << metas.error().to_string();
  ASSERT_EQ(metas->size(), 3U);
  const TensorMeta& a = (*metas)[0];
  EXPECT_EQ(a.class_name, "A");
  EXPECT_EQ(a.shape, std::vector<int64_t>());
  EXPECT_EQ(a.element_count(), 1);
  EXPECT_EQ(a.dtype, DType::kFloat32);
  EXPECT_EQ(a.device, "cpu");
  EXPECT_EQ(a.mean, 0.0);
  EXPECT_EQ(a.std, 1.0);
  EXPECT_FALSE(a.min_val.has_value());
  ASSERT_TRUE(a.data.has_value());
  ASSERT_EQ(a.data->elements.size(), 4U);
  EXPECT_TRUE(a.data->elements[1].is_integer);
  EXPECT_FALSE(a.data->elements[2].is_integer);
  EXPECT_EQ(a.data->elements[3].real, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(a.data->place.line, 16);
  const TensorMeta& b = (*metas)[2];
  EXPECT_EQ(b.name, "w");
  EXPECT_EQ(b.shape, (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(b.shape_place.line, 5);
  EXPECT_EQ(b.dtype, DType::kBFloat16);
  EXPECT_EQ(b.device, "cuda:0");
  EXPECT_FALSE(b.mean.has_value());
  EXPECT_TRUE(b.std != b.std);
  EXPECT_EQ(b.min_val->integer, -1);
  EXPECT_FALSE(b.max_val->is_integer);
  EXPECT_EQ(b.original_name, "L_self_w");
  EXPECT_EQ((*metas)[1].name, "derived");
  EXPECT_EQ((*metas)[1].shape, b.shape);
}

TEST(TensorMeta, ClassesInNameOrder) {
  auto metas = parse_tensor_meta(
      "class t_10:\n name = 'ten'\nclass t_9:\n name = 'nine'\nclass T:\n name = 'first'\nclass t_é:\n name "
      "= 'last'\n"
      "class t_9:\n name = 'nine again'\n",
      "m.py");
  ASSERT_TRUE(metas.ok());
  std::vector<std::string> names;
  for (const TensorMeta& meta : *metas) names.push_back(meta.name);
  EXPECT_EQ(names, (std::vector<std::string>{"first", "ten", "nine again", "last"}));
}

TEST(TensorMeta, EffectiveTensorsKeepThePlaceOfTheFirst) {
  auto metas = parse_tensor_meta(
      "class a:\n name = 'x'\n mean = 1\nclass b:\n name = 'y'\nclass c:\n name = 'x'\n mean = 2\n", "m.py");
  ASSERT_TRUE(metas.ok());
  auto tensors = effective_tensors(*metas);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "x");
  EXPECT_EQ(tensors[0].mean, 2.0);
}

TEST(TensorMeta, ErrorsHaveLines) {
  struct Case {
    const char* text;
    const char* place;
    const char* message;
  };
  const Case cases[] = {
      {"class A:\n    shape = [1]\n", "m.py:1:1", "no attribute 'name'"},
      {"class A:\n    name = 'x'\n    dtype = 'torch.float12'\n", "m.py:3:13", "no tensor dtype"},
      {"class A:\n    name = 3\n", "m.py:2:12", "is a int"},
      {"class A:\n    name = 'x'\n    shape = [1, -1]\n", "m.py:3:13", "non-negative"},
      {"class A:\n    name = 'x'\n    shape = 5\n", "m.py:3:13", "a list of integers"},
      {"class A:\n    name = 'x'\n    shape = [1000000, 1000000, 1000000]\n", "m.py:3:13",
       "too many elements"},
      {"class A:\n    name = 'x'\n    data = 'abc'\n", "m.py:3:12", "'data' holds a str"},
      {"class A:\n    name = 'x'\n    data = [1, None]\n", "m.py:3:12", "'data' holds a None"},
      {"class A:\n    name = 'x'\n    mean = 'big'\n", "m.py:3:12", "a number or None"},
      {"class A:\n    name = open('x')\n", "m.py:2:12", "not a constant"},
      {"print(1)\n", "m.py:1:1", "not a statement of a tensor metadata file"},
      {"class A:\n    if True:\n        name = 'x'\n", "m.py:2:5", "not a statement of a metadata class"},
      {"class A(B):\n    name = 'x'\n", "m.py:1:9", "base class"},
      {"class A:\n    name = 'x\n", "m.py:2", ""},
  };
  for (const Case& item : cases) {
    SCOPED_TRACE(item.text);
    auto metas = parse_tensor_meta(item.text, "m.py");
    ASSERT_FALSE(metas.ok());
    EXPECT_TRUE(metas.error().place.to_string().starts_with(item.place)) << metas.error().to_string();
    EXPECT_NE(metas.error().to_string().find(item.message), std::string::npos) << metas.error().to_string();
  }
}

TEST(TensorMeta, EveryRecordOfTheCorpus) {
  GRAFT_NEEDS_SHARED("data");
  int tensors = 0;
  for (const char* file : {"data/graphs.jsonl", "data/subgraphs.jsonl"}) {
    auto text = read_file(shared_path(file));
    ASSERT_TRUE(text.ok());
    std::string_view rest = *text;
    while (!rest.empty()) {
      size_t end = rest.find('\n');
      auto record = Json::parse(rest.substr(0, end));
      ASSERT_TRUE(record.ok());
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      for (const char* member : {"weight_meta.py", "input_meta.py"}) {
        auto metas = parse_tensor_meta((*record)[member].as_string(), member);
        ASSERT_TRUE(metas.ok()) << (*record)["name"].as_string() << " " << metas.error().to_string();
        tensors += static_cast<int>(metas->size());
      }
    }
  }
  EXPECT_GT(tensors, 4000);
}

}  // namespace
}  // namespace graft::bench
