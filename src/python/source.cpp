#include "python/source.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/file.h"
#include "base/utf8.h"
#include "python/encoding.h"

namespace graft::python {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 31;

struct Scan {
  bool non_ascii = false;
  bool carriage_return = false;
  bool nul = false;
};

// One pass over the text: what kinds of bytes it has and where its lines begin. `data` has readable padding
// behind `size`.
Scan scan_text(const char* data, size_t size, std::vector<uint32_t>& line_begins) {
  Scan scan;
  line_begins.clear();
  line_begins.reserve(size / 24 + 16);
  line_begins.push_back(0);
  size_t at = 0;
#if defined(__SSE2__)
  const __m128i line_end = _mm_set1_epi8('\n');
  const __m128i carriage_return = _mm_set1_epi8('\r');
  const __m128i zero = _mm_setzero_si128();
  __m128i high = zero;
  __m128i returns = zero;
  __m128i nuls = zero;
  for (; at + 64 <= size; at += 64) {
    uint64_t mask = 0;
    for (size_t part = 0; part < 4; ++part) {
      __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at + 16 * part));
      high = _mm_or_si128(high, bytes);
      returns = _mm_or_si128(returns, _mm_cmpeq_epi8(bytes, carriage_return));
      nuls = _mm_or_si128(nuls, _mm_cmpeq_epi8(bytes, zero));
      mask |= static_cast<uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, line_end))))
              << (16 * part);
    }
    while (mask != 0) {
      line_begins.push_back(static_cast<uint32_t>(at) + static_cast<uint32_t>(std::countr_zero(mask)) + 1);
      mask &= mask - 1;
    }
  }
  scan.non_ascii = _mm_movemask_epi8(high) != 0;
  scan.carriage_return = _mm_movemask_epi8(returns) != 0;
  scan.nul = _mm_movemask_epi8(nuls) != 0;
#endif
  for (; at < size; ++at) {
    auto c = static_cast<unsigned char>(data[at]);
    scan.non_ascii |= c >= 0x80;
    scan.carriage_return |= c == '\r';
    scan.nul |= c == 0;
    if (c == '\n') line_begins.push_back(static_cast<uint32_t>(at + 1));
  }
  return scan;
}

void normalize_line_ends(std::string& text) {
  size_t out = text.find('\r');
  for (size_t in = out; in < text.size(); ++in) {
    char c = text[in];
    if (c == '\r') {
      if (in + 1 < text.size() && text[in + 1] == '\n') ++in;
      c = '\n';
    }
    text[out++] = c;
  }
  text.resize(out);
}

// The offset of the first byte that begins no well-formed sequence.
size_t find_invalid_utf8(std::string_view text) {
  size_t low = 0;
  size_t at = 0;
  while (at < text.size()) {
    auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      ++at;
      continue;
    }
    low = at;
    size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    if (at + length > text.size() || !is_valid_utf8(text.substr(at, length))) return low;
    at += length;
  }
  return text.size();
}

}  // namespace

Result<SourceText> SourceText::from_bytes(std::string bytes, std::string file) {
  SourceText source;
  source.file_ = std::move(file);
  if (bytes.size() >= kMaxBytes)
    return input_error("the text is too long", {source.file_, 0, 0}, "less than 2 GiB");
  if (bytes.compare(0, 3, "\xEF\xBB\xBF") == 0) {
    source.had_bom_ = true;
    bytes.erase(0, 3);
  }
  std::optional<Cookie> cookie = find_cookie(bytes);
  if (cookie && cookie->codec != "utf-8") {
    if (source.had_bom_)
      return input_error("the encoding '" + cookie->codec + "' contradicts the UTF-8 byte-order mark",
                         {source.file_, cookie->line, 0}, "utf-8");
    GRAFT_ASSIGN_OR_RETURN(bytes, decode(std::move(bytes), *cookie, source.file_));
    if (bytes.size() >= kMaxBytes)
      return input_error("the text is too long", {source.file_, 0, 0}, "less than 2 GiB");
    source.encoding_ = cookie->codec;
  }
  return finish(std::move(source), std::move(bytes));
}

Result<SourceText> SourceText::from_utf8(std::string text, std::string file) {
  SourceText source;
  source.file_ = std::move(file);
  if (text.size() >= kMaxBytes)
    return input_error("the text is too long", {source.file_, 0, 0}, "less than 2 GiB");
  return finish(std::move(source), std::move(text));
}

Result<SourceText> SourceText::finish(SourceText source, std::string bytes) {
  source.size_ = static_cast<uint32_t>(bytes.size());
  bytes.append(kPadding, '\0');
  source.buffer_ = std::move(bytes);
  Scan scan = scan_text(source.buffer_.data(), source.size_, source.line_begins_);
  if (scan.carriage_return) {
    source.buffer_.resize(source.size_);
    normalize_line_ends(source.buffer_);
    source.size_ = static_cast<uint32_t>(source.buffer_.size());
    source.buffer_.append(kPadding, '\0');
    scan_text(source.buffer_.data(), source.size_, source.line_begins_);
  }
  if (scan.non_ascii) {
    size_t bad = find_invalid_utf8(source.text());
    if (bad < source.size_) {
      static constexpr char kHex[] = "0123456789abcdef";
      auto byte = static_cast<unsigned char>(source.buffer_[bad]);
      uint32_t line = source.line_of(static_cast<uint32_t>(bad));
      return input_error(
          std::string("the utf-8 codec cannot decode byte 0x") + kHex[byte >> 4] + kHex[byte & 15],
          {source.file_, static_cast<int>(line), static_cast<int>(bad - source.line_begin(line)) + 1},
          "UTF-8 text, or a coding cookie in the first two lines");
    }
  }
  if (scan.nul) {
    size_t at = source.text().find('\0');
    return input_error("the text contains a NUL byte", source.place(static_cast<uint32_t>(at)),
                       "text without NUL bytes");
  }
  return source;
}

Result<SourceText> SourceText::load(const std::string& path) {
  GRAFT_ASSIGN_OR_RETURN(std::string bytes, read_file(path, kMaxBytes));
  return from_bytes(std::move(bytes), path);
}

uint32_t SourceText::line_count() const {
  auto lines = static_cast<uint32_t>(line_begins_.size());
  return line_begins_.back() == size_ ? lines - 1 : lines;
}

uint32_t SourceText::line_of(uint32_t offset) const {
  auto after = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
  return static_cast<uint32_t>(after - line_begins_.begin());
}

uint32_t SourceText::line_begin(uint32_t line) const {
  if (line == 0) return 0;
  return line <= line_begins_.size() ? line_begins_[line - 1] : size_;
}

std::string_view SourceText::line_text(uint32_t line) const {
  uint32_t begin = line_begin(line);
  uint32_t end = line_begin(line + 1);
  if (end > begin && buffer_[end - 1] == '\n') --end;
  return std::string_view(buffer_).substr(begin, end - begin);
}

Place SourceText::place(uint32_t offset) const {
  offset = std::min(offset, size_);
  uint32_t line = line_of(offset);
  int column = 1;
  for (uint32_t i = line_begin(line); i < offset; ++i)
    if ((static_cast<unsigned char>(buffer_[i]) & 0xC0) != 0x80) ++column;
  return {file_, static_cast<int>(line), column};
}

}  // namespace graft::python
