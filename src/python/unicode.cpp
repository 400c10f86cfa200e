#include "python/unicode.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace graft::python {
namespace {

#include "python/unicode_names.inc"
#include "python/unicode_tables.inc"

// `ranges` alternates first and last code points: a code point is inside when an odd number of firsts and
// lasts lies before it, or when it is one of the lasts.
template <size_t N>
bool in_ranges(const uint32_t (&ranges)[N], uint32_t code) {
  auto at =
      static_cast<size_t>(std::lower_bound(std::begin(ranges), std::end(ranges), code) - std::begin(ranges));
  if (at % 2 == 1) return true;
  return at < N && ranges[at] == code;
}

constexpr uint32_t kSyllableBase = 0xAC00;
constexpr uint32_t kLeadBase = 0x1100;
constexpr uint32_t kVowelBase = 0x1161;
constexpr uint32_t kTailBase = 0x11A7;
constexpr uint32_t kLeads = 19;
constexpr uint32_t kVowels = 21;
constexpr uint32_t kTails = 28;
constexpr uint32_t kSyllables = kLeads * kVowels * kTails;

uint32_t combining_class(uint32_t code) {
  const auto* range =
      std::upper_bound(std::begin(kCombining), std::end(kCombining), code,
                       [](uint32_t value, const uint32_t(&entry)[3]) { return value < entry[0]; });
  if (range == std::begin(kCombining)) return 0;
  --range;
  return code <= (*range)[1] ? (*range)[2] : 0;
}

void decompose(uint32_t code, std::vector<uint32_t>& out) {
  if (code - kSyllableBase < kSyllables) {
    uint32_t index = code - kSyllableBase;
    out.push_back(kLeadBase + index / (kVowels * kTails));
    out.push_back(kVowelBase + index % (kVowels * kTails) / kTails);
    if (index % kTails != 0) out.push_back(kTailBase + index % kTails);
    return;
  }
  const uint32_t* found = std::lower_bound(std::begin(kDecomposed), std::end(kDecomposed), code);
  if (found == std::end(kDecomposed) || *found != code) {
    out.push_back(code);
    return;
  }
  auto index = found - std::begin(kDecomposed);
  out.insert(out.end(), kPool + kOffsets[index], kPool + kOffsets[index + 1]);
}

// The primary composite of two code points, or 0.
uint32_t compose(uint32_t first, uint32_t second) {
  if (first - kLeadBase < kLeads && second - kVowelBase < kVowels)
    return kSyllableBase + ((first - kLeadBase) * kVowels + (second - kVowelBase)) * kTails;
  if (first - kSyllableBase < kSyllables && (first - kSyllableBase) % kTails == 0 && second > kTailBase &&
      second < kTailBase + kTails)
    return first + (second - kTailBase);
  const auto* found =
      std::lower_bound(std::begin(kComposites), std::end(kComposites), std::pair{first, second},
                       [](const uint32_t(&entry)[3], const auto& pair) {
                         return std::pair{entry[0], entry[1]} < pair;
                       });
  if (found == std::end(kComposites) || (*found)[0] != first || (*found)[1] != second) return 0;
  return (*found)[2];
}

// The table of names as hash << 21 | code point, sorted; built when a program first asks for a name.
constexpr int kHashShift = 21;
const std::vector<uint64_t>& name_table() {
  static const std::vector<uint64_t> table = [] {
    auto digit = [](char c) -> uint64_t {
      if (c >= 'A' && c <= 'Z') return static_cast<uint64_t>(c - 'A');
      if (c >= 'a' && c <= 'z') return static_cast<uint64_t>(c - 'a') + 26;
      if (c >= '0' && c <= '9') return static_cast<uint64_t>(c - '0') + 52;
      return c == '+' ? 62 : 63;
    };
    std::vector<uint64_t> entries;
    size_t run = 0;
    uint32_t used = 0;
    for (std::string_view line : kNameHashes) {
      for (size_t at = 0; at + 6 <= line.size(); at += 6) {
        uint64_t hash = 0;
        for (size_t i = 0; i < 6; ++i) hash = (hash << 6) | digit(line[at + i]);
        entries.push_back((hash << kHashShift) | (kNameRuns[run][0] + used));
        if (++used == kNameRuns[run][1]) {
          ++run;
          used = 0;
        }
      }
    }
    std::sort(entries.begin(), entries.end());
    return entries;
  }();
  return table;
}

bool take_prefix(std::string_view* name, std::string_view prefix) {
  if (name->substr(0, prefix.size()) != prefix) return false;
  name->remove_prefix(prefix.size());
  return true;
}

// "HANGUL SYLLABLE " + the Jamo short names of its parts, each the longest that fits.
std::optional<uint32_t> hangul_syllable(std::string_view name) {
  static constexpr std::string_view kLeadNames[] = {"G",  "GG", "N", "D",  "DD", "R", "M", "B", "BB", "S",
                                                    "SS", "",   "J", "JJ", "C",  "K", "T", "P", "H"};
  static constexpr std::string_view kVowelNames[] = {"A",   "AE", "YA", "YAE", "EO", "E",  "YEO",
                                                     "YE",  "O",  "WA", "WAE", "OE", "YO", "U",
                                                     "WEO", "WE", "WI", "YU",  "EU", "YI", "I"};
  static constexpr std::string_view kTailNames[] = {"",   "G",  "GG", "GS", "N",  "NJ", "NH", "D", "L",  "LG",
                                                    "LM", "LB", "LS", "LT", "LP", "LH", "M",  "B", "BS", "S",
                                                    "SS", "NG", "J",  "C",  "K",  "T",  "P",  "H"};
  auto longest = [&name](const auto& names) -> std::optional<uint32_t> {
    std::optional<uint32_t> best;
    size_t length = 0;
    for (uint32_t i = 0; i < std::size(names); ++i) {
      if (name.substr(0, names[i].size()) != names[i] || (best && names[i].size() <= length)) continue;
      best = i;
      length = names[i].size();
    }
    if (best) name.remove_prefix(length);
    return best;
  };
  std::optional<uint32_t> lead = longest(kLeadNames);
  std::optional<uint32_t> vowel = longest(kVowelNames);
  std::optional<uint32_t> tail = longest(kTailNames);
  if (!lead || !vowel || !tail || !name.empty()) return std::nullopt;
  return kSyllableBase + (*lead * kVowels + *vowel) * kTails + *tail;
}

}  // namespace

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

