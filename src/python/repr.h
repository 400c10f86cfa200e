// Python's repr() of the constants that source text can hold, byte for byte as CPython prints them.
//
// Text is UTF-8; a lone surrogate (from an escape such as "\ud800") is its three-byte form, as in WTF-8. The
// functions append to `out`. `minor` is the CPython 3.x whose Unicode table decides what is printable (8 to
// 13; others are clamped).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace graft::python {

// str.isprintable() of one character: false for Cc, Cf, Cs, Co, Cn, Zl, Zp and every Zs but the space.
bool is_printable(uint32_t code, int minor);

// Quoted with ' unless the text holds ' and no ". Bytes that are no UTF-8 are printed as \xNN (the parser
// never makes them).
void append_str_repr(std::string& out, std::string_view text, int minor);

// b'...' of raw bytes, same choice of quote.
void append_bytes_repr(std::string& out, std::string_view bytes);

// Shortest digits that read back as the same double: 2.0, 1e-05, 1e+22, inf, nan. The exponent form is used
// below 1e-4 and from 1e16 on.
void append_float_repr(std::string& out, double value);

// The imaginary literal `value`j: as a float but without a trailing ".0": 3j, 2.5e-07j, infj.
void append_imaginary_repr(std::string& out, double value);

// The decimal digits of an int literal as written ("0x_ff", "1_000", "0o17", "000"), which must be
// well-formed. False, with nothing appended, where the number has more than 4300 decimal digits: CPython
// refuses to print those.
bool append_int_repr(std::string& out, std::string_view literal);

// The value of a float literal as written, underscores allowed ("1_0.5e3", ".5", "1e400" -> inf).
double parse_float_literal(std::string_view literal);

}  // namespace graft::python
