// The literals of the lexer: numbers, strings and f-strings.
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "python/character_class.h"
#include "python/lexer.h"

namespace graft::python {
namespace {

constexpr size_t kMaxFStrings = 150;  // as in CPython
constexpr uint8_t kMaxFields = 3;     // as in CPython 3.12

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// The first byte from `at` on that is `quote`, a backslash, a line end, NUL or not ASCII. The text's padding
// of NULs ends the search.
const char* find_string_stop(const char* at, char quote) {
#if defined(__SSE2__)
  const __m128i quotes = _mm_set1_epi8(quote);
  const __m128i backslashes = _mm_set1_epi8('\\');
  const __m128i line_ends = _mm_set1_epi8('\n');
  const __m128i ones = _mm_set1_epi8(1);
  for (;; at += 16) {
    __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    __m128i stops = _mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, backslashes));
    stops = _mm_or_si128(stops, _mm_cmpeq_epi8(bytes, line_ends));
    stops = _mm_or_si128(stops, _mm_cmplt_epi8(bytes, ones));  // signed: NUL and bytes from 0x80
    auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops));
    if (mask != 0) return at + std::countr_zero(mask);
  }
#else
  for (;; ++at) {
    auto c = static_cast<unsigned char>(*at);
    if (*at == quote || c == '\\' || c == '\n' || c == 0 || c >= 0x80) return at;
  }
#endif
}

}  // namespace

bool Lexer::decimal_digits() {
  for (;;) {
    while (is_digit(text_[at_])) ++at_;
    if (text_[at_] != '_') return true;
    ++at_;
    if (!is_digit(text_[at_])) return fail(at_, "invalid decimal literal", "a digit after '_'");
  }
}

// A number may run into one of a few keywords ("1if x else y"), not into other words.
bool Lexer::end_of_number(const char* what) {
  const char* p = text_ + at_;
  if (!is_word(*p) || before(Profile::kPython310)) return true;
  auto next = [p](std::string_view word) { return std::memcmp(p, word.data(), word.size()) == 0; };
  if (next("and") || next("else") || next("for") || next("if") || next("in") || next("is") || next("or") ||
      next("not"))
    return true;
  return fail(at_, std::string("invalid ") + what + " literal", "the end of the number");
}

bool Lexer::radix_number(unsigned char letter) {
  auto valid = [letter](char c) {
    return letter == 'x' ? is_hex(c) : letter == 'o' ? c >= '0' && c <= '7' : c == '0' || c == '1';
  };
  const char* what = letter == 'x' ? "hexadecimal" : letter == 'o' ? "octal" : "binary";
  size_t begin = at_;
  at_ += 2;
  uint8_t flags = token_flag::kRadix;
  do {
    if (text_[at_] == '_') {
      flags |= token_flag::kUnderscore;
      ++at_;
    }
    if (!valid(text_[at_])) {
      if (is_digit(text_[at_]))
        return fail(at_, std::string("invalid digit '") + text_[at_] + "' in " + what + " literal");
      return fail(at_, std::string("invalid ") + what + " literal", "a digit");
    }
    while (valid(text_[at_])) ++at_;
  } while (text_[at_] == '_');
  if (is_digit(text_[at_]))
    return fail(at_, std::string("invalid digit '") + text_[at_] + "' in " + what + " literal");
  if (!end_of_number(what)) return false;
  push(TokenKind::kNumber, begin, at_, flags);
  return true;
}

bool Lexer::number() {
  size_t begin = at_;
  uint8_t flags = 0;
  bool leading_zeros = false;
  if (text_[at_] == '0') {
    auto letter = static_cast<unsigned char>(text_[at_ + 1] | 0x20);
    if (letter == 'x' || letter == 'o' || letter == 'b') return radix_number(letter);
    // "00" is zero, "01" is nothing, "01.5" is a float.
    for (;;) {
      if (text_[at_] == '_') {
        ++at_;
        if (!is_digit(text_[at_])) return fail(at_, "invalid decimal literal", "a digit after '_'");
      }
      if (text_[at_] != '0') break;
      ++at_;
    }
    if (is_digit(text_[at_])) {
      leading_zeros = true;
      if (!decimal_digits()) return false;
    }
  } else if (text_[at_] != '.') {
    if (!decimal_digits()) return false;
  }
  if (text_[at_] == '.') {
    flags |= token_flag::kFloat;
    ++at_;
    if (is_digit(text_[at_]) && !decimal_digits()) return false;
  }
  char c = text_[at_];
  if (c == 'e' || c == 'E') {
    char sign = text_[at_ + 1];
    size_t digit = at_ + (sign == '+' || sign == '-' ? 2 : 1);
    if (is_digit(text_[digit])) {
      flags |= token_flag::kFloat;
      at_ = digit;
      if (!decimal_digits()) return false;
    } else if (digit == at_ + 2) {
      return fail(digit, "invalid decimal literal", "a digit of the exponent");
    }
  }
  c = text_[at_];
  if (c == 'j' || c == 'J') {
    flags |= token_flag::kImaginary;
    ++at_;
    if (!end_of_number("imaginary")) return false;
  } else {
    if (leading_zeros && (flags & token_flag::kFloat) == 0)
      return fail(begin, "leading zeros in decimal integer literals are not permitted",
                  "an 0o prefix for octal integers");
    if (!end_of_number("decimal")) return false;
  }
  if (std::memchr(text_ + begin, '_', at_ - begin) != nullptr) flags |= token_flag::kUnderscore;
  push(TokenKind::kNumber, begin, at_, flags);
  return true;
}

