// Hostile texts: an error or a tree, in bounded time and memory, never a crash.
#include <gtest/gtest.h>

#include "python/canonical.h"
#include "python/parser.h"
#include "python/visitor.h"

namespace graft::python {
namespace {

std::string repeat(std::string_view piece, size_t count) {
  std::string text;
  text.reserve(piece.size() * count);
  for (size_t i = 0; i < count; ++i) text += piece;
  return text;
}

ParsedModule parse(std::string text) {
  Result<SourceText> source = SourceText::from_bytes(std::move(text));
  EXPECT_TRUE(source.ok());
  return parse_module(std::move(*source));
}

constexpr size_t kMany = 100000;

TEST(ParserLimits, DeepNestingIsRefused) {
  for (const char* piece : {"(", "[", "{", "-", "not ", "lambda:", "x if y else ", "x**", "f(", "x[", "f'{",
                            "{x:", "(yield ", "~-+", "lambda x=", "(x:="}) {
    ParsedModule parsed = parse(repeat(piece, kMany) + "x");
    ASSERT_FALSE(parsed.ok()) << piece;
    EXPECT_EQ(parsed.errors.front().place.line, 1) << piece;
  }
  EXPECT_FALSE(parse("match x:\n case " + repeat("[", kMany)).ok());
  std::string blocks;
  for (size_t i = 0; i < 200; ++i) blocks += std::string(i, ' ') + "if x:\n";
  EXPECT_FALSE(parse(blocks).ok());
}

TEST(ParserLimits, NestingWithinCPythonsLimitsIsTaken) {
  EXPECT_TRUE(parse(repeat("(", 200) + "x" + repeat(")", 200)).ok());
  EXPECT_FALSE(parse(repeat("(", 201) + "x" + repeat(")", 201)).ok());
  EXPECT_TRUE(parse(repeat("-", 2500) + "x").ok());
  EXPECT_TRUE(parse(repeat("not ", 2500) + "x").ok());
  std::string blocks;
  for (size_t i = 0; i < 99; ++i) blocks += std::string(i, ' ') + "if x:\n";
  EXPECT_TRUE(parse(blocks + std::string(99, ' ') + "pass\n").ok());
}

TEST(ParserLimits, LongChainsAreTakenAndWalked) {
  struct Case {
    const char* piece;
    const char* last;
    size_t depth;
  };
  for (const Case& one :
       {Case{"x + ", "x", kMany}, Case{"x.", "y", kMany}, Case{"x < ", "x", 0}, Case{"x and ", "x", 0},
        Case{"x = ", "x", 0}, Case{"x, ", "x", 0}, Case{"'s' ", "'s'", 0}, Case{"x; ", "x", 0}}) {
    ParsedModule parsed = parse(repeat(one.piece, kMany) + one.last + "\n");
    ASSERT_TRUE(parsed.ok()) << one.piece << parsed.errors.front().to_string();
    EXPECT_GE(tree_depth(*parsed.module), one.depth) << one.piece;
    size_t nodes = 0;
    walk(*parsed.module, [&nodes](const Node&) { ++nodes; });
    EXPECT_GT(nodes, 2u);
    EXPECT_TRUE(canonical_text(*parsed.module).ok());
  }
  EXPECT_TRUE(parse("x" + repeat("()", kMany)).ok());
  EXPECT_TRUE(parse("x" + repeat("[0]", kMany)).ok());
  EXPECT_TRUE(parse("if x: pass\n" + repeat("elif x: pass\n", kMany)).ok());
}

TEST(ParserLimits, LongLines) {
  const size_t size = size_t{10} << 20;
  EXPECT_TRUE(parse("x = '" + std::string(size, 'a') + "'\n").ok());
  EXPECT_TRUE(parse("#" + std::string(size, 'a') + "\n").ok());
  EXPECT_TRUE(parse(std::string(size, 'a') + "\n").ok());
  EXPECT_TRUE(parse(std::string(size, ' ')).ok());
  EXPECT_TRUE(parse(std::string(size, '\n')).ok());
  EXPECT_FALSE(parse(std::string(size, '"')).ok());
  EXPECT_FALSE(parse("x = " + std::string(5000, '9') + "\n").ok());
  EXPECT_TRUE(parse("x = 0x" + std::string(size, 'f') + "\n").ok());
  ParsedModule list = parse("x = [" + repeat("1,", kMany * 10) + "]\n");
  ASSERT_TRUE(list.ok());
  EXPECT_LT(list.arena.reserved(), 25u * list.source.size());
}

TEST(ParserLimits, EveryPrefixAndSuffixOfAProgram) {
  const std::string text =
      "@d(1)\nasync def f[T: int](a, /, b=2, *c, d: 'x' = 1_0, **e) -> None:\n    "
      "\"\"\"doc\\N{BULLET}\"\"\"\n"
      "    async with (a as b, c as d,):\n        x = f'{a!r:>{w}}{{{b=}' rb'' if y else [*z for z in "
      "(yield)]\n"
      "    match x, y:\n\tcase {'k': [1, *_], **r} | A(b=-1+2j) as q if (n := 3): return\n"
      "try: pass\nexcept* E as e: raise X from Y\nelse: lambda *a, k=1: {**a, 'b': ~c ** -d}\n";
  for (size_t i = 0; i <= text.size(); ++i) {
    parse(text.substr(0, i));
    parse(text.substr(i));
    if (i + 3 < text.size()) parse(text.substr(0, i) + text.substr(i + 3));
  }
}

}  // namespace
}  // namespace graft::python
