// Strings of one graph, each kept once and named by a number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graft::graph {

// Index into the SymbolTable of the graph it belongs to. Symbols of two graphs must not be compared.
using Symbol = uint32_t;
inline constexpr Symbol kNoSymbol = UINT32_MAX;

// A value type: a copy holds the same numbers.
class SymbolTable {
 public:
  // The number of `text`, added when new.
  Symbol intern(std::string_view text);
  // The number of `text`, or kNoSymbol where the table does not hold it.
  Symbol find(std::string_view text) const;
  // Valid until the next intern().
  std::string_view text(Symbol symbol) const {
    const Entry& entry = entries_[symbol];
    return std::string_view(bytes_).substr(entry.begin, entry.size);
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint32_t begin = 0;
    uint32_t size = 0;
    uint64_t hash = 0;
  };
  void grow();

  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // open addressing, a power of two, kNoSymbol where free
};

}  // namespace graft::graph
