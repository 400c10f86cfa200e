#include "python/segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"

namespace graft::python {
namespace {

// The text of the named target.
std::string text(const std::string& source, const std::string& qualname,
                 Profile profile = Profile::kDefault) {
  Result<ParsedModule> module = parse_text(source);
  if (!module.ok()) return module.error().to_string();
  Result<Target> target = find_target(*module, qualname, profile);
  if (!target.ok()) return target.error().to_string();
  Result<Segment> segment = segment_of(*module, *target, profile);
  return segment.ok() ? segment->text : segment.error().to_string();
}

TEST(Segment, DecoratorsAndTrailingCommentsBelong) {
  std::string function =
      "@a\n"
      "\n"
      "# between\n"
      "@b(1,\n"
      "   2)\n"
      "def f(x):\n"
      "    # first\n"
      "    return x  # last\n"
      "\n"
      "    # at the depth of the body\n"
      "\n"
      "      # deeper\n";
  EXPECT_EQ(text("y = 1\n" + function + "\n  # too shallow\n# top\nz = 2\n", "f"), function);
}

TEST(Segment, ShallowCommentsBeforeADeepOneComeAlong) {
  std::string function = "def f():\n    pass\n# top\n    # body\n";
  EXPECT_EQ(text(function + "# top\nx = 1\n", "f"), function);
}

TEST(Segment, OneLinersTakeNoComments) {
  EXPECT_EQ(text("def f(): pass\n    # comment\nx = 1\n", "f"), "def f(): pass\n");
  EXPECT_EQ(text("class A:\n    def f(self): pass\n    # comment\n", "A.f"), "    def f(self): pass\n");
  EXPECT_EQ(text("def f(a,\n      b): return a\n      # comment\n", "f"), "def f(a,\n      b): return a\n");
  EXPECT_EQ(text("def f(): \\\n    pass\n    # comment\n", "f"), "def f(): \\\n    pass\n");
  EXPECT_EQ(text("def f():  # \\\n    pass\n    # comment\n", "f"),
            "def f():  # \\\n    pass\n    # comment\n");
}

TEST(Segment, TheColumnIsCountedInCharacters) {
  EXPECT_EQ(text("def f():\n\tpass\n    # four blanks\n\t# a tab\nx = 1\n", "f"),
            "def f():\n\tpass\n    # four blanks\n\t# a tab\n");
  EXPECT_EQ(text("def f():\n        pass\n\t# one tab\nx = 1\n", "f"), "def f():\n        pass\n");
}

TEST(Segment, ADecoratedFirstStatementSetsTheColumn) {
  EXPECT_EQ(text("class A:\n    @a  # @\n    def f(self): pass\n    # comment\nx = 1\n", "A"),
            "class A:\n    @a  # @\n    def f(self): pass\n    # comment\n");
}

TEST(Segment, AFinalLineEndIsAdded) {
  EXPECT_EQ(text("def f(): pass", "f"), "def f(): pass\n");
}

TEST(Segment, LineEndsAreNormalised) {
  EXPECT_EQ(text("def f():\r\n    x\r    y\r\n", "f"), "def f():\n    x\n    y\n");
}

TEST(Segment, ClassesOf38HaveNoDecorators) {
  EXPECT_EQ(text("@a\nclass A: pass\n", "A", Profile::kPython38), "class A: pass\n");
  EXPECT_EQ(text("@a\nclass A: pass\n", "A"), "@a\nclass A: pass\n");
}

TEST(Segment, ADecoratorOnTheNextLine) {
  std::string source = "@(\n    a\n)\ndef f(): pass\n";
  EXPECT_EQ(text(source, "f"), source);
  // 3.13 begins where the expression does.
  EXPECT_EQ(text(source, "f", Profile::kPython313), "    a\n)\ndef f(): pass\n");
}

TEST(Segment, Lambdas) {
  EXPECT_EQ(text("f = lambda x: x  # comment\ny = 1\n", "f"), "f = lambda x: x  # comment\n");
  EXPECT_EQ(text("f = lambda x, y=(\n    1,\n): (\n    x\n)\n", "f"),
            "f = lambda x, y=(\n    1,\n): (\n    x\n)\n");
  EXPECT_EQ(text("f = (\n    lambda x: x\n)\n", "f"), "    lambda x: x\n");
  EXPECT_EQ(text("f = lambda: 'a\\\nb' + \\\n  'c'\ny = 1\n", "f"), "f = lambda: 'a\\\nb' + \\\n  'c'\n");
  EXPECT_EQ(text("f = lambda: \"\"\"(\n\"\"\"\ny = 1\n", "f"), "f = lambda: \"\"\"(\n\"\"\"\n");
  EXPECT_EQ(text("f = lambda: f'{x['a']:{')'}}' + ')'\ny = 1\n", "f"),
            "f = lambda: f'{x['a']:{')'}}' + ')'\n");
}

TEST(Segment, ALambdaBehindAString) {
  // Read from its own line on, the closing quotes open a string that never ends.
  EXPECT_THAT(text("f = g = lambda: 0, '''\n''', 1\n", "f"), testing::HasSubstr("no function"));
  Result<ParsedModule> module = parse_text("x = ('''\n''', lambda: 0)\n");
  ASSERT_TRUE(module.ok());
  EXPECT_FALSE(block_end_by_tokens(module->source, 2).ok());
}

TEST(Segment, Properties) {
  EXPECT_EQ(text("class A:\n"
                 "    @property\n"
                 "    def p(self):\n"
                 "        return 1\n"
                 "    @p.deleter\n"
                 "    def p(self): pass\n",
                 "A.p"),
            "__turbo_physai_property_accessor__ = 'fget'\n"
            "@property\ndef p(self):\n    return 1\n"
            "\n"
            "__turbo_physai_property_accessor__ = 'fdel'\n"
            "@p.deleter\ndef p(self): pass\n");
}

TEST(Segment, TheTokensFindTheSameEnd) {
  const char* sources[] = {
      "def f():\n    pass\n    # body\n# top\nx = 1\n",
      "@a(lambda: 0)\ndef f(x=(\n1)):\n    if x:\n        y\n        # deep\n    # body\n  # shallow\n",
      "class f:\n    '''doc\n    '''\n\n    def g(self): pass\n\n\n    # end\n\n",
      "def f(): pass\n    # no\n",
      "async def f():\n\tx\n\n\n",
  };
  for (const char* source : sources) {
    Result<ParsedModule> module = parse_text(source);
    ASSERT_TRUE(module.ok()) << source;
    LineRange lines = definition_lines(*module, *module->module->body[0]);
    Result<uint32_t> last = block_end_by_tokens(module->source, lines.first);
    ASSERT_TRUE(last.ok()) << source;
    EXPECT_EQ(*last, lines.last) << source;
  }
}

TEST(Segment, ModulesKeepTheMarkAndIgnoreCookies) {
  EXPECT_EQ(module_segment("\xef\xbb\xbfx\r\ny\rz"), "\xef\xbb\xbfx\ny\nz");
  EXPECT_EQ(module_segment("# coding: latin-1\nx = '\xe9'\n"), std::nullopt);
}

TEST(Evidence, TheTreeIsOptional) {
  Evidence whole = evidence_of("    def f():\n        pass\n");
  EXPECT_EQ(whole.source, "source-v1:" + sha256_hex("    def f():\n        pass\n"));
  EXPECT_EQ(whole.ast,
            "ast-v1:" + sha256_hex("Module(body=[FunctionDef(name='f',args=arguments(),body=[Pass()])])"));
  // A line of a string at the left margin keeps the rest indented.
  EXPECT_EQ(evidence_of("    def f():\n        '''a\nb'''\n").ast, std::nullopt);
  EXPECT_EQ(evidence_of("\xef\xbb\xbfx = 1\n").ast, std::nullopt);
  // A str needs no cookie and obeys none.
  EXPECT_NE(evidence_of("# coding: no-such-codec\nx = '\xc3\xa9'\n").ast, std::nullopt);
}

}  // namespace
}  // namespace graft::python
