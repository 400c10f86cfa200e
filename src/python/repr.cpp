#include "python/repr.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

namespace graft::python {
namespace {

struct PrintableRange {
  uint32_t first;
  uint32_t last;
  int minor;  // printable from CPython 3.<minor> on
};

constexpr PrintableRange kPrintable[] = {
#include "python/printable_table.inc"
};

constexpr char kHex[] = "0123456789abcdef";
// CPython's default of sys.get_int_max_str_digits().
constexpr size_t kMaxDecimalDigits = 4300;

// What repr() does with an ASCII character: 0 verbatim, 1 escape, 2 a quote.
constexpr auto make_ascii_table() {
  std::array<uint8_t, 256> table{};
  for (int c = 0; c < 256; ++c) table[static_cast<size_t>(c)] = (c < 0x20 || c >= 0x7f || c == '\\') ? 1 : 0;
  table['\''] = 2;
  return table;
}
constexpr std::array<uint8_t, 256> kAscii = make_ascii_table();

char quote_for(std::string_view text) {
  return text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
}

void append_hex(std::string& out, char kind, uint32_t code, int digits) {
  out += '\\';
  out += kind;
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kHex[(code >> shift) & 15];
}

// Escapes a control character, backslash, DEL or high byte.
void append_ascii_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '\\':
      out += "\\\\";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      append_hex(out, 'x', c, 2);
  }
}

// Decodes one sequence at `at`, surrogates included. Returns its length, 0 where it is malformed.
size_t decode(std::string_view text, size_t at, uint32_t& code) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  unsigned char lead = byte(0);
  size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || at + length > text.size()) return 0;
  code = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return code < kSmallest[length] || code > 0x10ffff ? 0 : length;
}

// The end of the run of characters from `at` on that need no look.
size_t plain_end(std::string_view text, size_t at, char quote) {
  while (at < text.size()) {
    uint8_t kind = kAscii[static_cast<unsigned char>(text[at])];
    if (kind == 1 || (kind == 2 && quote == '\'')) break;
    ++at;
  }
  return at;
}

}  // namespace

bool is_printable(uint32_t code, int minor) {
  if (code < 0x80) return code >= 0x20 && code < 0x7f;
  const auto* end = std::end(kPrintable);
  const auto* it = std::upper_bound(std::begin(kPrintable), end, code,
                                    [](uint32_t c, const PrintableRange& r) { return c < r.first; });
  if (it == std::begin(kPrintable)) return false;
  --it;
  return code <= it->last && std::clamp(minor, 8, 13) >= it->minor;
}

void append_str_repr(std::string& out, std::string_view text, int minor) {
  char quote = quote_for(text);
  out += quote;
  for (size_t at = 0; at < text.size();) {
    size_t end = plain_end(text, at, quote);
    out.append(text, at, end - at);
    at = end;
    if (at == text.size()) break;
    auto c = static_cast<unsigned char>(text[at]);
    if (c == '\'') {
      out += "\\'";
      ++at;
    } else if (c < 0x80) {
      append_ascii_escape(out, c);
      ++at;
    } else {
      uint32_t code = 0;
      size_t length = decode(text, at, code);
      if (length == 0) {
        append_hex(out, 'x', c, 2);
        ++at;
        continue;
      }
      if (is_printable(code, minor))
        out.append(text, at, length);
      else if (code < 0x100)
        append_hex(out, 'x', code, 2);
      else if (code < 0x10000)
        append_hex(out, 'u', code, 4);
      else
        append_hex(out, 'U', code, 8);
      at += length;
    }
  }
  out += quote;
}

void append_bytes_repr(std::string& out, std::string_view bytes) {
  char quote = quote_for(bytes);
  out += 'b';
  out += quote;
  for (size_t at = 0; at < bytes.size();) {
    size_t end = plain_end(bytes, at, quote);
    out.append(bytes, at, end - at);
    at = end;
    if (at == bytes.size()) break;
    if (bytes[at] == '\'')
      out += "\\'";
    else
      append_ascii_escape(out, static_cast<unsigned char>(bytes[at]));
    ++at;
  }
  out += quote;
}

