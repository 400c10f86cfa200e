// UTF-8 and positions in text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace graft {

// Appends the UTF-8 form of a code point (0 to 0x10FFFF, surrogates excluded by the caller).
void append_utf8(std::string& out, uint32_t code);

// True when every byte belongs to a well-formed sequence (no overlong forms, no surrogates, at most
// U+10FFFF).
bool is_valid_utf8(std::string_view text);

// Byte offset -> line and column, both from 1; columns count code points. "\n", "\r\n" and a lone "\r" each
// end a line.
std::pair<int, int> line_and_column(std::string_view text, size_t offset);

// For a terminal: control characters other than a line feed and a tab become "\\x1b", so that text of others
// can neither move the cursor nor colour what follows.
std::string without_controls(std::string_view text);

}  // namespace graft