// at_ is at the opening quote; the token began at `begin`, its prefix.
bool Lexer::string(size_t begin, uint8_t flags, bool formatted) {
  char quote = text_[at_];
  bool triple = text_[at_ + 1] == quote && text_[at_ + 2] == quote;
  at_ += triple ? 3 : 1;
  if (triple) flags |= token_flag::kTriple;
  if (formatted) {
    if (fstrings_.size() >= kMaxFStrings)
      return fail(begin, "too many nested f-strings", "at most 150 levels");
    push(TokenKind::kFStringStart, begin, at_, flags);
    FString state{};
    state.offset = static_cast<uint32_t>(begin);
    state.quote = quote;
    state.triple = triple;
    state.raw = (flags & token_flag::kRaw) != 0;
    state.in_text = true;
    fstrings_.push_back(state);
    return fstring_text();
  }
  const char* p = text_ + at_;
  for (;;) {
    p = find_string_stop(p, quote);
    if (*p == quote) {
      if (!triple) {
        ++p;
        break;
      }
      if (p[1] == quote && p[2] == quote) {
        p += 3;
        break;
      }
      ++p;
    } else if (*p == '\\') {
      flags |= token_flag::kBackslash;
      p += 2;
      if (static_cast<size_t>(p - text_) > size_) p = text_ + size_;
      // The second half of a non-ASCII character must still be seen.
      if (static_cast<unsigned char>(p[-1]) >= 0x80) --p;
    } else if (static_cast<unsigned char>(*p) >= 0x80) {
      flags |= token_flag::kNonAscii;
      do ++p;
      while (static_cast<unsigned char>(*p) >= 0x80);
    } else if (*p == '\n' && triple) {
      ++p;
    } else {
      if (!fstrings_.empty() && fstrings_.back().quote == quote && !fstrings_.back().triple && !triple)
        return fail(begin, "f-string: expecting '}'", "'}'");
      if (triple) return fail(begin, "unterminated triple-quoted string literal", "the closing quotes");
      return fail(begin, "unterminated string literal", "the closing quote on the same line");
    }
  }
  at_ = static_cast<size_t>(p - text_);
  push(TokenKind::kString, begin, at_, flags);
  return true;
}

// Scans the text of the innermost f-string, or of a format specification in it, up to the next field or the
// end of either.
bool Lexer::fstring_text() {
  for (;;) {
    FString& string = fstrings_.back();
    size_t begin = at_;
    uint8_t flags = string.raw ? token_flag::kRaw : uint8_t{0};
    if (string.depth > 0) flags |= token_flag::kInSpec;
    bool named_escape = false;
    auto text_until = [&](size_t end) {
      if (end > begin) push(TokenKind::kFStringMiddle, begin, end, flags);
    };
    for (;;) {
      char c = text_[at_];
      if (c == string.quote && (!string.triple || (text_[at_ + 1] == c && text_[at_ + 2] == c))) {
        if (string.depth > 0) return fail(at_, "f-string: expecting '}'", "'}'");
        text_until(at_);
        size_t end = at_ + (string.triple ? 3 : 1);
        push(TokenKind::kFStringEnd, at_, end);
        at_ = end;
        fstrings_.pop_back();
        return true;
      }
      if (c == '{') {
        if (string.depth == 0 && text_[at_ + 1] == '{') {
          text_until(at_ + 1);
          at_ += 2;
          break;
        }
        text_until(at_);
        if (string.depth >= kMaxFields)
          return fail(at_, "f-string: expressions nested too deeply", "at most 3 levels");
        if (!open('f')) return false;
        push(TokenKind::kLeftBrace, at_, at_ + 1);
        ++at_;
        string.field_level[string.depth++] = brackets_.size();
        string.in_text = false;
        return true;
      }
      if (c == '}' && named_escape) {
        named_escape = false;
        ++at_;
        continue;
      }
      if (c == '}') {
        if (string.depth > 0) {
          text_until(at_);
          brackets_.pop_back();
          push(TokenKind::kRightBrace, at_, at_ + 1);
          ++at_;
          --string.depth;
          break;
        }
        if (text_[at_ + 1] != '}') return fail(at_, "f-string: single '}' is not allowed", "'}}'");
        text_until(at_ + 1);
        at_ += 2;
        break;
      }
      if (c == '\\') {
        flags |= token_flag::kBackslash;
        ++at_;
        char next = text_[at_];
        if (next == '{' || next == '}') continue;
        if (next == 'N' && !string.raw && text_[at_ + 1] == '{') {
          named_escape = true;
          at_ += 2;
          continue;
        }
        if (at_ < size_ && static_cast<unsigned char>(next) < 0x80) ++at_;
        continue;
      }
      if (c == '\n' && !string.triple && string.depth > 0 && !before(Profile::kPython312)) {
        // From 3.12 on the line end closes the specification; only the field's '}' may follow.
        text_until(at_);
        string.in_text = false;
        return true;
      }
      if (at_ >= size_ || (c == '\n' && !string.triple)) {
        if (string.depth > 0) return fail(at_, "f-string: expecting '}'", "'}'");
        if (string.triple)
          return fail(string.offset, "unterminated triple-quoted f-string literal", "the closing quotes");
        return fail(string.offset, "unterminated f-string literal", "the closing quote on the same line");
      }
      if (static_cast<unsigned char>(c) >= 0x80) flags |= token_flag::kNonAscii;
      ++at_;
    }
  }
}

}  // namespace graft::python
