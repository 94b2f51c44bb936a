// Members of a JSON object in the order they were added, found by hash: nlohmann::ordered_map compares a key with all
// keys before it, so that an object of a member per column takes the square of the columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace stope::cli {

/// An object_t for nlohmann::basic_json, whose keys are strings. Few members are compared one by one, more are hashed.
template <class Key, class T, class Less, class Allocator>
class JsonMembers : public nlohmann::ordered_map<Key, T, Less, Allocator> {
  using Base = nlohmann::ordered_map<Key, T, Less, Allocator>;
  using Container = typename Base::Container;

 public:
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::size_type;
  using typename Base::value_type;

  JsonMembers() = default;
  template <class Iterator>
  JsonMembers(Iterator first, Iterator last) {
    insert(first, last);
  }
  JsonMembers(std::initializer_list<value_type> members) { insert(members.begin(), members.end()); }

  template <class AnyKey>
  std::pair<iterator, bool> emplace(AnyKey&& key, T&& value) {
    const std::size_t at = place(key);
    if (at < this->size()) return {this->begin() + static_cast<std::ptrdiff_t>(at), false};
    Container::emplace_back(std::forward<AnyKey>(key), std::move(value));
    note_last();
    return {this->end() - 1, true};
  }
  std::pair<iterator, bool> insert(const value_type& member) { return emplace(member.first, T(member.second)); }
  template <class Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(*first);
  }

  template <class AnyKey>
  T& operator[](AnyKey&& key) {
    return emplace(std::forward<AnyKey>(key), T{}).first->second;
  }
  template <class AnyKey>
  const T& operator[](const AnyKey& key) const {
    return at(key);
  }
  template <class AnyKey>
  T& at(const AnyKey& key) {
    return Container::at(place(key)).second;
  }
  template <class AnyKey>
  const T& at(const AnyKey& key) const {
    return Container::at(place(key)).second;
  }
  template <class AnyKey>
  size_type count(const AnyKey& key) const {
    return place(key) < this->size() ? 1 : 0;
  }
  template <class AnyKey>
  iterator find(const AnyKey& key) {
    return this->begin() + static_cast<std::ptrdiff_t>(place(key));
  }
  template <class AnyKey>
  const_iterator find(const AnyKey& key) const {
    return this->begin() + static_cast<std::ptrdiff_t>(place(key));
  }

  size_type erase(const Key& key) {
    const iterator found = find(key);
    if (found == this->end()) return 0;
    erase(found);
    return 1;
  }
  iterator erase(iterator member) { return erase(member, member + 1); }
  iterator erase(iterator first, iterator last) {
    const iterator next = Base::erase(first, last);
    hash_all();
    return next;
  }
  void clear() {
    Container::clear();
    slots_.clear();
  }

 private:
  static constexpr std::size_t kFew = 16;
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;

  // Where the member of that key is, or the number of members.
  std::size_t place(std::string_view key) const {
    if (slots_.empty()) {
      std::size_t at = 0;
      while (at < this->size() && (*this).data()[at].first != key) ++at;
      return at;
    }
    const std::uint32_t found = slots_[slot_of(key)];
    return found == kFree ? this->size() : found;
  }

  std::size_t slot_of(std::string_view key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = std::hash<std::string_view>{}(key)&mask;
    while (slots_[slot] != kFree && this->data()[slots_[slot]].first != key) slot = (slot + 1) & mask;
    return slot;
  }

  void note_last() {
    if (this->size() <= kFew) return;
    if (2 * this->size() > slots_.size()) {
      hash_all();
    } else {
      slots_[slot_of(this->back().first)] = static_cast<std::uint32_t>(this->size() - 1);
    }
  }

  void hash_all() {
    slots_.clear();
    if (this->size() <= kFew) return;
    std::size_t n_slots = 64;
    while (n_slots < 4 * this->size()) n_slots *= 2;
    slots_.assign(n_slots, kFree);
    for (std::size_t i = 0; i < this->size(); ++i) {
      slots_[slot_of(this->data()[i].first)] = static_cast<std::uint32_t>(i);
    }
  }

  std::vector<std::uint32_t> slots_;  // a power of two of them, at most half in use; empty for few members
};

}  // namespace stope::cli
