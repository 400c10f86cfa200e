#include "python/unicode.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace graft::python {
namespace {

// FNV-1a over a sequence of answers, as the Python lines below compute it.
struct Digest {
  uint64_t value = 0xCBF29CE484222325U;
  void add(unsigned char byte) { value = (value ^ byte) * 0x100000001B3U; }
  void add(std::string_view text) {
    for (char c : text) add(static_cast<unsigned char>(c));
  }
};

bool scalar(uint32_t code) {
  return code < 0xD800 || code > 0xDFFF;
}

std::string utf8(uint32_t code) {
  std::string text;
  append_utf8(text, code);
  return text;
}

// CPython 3.11:
//   h = 0xcbf29ce484222325
//   for c in range(0x110000):
//     if not 0xd800 <= c <= 0xdfff:
//       h = ((h ^ (chr(c).isidentifier() + 2 * ("a" + chr(c)).isidentifier())) * 0x100000001b3) % 2**64
TEST(Unicode, IdentifierCharactersAreThoseOfCPython311) {
  Digest digest;
  for (uint32_t code = 0; code < 0x110000; ++code)
    if (scalar(code))
      digest.add(static_cast<unsigned char>((is_identifier_start(code) ? 1 : 0) +
                                            (is_identifier_continue(code) ? 2 : 0)));
  EXPECT_EQ(digest.value, 0xC2B3926FE8823560U);
}

// CPython 3.11: the same digest over unicodedata.normalize("NFKC", t).encode() with t = "a" + c, c +
// chr(0x301), chr(0x1100) + c and c + chr(0x11a8) for each c that may continue an identifier.
TEST(Unicode, NormalFormIsThatOfCPython311) {
  Digest digest;
  for (uint32_t code = 0x80; code < 0x110000; ++code) {
    if (!scalar(code) || !is_identifier_continue(code)) continue;
    digest.add(normalize_identifier("a" + utf8(code)));
    digest.add(normalize_identifier(utf8(code) + utf8(0x301)));
    digest.add(normalize_identifier(utf8(0x1100) + utf8(code)));
    digest.add(normalize_identifier(utf8(code) + utf8(0x11A8)));
  }
  EXPECT_EQ(digest.value, 0x385BD4341EE18748U);
}

TEST(Unicode, NormalFormSortsAndComposesMarks) {
  EXPECT_EQ(normalize_identifier("ﬁ"), "fi");
  EXPECT_EQ(normalize_identifier("𝐝𝐞𝐟"), "def");
  EXPECT_EQ(normalize_identifier("e\u0301"), "é");
  EXPECT_EQ(normalize_identifier("a\u0323\u0307"), normalize_identifier("a\u0307\u0323"));
  EXPECT_EQ(normalize_identifier("a\u0307\u0323"), "ạ\u0307");
  EXPECT_EQ(normalize_identifier("\u1112\u1161\u11AB"), "한");
  EXPECT_EQ(normalize_identifier("\u0958"), "\u0915\u093C");  // a composition exclusion stays apart
}

TEST(Unicode, FindsTheFirstBadCharacter) {
  EXPECT_EQ(find_non_identifier("naïve_1"), std::string_view::npos);
  EXPECT_EQ(find_non_identifier("aé€b"), 3u);
  EXPECT_EQ(find_non_identifier("\u0301a"), 0u);  // a mark cannot come first
  EXPECT_EQ(find_non_identifier("℘"), std::string_view::npos);
}

TEST(Unicode, CharactersByName) {
  EXPECT_EQ(character_by_name("BULLET"), 0x2022u);
  EXPECT_EQ(character_by_name("Greek Small Letter Final Sigma"), 0x3C2u);
  EXPECT_EQ(character_by_name("LF"), 0x0Au);                         // an alias
  EXPECT_EQ(character_by_name("NBSP"), 0xA0u);                       // an abbreviation
  EXPECT_EQ(character_by_name("LATIN CAPITAL LETTER GHA"), 0x1A2u);  // a correction
  EXPECT_EQ(character_by_name("EGYPTIAN HIEROGLYPH A001"), 0x13000u);
  EXPECT_EQ(character_by_name("HANGUL SYLLABLE HAN"), 0xD55Cu);
  EXPECT_EQ(character_by_name("hangul syllable a"), 0xC544u);
  EXPECT_EQ(character_by_name("HANGUL SYLLABLE GGWELH"), 0xAFFFu);
  EXPECT_EQ(character_by_name("CJK UNIFIED IDEOGRAPH-4E00"), 0x4E00u);
  EXPECT_EQ(character_by_name("CJK UNIFIED IDEOGRAPH-20000"), 0x20000u);
  for (const char* name :
       {"", "BULLETS", "CJK UNIFIED IDEOGRAPH-0041", "CJK UNIFIED IDEOGRAPH-4E0", "HANGUL SYLLABLE",
        "HANGUL SYLLABLE X", "LATIN SMALL LETTER R WITH TILDE", "BULLET "})
    EXPECT_FALSE(character_by_name(name).has_value()) << name;
}

}  // namespace
}  // namespace graft::python
