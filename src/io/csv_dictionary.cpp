#include "io/csv_dictionary.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/fault.hpp"
#include "stope/error.hpp"
#include "stope/table.hpp"

namespace stope::io::csv {
namespace {

constexpr std::int32_t kFree = std::numeric_limits<std::int32_t>::min();
// A slot that holds token t has code kFirstToken - t; any code below zero reads as missing.
constexpr std::int32_t kFirstToken = -2;
constexpr std::int64_t kFirstSlots = 64;
constexpr std::size_t kBlock = std::size_t{64} << 10;

std::uint64_t load(const char* p) {
  std::uint64_t word = 0;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// The lowest min(n, 8) bytes of a word.
std::uint64_t keep(std::uint64_t word, std::size_t n) {
  return n >= 8 ? word : word & ((std::uint64_t{1} << (8 * n)) - 1);
}

// The two halves of the full product: every bit of both words reaches the low bits (wyhash's mixing step).
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::uint64_t kOdd1 = 0x9e3779b97f4a7c15, kOdd2 = 0xd1b54a32d192ed03;

}  // namespace

void MemoryMeter::take(std::int64_t bytes) {
  const std::int64_t before = left_.fetch_sub(bytes, std::memory_order_relaxed);
  if (before >= bytes && !fault::alloc_fails()) return;
  left_.fetch_add(bytes, std::memory_order_relaxed);
  throw Error(ErrorCode::out_of_memory,
              "the values of its nominal columns need " + std::to_string(bytes) + " bytes more than the " +
                  std::to_string(limit_ - std::max<std::int64_t>(before, 0)) + " in use, the memory limit leaves " +
                  std::to_string(limit_),
              {name_});
}

Dictionary::Dictionary(MemoryMeter& meter) : meter_(meter) {
  grow();
}

Dictionary::~Dictionary() {
  meter_.give_back(taken_);
}

Dictionary::Key Dictionary::key_of(std::string_view value) {
  const std::size_t n = value.size();
  const char* p = value.data();
  Key key{};
  if (n <= 16) {
    key.low = keep(load(p), n);
    key.high = n > 8 ? keep(load(p + 8), n - 8) : 0;
    key.hash = mix(key.low ^ kOdd1, key.high ^ kOdd2 ^ n);
    return key;
  }
  std::uint64_t hash = n;
  for (std::size_t i = 0; i + 8 < n; i += 8) hash = mix(hash ^ load(p + i), kOdd1);
  key.low = load(p + n - 8);
  key.high = mix(hash ^ key.low, kOdd2);
  key.hash = key.high;
  return key;
}

bool Dictionary::same(const Slot& slot, const Key& key, std::string_view value) const {
  if (slot.low != key.low || slot.high != key.high || slot.length != value.size()) return false;
  if (value.size() <= 16) return true;
  const std::string_view other = slot.code >= 0
                                     ? values_[static_cast<std::size_t>(slot.code)].text
                                     : std::string_view(tokens_[static_cast<std::size_t>(kFirstToken - slot.code)]);
  return other == value;
}

std::int32_t Dictionary::find_or_add(std::string_view value, std::int64_t row) {
  const Key key = key_of(value);
  for (std::uint64_t i = key.hash & mask_;; i = (i + 1) & mask_) {
    const Slot& slot = slots_[i];
    if (slot.code == kFree) return insert(key, value, row);
    if (same(slot, key, value)) return std::max(slot.code, kMissingCode);
  }
}

std::int32_t Dictionary::find_or_add_quoted(std::string_view value, std::int64_t row) {
  const std::int32_t code = find_or_add(value, row);
  if (code >= 0 || value.empty()) return code;
  const auto token = static_cast<std::size_t>(std::find(tokens_.begin(), tokens_.end(), value) - tokens_.begin());
  std::int32_t& quoted = quoted_tokens_[token];
  if (quoted == kMissingCode) quoted = append(value, row);
  return quoted;
}

std::int32_t Dictionary::add_value(const std::string& value, std::int64_t row) {
  std::string padded = value;
  padded.append(16, '\0');
  return find_or_add_quoted(std::string_view(padded).substr(0, value.size()), row);
}

void Dictionary::add_missing_token(std::string_view token) {
  std::string padded(token);
  padded.append(16, '\0');
  const std::string_view text = std::string_view(padded).substr(0, token.size());
  const Key key = key_of(text);
  std::uint64_t i = key.hash & mask_;
  for (; slots_[i].code != kFree; i = (i + 1) & mask_) {
    if (same(slots_[i], key, text)) return;
  }
  const auto index = static_cast<std::int32_t>(tokens_.size());
  tokens_.emplace_back(token);
  quoted_tokens_.push_back(kMissingCode);
  slots_[i] = {key.low, key.high, static_cast<std::uint32_t>(token.size()), kFirstToken - index};
  if (2 * ++n_slots_used_ > static_cast<std::int64_t>(mask_)) grow();
}

std::int32_t Dictionary::insert(const Key& key, std::string_view value, std::int64_t row) {
  if (2 * (n_slots_used_ + 1) > static_cast<std::int64_t>(mask_)) grow();
  std::uint64_t i = key.hash & mask_;
  while (slots_[i].code != kFree) i = (i + 1) & mask_;
  const std::int32_t code = append(value, row);
  slots_[i] = {key.low, key.high, static_cast<std::uint32_t>(value.size()), code};
  ++n_slots_used_;
  return code;
}

std::int32_t Dictionary::append(std::string_view value, std::int64_t row) {
  if (values_.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(ErrorCode::unsupported, "a nominal column has more than 2147483647 values");
  }
  if (values_.size() == values_.capacity()) {
    const std::size_t larger = std::max<std::size_t>(16, values_.capacity() * 2);
    const auto bytes = static_cast<std::int64_t>((larger - values_.capacity()) * sizeof(Value));
    meter_.take(bytes);
    taken_ += bytes;
    values_.reserve(larger);
  }
  values_.push_back({store(value), row});
  return static_cast<std::int32_t>(values_.size()) - 1;
}

std::string_view Dictionary::store(std::string_view value) {
  if (value.size() > room_) {
    // Blocks grow with the dictionary, so that a thousand small columns do not take 64 KB each.
    const std::size_t size = std::max(value.size(), std::min(kBlock, 256 + 16 * values_.size()));
    meter_.take(static_cast<std::int64_t>(size));
    taken_ += static_cast<std::int64_t>(size);
    blocks_.push_back(std::make_unique<char[]>(size));
    free_ = blocks_.back().get();
    room_ = size;
  }
  char* at = free_;
  if (!value.empty()) std::memcpy(at, value.data(), value.size());
  free_ += value.size();
  room_ -= value.size();
  return {at, value.size()};
}

void Dictionary::grow() {
  const std::int64_t n_old = slots_ == nullptr ? 0 : static_cast<std::int64_t>(mask_) + 1;
  const std::int64_t n_new = n_old == 0 ? kFirstSlots : n_old * 2;
  const auto bytes = (n_new - n_old) * static_cast<std::int64_t>(sizeof(Slot));
  meter_.take(bytes);
  taken_ += bytes;
  auto slots = std::make_unique_for_overwrite<Slot[]>(static_cast<std::size_t>(n_new));
  const auto mask = static_cast<std::uint64_t>(n_new - 1);
  for (std::int64_t i = 0; i < n_new; ++i) slots[static_cast<std::size_t>(i)].code = kFree;
  for (std::int64_t i = 0; i < n_old; ++i) {
    const Slot& slot = slots_[static_cast<std::size_t>(i)];
    if (slot.code == kFree) continue;
    const std::uint64_t hash = slot.length <= 16 ? mix(slot.low ^ kOdd1, slot.high ^ kOdd2 ^ slot.length) : slot.high;
    std::uint64_t j = hash & mask;
    while (slots[j].code != kFree) j = (j + 1) & mask;
    slots[j] = slot;
  }
  slots_ = std::move(slots);
  mask_ = mask;
}

}  // namespace stope::io::csv
