// Syntax errors: what is refused is recorded from CPython in forms.cpp; here are places, expectations,
// recovery.
#include <gtest/gtest.h>

#include "python/parser.h"

namespace graft::python {
namespace {

std::vector<Error> errors_of(std::string text, ParseOptions options = {}) {
  Result<SourceText> source = SourceText::from_bytes(std::move(text), "m.py");
  if (!source.ok()) return {source.error()};
  ParsedModule parsed = parse_module(std::move(*source), options);
  EXPECT_NE(parsed.module, nullptr);
  return parsed.errors;
}

struct Case {
  const char* text;
  int line;
  int column;
  const char* message;   // a part of the message
  const char* expected;  // a part of what was expected
};

class OneError : public testing::TestWithParam<Case> {};

TEST_P(OneError, HasPlaceAndExpectation) {
  const Case& one = GetParam();
  std::vector<Error> errors = errors_of(one.text);
  ASSERT_FALSE(errors.empty()) << one.text;
  const Error& error = errors.front();
  EXPECT_EQ(error.place.file, "m.py");
  EXPECT_EQ(error.place.line, one.line) << one.text << "\n" << error.to_string();
  EXPECT_EQ(error.place.column, one.column) << one.text << "\n" << error.to_string();
  EXPECT_NE(error.message.find(one.message), std::string::npos) << one.text << "\n" << error.to_string();
  EXPECT_NE(error.expected.find(one.expected), std::string::npos) << one.text << "\n" << error.to_string();
}

INSTANTIATE_TEST_SUITE_P(
    Tokens, OneError,
    testing::Values(
        Case{"x = $\n", 1, 5, "invalid character '$'", ""}, Case{"x = a€\n", 1, 6, "'€' (U+20AC)", "name"},
        Case{"x = 'abc\n", 1, 5, "unterminated string literal", "quote"},
        Case{"x = '''abc\n", 1, 5, "unterminated triple-quoted", "quotes"},
        Case{"x = f'{a'\n", 1, 9, "expecting '}'", "'}'"}, Case{"x = f'a}'\n", 1, 8, "single '}'", "'}}'"},
        Case{"x = 012\n", 1, 5, "leading zeros", "0o"},
        Case{"x = 1__0\n", 1, 7, "invalid decimal literal", "digit"},
        Case{"x = 0b102\n", 1, 9, "invalid digit '2' in binary", ""},
        Case{"x = 1abc\n", 1, 6, "invalid decimal literal", "end of the number"},
        Case{"x = 0xg\n", 1, 7, "invalid hexadecimal literal", "digit"},
        Case{"x = \\ y\n", 1, 6, "after line continuation", "end of the line"},
        Case{"x = \\\n", 2, 1, "unexpected end of file", "another line"},
        Case{"x = (1,\ny = 2\n", 1, 5, "'(' was never closed", "bracket"},
        Case{"x = (1]\n", 1, 7, "']' does not match opening parenthesis '('", "')'"},
        Case{"x = (1,\n2]\n", 2, 2, "on line 1", "')'"}, Case{"x = 1)\n", 1, 6, "unmatched ')'", ""},
        Case{"x = '\\x4'\n", 1, 6, "truncated \\xXX escape", "escape"},
        Case{"x = '\\N{NO SUCH}'\n", 1, 6, "unknown Unicode character name", ""},
        Case{"x = b'é'\n", 1, 5, "bytes can only contain ASCII", "escape"},
        Case{"x = b'a' 'b'\n", 1, 10, "cannot mix bytes and nonbytes", ""}));

INSTANTIATE_TEST_SUITE_P(
    Indentation, OneError,
    testing::Values(Case{"if x:\npass\n", 2, 1, "expected an indented block after 'if' statement on line 1",
                         "indentation"},
                    Case{"x\n  y\n", 2, 3, "unexpected indent", "indentation"},
                    Case{"if x:\n    y\n  z\n", 3, 3, "unindent does not match", "enclosing block"},
                    Case{"if x:\n\ty\n        z\n", 3, 1, "inconsistent use of tabs", "lines above"},
                    Case{"class A:\n", 2, 1, "after class definition on line 1", ""},
                    Case{"def f():\n# only a comment\n", 3, 1, "after function definition on line 1", ""},
                    Case{"match x:\n    y\n", 2, 5, "invalid syntax", "'case'"}));

INSTANTIATE_TEST_SUITE_P(
    Statements, OneError,
    testing::Values(Case{"print 'x'\n", 1, 1, "Missing parentheses in call to 'print'", "'('"},
                    Case{"f() = 1\n", 1, 1, "cannot assign to function call", "a name"},
                    Case{"x, 1 = y\n", 1, 4, "cannot assign to literal", ""},
                    Case{"[a, b + c] = y\n", 1, 5, "cannot assign to expression", ""},
                    Case{"None = 1\n", 1, 1, "cannot assign to None", ""},
                    Case{"f'{x}' = 1\n", 1, 1, "cannot assign to f-string", ""},
                    Case{"for f() in y: pass\n", 1, 5, "cannot assign to function call", ""},
                    Case{"with a as f(): pass\n", 1, 11, "cannot assign to function call", ""},
                    Case{"del f()\n", 1, 5, "cannot delete function call", ""},
                    Case{"(a, b) += 1\n", 1, 1, "illegal target for augmented", "a name"},
                    Case{"(a, b): int\n", 1, 1, "not tuple", "a name"},
                    Case{"x y\n", 1, 3, "invalid syntax", "end of the statement"},
                    Case{"from a import\n", 1, 14, "invalid syntax", "a name"},
                    Case{"from a import b,\n", 1, 16, "trailing comma", "another name"},
                    Case{"import a.\n", 1, 10, "invalid syntax", "a module name"},
                    Case{"try:\n    x\ny\n", 3, 1, "invalid syntax", "'except' or 'finally'"},
                    Case{"try: x\nexcept a, b: y\n", 2, 8, "must be parenthesized", ""},
                    Case{"def f(a=1, b): pass\n", 1, 12, "non-default argument", "default"},
                    Case{"def f(*): pass\n", 1, 8, "invalid syntax", "a parameter name"},
                    Case{"def f(**k, a): pass\n", 1, 12, "cannot follow var-keyword", ""},
                    Case{"def f(a b): pass\n", 1, 9, "invalid syntax", "',' or ')'"},
                    Case{"if x\n    y\n", 1, 5, "invalid syntax", "':'"},
                    Case{"@d\nx = 1\n", 2, 1, "invalid syntax", "'def'"},
                    Case{"async x\n", 1, 7, "invalid syntax", "'def', 'for' or 'with'"},
                    Case{"match x:\n    case _ as _: pass\n", 2, 15, "cannot use '_'", ""},
                    Case{"match x:\n    case {**r, 1: a}: pass\n", 2, 16, "invalid syntax", "'}'"}));

INSTANTIATE_TEST_SUITE_P(
    Expressions, OneError,
    testing::Values(Case{"x = 1 +\n", 1, 8, "invalid syntax", "an expression"},
                    Case{"x = a if b\n", 1, 11, "invalid syntax", "'else'"},
                    Case{"f(a for a in b, c)\n", 1, 3, "Generator expression must be parenthesized", ""},
                    Case{"f(a=1, b)\n", 1, 8, "positional argument follows keyword argument", ""},
                    Case{"f(**a, *b)\n", 1, 8, "iterable argument unpacking follows", ""},
                    Case{"f(a.b=1)\n", 1, 3, "expression cannot contain assignment", ""},
                    Case{"f(a b)\n", 1, 5, "invalid syntax", "',' or ')'"},
                    Case{"(*a)\n", 1, 2, "cannot use starred expression here", "a comma"},
                    Case{"[*a for a in b]\n", 1, 2, "iterable unpacking", ""},
                    Case{"{**a for a in b}\n", 1, 6, "dict unpacking", ""},
                    Case{"{a: 1, b}\n", 1, 9, "invalid syntax", "':'"},
                    Case{"a.1\n", 1, 2, "invalid syntax", ""},
                    Case{"(a.b := 1)\n", 1, 6, "assignment expressions", "a name"},
                    Case{"a + not b\n", 1, 5, "invalid syntax", "parentheses"},
                    Case{"[x for x y]\n", 1, 10, "invalid syntax", "'in'"},
                    Case{"f'{a!x}'\n", 1, 6, "invalid conversion character 'x'", "'s', 'r' or 'a'"},
                    Case{"f'{}'\n", 1, 4, "valid expression required", "an expression"},
                    Case{"x = <Mode.FAST: 1>\n", 1, 5, "invalid syntax", "an expression"}));

TEST(ParserErrors, SeveralAFile) {
  std::vector<Error> errors = errors_of(
      "x = = 1\n"
      "def f(a b):\n"
      "    return 1 +\n"
      "    y = )\n"
      "class A\n"
      "    z = 3\n"
      "ok = 1\n"
      "w = $\n");
  std::vector<int> lines;
  for (const Error& error : errors) lines.push_back(error.place.line);
  EXPECT_EQ(lines, (std::vector<int>{1, 2, 3, 4, 5, 8}));
}

TEST(ParserErrors, AnOpenBracketDoesNotHideTheRest) {
  std::vector<Error> errors = errors_of("x = f(\n    a,\n    b\ny = 1\nz = $\n");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].place.line, 4);
  EXPECT_EQ(errors[1].place.line, 5);
}

