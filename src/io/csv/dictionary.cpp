#include "io/csv/dictionary.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/fault.hpp"
#include "base/huge_pages.hpp"
#include "base/zeroed.hpp"
#include "stope/error.hpp"
#include "stope/table.hpp"

namespace stope::io::csv {
namespace {

constexpr std::int32_t kFirstToken = -2;  // any code below zero reads as missing
constexpr std::int64_t kFirstSlots = 64;
constexpr std::int64_t kManySlots = std::int64_t{1} << 17;  // 3 MB
constexpr std::size_t kBlock = std::size_t{64} << 10;

}  // namespace

void MemoryMeter::take(std::int64_t bytes) {
  const std::int64_t before = left_.fetch_sub(bytes, std::memory_order_relaxed);
  if (before >= bytes && !fault::alloc_fails()) return;
  left_.fetch_add(bytes, std::memory_order_relaxed);
  const std::int64_t in_use = limit_ - std::max<std::int64_t>(before, 0);
  throw Error(ErrorCode::out_of_memory,
              "the values of its nominal columns need more than " + std::to_string(in_use + bytes) +
                  " bytes, but the memory limit leaves " + std::to_string(limit_),
              {name_});
}

bool MemoryMeter::try_take(std::int64_t bytes) noexcept {
  if (left_.fetch_sub(bytes, std::memory_order_relaxed) >= bytes) return true;
  left_.fetch_add(bytes, std::memory_order_relaxed);
  return false;
}

Dictionary::Dictionary(MemoryMeter& meter) : meter_(meter) {
  grow();
}

Dictionary::~Dictionary() {
  meter_.give_back(taken_);
}

constexpr std::array<Dictionary::KeyMask, 17> Dictionary::kKeyMasks = [] {
  std::array<KeyMask, 17> masks{};
  const auto low_bytes = [](std::size_t n) { return n >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * n)) - 1; };
  for (std::size_t n = 0; n <= 16; ++n) masks[n] = {low_bytes(n), n <= 8 ? 0 : low_bytes(n - 8)};
  return masks;
}();

Dictionary::Key Dictionary::key_of_long(std::string_view value) {
  const std::size_t n = value.size();
  const char* p = value.data();
  std::uint64_t hash = n;
  for (std::size_t i = 0; i + 8 < n; i += 8) hash = mix(hash ^ load(p + i), kOdd1);
  const std::uint64_t high = load(p + n - 8);
  return {hash, high, hash_of(hash, high, n)};
}

std::string_view Dictionary::text_of(std::int32_t code) const {
  return code >= 0 ? texts_[static_cast<std::size_t>(code)]
                   : std::string_view(tokens_[static_cast<std::size_t>(kFirstToken - code)]);
}

std::int32_t Dictionary::value_like_token(std::int32_t token, std::string_view value, std::int64_t row) {
  std::int32_t& quoted = quoted_tokens_[static_cast<std::size_t>(kFirstToken - token)];
  if (quoted == kMissingCode) quoted = append(value, row);
  return quoted;
}

std::int32_t Dictionary::add_value(const std::string& value, std::int64_t row) {
  std::string padded = value;
  padded.append(16, '\0');
  return find_or_add_quoted(std::string_view(padded).substr(0, value.size()), row);
}

void Dictionary::add_missing_token(std::string_view token) {
  for (const std::string& known : tokens_) {
    if (known == token) return;
  }
  std::string padded(token);
  padded.append(16, '\0');
  token_keys_.push_back(key_of(std::string_view(padded).substr(0, token.size())));
  tokens_.emplace_back(token);
  longest_token_ = std::max(longest_token_, token.size());
  quoted_tokens_.push_back(kMissingCode);
  place_token(tokens_.size() - 1);
}

void Dictionary::place_token(std::size_t token) {
  place(token_keys_[token], tokens_[token].size(), kFirstToken - static_cast<std::int32_t>(token));
}

