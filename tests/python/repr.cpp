#include "python/repr.h"

#include <gtest/gtest.h>

#include <limits>

namespace graft::python {
namespace {

std::string str(std::string_view text, int minor = 11) {
  std::string out;
  append_str_repr(out, text, minor);
  return out;
}

std::string bytes(std::string_view text) {
  std::string out;
  append_bytes_repr(out, text);
  return out;
}

std::string real(std::string_view literal) {
  std::string out;
  append_float_repr(out, parse_float_literal(literal));
  return out;
}

std::string imaginary(std::string_view literal) {
  std::string out;
  append_imaginary_repr(out, parse_float_literal(literal));
  return out;
}

std::string integer(std::string_view literal) {
  std::string out;
  return append_int_repr(out, literal) ? out : "refused";
}

TEST(Repr, StrChoosesTheQuote) {
  EXPECT_EQ(str("plain"), "'plain'");
  EXPECT_EQ(str("it's"), "\"it's\"");
  EXPECT_EQ(str("say \"hi\""), "'say \"hi\"'");
  EXPECT_EQ(str("'\""), "'\\'\"'");
}

TEST(Repr, StrEscapes) {
  EXPECT_EQ(str(std::string_view("a\\\t\n\r\0\x1b\x7f", 8)), "'a\\\\\\t\\n\\r\\x00\\x1b\\x7f'");
  EXPECT_EQ(str("\xc2\xa0\xc2\xad"), "'\\xa0\\xad'");   // no-break space, soft hyphen
  EXPECT_EQ(str("\xe2\x80\xa8"), "'\\u2028'");          // line separator
  EXPECT_EQ(str("\xed\xa0\x80"), "'\\ud800'");          // lone surrogate
  EXPECT_EQ(str("\xf3\xa0\x80\x81"), "'\\U000e0001'");  // language tag, Cf
  EXPECT_EQ(str("gr\xc3\xb6\xc3\x9f"
                "e \xf0\x9f\x99\x82"),
            "'gr\xc3\xb6\xc3\x9f"
            "e \xf0\x9f\x99\x82'");
}

TEST(Repr, PrintableDependsOnTheUnicodeVersion) {
  EXPECT_FALSE(is_printable(0x2FFC, 12));  // assigned in Unicode 15.1
  EXPECT_TRUE(is_printable(0x2FFC, 13));
  EXPECT_FALSE(is_printable(0x061D, 10));  // assigned in Unicode 14.0
  EXPECT_TRUE(is_printable(0x061D, 11));
  EXPECT_TRUE(is_printable(0x20, 8));
  EXPECT_FALSE(is_printable(0x10FFFF, 13));
  EXPECT_EQ(str("\xe2\xbf\xbc", 11), "'\\u2ffc'");
}

TEST(Repr, Bytes) {
  EXPECT_EQ(bytes("it's"), "b\"it's\"");
  EXPECT_EQ(bytes(std::string_view("\0\xff\n'\"", 5)), "b'\\x00\\xff\\n\\'\"'");
}

TEST(Repr, Float) {
  EXPECT_EQ(real("2."), "2.0");
  EXPECT_EQ(real(".5"), "0.5");
  EXPECT_EQ(real("1e-4"), "0.0001");
  EXPECT_EQ(real("1e-5"), "1e-05");
  EXPECT_EQ(real("1e15"), "1000000000000000.0");
  EXPECT_EQ(real("1e16"), "1e+16");
  EXPECT_EQ(real("9007199254740993.0"), "9007199254740992.0");
  EXPECT_EQ(real("1_0.2_5e1_0"), "102500000000.0");
  EXPECT_EQ(real("1.7976931348623157e308"), "1.7976931348623157e+308");
  EXPECT_EQ(real("5e-324"), "5e-324");
  EXPECT_EQ(real("1e-400"), "0.0");
  EXPECT_EQ(real("1e400"), "inf");
  EXPECT_EQ(real("0.0000000001e99999999999999999999"), "inf");
  EXPECT_EQ(real("1000.0e-99999999999999999999"), "0.0");
  EXPECT_EQ(real("0e99999999999"), "0.0");
  EXPECT_EQ(real("3.141592653589793"), "3.141592653589793");
}

TEST(Repr, Imaginary) {
  EXPECT_EQ(imaginary("3"), "3j");
  EXPECT_EQ(imaginary("0.00000025"), "2.5e-07j");
  EXPECT_EQ(imaginary("1e999"), "infj");
  EXPECT_EQ(imaginary("0"), "0j");
}

TEST(Repr, Int) {
  EXPECT_EQ(integer("0"), "0");
  EXPECT_EQ(integer("00_0"), "0");
  EXPECT_EQ(integer("1_000"), "1000");
  EXPECT_EQ(integer("0xFf"), "255");
  EXPECT_EQ(integer("0B1_01"), "5");
  EXPECT_EQ(integer("0o_777"), "511");
  EXPECT_EQ(integer("0xffffffffffffffffffffffffffffffff"), "340282366920938463463374607431768211455");
  EXPECT_EQ(integer("0x3635c9adc5dea00000"), "1000000000000000000000");  // zeros inside the lower limbs
}

TEST(Repr, IntOfMoreThan4300DigitsIsRefused) {
  EXPECT_EQ(integer(std::string(4300, '9')), std::string(4300, '9'));
  EXPECT_EQ(integer("1" + std::string(4300, '0')), "refused");
  EXPECT_EQ(integer("0x" + std::string(3571, 'f')).size(), 4300u);
  EXPECT_EQ(integer("0x" + std::string(3572, 'f')), "refused");
  EXPECT_EQ(integer("0x" + std::string(1000000, 'f')), "refused");
}

}  // namespace
}  // namespace graft::python
