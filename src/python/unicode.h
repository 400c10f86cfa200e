// What the grammar needs of Unicode: identifiers (PEP 3131), their normal form, and character names. Tables
// of Unicode 14.0, those of CPython 3.11, made by scripts/unicode_tables.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graft::python {

// Decodes the well-formed UTF-8 sequence at `*at` and moves behind it.
uint32_t decode_utf8(std::string_view text, size_t* at);

bool is_identifier_start(uint32_t code);     // XID_Start or '_'
bool is_identifier_continue(uint32_t code);  // XID_Continue

// The offset of the first character of a well-formed UTF-8 text that may not stand there in an identifier, or
// npos.
size_t find_non_identifier(std::string_view text);

// Normalization Form KC of an identifier.
std::string normalize_identifier(std::string_view text);

// The code point that "\N{name}" stands for: names, aliases, Hangul syllables and CJK ideographs, in any
// letter case.
std::optional<uint32_t> character_by_name(std::string_view name);

}  // namespace graft::python
