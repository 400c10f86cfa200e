// Values of number and string tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "python/arena.h"
#include "python/node.h"

namespace graft::python {

// CPython refuses decimal literals of more digits, and to print integers that have more.
inline constexpr size_t kMaxIntegerDigits = 4300;

// The value of a NUMBER token with these flags (python/token.h). False when a decimal integer has more than
// kMaxIntegerDigits.
bool number_value(std::string_view text, uint8_t flags, Arena& arena, ConstantValue* value);

struct EscapeError {
  size_t offset = 0;  // in the text
  std::string message;
};

// Appends the value of the inside of a non-raw string literal. Escapes that are not known stay as written
// (CPython warns only). False with `error` filled for a malformed one.
bool decode_escapes(std::string_view text, bool bytes, std::string& out, EscapeError* error);

}  // namespace graft::python