namespace {

// repr() of a float; `integral_suffix` is ".0" for float and "" for the parts of a complex.
void append_float(std::string& out, double value, std::string_view integral_suffix) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  if (std::signbit(value)) out += '-';
  value = std::fabs(value);
  if (std::isinf(value)) {
    out += "inf";
    return;
  }
  if (value == 0) {
    out += '0';
    out += integral_suffix;
    return;
  }
  // "d.ddde+XX" with the shortest digits, taken apart into digits and exponent.
  char buffer[40];
  auto [stop, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<size_t>(stop - buffer));
  size_t e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = 0;
  std::string_view power = text.substr(e + 1);
  if (power[0] == '+') power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);

  auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) {
      out += '.';
      out.append(digits, 1);
    }
    out += exponent < 0 ? "e-" : "e+";
    int size = std::abs(exponent);
    if (size < 10) out += '0';
    out += std::to_string(size);
  } else if (exponent < 0) {
    out += "0.";
    out.append(static_cast<size_t>(-exponent - 1), '0');
    out += digits;
  } else if (count <= exponent + 1) {
    out += digits;
    out.append(static_cast<size_t>(exponent + 1 - count), '0');
    out += integral_suffix;
  } else {
    out.append(digits, 0, static_cast<size_t>(exponent) + 1);
    out += '.';
    out.append(digits, static_cast<size_t>(exponent) + 1);
  }
}

int digit_value(char c) {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

}  // namespace

void append_float_repr(std::string& out, double value) {
  append_float(out, value, ".0");
}

void append_imaginary_repr(std::string& out, double value) {
  append_float(out, value, "");
  out += 'j';
}

bool append_int_repr(std::string& out, std::string_view literal) {
  int base = 10;
  if (literal.size() > 1 && literal[0] == '0') {
    char kind = static_cast<char>(literal[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    if (base != 10) literal.remove_prefix(2);
  }
  size_t at = 0;
  while (at < literal.size() && (literal[at] == '0' || literal[at] == '_')) ++at;
  literal.remove_prefix(at);
  if (literal.empty()) {
    out += '0';
    return true;
  }
  if (base == 10) {
    auto digits =
        static_cast<size_t>(std::count_if(literal.begin(), literal.end(), [](char c) { return c != '_'; }));
    if (digits > kMaxDecimalDigits) return false;
    for (char c : literal)
      if (c != '_') out += c;
    return true;
  }
  // 4300 decimal digits are at most 14285 bits, however the number is written.
  auto digits =
      static_cast<size_t>(std::count_if(literal.begin(), literal.end(), [](char c) { return c != '_'; }));
  size_t bits_a_digit = base == 16 ? 4 : base == 8 ? 3 : 1;
  if ((digits - 1) * bits_a_digit > 14290) return false;
  constexpr uint32_t kLimb = 1'000'000'000;
  std::vector<uint32_t> limbs;  // base 1e9, lowest first
  for (char c : literal) {
    if (c == '_') continue;
    auto carry = static_cast<uint64_t>(digit_value(c));
    for (uint32_t& limb : limbs) {
      uint64_t value = uint64_t{limb} * static_cast<uint64_t>(base) + carry;
      limb = static_cast<uint32_t>(value % kLimb);
      carry = value / kLimb;
    }
    if (carry != 0) limbs.push_back(static_cast<uint32_t>(carry));
  }
  std::string text = std::to_string(limbs.back());
  for (size_t i = limbs.size() - 1; i-- > 0;) {
    std::string part = std::to_string(limbs[i]);
    text.append(9 - part.size(), '0');
    text += part;
  }
  if (text.size() > kMaxDecimalDigits) return false;
  out += text;
  return true;
}

double parse_float_literal(std::string_view literal) {
  std::string stripped;
  if (literal.find('_') != std::string_view::npos) {
    stripped.reserve(literal.size());
    for (char c : literal)
      if (c != '_') stripped += c;
    literal = stripped;
  }
  double value = 0;
  auto [stop, error] = std::from_chars(literal.data(), literal.data() + literal.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  // Too large or too small to represent; from_chars does not say which. The decimal exponent of the first
  // digit that is not zero does.
  size_t e = literal.find_first_of("eE");
  std::string_view mantissa = literal.substr(0, e);
  size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return 0.0;
  size_t point = std::min(mantissa.find('.'), mantissa.size());
  int64_t position = static_cast<int64_t>(point) - static_cast<int64_t>(first);
  if (e != std::string_view::npos) {
    std::string_view power = literal.substr(e + 1);
    if (!power.empty() && power[0] == '+') power.remove_prefix(1);
    int64_t exponent = 0;
    auto parsed = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (parsed.ec == std::errc::result_out_of_range)
      exponent = power[0] == '-' ? -(int64_t{1} << 60) : int64_t{1} << 60;
    position += exponent;
  }
  return position > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

}  // namespace graft::python
