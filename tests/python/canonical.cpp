#include "python/canonical.h"

#include <gtest/gtest.h>

#include <string>

namespace graft::python {
namespace {

std::string canonical(const std::string& source, Profile profile = Profile::kDefault) {
  ParseOptions options;
  options.profile = profile;
  Result<ParsedModule> module = parse_text(source, {}, options);
  if (!module.ok()) return module.error().to_string();
  Result<std::string> text = canonical_text(*module->module, profile);
  return text.ok() ? *text : text.error().to_string();
}

// The value of the only expression.
std::string expression(const std::string& source, Profile profile = Profile::kDefault) {
  std::string text = canonical(source, profile);
  std::string head = "Module(body=[Expr(value=";
  if (!text.starts_with(head)) return text;
  return text.substr(head.size(), text.size() - head.size() - 3);
}

TEST(Canonical, AFunction) {
  EXPECT_EQ(
      canonical("def plain(x):\n    return x + 1\n"),
      "Module(body=[FunctionDef(name='plain',args=arguments(args=[arg(arg='x')]),body=[Return(value=BinOp("
      "left=Name(id='x',ctx=Load()),op=Add(),right=Constant(value=1)))])])");
}

TEST(Canonical, AnEmptyModule) {
  EXPECT_EQ(canonical(""), "Module()");
}

TEST(Canonical, NoneIsLeftOutButAsAnElement) {
  EXPECT_EQ(expression("None"), "Constant()");
  EXPECT_EQ(expression("{**a}"), "Dict(keys=[None],values=[Name(id='a',ctx=Load())])");
  EXPECT_EQ(expression("lambda *, a, b=None: 0"),
            "Lambda(args=arguments(kwonlyargs=[arg(arg='a'),arg(arg='b')],kw_defaults=[None,Constant()]),"
            "body=Constant(value=0))");
}

TEST(Canonical, ZeroAndFalseAreKept) {
  EXPECT_EQ(canonical("from a import b"),
            "Module(body=[ImportFrom(module='a',names=[alias(name='b')],level=0)])");
  EXPECT_EQ(expression("False"), "Constant(value=False)");
}

TEST(Canonical, OnlyTheFirstPrefixMakesTheKind) {
  EXPECT_EQ(expression("u'a' 'b'"), "Constant(value='ab',kind='u')");
  EXPECT_EQ(expression("'a' u'b'"), "Constant(value='ab')");
}

TEST(Canonical, SubscriptsOf38) {
  EXPECT_EQ(expression("a[0]", Profile::kPython38),
            "Subscript(value=Name(id='a',ctx=Load()),slice=Index(value=Constant(value=0)),ctx=Load())");
  EXPECT_EQ(
      expression("a[0, 1:2]", Profile::kPython38),
      "Subscript(value=Name(id='a',ctx=Load()),slice=ExtSlice(dims=[Index(value=Constant(value=0)),Slice("
      "lower=Constant(value=1),upper=Constant(value=2))]),ctx=Load())");
  EXPECT_EQ(
      expression("a[b[0]]", Profile::kPython38),
      "Subscript(value=Name(id='a',ctx=Load()),slice=Index(value=Subscript(value=Name(id='b',ctx=Load()),"
      "slice=Index(value=Constant(value=0)),ctx=Load())),ctx=Load())");
  EXPECT_EQ(expression("a[0]"),
            "Subscript(value=Name(id='a',ctx=Load()),slice=Constant(value=0),ctx=Load())");
}

TEST(Canonical, FormatSpecificationsOf312) {
  std::string plain =
      "JoinedStr(values=[FormattedValue(value=Name(id='x',ctx=Load()),conversion=-1,format_spec=JoinedStr("
      "values=["
      "FormattedValue(value=Name(id='y',ctx=Load()),conversion=-1)";
  EXPECT_EQ(expression("f'{x:{y}}'", Profile::kPython312), plain + ",Constant(value='')]))])");
  EXPECT_EQ(expression("f'{x:{y}}'", Profile::kPython313), plain + "]))])");
}

TEST(Canonical, DeepTreesNeedNoStack) {
  std::string chain = "a";
  for (int i = 0; i < 200000; ++i) chain += "+a";
  std::string text = expression(chain);
  EXPECT_EQ(text.size(), 200001 * std::string("Name(id='a',ctx=Load())").size() +
                             200000 * std::string("BinOp(left=,op=Add(),right=)").size());
  std::string branches = "if a: b\n";
  for (int i = 0; i < 50000; ++i) branches += "elif a: b\n";
  EXPECT_TRUE(
      canonical(branches).ends_with("orelse=[If(test=Name(id='a',ctx=Load()),body=[Expr(value=Name(id='b',"
                                    "ctx=Load()))]" +
                                    ([] {
                                      std::string close;
                                      for (int i = 0; i < 50000; ++i) close += ")]";
                                      return close;
                                    })() +
                                    ")])"));
}

TEST(Canonical, PiecesMakeUpTheText) {
  struct Sink : TextSink {
    void write(std::string_view piece) override {
      text += piece;
      ++pieces;
    }
    std::string text;
    int pieces = 0;
  };
  std::string source;
  for (int i = 0; i < 20000; ++i) source += "x" + std::to_string(i) + " = [1, 2.5, 'three']\n";
  Result<ParsedModule> module = parse_text(source);
  ASSERT_TRUE(module.ok());
  Sink sink;
  ASSERT_TRUE(write_canonical(*module->module, Profile::kDefault, sink).ok());
  EXPECT_GT(sink.pieces, 10);
  EXPECT_EQ(sink.text, canonical(source));
}

TEST(Canonical, AnIntTooLongToPrintIsAnError) {
  Result<ParsedModule> module = parse_text("x = 0x" + std::string(4000, 'f'));
  ASSERT_TRUE(module.ok());
  EXPECT_FALSE(canonical_text(*module->module).ok());
  EXPECT_FALSE(ast_hash(*module->module).ok());
}

TEST(Canonical, Hash) {
  Result<ParsedModule> module = parse_text("");
  ASSERT_TRUE(module.ok());
  // SHA-256 of "Module()".
  EXPECT_EQ(*ast_hash(*module->module),
            "ast-v1:ad2e13b69c4fc1fda46413f740f426fc1793cfc6d6da8d226ba619f1aef48be7");
}

}  // namespace
}  // namespace graft::python
