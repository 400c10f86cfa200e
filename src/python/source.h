// A Python source text: bytes decoded as CPython's tokenizer does it, and places in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace graft::python {

// Decoding rules (Language Reference 2.1.4): a UTF-8 byte-order mark is dropped; a coding cookie in a comment
// of the first two lines names the codec, default UTF-8; "\r\n" and a lone "\r" become "\n". Errors: an
// unknown codec (named), bytes the codec cannot decode (with their place), a NUL byte, more than 2 GiB.
//
// Movable; views into text() stay valid when the object is moved.
class SourceText {
 public:
  static Result<SourceText> from_bytes(std::string bytes, std::string file = {});
  // A text that is decoded already, as CPython takes a str: no mark is dropped (it is a character like
  // others), no cookie is read. Line ends become "\n". Errors: bytes that are no UTF-8, a NUL byte, more than
  // 2 GiB.
  static Result<SourceText> from_utf8(std::string text, std::string file = {});
  // Reads and decodes a file.
  static Result<SourceText> load(const std::string& path);

  // Decoded UTF-8 with "\n" line ends and without the mark. At least kPadding NUL bytes follow the last byte.
  std::string_view text() const { return {buffer_.data(), size_}; }
  uint32_t size() const { return size_; }
  static constexpr size_t kPadding = 64;

  const std::string& file() const { return file_; }
  // The normalised codec name: "utf-8", "iso8859-1", "cp1252", ...
  const std::string& encoding() const { return encoding_; }
  bool had_bom() const { return had_bom_; }

  // Lines count from 1. A text "a\n" has 1 line, "a\nb" has 2, "" has 0. Offsets are byte offsets into
  // text(); offset == size() is the place after the last byte.
  uint32_t line_count() const;
  uint32_t line_of(uint32_t offset) const;
  // The offset of the first byte of a line; line_count() + 1 gives size().
  uint32_t line_begin(uint32_t line) const;
  // The line without its "\n".
  std::string_view line_text(uint32_t line) const;
  // CPython's col_offset: UTF-8 bytes from the start of the line, from 0.
  uint32_t column_bytes(uint32_t offset) const { return offset - line_begin(line_of(offset)); }
  // For people: line and column from 1, the column in code points.
  Place place(uint32_t offset) const;

 private:
  SourceText() = default;
  // Line ends, the index of lines, and what a text must not hold.
  static Result<SourceText> finish(SourceText source, std::string bytes);

  std::string buffer_;  // the text, then kPadding NUL bytes (so it never lies in the string object itself)
  uint32_t size_ = 0;
  std::string file_;
  std::string encoding_ = "utf-8";
  bool had_bom_ = false;
  std::vector<uint32_t> line_begins_;
};

}  // namespace graft::python
