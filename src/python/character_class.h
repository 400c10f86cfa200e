// Classes of characters, for the lexer only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace graft::python {

enum CharClass : uint8_t {
  kOther,
  kIdentifier,  // a letter, '_' or a byte of a non-ASCII character
  kDigit,
  kSpace,  // blank, tab, form feed
  kQuote,
  kPunctuation,  // may begin an operator
  kLineEnd,
  kHash,
  kContinuation,
};

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (size_t c = 0; c < 256; ++c) {
    uint8_t value = kOther;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80) value = kIdentifier;
    if (c >= '0' && c <= '9') value = kDigit;
    classes[c] = value;
  }
  for (char c : {' ', '\t', '\f'}) classes[static_cast<size_t>(c)] = kSpace;
  for (char c : {'"', '\''}) classes[static_cast<size_t>(c)] = kQuote;
  for (char c : std::string_view("()[]{}:,;.+-*/%@&|^~<>=!")) classes[static_cast<size_t>(c)] = kPunctuation;
  classes['\n'] = kLineEnd;
  classes['#'] = kHash;
  classes['\\'] = kContinuation;
  return classes;
}
inline constexpr std::array<uint8_t, 256> kClasses = make_classes();

inline uint8_t class_of(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}
inline bool is_word(char c) {
  return static_cast<uint8_t>(class_of(c) - kIdentifier) <= kDigit - kIdentifier;
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace graft::python
