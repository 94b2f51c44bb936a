// The values of a nominal column: text -> code, at a few nanoseconds a look-up.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
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

/// Open addressing, linear probing, at most three quarters full. A slot has 16 bytes, so that 20,000 values fit in a
/// second-level cache: a value of up to 8 bytes is compared within it, a longer one by 8 bytes, 31 bits of hash, and
/// then its text.
class Dictionary {
 public:
  explicit Dictionary(MemoryMeter& meter);
  ~Dictionary();
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  /// From now on find_or_add gives kMissingCode for `token`. Call before any value is added.
  void add_missing_token(std::string_view token);

  /// The code of `value`, not empty, whose first 16 bytes must be readable whatever its size. A new value gets the next
  /// code and remembers `row`. Codes count from 0; a missing token gives a code below 0.
  std::int32_t find_or_add(std::string_view value, std::int64_t row) {
    const Key key = key_of(value);
    for (std::uint64_t i = key.hash & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.low == key.low && slot.tag == key.tag && (value.size() <= 8 || text_of(slot.code) == value)) {
        return slot.code;
      }
      if (slot.tag == kFree) return insert(key, value, row);
    }
  }
  /// The same for a quoted value, which is a value even if it is spelled like a missing token.
  std::int32_t find_or_add_quoted(std::string_view value, std::int64_t row);
  /// find_or_add_quoted for text of which nothing behind its end may be read, and which may be empty.
  std::int32_t add_value(const std::string& value, std::int64_t row);

  std::int32_t size() const { return static_cast<std::int32_t>(texts_.size()); }
  std::string_view value(std::int32_t code) const { return texts_[static_cast<std::size_t>(code)]; }
  std::int64_t first_row(std::int32_t code) const { return rows_[static_cast<std::size_t>(code)]; }

 private:
  struct Slot {
    std::uint64_t low;
    std::uint32_t tag;
    std::int32_t code;
  };
  struct Key {
    std::uint64_t low, hash;
    std::uint32_t tag;  // the length up to 8, else bits of the hash with the top bit set
  };
  static constexpr std::uint32_t kFree = 0x7FFFFFFF;
  static constexpr std::uint64_t kOdd1 = 0x9e3779b97f4a7c15, kOdd2 = 0xd1b54a32d192ed03;

  static std::uint64_t load(const char* p) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, sizeof word);
    return word;
  }
  // The two halves of the full product: every bit of both words reaches the low bits (wyhash's mixing step).
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  static std::uint32_t tag_of(std::uint64_t hash) { return 0x80000000U | static_cast<std::uint32_t>(hash >> 32); }
  static Key key_of(std::string_view value) {
    const std::size_t n = value.size();
    if (n <= 8) {
      const std::uint64_t low = n == 0 ? 0 : load(value.data()) & (~std::uint64_t{0} >> (64 - 8 * n));
      return {low, mix(low ^ n, kOdd1), static_cast<std::uint32_t>(n)};
    }
    if (n > 16) return key_of_long(value);
    const std::uint64_t low = load(value.data());
    const std::uint64_t hash = mix(low ^ kOdd1, load(value.data() + n - 8) ^ kOdd2 ^ n);
    return {low, hash, tag_of(hash)};
  }
  static Key key_of_long(std::string_view value);
  std::string_view text_of(std::int32_t code) const;
  std::int32_t insert(const Key& key, std::string_view value, std::int64_t row);
  void place(const Key& key, std::int32_t code);
  std::int32_t append(std::string_view value, std::int64_t row);
  std::string_view store(std::string_view value);
  void grow();

  MemoryMeter& meter_;
  std::int64_t taken_ = 0;
  std::unique_ptr<Slot[]> slots_;
  std::uint64_t mask_ = 0;
  std::int64_t n_slots_used_ = 0;
  std::vector<std::string_view> texts_;  // by code
  std::vector<std::int64_t> rows_;
  std::vector<std::string> tokens_;          // token t has code kFirstToken - t in its slot
  std::vector<std::int32_t> quoted_tokens_;  // per token the code of the value spelled like it, or kMissingCode
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace stope::io::csv