bool is_identifier_start(uint32_t code) {
  return in_ranges(kStartRanges, code);
}
bool is_identifier_continue(uint32_t code) {
  return in_ranges(kContinueRanges, code);
}

size_t find_non_identifier(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    size_t begin = at;
    uint32_t code = decode_utf8(text, &at);
    if (!(begin == 0 ? is_identifier_start(code) : is_identifier_continue(code))) return begin;
  }
  return std::string_view::npos;
}

std::string normalize_identifier(std::string_view text) {
  std::vector<uint32_t> codes;
  for (size_t at = 0; at < text.size();) decompose(decode_utf8(text, &at), codes);
  // Canonical order: marks between two starters are sorted by class, equal classes keep their order.
  for (size_t first = 0; first < codes.size();) {
    if (combining_class(codes[first]) == 0) {
      ++first;
      continue;
    }
    size_t last = first;
    while (last < codes.size() && combining_class(codes[last]) != 0) ++last;
    std::stable_sort(codes.begin() + static_cast<ptrdiff_t>(first),
                     codes.begin() + static_cast<ptrdiff_t>(last),
                     [](uint32_t a, uint32_t b) { return combining_class(a) < combining_class(b); });
    first = last;
  }
  // Canonical composition: each character with the last starter, unless one of its class or higher stands in
  // between.
  std::vector<uint32_t> composed;
  size_t starter = std::string::npos;
  uint32_t previous_class = 0;
  for (uint32_t code : codes) {
    uint32_t own_class = combining_class(code);
    bool adjacent = starter != std::string::npos && starter + 1 == composed.size();
    if (starter != std::string::npos && (adjacent || (previous_class < own_class && previous_class != 0))) {
      if (uint32_t composite = compose(composed[starter], code)) {
        composed[starter] = composite;
        continue;
      }
    }
    if (own_class == 0) starter = composed.size();
    previous_class = own_class;
    composed.push_back(code);
  }
  std::string result;
  for (uint32_t code : composed) append_utf8(result, code);
  return result;
}

std::optional<uint32_t> character_by_name(std::string_view text) {
  std::string upper;
  for (char c : text) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  std::string_view name = upper;
  if (take_prefix(&name, "HANGUL SYLLABLE ")) return hangul_syllable(name);
  if (take_prefix(&name, "CJK UNIFIED IDEOGRAPH-")) {
    if (name.size() != 4 && name.size() != 5) return std::nullopt;
    uint32_t code = 0;
    for (char c : name) {
      if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'))) return std::nullopt;
      code = code * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'A' + 10);
    }
    if (!in_ranges(kIdeographRanges, code)) return std::nullopt;
    return code;
  }
  uint64_t hash = 0xCBF29CE484222325U;  // as scripts/make_unicode_tables.py computes it
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  hash = (hash >> 28) << kHashShift;
  const std::vector<uint64_t>& table = name_table();
  auto found = std::lower_bound(table.begin(), table.end(), hash);
  if (found == table.end() || (*found >> kHashShift) != (hash >> kHashShift)) return std::nullopt;
  return static_cast<uint32_t>(*found & ((uint32_t{1} << kHashShift) - 1));
}

}  // namespace graft::python
