// The values of a nominal column: text -> code, at a few nanoseconds a look-up.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stope::io::csv {

/// Counts the bytes of growing structures against what is left of the memory budget. Shared between threads.
class MemoryMeter {
 public:
  MemoryMeter(std::int64_t limit, std::string name) : left_(limit), limit_(limit), name_(std::move(name)) {}
  /// Throws out_of_memory, before the bytes are allocated.
  void take(std::int64_t bytes);
  void give_back(std::int64_t bytes) noexcept { left_.fetch_add(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> left_;
  std::int64_t limit_;
  std::string name_;
};

/// Open addressing, linear probing, at most half full. A value of up to 16 bytes is compared as two words held in its
/// slot; longer ones by hash, last word, and then their bytes.
class Dictionary {
 public:
  explicit Dictionary(MemoryMeter& meter);
  ~Dictionary();
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  /// From now on find_or_add gives kMissingCode for `token`. Call before any value is added.
  void add_missing_token(std::string_view token);

  /// The code of `value`, whose first 16 bytes must be readable whatever its size. A new value gets the next code and
  /// remembers `row`. Codes count from 0; a missing token gives kMissingCode.
  std::int32_t find_or_add(std::string_view value, std::int64_t row);
  /// The same for a quoted value, which is a value even if it is spelled like a missing token.
  std::int32_t find_or_add_quoted(std::string_view value, std::int64_t row);
  /// find_or_add_quoted for text of which nothing behind its end may be read.
  std::int32_t add_value(const std::string& value, std::int64_t row);

  std::int32_t size() const { return static_cast<std::int32_t>(values_.size()); }
  std::string_view value(std::int32_t code) const { return values_[static_cast<std::size_t>(code)].text; }
  std::int64_t first_row(std::int32_t code) const { return values_[static_cast<std::size_t>(code)].row; }

 private:
  struct Slot {
    std::uint64_t low, high;
    std::uint32_t length;
    std::int32_t code;
  };
  struct Value {
    std::string_view text;
    std::int64_t row;
  };
  struct Key {
    std::uint64_t low, high, hash;
  };

  static Key key_of(std::string_view value);
  bool same(const Slot& slot, const Key& key, std::string_view value) const;
  std::int32_t insert(const Key& key, std::string_view value, std::int64_t row);
  std::int32_t append(std::string_view value, std::int64_t row);
  std::string_view store(std::string_view value);
  void grow();

  MemoryMeter& meter_;
  std::int64_t taken_ = 0;
  std::unique_ptr<Slot[]> slots_;
  std::uint64_t mask_ = 0;
  std::int64_t n_slots_used_ = 0;
  std::vector<Value> values_;
  std::vector<std::string> tokens_;
  std::vector<std::int32_t> quoted_tokens_;  // per token the code of the value spelled like it, or kMissingCode
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace stope::io::csv