void Dictionary::restart() {
  // A column of many values leaves a table that would cost the next column more to clear than to allocate.
  constexpr std::size_t kKeptBytes = std::size_t{4} << 10;
  std::int64_t freed = 0;
  if (static_cast<std::int64_t>(mask_) + 1 > kFirstSlots) {
    freed += (static_cast<std::int64_t>(mask_) + 1) * static_cast<std::int64_t>(sizeof(Slot));
    slots_owner_.reset();
    slots_ = nullptr;
  }
  if (block_bytes_ > kKeptBytes || blocks_.size() > 1) {
    freed += static_cast<std::int64_t>(block_bytes_);
    blocks_.clear();
    block_bytes_ = 0;
    free_ = nullptr;
  } else if (!blocks_.empty()) {
    free_ = blocks_.front().get();
  }
  room_ = block_bytes_;
  meter_.give_back(freed);
  taken_ -= freed;
  texts_.clear();
  rows_.clear();
  std::fill(quoted_tokens_.begin(), quoted_tokens_.end(), kMissingCode);
  n_slots_used_ = 0;
  if (slots_ == nullptr) {
    mask_ = 0;
    grow();
  } else {
    std::fill_n(slots_, kFirstSlots, Slot{});
  }
  for (std::size_t token = 0; token < tokens_.size(); ++token) place_token(token);
}

std::int32_t Dictionary::insert(const Key& key, std::string_view value, std::int64_t row) {
  const std::int32_t code = append(value, row);
  place(key, value.size(), code);
  return code;
}

void Dictionary::place(const Key& key, std::size_t length, std::int32_t code) {
  // Where memory does not matter the table stays emptier, since each step of a search is a branch that cannot be
  // predicted.
  const std::int64_t slots_per_value = static_cast<std::int64_t>(mask_) < kManySlots ? 4 : 2;
  if (slots_per_value * (n_slots_used_ + 1) > static_cast<std::int64_t>(mask_) + 1) grow();
  std::uint64_t i = key.hash & mask_;
  while (slots_[i].mark != kFree) i = (i + 1) & mask_;
  slots_[i] = {key.low, key.high, static_cast<std::uint32_t>(length + 1), code};
  ++n_slots_used_;
}

std::int32_t Dictionary::append(std::string_view value, std::int64_t row) {
  if (texts_.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(ErrorCode::unsupported, "a nominal column has more than 2147483647 values");
  }
  if (texts_.size() == texts_.capacity()) {
    const std::size_t larger = std::max<std::size_t>(16, texts_.capacity() * 2);
    const auto bytes =
        static_cast<std::int64_t>((larger - texts_.capacity()) * (sizeof(std::string_view) + sizeof(std::int64_t)));
    meter_.take(bytes);
    taken_ += bytes;
    texts_.reserve(larger);
    rows_.reserve(larger);
    prefer_huge_pages(texts_.data(), larger * sizeof(std::string_view));
    prefer_huge_pages(rows_.data(), larger * sizeof(std::int64_t));
  }
  texts_.push_back(store(value));
  rows_.push_back(row);
  return static_cast<std::int32_t>(texts_.size()) - 1;
}

std::string_view Dictionary::store(std::string_view value) {
  if (value.size() > room_) {
    // Blocks grow with the dictionary: otherwise a thousand small columns would take 64 KB each.
    const std::size_t size = std::max(value.size(), std::min(kBlock, 256 + 16 * texts_.size()));
    meter_.take(static_cast<std::int64_t>(size));
    taken_ += static_cast<std::int64_t>(size);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    block_bytes_ += size;
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
  const std::int64_t n_bytes = n_new * static_cast<std::int64_t>(sizeof(Slot));
  std::shared_ptr<void> owner = allocate_zeroed_bytes(n_bytes, Storage::memory);
  prefer_huge_pages(owner.get(), static_cast<std::size_t>(n_bytes));
  Slot* const slots = static_cast<Slot*>(owner.get());
  const auto mask = static_cast<std::uint64_t>(n_new - 1);
  for (std::int64_t i = 0; i < n_old; ++i) {
    const Slot& slot = slots_[static_cast<std::size_t>(i)];
    if (slot.mark == kFree) continue;
    std::uint64_t j = hash_of(slot.low, slot.high, slot.mark - 1) & mask;
    while (slots[j].mark != kFree) j = (j + 1) & mask;
    slots[j] = slot;
  }
  slots_owner_ = std::move(owner);
  slots_ = slots;
  mask_ = mask;
}

}  // namespace stope::io::csv
