#include "bench/random.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "golden.h"

namespace graft::bench {
namespace {

TEST(NumpyRandom, FillsAgreeWithSingleCalls) {
  NumpyRandom one(7);
  NumpyRandom many(7);
  // An odd count leaves a partner, which other draws leave alone.
  for (size_t count : {3U, 1U, 0U, 5000U, 2U, 777U}) {
    std::vector<double> filled(count);
    many.fill_randn(filled);
    for (double value : filled) ASSERT_EQ(value, one.randn());
    std::vector<double> uniform(count);
    many.fill_rand(uniform);
    for (double value : uniform) ASSERT_EQ(value, one.rand());
    ASSERT_EQ(many.randint(-5, 1000), one.randint(-5, 1000));
  }
}

TEST(NumpyRandom, ConstantRangeDrawsNothing) {
  NumpyRandom a(1);
  NumpyRandom b(1);
  EXPECT_EQ(a.randint(4, 4), 4);
  EXPECT_EQ(a.rand(), b.rand());
}

TEST(NumpyRandom, GoldenSequence) {
  GRAFT_NEEDS_SHARED("golden/passbench/extra");
  Json golden = read_json(shared_path("golden/passbench/extra/numpy_rng_vectors.json"));
  NumpyRandom random(static_cast<uint32_t>(golden["seed"].as_int()));
  int calls = 0;
  for (const Json& step : golden["sequence"].items()) {
    const std::string& call = step["call"].as_string();
    SCOPED_TRACE(call);
    const auto& values = step["values"].items();
    std::string name = call.substr(0, call.find('('));
    if (name == "randn" || name == "rand") {
      std::vector<double> drawn(values.size());
      if (name == "randn")
        random.fill_randn(drawn);
      else
        random.fill_rand(drawn);
      for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(drawn[i], values[i].as_double());
    } else {
      ASSERT_EQ(name, "randint");
      size_t open = call.find('(');
      size_t comma = call.find(',');
      int64_t low = std::stoll(call.substr(open + 1, comma - open - 1));
      int64_t high = std::stoll(call.substr(comma + 1)) - 1;
      for (const Json& value : values) EXPECT_EQ(random.randint(low, high), value.as_int());
    }
    ++calls;
  }
  EXPECT_GT(calls, 10);
}

TEST(PythonRandom, SamplesAsPythonDoes) {
  // random.seed(123); random.sample(range(n), k), by CPython 3.11.
  EXPECT_EQ(PythonRandom(123).sample(10, 3), (std::vector<size_t>{0, 4, 1}));
  EXPECT_EQ(PythonRandom(123).sample(5, 5), (std::vector<size_t>{0, 2, 4, 1, 3}));
  EXPECT_EQ(PythonRandom(123).sample(1000, 4), (std::vector<size_t>{53, 274, 89, 787}));
  // On both sides of the population from which on Python keeps a set instead of a pool.
  EXPECT_EQ(PythonRandom(123).sample(21, 5), (std::vector<size_t>{1, 8, 2, 13, 19}));
  EXPECT_EQ(PythonRandom(123).sample(22, 5), (std::vector<size_t>{1, 8, 2, 13, 3}));
  EXPECT_EQ(PythonRandom(123).sample(85, 6), (std::vector<size_t>{6, 34, 11, 52, 83, 13}));
  // One stream over several calls.
  PythonRandom random(123);
  EXPECT_EQ(random.sample(4, 1), std::vector<size_t>{0});
  std::vector<size_t> next = random.sample(150, 100);
  next.resize(6);
  EXPECT_EQ(next, (std::vector<size_t>{68, 22, 104, 149, 27, 9}));
}

}  // namespace
}  // namespace graft::bench
