#include "python/encoding.h"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

namespace graft::python {
namespace {

struct CodecSpelling {
  std::string_view spelling;
  size_t codec;
};

#include "python/codec_tables.inc"

// Multi-byte codecs, left to the C library. {Python's name, iconv's name}
constexpr std::string_view kMultiByte[][2] = {
    {"big5", "BIG5"},
    {"big5_tw", "BIG5"},
    {"csbig5", "BIG5"},
    {"big5hkscs", "BIG5-HKSCS"},
    {"cp932", "CP932"},
    {"ms932", "CP932"},
    {"mskanji", "CP932"},
    {"ms_kanji", "CP932"},
    {"cp949", "CP949"},
    {"949", "CP949"},
    {"ms949", "CP949"},
    {"uhc", "CP949"},
    {"cp950", "CP950"},
    {"950", "CP950"},
    {"ms950", "CP950"},
    {"euc_jp", "EUC-JP"},
    {"eucjp", "EUC-JP"},
    {"ujis", "EUC-JP"},
    {"u_jis", "EUC-JP"},
    {"euc_kr", "EUC-KR"},
    {"euckr", "EUC-KR"},
    {"korean", "EUC-KR"},
    {"ksc5601", "EUC-KR"},
    {"ks_c_5601", "EUC-KR"},
    {"gb18030", "GB18030"},
    {"gb18030_2000", "GB18030"},
    {"gb2312", "EUC-CN"},
    {"euc_cn", "EUC-CN"},
    {"euccn", "EUC-CN"},
    {"chinese", "EUC-CN"},
    {"gbk", "GBK"},
    {"936", "GBK"},
    {"cp936", "GBK"},
    {"ms936", "GBK"},
    {"iso2022_jp", "ISO-2022-JP"},
    {"iso_2022_jp", "ISO-2022-JP"},
    {"iso2022_kr", "ISO-2022-KR"},
    {"iso_2022_kr", "ISO-2022-KR"},
    {"johab", "JOHAB"},
    {"cp1361", "JOHAB"},
    {"shift_jis", "SHIFT_JIS"},
    {"shiftjis", "SHIFT_JIS"},
    {"sjis", "SHIFT_JIS"},
    {"s_jis", "SHIFT_JIS"},
};

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

namespace {

// As CPython's codec registry folds names: every run of other characters than letters, digits and '.' is one
// '_', every '.' is one more.
std::string fold_spelling(std::string_view name) {
  std::string folded;
  bool separator = false;
  for (char c : name) {
    bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    if (!word) {
      separator = true;
      continue;
    }
    if (separator && !folded.empty()) folded += '_';
    separator = false;
    folded += c == '.' ? '_' : c;
  }
  return folded;
}

Error undecodable(std::string_view bytes, size_t offset, std::string_view codec, const std::string& file) {
  static constexpr char kHex[] = "0123456789abcdef";
  auto byte = static_cast<unsigned char>(bytes[offset]);
  auto [line, column] = line_and_column(bytes.substr(0, offset), offset);
  return input_error(
      "the " + std::string(codec) + " codec cannot decode byte 0x" + kHex[byte >> 4] + kHex[byte & 15],
      {file, line, column}, "text in the encoding that the coding cookie names");
}

Result<std::string> decode_multi_byte(std::string_view bytes, const Cookie& cookie, std::string_view codec,
                                      const std::string& file) {
  iconv_t converter = iconv_open("UTF-8", std::string(codec).c_str());
  if (converter == reinterpret_cast<iconv_t>(-1))
    return missing_error("the C library has no codec for the encoding '" + cookie.codec + "' of " + file,
                         "convert the file to UTF-8");
  std::string out;
  std::string input(bytes);
  char* in = input.data();
  size_t left = input.size();
  bool good = true;
  while (good && left > 0) {
    size_t filled = out.size();
    out.resize(filled + left * 2 + 64);
    char* to = out.data() + filled;
    size_t room = out.size() - filled;
    good = iconv(converter, &in, &left, &to, &room) != static_cast<size_t>(-1) || errno == E2BIG;
    out.resize(out.size() - room);
  }
  iconv_close(converter);
  if (!good) return undecodable(bytes, bytes.size() - left, cookie.codec, file);
  return out;
}

}  // namespace

Result<std::string> decode(std::string bytes, Cookie& cookie, const std::string& file) {
  std::string folded = fold_spelling(cookie.codec);
  const auto* found = std::lower_bound(
      std::begin(kCodecSpellings), std::end(kCodecSpellings), folded,
      [](const CodecSpelling& entry, const std::string& name) { return entry.spelling < name; });
  if (found != std::end(kCodecSpellings) && found->spelling == folded) {
    cookie.codec = kCodecNames[found->codec];
    if (found->codec == kUtf8Codec) return bytes;
    const auto& table = kCodecs[found->codec];
    std::string out;
    out.reserve(bytes.size() + bytes.size() / 8 + 80);
    for (size_t i = 0; i < bytes.size(); ++i) {
      auto byte = static_cast<unsigned char>(bytes[i]);
      uint32_t code = byte < 0x80 ? byte : table[byte - 0x80];
      if (byte >= 0x80 && code == 0) return undecodable(bytes, i, cookie.codec, file);
      append_utf8(out, code);
    }
    return out;
  }
  for (const auto& [python_name, c_name] : kMultiByte)
    if (python_name == folded) return decode_multi_byte(bytes, cookie, c_name, file);
  return input_error("unknown encoding: " + cookie.codec, {file, cookie.line, 0},
                     "a text encoding that CPython knows");
}

}  // namespace graft::python
