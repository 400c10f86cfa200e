#include "graph/symbol.h"

#include <functional>

namespace graft::graph {

Symbol SymbolTable::intern(std::string_view text) {
  if ((entries_.size() + 1) * 2 > slots_.size()) grow();
  const uint64_t hash = std::hash<std::string_view>{}(text);
  size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != kNoSymbol) {
    const Symbol symbol = slots_[slot];
    if (entries_[symbol].hash == hash && this->text(symbol) == text) return symbol;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  const Symbol symbol = static_cast<Symbol>(entries_.size());
  const uint32_t begin = static_cast<uint32_t>(bytes_.size());
  bytes_.append(text);
  entries_.push_back({begin, static_cast<uint32_t>(text.size()), hash});
  slots_[slot] = symbol;
  return symbol;
}

Symbol SymbolTable::find(std::string_view text) const {
  if (slots_.empty()) return kNoSymbol;
  const uint64_t hash = std::hash<std::string_view>{}(text);
  size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != kNoSymbol) {
    const Symbol symbol = slots_[slot];
    if (entries_[symbol].hash == hash && this->text(symbol) == text) return symbol;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return kNoSymbol;
}

void SymbolTable::grow() {
  std::vector<uint32_t> slots(slots_.empty() ? 64 : slots_.size() * 2, kNoSymbol);
  for (Symbol symbol = 0; symbol < entries_.size(); ++symbol) {
    size_t slot = entries_[symbol].hash & (slots.size() - 1);
    while (slots[slot] != kNoSymbol) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = symbol;
  }
  slots_ = std::move(slots);
}

}  // namespace graft::graph
