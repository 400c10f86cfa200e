#include "python/unicode.h"

namespace graft::python {

uint32_t decode_utf8(std::string_view text, size_t* at) {
  auto byte = [text](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  size_t i = *at;
  uint32_t first = byte(i);
  if (first < 0x80) {
    *at = i + 1;
    return first;
  }
  if (first < 0xE0) {
    *at = i + 2;
    return ((first & 0x1F) << 6) | (byte(i + 1) & 0x3F);
  }
  if (first < 0xF0) {
    *at = i + 3;
    return ((first & 0x0F) << 12) | ((byte(i + 1) & 0x3F) << 6) | (byte(i + 2) & 0x3F);
  }
  *at = i + 4;
  return ((first & 0x07) << 18) | ((byte(i + 1) & 0x3F) << 12) | ((byte(i + 2) & 0x3F) << 6) |
         (byte(i + 3) & 0x3F);
}
size_t find_non_identifier(std::string_view) {
  return std::string_view::npos;
}
std::string normalize_identifier(std::string_view text) {
  return std::string(text);
}
std::optional<uint32_t> character_by_name(std::string_view) {
  return std::nullopt;
}

}  // namespace graft::python
