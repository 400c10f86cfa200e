#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace graft {
namespace {

TEST(Json, RoundTripKeepsOrderAndKinds) {
  std::string text = R"({"b":1,"a":[1.0,-2.5e-07,true,false,null,"x\n\u0001\"é"],"c":{}})";
  auto parsed = Json::parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  EXPECT_EQ(parsed->dump(), text);
  EXPECT_TRUE((*parsed)["b"].is_int());
  EXPECT_FALSE((*parsed)["a"].items()[0].is_int());
}

TEST(Json, EscapesAreDecoded) {
  auto parsed = Json::parse(R"("\u00e9\ud83d\ude00\/")");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->as_string(), "é😀/");
}

TEST(Json, NonFiniteNumbersAreWrittenAsNull) {
  EXPECT_EQ(Json(std::nan("")).dump(), "null");
}

struct BadText {
  const char* text;
  int line, column;
};

class JsonErrors : public testing::TestWithParam<BadText> {};

TEST_P(JsonErrors, NameThePlace) {
  auto parsed = Json::parse(GetParam().text, "file.json");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().place.file, "file.json");
  EXPECT_EQ(parsed.error().place.line, GetParam().line);
  EXPECT_EQ(parsed.error().place.column, GetParam().column);
}

INSTANTIATE_TEST_SUITE_P(All, JsonErrors,
                         testing::Values(BadText{"", 1, 1}, BadText{"{\"a\": 1,\n \"a\": 2}", 2, 2},
                                         BadText{"[1 2]", 1, 4}, BadText{"01", 1, 1}, BadText{"1.", 1, 1},
                                         BadText{"nul", 1, 1}, BadText{"NaN", 1, 1}, BadText{"[1]x", 1, 4},
                                         BadText{"\"a\nb\"", 1, 3}, BadText{"\"\\ud800\"", 1, 8},
                                         BadText{"\"é\\x\"", 1, 4}, BadText{"{1: 2}", 1, 2}));

TEST(Json, ManyKeysAreReadInOrderAndARepeatedOneIsFound) {
  std::string text = "{";
  for (int i = 0; i < 50'000; ++i) text += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
  auto parsed = Json::parse(text + "}");
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  EXPECT_EQ(parsed->members().size(), 50'000U);
  EXPECT_EQ(parsed->members().back().first, "k49999");
  for (const char* repeated : {"k0", "k15", "k16", "k49999"})
    EXPECT_FALSE(Json::parse(text + ",\"" + repeated + "\":1}").ok()) << repeated;
}

TEST(Json, DeepNestingIsAnErrorNotACrash) {
  EXPECT_FALSE(Json::parse(std::string(1000000, '[')).ok());
}

}  // namespace
}  // namespace graft
