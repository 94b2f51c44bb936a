// NameIndex: names to their places in a list. Tables have up to millions of columns, for which a node a name takes too
// long and too much memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace stope {

/// A hash table with open addressing, at most three quarters full. The names outlive it.
class NameIndex {
 public:
  NameIndex() = default;
  /// With room for `n_names`.
  explicit NameIndex(std::size_t n_names) {
    names_.reserve(n_names);
    slots_.resize(std::bit_ceil(n_names + n_names / 3 + 1));
  }

  /// Adds a name, whose place is the number of names before it; there are at most 2^32 - 1. Returns -1, or the place of
  /// the first equal name, which is the one that find() gives.
  std::int64_t add(std::string_view name) {
    if (4 * (names_.size() + 1) > 3 * slots_.size()) grow();
    const std::size_t hash = std::hash<std::string_view>{}(name);
    Slot& slot = slots_[slot_of(name, hash)];
    names_.push_back(name);
    if (slot.place != 0) return std::int64_t{slot.place} - 1;
    slot = {tag_of(hash), static_cast<std::uint32_t>(names_.size())};
    return -1;
  }
  /// Adds the names of all items. Returns the number of the first one whose name there was before, or -1.
  template <class Items, class NameOf>
  std::int64_t add_all(const Items& items, const NameOf& name_of) {
    std::int64_t first = -1;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i + kAhead < items.size()) prefetch(name_of(items[i + kAhead]));
      if (add(name_of(items[i])) >= 0 && first < 0) first = static_cast<std::int64_t>(i);
    }
    return first;
  }
  /// Begins to fetch what add() or find() will read. Called for names some steps ahead of them, as each step would wait
  /// for memory otherwise.
  void prefetch(std::string_view name) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[std::hash<std::string_view>{}(name) & (slots_.size() - 1)]);
  }
  static constexpr std::size_t kAhead = 16;
  /// The place of a name, or -1.
  std::int64_t find(std::string_view name) const {
    if (names_.empty()) return -1;
    const std::size_t hash = std::hash<std::string_view>{}(name);
    return std::int64_t{slots_[slot_of(name, hash)].place} - 1;
  }
  bool contains(std::string_view name) const { return find(name) >= 0; }
  std::size_t size() const { return names_.size(); }

 private:
  struct Slot {
    std::uint32_t tag = 0, place = 0;  // place + 1; 0: free
  };
  // The low bits of the hash choose the slot.
  static std::uint32_t tag_of(std::size_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

  // The slot of the name, or the free one where it belongs.
  std::size_t slot_of(std::string_view name, std::size_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.place == 0 || (slot.tag == tag_of(hash) && names_[slot.place - 1] == name)) return i;
    }
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), {});
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::size_t hash = std::hash<std::string_view>{}(names_[i]);
      Slot& slot = slots_[slot_of(names_[i], hash)];
      if (slot.place == 0) slot = {tag_of(hash), static_cast<std::uint32_t>(i + 1)};
    }
  }

  std::vector<std::string_view> names_;
  std::vector<Slot> slots_;
};

}  // namespace stope
