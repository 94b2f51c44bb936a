// The values of a nominal column: it maps text to codes, in a few nanoseconds per look-up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
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
  /// False, and nothing is taken, where there is not as much.
  bool try_take(std::int64_t bytes) noexcept;
  void give_back(std::int64_t bytes) noexcept { left_.fetch_add(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> left_;
  std::int64_t limit_;
  std::string name_;
};

/// A hash table with open addressing and linear probing, at most half full. A value of up to 16 bytes is compared as
/// two words that lie in its slot. No branch depends on its length, since a CPU cannot predict the lengths of a
/// column's values. A longer value is compared by its hash and its last bytes, and then by its text.
class Dictionary {
 public:
  explicit Dictionary(MemoryMeter& meter);
  ~Dictionary();
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  /// Makes `token` a missing token: find_or_add gives a code below 0 for it. Call this before any value is added.
  void add_missing_token(std::string_view token);
  bool is_missing_token(std::string_view value) const {
    if (value.size() > longest_token_) return false;
    for (const std::string& token : tokens_) {
      if (token == value) return true;
    }
    return false;
  }
  /// Forgets the values, for another column with the same missing tokens.
  void restart();

  /// A value's first 16 bytes (or the hash of a longer value), and where its search begins.
  struct Key {
    std::uint64_t low, high, hash;
  };
  /// 16 bytes must be readable at `value`, whatever its size.
  static Key key_of(std::string_view value) {
    const std::size_t n = value.size();
    if (n > 16) return key_of_long(value);
    const std::uint64_t low = load(value.data()) & kKeyMasks[n].low;
    const std::uint64_t high = load(value.data() + 8) & kKeyMasks[n].high;
    return {low, high, hash_of(low, high, n)};
  }
  /// Begins to fetch the slots that find_or_add will read.
  void prefetch(const Key& key) const { __builtin_prefetch(&slots_[key.hash & mask_]); }

  /// The code of `value`, whose key is `key`. A new value gets the next code, and its row is kept. Codes count from 0;
  /// a missing token gives a code below 0.
  std::int32_t find_or_add(const Key& key, std::string_view value, std::int64_t row) {
    for (std::uint64_t i = key.hash & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      const std::uint64_t differs = (slot.low ^ key.low) | (slot.high ^ key.high) | (slot.mark ^ (value.size() + 1));
      if (differs == 0 && (value.size() <= 16 || text_of(slot.code) == value)) return slot.code;
      if (slot.mark == kFree) return insert(key, value, row);
    }
  }
  /// As find_or_add, for a quoted value: it is a value even if it is spelled like a missing token. 16 bytes must be
  /// readable.
  std::int32_t find_or_add_quoted(std::string_view value, std::int64_t row) {
    return find_or_add_quoted(key_of(value), value, row);
  }
  std::int32_t find_or_add_quoted(const Key& key, std::string_view value, std::int64_t row) {
    const std::int32_t code = find_or_add(key, value, row);
    return code >= 0 ? code : value_like_token(code, value, row);
  }
  /// As find_or_add_quoted, but the text may be empty, and nothing behind its end is read.
  std::int32_t add_value(const std::string& value, std::int64_t row);

  std::int32_t size() const { return static_cast<std::int32_t>(texts_.size()); }
  std::string_view value(std::int32_t code) const { return texts_[static_cast<std::size_t>(code)]; }
  std::span<const std::string_view> values() const { return texts_; }
  std::int64_t first_row(std::int32_t code) const { return rows_[static_cast<std::size_t>(code)]; }

 private:
  struct Slot {
    std::uint64_t low, high;
    std::uint32_t mark;  // length + 1, or kFree: zeroed memory is free slots
    std::int32_t code;
  };
  struct KeyMask {
    std::uint64_t low, high;  // the bytes of a value of some length within its first 16
  };
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint64_t kOdd1 = 0x9e3779b97f4a7c15, kOdd2 = 0xd1b54a32d192ed03;
  static const std::array<KeyMask, 17> kKeyMasks;

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
  static std::uint64_t hash_of(std::uint64_t low, std::uint64_t high, std::uint64_t length) {
    return mix(low ^ kOdd1, high ^ kOdd2 ^ length);
  }
  static Key key_of_long(std::string_view value);
  std::string_view text_of(std::int32_t code) const;
  std::int32_t insert(const Key& key, std::string_view value, std::int64_t row);
  void place(const Key& key, std::size_t length, std::int32_t code);
  std::int32_t append(std::string_view value, std::int64_t row);
  std::string_view store(std::string_view value);
  std::int32_t value_like_token(std::int32_t token, std::string_view value, std::int64_t row);
  void grow();
  void place_token(std::size_t token);

  MemoryMeter& meter_;
  std::int64_t taken_ = 0;
  std::shared_ptr<void> slots_owner_;
  Slot* slots_ = nullptr;
  std::uint64_t mask_ = 0;
  std::int64_t n_slots_used_ = 0;
  std::vector<std::string_view> texts_;  // by code
  std::vector<std::int64_t> rows_;
  std::vector<std::string> tokens_;  // token t has code kFirstToken - t in its slot
  std::size_t longest_token_ = 0;
  std::vector<Key> token_keys_;
  std::vector<std::int32_t> quoted_tokens_;  // per token the code of the value spelled like it, or kMissingCode
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  std::size_t room_ = 0;
  std::size_t block_bytes_ = 0;  // of all blocks
};

}  // namespace stope::io::csv