TEST(ParserErrors, KeepsWhatItCouldRead) {
  Result<SourceText> source = SourceText::from_bytes("a = 1\nb = = 2\nc = 3\nif d:\n    e = $\n    f = 4\n");
  ParsedModule parsed = parse_module(std::move(*source));
  EXPECT_EQ(parsed.errors.size(), 2u);
  ASSERT_EQ(parsed.module->body.size(), 3u);
  const auto* last = node_cast<If>(parsed.module->body[2]);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->body.size(), 1u);
}

TEST(ParserErrors, StopAfterTheLimit) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "x = =\n";
  EXPECT_EQ(errors_of(text).size(), 20u);
  ParseOptions options;
  options.max_errors = 3;
  EXPECT_EQ(errors_of(text, options).size(), 3u);
  EXPECT_EQ(
      errors_of("if a:\n" + std::string("    x = =\n    y = =\n    z = =\n    w = =\n"), options).size(), 3u);
}

TEST(ParserErrors, VersionsAreNamed) {
  ParseOptions options;
  options.profile = Profile::kPython38;
  std::vector<Error> errors = errors_of("match x:\n    case 1: pass\n", options);
  ASSERT_FALSE(errors.empty());
  EXPECT_NE(errors[0].message.find("3.10"), std::string::npos);
  options.profile = Profile::kPython311;
  errors = errors_of("type X = int\n", options);
  ASSERT_FALSE(errors.empty());
  EXPECT_NE(errors[0].message.find("3.12"), std::string::npos);
}

TEST(ParserErrors, ParseTextGivesTheFirst) {
  Result<ParsedModule> parsed = parse_text("x = 1\ny = = 2\nz = $\n", "m.py");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().place.line, 2);
  EXPECT_EQ(parsed.error().kind, ErrorKind::kInput);
}

TEST(ParserErrors, NotAnErrorOfTheParser) {
  // CPython leaves these to its compiler.
  for (const char* text :
       {"return\n", "break\n", "yield x\n", "await x\n", "def f(a, a): pass\n", "f(a=1, a=2)\n", "*a = b\n",
        "nonlocal x\n", "from __future__ import nonsense\n", "x = '\\d'\n", "del ()\n", "a: int = yield\n"})
    EXPECT_TRUE(errors_of(text).empty()) << text;
}

}  // namespace
}  // namespace graft::python
