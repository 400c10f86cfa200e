#include "python/encoding.h"

#include "base/utf8.h"

namespace graft::python {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

// CPython's tokenizer folds the spellings of the two commonest codecs, up to a suffix.
std::string normalize_codec(std::string_view name) {
  std::string folded;
  for (char c : name) folded += c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  auto begins = [&folded](std::string_view word) {
    return folded == word || (folded.size() > word.size() && folded.compare(0, word.size(), word) == 0 &&
                              folded[word.size()] == '-');
  };
  if (begins("utf-8")) return "utf-8";
  if (begins("latin-1") || begins("iso-8859-1") || begins("iso-latin-1")) return "iso-8859-1";
  return folded;
}

}  // namespace

std::optional<Cookie> find_cookie(std::string_view bytes) {
  size_t begin = 0;
  for (int line = 1; line <= 2; ++line) {
    size_t end = bytes.find_first_of("\r\n", begin);
    if (end == std::string_view::npos) end = bytes.size();
    size_t at = begin;
    while (at < end && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\f')) ++at;
    bool comment = at < end && bytes[at] == '#';
    if (at < end && !comment) return std::nullopt;
    if (comment) {
      for (size_t found = bytes.find("coding", at); found < end; found = bytes.find("coding", found + 1)) {
        size_t p = found + 6;
        if (p >= end || (bytes[p] != ':' && bytes[p] != '=')) continue;
        ++p;
        while (p < end && (bytes[p] == ' ' || bytes[p] == '\t')) ++p;
        size_t last = p;
        while (last < end && is_name_char(bytes[last])) ++last;
        if (last > p) return Cookie{normalize_codec(bytes.substr(p, last - p)), p, line};
      }
    }
    if (end >= bytes.size()) return std::nullopt;
    begin = end + (bytes[end] == '\r' && end + 1 < bytes.size() && bytes[end + 1] == '\n' ? 2 : 1);
  }
  return std::nullopt;
}

Result<std::string> decode(std::string_view bytes, const Cookie& cookie, const std::string& file) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8 + 80);
  if (cookie.codec == "iso-8859-1") {
    for (char c : bytes) append_utf8(out, static_cast<unsigned char>(c));
    return out;
  }
  return input_error("unknown encoding: " + cookie.codec, {file, cookie.line, 0});
}

}  // namespace graft::python
