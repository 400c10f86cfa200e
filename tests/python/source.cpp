#include "python/source.h"

#include <gtest/gtest.h>

#include "python/canonical.h"
#include "python/parser.h"

namespace graft::python {
namespace {

std::string text_of(std::string bytes) {
  Result<SourceText> source = SourceText::from_bytes(std::move(bytes));
  return source.ok() ? std::string(source->text()) : "error: " + source.error().message;
}

TEST(Source, OneTextInManyForms) {
  const std::string text = "def area(w, h):\n    return w * h  # m\xC2\xB2\n";
  EXPECT_EQ(text_of(text), text);
  EXPECT_EQ(text_of("\xEF\xBB\xBF" + text), text);
  EXPECT_EQ(text_of("def area(w, h):\r\n    return w * h  # m\xC2\xB2\r\n"), text);
  EXPECT_EQ(text_of("def area(w, h):\r    return w * h  # m\xC2\xB2\r"), text);
  EXPECT_EQ(text_of("a\r\r\nb\n\rc\r"), "a\n\nb\n\nc\n");
  const std::string cookie = "# -*- coding: latin-1 -*-\n";
  EXPECT_EQ(text_of(cookie + "x = '\xB2'\n"), cookie + "x = '\xC2\xB2'\n");
}

TEST(Source, CookiesNameCodecs) {
  struct Case {
    const char* cookie;
    const char* byte;
    const char* character;
    const char* codec;
  };
  const Case cases[] = {
      {"# coding: latin-1", "\xE9", "é", "iso8859-1"},
      {"#coding=ISO_8859-1-unix", "\xE9", "é", "iso8859-1"},
      {"# vim: set fileencoding=cp1252 :", "\x80", "€", "cp1252"},
      {"# coding: Windows-1252", "\x80", "€", "cp1252"},
      {"#!/usr/bin/python\n# coding: iso8859-15", "\xA4", "€", "iso8859-15"},
      {"\f # coding: latin9", "\xA4", "€", "iso8859-15"},
      {"# coding: koi8-r", "\xC1", "а", "koi8-r"},
      {"# coding: utf8", "é", "é", "utf-8"},
      {"# coding: UTF-8-unix", "é", "é", "utf-8"},
      {"# coding: mac-roman", "\x8E", "é", "mac-roman"},
  };
  for (const Case& one : cases) {
    std::string head = std::string(one.cookie) + "\nx = '";
    Result<SourceText> source = SourceText::from_bytes(head + one.byte + "'\n");
    ASSERT_TRUE(source.ok()) << one.cookie << ": " << source.error().message;
    EXPECT_EQ(source->text(), head + one.character + "'\n") << one.cookie;
    EXPECT_EQ(source->encoding(), one.codec) << one.cookie;
  }
}

TEST(Source, CookiesThatAreNone) {
  // Behind code, in the third line, without ':' or '='.
  EXPECT_EQ(text_of("x = 1  # coding: nonsense\n"), "x = 1  # coding: nonsense\n");
  EXPECT_EQ(text_of("\n\n# coding: nonsense\n"), "\n\n# coding: nonsense\n");
  EXPECT_EQ(text_of("pass\n# coding: nonsense\n"), "pass\n# coding: nonsense\n");
  EXPECT_EQ(text_of("# coding nonsense\n"), "# coding nonsense\n");
}

TEST(Source, Refusals) {
  Result<SourceText> unknown = SourceText::from_bytes("\n# coding: uft-8\n", "a.py");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().to_string().rfind("a.py:2: unknown encoding: uft-8", 0), 0u);

  Result<SourceText> bad = SourceText::from_bytes("x = 1\ny = '\xFF'\n", "a.py");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().place.line, 2);
  EXPECT_EQ(bad.error().place.column, 6);
  EXPECT_NE(bad.error().message.find("utf-8"), std::string::npos);

  for (const char* bytes : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"})
    EXPECT_FALSE(SourceText::from_bytes(std::string("#") + bytes).ok());
  EXPECT_FALSE(SourceText::from_bytes(std::string("x\0y", 3)).ok());
  EXPECT_FALSE(SourceText::from_bytes("\xEF\xBB\xBF# coding: latin-1\n").ok());
  EXPECT_FALSE(SourceText::from_bytes("# coding: ascii\nx = '\xE9'\n").ok());
  EXPECT_FALSE(SourceText::from_bytes("# coding: cp1252\nx = '\x81'\n").ok());
  EXPECT_FALSE(SourceText::from_bytes("# coding: latin.-1\n").ok());
  EXPECT_FALSE(SourceText::load("/nonexistent/a.py").ok());
}

TEST(Source, Lines) {
  Result<SourceText> source = SourceText::from_bytes("a\nbb\n\nü x");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->line_count(), 4u);
  EXPECT_EQ(source->line_text(1), "a");
  EXPECT_EQ(source->line_text(3), "");
  EXPECT_EQ(source->line_text(4), "ü x");
  EXPECT_EQ(source->line_of(0), 1u);
  EXPECT_EQ(source->line_of(1), 1u);
  EXPECT_EQ(source->line_of(2), 2u);
  EXPECT_EQ(source->line_of(source->size()), 4u);
  EXPECT_EQ(source->line_begin(5), source->size());
  EXPECT_EQ(source->place(9).column, 3);  // the code point after "ü "
  EXPECT_EQ(SourceText::from_bytes("")->line_count(), 0u);
  EXPECT_EQ(SourceText::from_bytes("a\n")->line_count(), 1u);
}

TEST(Source, StaysValidWhenMoved) {
  Result<SourceText> source = SourceText::from_bytes("x");
  ASSERT_TRUE(source.ok());
  std::string_view before = source->text();
  SourceText moved = std::move(*source);
  EXPECT_EQ(moved.text().data(), before.data());
}

// Long lines and blocks of 64 bytes take the vector path; the same answers are wanted on both sides of its
// seams.
TEST(Source, LineTableAtEveryAlignment) {
  for (size_t length = 0; length < 200; ++length) {
    std::string text(length, 'x');
    text += "\ny\n";
    Result<SourceText> source = SourceText::from_bytes(text);
    ASSERT_TRUE(source.ok());
    ASSERT_EQ(source->line_count(), 2u) << length;
    ASSERT_EQ(source->line_begin(2), length + 1);
    std::string with_nul = text;
    with_nul[length] = '\0';
    ASSERT_FALSE(SourceText::from_bytes(with_nul).ok()) << length;
  }
}

}  // namespace
}  // namespace graft::python
