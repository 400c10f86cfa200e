#include "python/definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace graft::python {
namespace {

using testing::ElementsAre;

ParsedModule parsed(const std::string& source) {
  Result<ParsedModule> module = parse_text(source, "input.py");
  EXPECT_TRUE(module.ok()) << source;
  return *std::move(module);
}

std::vector<std::string> names(const std::string& source) {
  ParsedModule module = parsed(source);
  std::vector<std::string> found;
  for (const Definition& definition : all_definitions(*module.module)) found.push_back(definition.qualname);
  return found;
}

// The line of the definition found, negative where it is ambiguous; 0 where there is none.
int line_of(const std::string& source, const std::string& qualname, Profile profile = Profile::kDefault) {
  ParsedModule module = parsed(source);
  Result<Target> target = find_target(module, qualname, profile);
  if (!target.ok()) return 0;
  int line = static_cast<int>(module.source.line_of(target->node->begin));
  return target->ambiguous ? -line : line;
}

TEST(Definition, QualifiedNamesInTextOrder) {
  EXPECT_THAT(
      names("class A:\n"
            "    def f(self):\n"
            "        def g(): pass\n"
            "        class B:\n"
            "            def h(self): pass\n"
            "    class C: pass\n"
            "if x:\n"
            "    async def d(): pass\n"
            "elif y:\n"
            "    def e(): pass\n"),
      ElementsAre("A", "A.f", "A.f.<locals>.g", "A.f.<locals>.B", "A.f.<locals>.B.h", "A.C", "d", "e"));
}

TEST(Definition, InEveryKindOfBlock) {
  EXPECT_THAT(names("for a in b:\n def f1(): pass\nelse:\n def f2(): pass\n"
                    "while a:\n def f3(): pass\nelse:\n def f4(): pass\n"
                    "with a:\n def f5(): pass\n"
                    "try:\n def f6(): pass\nexcept A:\n def f7(): pass\nelse:\n def f8(): pass\n"
                    "finally:\n def f9(): pass\n"
                    "match a:\n case 1:\n  def f10(): pass\n case _:\n  def f11(): pass\n"),
              ElementsAre("f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11"));
}

TEST(Definition, ALongElifChain) {
  std::string source = "if a: pass\n";
  for (int i = 0; i < 50000; ++i) source += "elif a: pass\n";
  source += "else:\n def f(): pass\n";
  EXPECT_THAT(names(source), ElementsAre("f"));
}

TEST(Definition, TheLastBindingWins) {
  EXPECT_EQ(line_of("def f(): pass\ndef f(): pass\n", "f"), 2);
  EXPECT_EQ(line_of("class A:\n def f(self): pass\nclass A:\n def f(self): pass\n", "A.f"), 4);
  EXPECT_EQ(line_of("class A:\n def f(self): pass\nclass A:\n def g(self): pass\n", "A.f"), 0);
  EXPECT_EQ(line_of("def f(): pass\nf = 3\n", "f"), 0);
  EXPECT_EQ(line_of("def f(): pass\nfrom a import f\n", "f"), 0);
  EXPECT_EQ(line_of("def f(): pass\ndel f\n", "f"), 0);
}

TEST(Definition, AConditionMakesItAmbiguous) {
  EXPECT_EQ(line_of("if a:\n def f(): pass\n", "f"), 2);
  EXPECT_EQ(line_of("if a:\n def f(): pass\nelse:\n def f(): pass\n", "f"), -4);
  EXPECT_EQ(line_of("try:\n from a import f\nexcept ImportError:\n def f(): pass\n", "f"), -4);
  EXPECT_EQ(line_of("if a:\n def f(): pass\ndef f(): pass\n", "f"), 3);
}

TEST(Definition, ClassesAsInspectFindsThem) {
  std::string twice = "class A:\n x = 1\nclass A:\n x = 2\n";
  EXPECT_EQ(line_of(twice, "A"), -1);
  EXPECT_EQ(line_of(twice, "A", Profile::kPython312), -1);
  EXPECT_EQ(line_of(twice, "A", Profile::kPython313), 3);
  // 3.8 looks for the text: here it takes the one at the top of the file.
  std::string nested = "def f():\n    class A: pass\nclass A: pass\n";
  EXPECT_EQ(line_of(nested, "f.<locals>.A", Profile::kPython38), 3);
  EXPECT_EQ(line_of(nested, "f.<locals>.A", Profile::kPython39), 2);
}

TEST(Definition, LocalsBasesAndAliases) {
  std::string source =
      "class Base:\n"
      "    def f(self): pass\n"
      "class Middle(Base): pass\n"
      "class A(Unknown, Middle):\n"
      "    g = Base.f\n"
      "    h = lambda self: 0\n"
      "def outer():\n"
      "    def inner(): pass\n"
      "alias = outer\n"
      "class Loop(Loop): pass\n"
      "x = y\n"
      "y = x\n";
  EXPECT_EQ(line_of(source, "A.f"), 2);
  EXPECT_EQ(line_of(source, "A.g"), 2);
  EXPECT_EQ(line_of(source, "A.h"), 6);
  EXPECT_EQ(line_of(source, "outer.<locals>.inner"), 8);
  EXPECT_EQ(line_of(source, "alias"), 7);
  EXPECT_EQ(line_of(source, "Loop.f"), 0);
  EXPECT_EQ(line_of(source, "x"), 0);
  EXPECT_EQ(line_of(source, "outer.inner"), 0);
  EXPECT_EQ(line_of(source, "A.<locals>.f"), 0);
  EXPECT_EQ(line_of(source, "outer.<locals>"), 0);
  EXPECT_EQ(line_of(source, ""), 0);
  EXPECT_EQ(line_of(source, "A..f"), 0);
}

TEST(Definition, Properties) {
  ParsedModule module = parsed(
      "def _get(self): pass\n"
      "class A:\n"
      "    @property\n"
      "    def p(self): pass\n"
      "    @p.setter\n"
      "    def p(self, value): pass\n"
      "    q = property(_get, None, lambda self: 0)\n"
      "    r = property(fset=_get)\n"
      "    @property\n"
      "    def s(self): pass\n"
      "    def s(self): pass\n");
  auto line = [&](const Node* node) { return node == nullptr ? 0u : module.source.line_of(node->begin); };
  Result<Target> p = find_target(module, "A.p");
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p->kind, Target::Kind::kProperty);
  EXPECT_EQ(line(p->getter), 4u);
  EXPECT_EQ(line(p->setter), 6u);
  EXPECT_EQ(p->deleter, nullptr);
  Result<Target> q = find_target(module, "A.q");
  ASSERT_TRUE(q.ok());
  EXPECT_EQ(line(q->getter), 1u);
  EXPECT_EQ(q->setter, nullptr);
  EXPECT_EQ(line(q->deleter), 7u);
  Result<Target> r = find_target(module, "A.r");
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(line(r->setter), 1u);
  EXPECT_EQ(r->getter, nullptr);
  Result<Target> s = find_target(module, "A.s");
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->kind, Target::Kind::kFunction);
}

TEST(Definition, TheErrorNamesTheMissingPart) {
  ParsedModule module = parsed("class A:\n    def f(self): pass\n");
  Result<Target> target = find_target(module, "A.g");
  ASSERT_FALSE(target.ok());
  EXPECT_THAT(target.error().to_string(), testing::HasSubstr("'g' of 'A.g'"));
  EXPECT_EQ(target.error().place.file, "input.py");
}

}  // namespace
}  // namespace graft::python
