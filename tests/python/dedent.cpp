#include "python/dedent.h"

#include <gtest/gtest.h>

namespace graft::python {
namespace {

TEST(Dedent, CutsTheCommonMargin) {
  EXPECT_EQ(dedent("    def f():\n        return 1\n"), "def f():\n    return 1\n");
}

TEST(Dedent, EmptiesLinesOfBlanks) {
  EXPECT_EQ(dedent("  a\n \t \n  b\n   "), "a\n\nb\n");
}

TEST(Dedent, MixedTabsAndSpacesShareOnlyTheirPrefix) {
  EXPECT_EQ(dedent("  \ta\n  b\n"), "\ta\nb\n");
  EXPECT_EQ(dedent("\ta\n  b\n"), "\ta\n  b\n");
}

TEST(Dedent, AFormFeedIsContentWithoutMargin) {
  EXPECT_EQ(dedent("  a\n\f\n  b\n"), "  a\n\f\n  b\n");
}

TEST(Dedent, ALineInsideAStringTakesPart) {
  EXPECT_EQ(dedent("    x = '''\nlow'''\n"), "    x = '''\nlow'''\n");
}

TEST(Dedent, CarriageReturnsAreContent) {
  EXPECT_EQ(dedent("  a\r\n  \r\n"), "a\r\n\r\n");
}

TEST(Dedent, Empty) {
  EXPECT_EQ(dedent(""), "");
}

}  // namespace
}  // namespace graft::python
