// Walking the tree without recursion.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/ast.h"

namespace graft::python {

// Calls f(const Node*) for every child of `node` in field order. Null elements (Dict.keys,
// Arguments.kw_defaults) are left out.
template <class F>
void for_each_child(const Node& node, F&& f) {
  dispatch(node, [&f](const auto& concrete) {
    concrete.fields([&f](const char*, const auto& value) {
      using T = std::decay_t<decltype(value)>;
      if constexpr (std::is_pointer_v<T>) {
        if (value != nullptr) f(static_cast<const Node*>(value));
      } else if constexpr (requires {
                             *value.begin();
                             value.empty();
                           }) {
        using Element = std::decay_t<decltype(*value.begin())>;
        if constexpr (std::is_pointer_v<Element>)
          for (const auto* child : value)
            if (child != nullptr) f(static_cast<const Node*>(child));
      }
    });
  });
}

enum class Visit { kContinue, kSkipChildren, kStop };

// Pre-order walk in field order on an explicit stack: any depth is safe. `enter(const Node&)` returns Visit,
// or void for kContinue. Returns false when stopped.
template <class F>
bool walk(const Node& root, F&& enter) {
  std::vector<const Node*> stack{&root};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if constexpr (std::is_void_v<decltype(enter(*node))>) {
      enter(*node);
    } else {
      Visit visit = enter(*node);
      if (visit == Visit::kStop) return false;
      if (visit == Visit::kSkipChildren) continue;
    }
    size_t first = stack.size();
    for_each_child(*node, [&stack](const Node* child) { stack.push_back(child); });
    for (size_t low = first, high = stack.size(); low + 1 < high; ++low) std::swap(stack[low], stack[--high]);
  }
  return true;
}

// As walk(), with `leave(const Node&)` called after the last child of every node that was entered and not
// skipped.
template <class Enter, class Leave>
bool walk(const Node& root, Enter&& enter, Leave&& leave) {
  struct Frame {
    const Node* node;
    bool leaving;
  };
  std::vector<Frame> stack{{&root, false}};
  while (!stack.empty()) {
    Frame frame = stack.back();
    stack.pop_back();
    if (frame.leaving) {
      leave(*frame.node);
      continue;
    }
    Visit visit = enter(*frame.node);
    if (visit == Visit::kStop) return false;
    if (visit == Visit::kSkipChildren) continue;
    stack.push_back({frame.node, true});
    size_t first = stack.size();
    for_each_child(*frame.node, [&stack](const Node* child) { stack.push_back({child, false}); });
    for (size_t low = first, high = stack.size(); low + 1 < high; ++low) std::swap(stack[low], stack[--high]);
  }
  return true;
}

// The longest path from the root to a leaf, in nodes: for consumers that recurse and need a bound.
size_t tree_depth(const Node& root);

}  // namespace graft::python
