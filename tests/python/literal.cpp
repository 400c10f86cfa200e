#include "python/literal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "python/parser.h"
#include "python/repr.h"

namespace graft::python {
namespace {

std::string shown(const Literal& value) {
  std::string out;
  switch (value.type) {
    case LiteralType::kNone:
      return "None";
    case LiteralType::kBool:
      return value.integer != 0 ? "True" : "False";
    case LiteralType::kInt:
      return std::to_string(value.integer);
    case LiteralType::kBigInt:
      return "big " + value.text;
    case LiteralType::kFloat:
      append_float_repr(out, value.real);
      return out;
    case LiteralType::kStr:
      append_str_repr(out, value.text, 11);
      return out;
    case LiteralType::kBytes:
      append_bytes_repr(out, value.text);
      return out;
    case LiteralType::kList:
    case LiteralType::kTuple:
      for (const Literal& item : value.items) out += (out.empty() ? "" : ", ") + shown(item);
      return value.is(LiteralType::kList) ? "[" + out + "]" : "(" + out + ")";
    case LiteralType::kDict:
      for (size_t i = 0; i < value.keys.size(); ++i)
        out += (out.empty() ? "" : ", ") + shown(value.keys[i]) + ": " + shown(value.items[i]);
      return "{" + out + "}";
  }
  return out;
}

Result<Literal> fold(const std::string& text, const LiteralOptions& options = {}) {
  auto parsed = parse_text(text, "x.py");
  if (!parsed.ok()) return std::move(parsed).error();
  return fold_literal(*as<ExprStmt>(*parsed->module->body[0]).value, parsed->source, options);
}

struct Case {
  const char* text;
  const char* value;
};

TEST(Literal, Values) {
  const Case cases[] = {
      {"None", "None"},
      {"True", "True"},
      {"0x_ff", "255"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775807", "9223372036854775807"},
      {"1e-5", "1e-05"},
      {"1e400", "inf"},
      {"-1.5", "-1.5"},
      {"+True", "1"},
      {"~5", "-6"},
      {"not []", "True"},
      {"'a' \"b\" 'c'", "'abc'"},
      {"b'a' b'\\x00'", "b'a\\x00'"},
      {"f'plain'", "'plain'"},
      {"[1, (2.5,), {'k': None, 'j': ()}]", "[1, (2.5), {'k': None, 'j': ()}]"},
      {"{1: 'a', True: 'b', **{'c': 2}}", "{1: 'b', 'c': 2}"},
      {"[*(1, 2), 3]", "[1, 2, 3]"},
      {"float('nan')", "nan"},
      {"float(' -Infinity ')", "-inf"},
      {"float(\"1_0.5\")", "10.5"},
      {"float('1e400')", "inf"},
      {"float('1e-400')", "0.0"},
      {"float(3)", "3.0"},
      {"float()", "0.0"},
      {"int('-12')", "-12"},
      {"int(2.9)", "2"},
      {"inf", "inf"},
      {"-math.inf", "-inf"},
      {"np.nan", "nan"},
      {"torch.inf", "inf"},
      {"list()", "[]"},
      {"tuple([1, 2])", "(1, 2)"},
      {"dict()", "{}"},
      {"2 ** 10 - 1", "1023"},
      {"2 ** -1", "0.5"},
      {"7 // 2, -7 // 2, 7 // -2, -7 % 3, 7 % -3", "(3, -4, -4, 2, -2)"},
      {"7.5 // 2, -7.5 // 2, -7.5 % 2, 7.5 % -2", "(3.0, -4.0, 0.5, -0.5)"},
      {"1 / 3", "0.3333333333333333"},
      {"1 << 4 | 3 ^ 1 & 7", "18"},
      {"-8 >> 1", "-4"},
      {"True + True", "2"},
      {"[0] * 3 + [1]", "[0, 0, 0, 1]"},
      {"2 * 'ab'", "'abab'"},
      {"'a' * -1", "''"},
      {"1 if 0.0 else 2", "2"},
      {"-9223372036854775808 % -1", "0"},
  };
  for (const Case& item : cases) {
    auto value = fold(item.text);
    ASSERT_TRUE(value.ok()) << item.text << ": " << value.error().to_string();
    EXPECT_EQ(shown(*value), item.value) << item.text;
  }
}

TEST(Literal, RefusesWhatIsNotConstant) {
  struct Bad {
    const char* text;
    const char* place;
    const char* message;
  };
  const Bad cases[] = {
      {"[1,\n  open('x')]", "x.py:2:3", "'open('x')' is not a constant"},
      {"unknown", "x.py:1:1", "the name 'unknown' has no constant value"},
      {"9223372036854775808", "x.py:1:1", "does not fit 64 bits"},
      {"9223372036854775807 + 1", "x.py:1:1", "does not fit 64 bits"},
      {"2 ** 64", "x.py:1:1", "does not fit 64 bits"},
      {"1 << 63", "x.py:1:1", "does not fit 64 bits"},
      {"-9223372036854775808 // -1", "x.py:1:1", "does not fit 64 bits"},
      {"- -9223372036854775808", "x.py:1:1", "does not fit 64 bits"},
      {"1 / 0", "x.py:1:1", "division by zero"},
      {"1 % 0.0", "x.py:1:1", "division by zero"},
      {"0 ** -1", "x.py:1:1", "zero to a negative power"},
      {"1j", "x.py:1:1", "not a constant"},
      {"...", "x.py:1:1", "not a constant"},
      {"{1, 2}", "x.py:1:1", "not a constant"},
      {"[x for x in y]", "x.py:1:1", "not a constant"},
      {"f'{1}'", "x.py:1:1", "not a constant"},
      {"math.pi", "x.py:1:1", "not a constant"},
      {"float('one')", "x.py:1:1", "no number"},
      {"float('nan(1)')", "x.py:1:1", "no number"},
      {"int('1.5')", "x.py:1:1", "no number"},
      {"'a' + 1", "x.py:1:1", "between str and int"},
      {"-'a'", "x.py:1:1", "before a str"},
      {"{[]: 1}", "x.py:1:2", "cannot be a key"},
      {"[*5]", "x.py:1:2", "no list or tuple"},
      {"{**[]}", "x.py:1:4", "no dict"},
      {"[0] * 100000000", "x.py:1:1", "too long"},
      {"[[[0] * 1000] * 1000] * 1000", "x.py:1:2", "too long"},
      {"'a' * 10000000000", "x.py:1:1", "too long"},
      {"float(x=1)", "x.py:1:1", "not a constant"},
  };
  for (const Bad& item : cases) {
    auto value = fold(item.text);
    ASSERT_FALSE(value.ok()) << item.text << " = " << shown(*value);
    EXPECT_EQ(value.error().place.to_string(), item.place) << item.text;
    EXPECT_NE(value.error().message.find(item.message), std::string::npos)
        << item.text << ": " << value.error().message;
  }
}

TEST(Literal, BigIntegersOnRequest) {
  LiteralOptions options;
  options.big_integers = true;
  EXPECT_EQ(shown(*fold("123456789012345678901234567890", options)), "big 123456789012345678901234567890");
  EXPECT_EQ(shown(*fold("-123456789012345678901234567890", options)), "big -123456789012345678901234567890");
  EXPECT_FALSE(fold("123456789012345678901234567890 + 1", options).ok());
}

TEST(Literal, NamesOfTheProgram) {
  Literal shape = *fold("[1, 2]");
  LiteralOptions options;
  options.name = [&](std::string_view name) { return name == "SHAPE" ? &shape : nullptr; };
  EXPECT_EQ(shown(*fold("SHAPE + [3]", options)), "[1, 2, 3]");
  EXPECT_FALSE(fold("OTHER", options).ok());
}

TEST(Literal, DeepNestingIsAnError) {
  std::string text = std::string(150, '[') + std::string(150, ']');
  EXPECT_TRUE(fold(text).ok());
  std::string sum = "1";
  for (int i = 0; i < 3000; ++i) sum += "+1";
  auto value = fold(sum);
  ASSERT_FALSE(value.ok());
  EXPECT_NE(value.error().message.find("nested too deeply"), std::string::npos);
}

TEST(Literal, EqualityIsPythons) {
  EXPECT_TRUE(equal(*fold("1"), *fold("1.0")));
  EXPECT_TRUE(equal(*fold("True"), *fold("1")));
  EXPECT_FALSE(equal(*fold("[1]"), *fold("(1,)")));
  EXPECT_TRUE(equal(*fold("{'a': 1, 'b': [2]}"), *fold("{'b': [2.0], 'a': True}")));
  EXPECT_FALSE(equal(*fold("nan"), *fold("nan")));
  EXPECT_FALSE(equal(*fold("'a'"), *fold("b'a'")));
}

}  // namespace
}  // namespace graft::python
