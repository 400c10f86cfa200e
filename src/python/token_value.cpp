#include "python/token_value.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include "base/utf8.h"
#include "python/token.h"
#include "python/unicode.h"

namespace graft::python {
namespace {

unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 255;
}

std::string without_underscores(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '_') out += c;
  return out;
}

// A power-of-two radix literal that exceeds int64: decimal digits, or hexadecimal when CPython would not
// print it either.
std::string big_radix(std::string_view digits, unsigned bits) {
  std::vector<uint32_t> limbs;  // least significant first
  uint64_t pending = 0;
  unsigned filled = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    if (digits[i] == '_') continue;
    pending |= static_cast<uint64_t>(digit_value(digits[i])) << filled;
    filled += bits;
    if (filled >= 32) {
      limbs.push_back(static_cast<uint32_t>(pending));
      pending >>= 32;
      filled -= 32;
    }
  }
  if (filled > 0) limbs.push_back(static_cast<uint32_t>(pending));
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();

  std::string hexadecimal = "0x";
  bool leading = true;
  for (size_t i = limbs.size(); i-- > 0;)
    for (int shift = 28; shift >= 0; shift -= 4) {
      unsigned digit = (limbs[i] >> shift) & 15;
      leading = leading && digit == 0;
      if (!leading) hexadecimal += "0123456789abcdef"[digit];
    }
  if (limbs.size() > kMaxIntegerDigits / 9) return hexadecimal;
  std::string reversed;
  while (!limbs.empty()) {
    uint64_t rest = 0;
    for (size_t i = limbs.size(); i-- > 0;) {
      uint64_t part = (rest << 32) | limbs[i];
      limbs[i] = static_cast<uint32_t>(part / 1000000000);
      rest = part % 1000000000;
    }
    while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
    for (int i = 0; i < 9 && (rest != 0 || !limbs.empty()); ++i) {
      reversed += static_cast<char>('0' + rest % 10);
      rest /= 10;
    }
  }
  if (reversed.size() > kMaxIntegerDigits) return hexadecimal;
  return {reversed.rbegin(), reversed.rend()};
}

double floating(std::string_view text) {
  double value = 0;
  std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    // Overflow or underflow: the conversion that tells which does not depend on the locale for texts without
    // a point of its own.
    size_t exponent = text.find_first_of("eE");
    bool negative =
        exponent != std::string_view::npos && exponent + 1 < text.size() && text[exponent + 1] == '-';
    if (negative) return 0.0;
    size_t first = text.find_first_not_of("0.");
    size_t point = text.find('.');
    bool tiny = point != std::string_view::npos && first != std::string_view::npos && first > point;
    if (tiny && exponent == std::string_view::npos) return 0.0;
    return std::numeric_limits<double>::infinity();
  }
  return value;
}

void append_code(std::string& out, uint32_t code) {
  append_utf8(out, code);
}

}  // namespace

bool number_value(std::string_view text, uint8_t flags, Arena& arena, ConstantValue* value) {
  std::string clean;
  if ((flags & token_flag::kRadix) != 0) {
    char letter = static_cast<char>(text[1] | 0x20);
    unsigned bits = letter == 'x' ? 4 : letter == 'o' ? 3 : 1;
    uint64_t number = 0;
    for (char c : text.substr(2)) {
      if (c == '_') continue;
      if (number >> (63 - bits) != 0) {
        *value = ConstantValue::of_text(ConstantType::kBigInt, arena.copy(big_radix(text.substr(2), bits)));
        return true;
      }
      number = (number << bits) | digit_value(c);
    }
    *value = ConstantValue::of_int(static_cast<int64_t>(number));
    return true;
  }
  if ((flags & token_flag::kUnderscore) != 0) {
    clean = without_underscores(text);
    text = clean;
  }
  if ((flags & token_flag::kImaginary) != 0) {
    *value = ConstantValue::of_number(ConstantType::kComplex, floating(text.substr(0, text.size() - 1)));
    return true;
  }
  if ((flags & token_flag::kFloat) != 0) {
    *value = ConstantValue::of_number(ConstantType::kFloat, floating(text));
    return true;
  }
  if (text.size() <= 18) {
    int64_t number = 0;
    for (char c : text) number = number * 10 + (c - '0');
    *value = ConstantValue::of_int(number);
    return true;
  }
  if (text.size() > kMaxIntegerDigits) return false;
  size_t first = text.find_first_not_of('0');
  if (first == std::string_view::npos) {
    *value = ConstantValue::of_int(0);
    return true;
  }
  text = text.substr(first);
  int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc()) {
    *value = ConstantValue::of_int(number);
    return true;
  }
  *value = ConstantValue::of_text(ConstantType::kBigInt, arena.copy(text));
  return true;
}

bool decode_escapes(std::string_view text, bool bytes, std::string& out, EscapeError* error) {
  size_t at = 0;
  auto fail = [error](size_t offset, std::string message) {
    *error = {offset, std::move(message)};
    return false;
  };
  for (;;) {
    size_t backslash = text.find('\\', at);
    if (backslash == std::string_view::npos) {
      out.append(text.substr(at));
      return true;
    }
    out.append(text.substr(at, backslash - at));
    at = backslash + 1;
    if (at >= text.size()) {  // only inside f-strings, before a brace
      out += '\\';
      return true;
    }
    char c = text[at++];
    switch (c) {
      case '\n':
        break;
      case '\\':
      case '\'':
      case '"':
        out += c;
        break;
      case 'a':
        out += '\a';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'v':
        out += '\v';
        break;
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7': {
        auto code = static_cast<uint32_t>(c - '0');
        for (int i = 0; i < 2 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++i)
          code = code * 8 + static_cast<uint32_t>(text[at++] - '0');
        if (bytes)
          out += static_cast<char>(code & 0xFF);
        else
          append_code(out, code);
        break;
      }
      case 'x':
      case 'u':
      case 'U': {
        if (bytes && c != 'x') {
          out += '\\';
          out += c;
          break;
        }
        size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        uint32_t code = 0;
        for (size_t i = 0; i < count; ++i) {
          unsigned digit = at < text.size() ? digit_value(text[at]) : 255;
          if (digit > 15) {
            if (bytes) return fail(backslash, "invalid \\x escape in a bytes literal");
            std::string shape(count, 'X');
            return fail(backslash, std::string("truncated \\") + c + shape + " escape");
          }
          code = code * 16 + digit;
          ++at;
        }
        if (bytes) {
          out += static_cast<char>(code);
          break;
        }
        if (code > 0x10FFFF) return fail(backslash, "illegal Unicode character");
        append_code(out, code);
        break;
      }
      case 'N': {
        if (bytes) {
          out += "\\N";
          break;
        }
        size_t close = at < text.size() && text[at] == '{' ? text.find('}', at) : std::string_view::npos;
        if (close == std::string_view::npos || close == at + 1)
          return fail(backslash, "malformed \\N character escape");
        std::optional<uint32_t> code = character_by_name(text.substr(at + 1, close - at - 1));
        if (!code) return fail(backslash, "unknown Unicode character name");
        append_code(out, *code);
        at = close + 1;
        break;
      }
      default:
        out += '\\';
        out += c;
    }
  }
}

}  // namespace graft::python
