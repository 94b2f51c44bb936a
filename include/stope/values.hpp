// Values: the names of a nominal column's codes. Shared, never changed, hashed at most once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace stope {

/// A list of names: name i belongs to code i. Copies share the list, so that a copy costs no more than a pointer. A
/// list never changes; whoever wants another one makes another one. All calls are safe from several threads at once.
class Values {
 public:
  using value_type = std::string;
  using const_iterator = const std::string*;

  /// No names.
  Values() noexcept = default;
  /// Takes the names over. Throws invalid_argument for more names than codes can count (2^31 - 1). O(1).
  Values(std::vector<std::string> names);  // NOLINT(google-explicit-constructor): a list is one of names
  Values(std::initializer_list<std::string> names);
  Values(const Values&) noexcept = default;
  Values& operator=(const Values&) noexcept = default;
  Values(Values&& other) noexcept;  ///< `other` has no names afterwards
  Values& operator=(Values&& other) noexcept;
  ~Values() = default;

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// The name of a code; 0 <= code < size() is the caller's duty.
  const std::string& operator[](std::int64_t code) const noexcept { return first_[code]; }
  const std::string& front() const noexcept { return first_[0]; }
  const std::string& back() const noexcept { return first_[size_ - 1]; }
  const_iterator begin() const noexcept { return first_; }
  const_iterator end() const noexcept { return first_ + size_; }
  /// The names as a vector, which lives as long as a copy of this list does.
  const std::vector<std::string>& names() const noexcept;

  /// The first code of that name, else kUnseenCode (stope/table.hpp). The first call hashes the list, O(size()); any
  /// further one is O(length of the name), for all copies.
  std::int32_t code_of(std::string_view name) const;

  /// The same names in the same order. O(1) for lists that share their memory.
  friend bool operator==(const Values& a, const Values& b) noexcept;

 private:
  struct [[gnu::visibility("hidden")]] List;  // the names and their hashed index
  std::shared_ptr<const List> list_;
  const std::string* first_ = nullptr;  // names of list_, at hand for operator[]
  std::size_t size_ = 0;
};

}  // namespace stope
#pragma GCC visibility pop
