#include "python/visitor.h"

#include <gtest/gtest.h>

#include "python/parser.h"

namespace graft::python {
namespace {

ParsedModule parse(const char* text) {
  Result<ParsedModule> parsed = parse_text(text);
  EXPECT_TRUE(parsed.ok());
  return std::move(*parsed);
}

std::string name_of(const Node& node) {
  if (const auto* name = node_cast<Name>(&node)) return std::string(name->id);
  return std::string(class_name(node.kind));
}

TEST(Visitor, ChildrenComeInFieldOrder) {
  ParsedModule parsed = parse("x = {a: b, **c}\n");
  std::string seen;
  walk(*parsed.module, [&](const Node& node) { seen += name_of(node) + " "; });
  // Dict: all keys (the one of ** is null and left out), then all values.
  EXPECT_EQ(seen, "Module Assign x Dict a b c ");
  const auto* assign = as<Assign>(parsed.module->body[0]);
  const auto* dict = as<Dict>(assign->value);
  ASSERT_EQ(dict->keys.size(), 2u);
  EXPECT_EQ(dict->keys[1], nullptr);
}

TEST(Visitor, SkipsAndStops) {
  ParsedModule parsed = parse("f(a)\ndef g(): b\nc\n");
  std::string seen;
  bool finished = walk(*parsed.module, [&](const Node& node) {
    seen += name_of(node) + " ";
    return node.kind == NodeKind::kFunctionDef ? Visit::kSkipChildren : Visit::kContinue;
  });
  EXPECT_TRUE(finished);
  EXPECT_EQ(seen, "Module Expr Call f a FunctionDef Expr c ");
  size_t visited = 0;
  EXPECT_FALSE(
      walk(*parsed.module, [&](const Node&) { return ++visited == 3 ? Visit::kStop : Visit::kContinue; }));
  EXPECT_EQ(visited, 3u);
}

TEST(Visitor, LeavesAfterTheLastChild) {
  ParsedModule parsed = parse("a + b\n");
  std::string seen;
  walk(
      *parsed.module,
      [&](const Node& node) {
        seen += "<" + name_of(node);
        return Visit::kContinue;
      },
      [&](const Node& node) { seen += name_of(node) + ">"; });
  EXPECT_EQ(seen, "<Module<Expr<BinOp<aa><bb>BinOp>Expr>Module>");
}

TEST(Visitor, CastsTellGroupsApart) {
  ParsedModule parsed = parse("async def f(): pass\nmatch x:\n case [_]: pass\n");
  const Node* first = parsed.module->body[0];
  EXPECT_NE(node_cast<FunctionBase>(first), nullptr);
  EXPECT_EQ(node_cast<FunctionDef>(first), nullptr);
  EXPECT_NE(node_cast<Stmt>(first), nullptr);
  EXPECT_EQ(node_cast<Expr>(first), nullptr);
  const auto* match = node_cast<Match>(parsed.module->body[1]);
  ASSERT_NE(match, nullptr);
  EXPECT_NE(node_cast<Pattern>(static_cast<const Node*>(match->cases[0]->pattern)), nullptr);
  EXPECT_EQ(node_cast<Name>(nullptr), nullptr);
}

TEST(Visitor, DepthIsTheLongestPath) {
  EXPECT_EQ(tree_depth(*parse("").module), 1u);
  EXPECT_EQ(tree_depth(*parse("a\n").module), 3u);
  EXPECT_EQ(tree_depth(*parse("a + b + c\n").module), 5u);
}

TEST(Visitor, CommentsStayOutsideTheTree) {
  ParsedModule parsed = parse("# one\nx = (1,  # two\n     2)\n\n# '#'\ny = '# none'\n");
  std::vector<std::string> comments;
  for (const TextRange& range : parsed.comments)
    comments.emplace_back(parsed.source.text().substr(range.begin, range.end - range.begin));
  EXPECT_EQ(comments, (std::vector<std::string>{"# one", "# two", "# '#'"}));
}

}  // namespace
}  // namespace graft::python
