// The sort of one column (discretize/sorted_rows.hpp).
#include "discretize/sorted_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "discretize/value_order.hpp"

namespace stope::discretize {
namespace {

constexpr int kDigitBits = 11;
constexpr std::int64_t kDigitValues = std::int64_t{1} << kDigitBits;
constexpr std::int64_t kFewRows = 1024;  // below, counting the digits costs more than comparing

int bits_of_rows(std::int64_t n) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n > 1 ? n - 1 : 1)));
}

// Sorts by the bits [low, high); equal ones keep their order.
void radix_sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& other, int low, int high) {
  constexpr int kMostDigits = (64 + kDigitBits - 1) / kDigitBits;
  constexpr std::uint64_t kMask = kDigitValues - 1;
  std::array<std::array<std::uint32_t, kDigitValues>, kMostDigits> counts;
  const int n_digits = (high - low + kDigitBits - 1) / kDigitBits;
  for (int d = 0; d < n_digits; ++d) counts[static_cast<std::size_t>(d)].fill(0);
  for (const std::uint64_t key : keys) {
    for (int d = 0; d < n_digits; ++d) ++counts[static_cast<std::size_t>(d)][(key >> (low + d * kDigitBits)) & kMask];
  }
  for (int d = 0; d < n_digits; ++d) {
    const int shift = low + d * kDigitBits;
    auto& count = counts[static_cast<std::size_t>(d)];
    if (count[(keys[0] >> shift) & kMask] == keys.size()) continue;  // all alike
    std::uint32_t begin = 0;
    for (std::uint32_t& c : count) {
      const std::uint32_t n = c;
      c = begin;
      begin += n;
    }
    for (const std::uint64_t key : keys) other[count[(key >> shift) & kMask]++] = key;
    keys.swap(other);
  }
}

template <class T>
class Sorter {
 public:
  Sorter(const T* x, std::int64_t n, SortScratch& scratch)
      : x_(x), n_(n), keys_(scratch.keys), other_(scratch.other), row_bits_(sizeof(T) == 4 ? 32 : bits_of_rows(n)) {
    row_mask_ = (std::uint64_t{1} << row_bits_) - 1;
  }

  void run(std::uint32_t* rows, std::uint8_t* differs) {
    keys_.resize(static_cast<std::size_t>(n_));
    const std::uint64_t varying = fill();
    if (n_ < kFewRows) {
      std::sort(keys_.begin(), keys_.end());
    } else {
      other_.resize(keys_.size());
      sort_bits(static_cast<int>(std::bit_width(varying)));
    }
    settle(differs);
    for (std::int64_t i = 0; i < n_; ++i) rows[i] = row_at(i);
  }

 private:
  std::uint64_t word(std::int64_t i) const { return keys_[static_cast<std::size_t>(i)]; }
  std::uint32_t row_at(std::int64_t i) const { return static_cast<std::uint32_t>(word(i) & row_mask_); }

  // Words in row order; returns the bits in which they differ.
  std::uint64_t fill() {
    std::uint64_t varying = 0;
    for (std::int64_t row = 0; row < n_; ++row) {
      std::uint64_t key = order_key(x_[row]);
      if constexpr (sizeof(T) == 4) key <<= 32;
      keys_[static_cast<std::size_t>(row)] = (key & ~row_mask_) | static_cast<std::uint64_t>(row);
      varying |= word(row) ^ word(0);
    }
    return varying & ~row_mask_;
  }

  // By the bits [row_bits_, high). The leading ones tell most values apart; the few others are sorted after them.
  void sort_bits(int high) {
    constexpr int kLeadingBits = 3 * kDigitBits;
    if (high - row_bits_ <= kLeadingBits) {
      if (high > row_bits_) radix_sort(keys_, other_, row_bits_, high);
      return;
    }
    const int low = high - kLeadingBits;
    radix_sort(keys_, other_, low, high);
    std::int64_t confused = 0;
    for (std::int64_t i = 0; i + 1 < n_; ++i) {
      const std::uint64_t differing = (word(i) ^ word(i + 1)) & ~row_mask_;
      confused += differing != 0 && differing >> low == 0 ? 1 : 0;
    }
    if (confused > n_ / 4) {  // then all digits; equal words are still in row order
      radix_sort(keys_, other_, row_bits_, high);
      return;
    }
    for (std::int64_t begin = 0; begin < n_ && confused > 0;) {
      std::int64_t end = begin + 1;
      while (end < n_ && word(end) >> low == word(begin) >> low) ++end;
      if (end - begin > 1) std::sort(keys_.begin() + begin, keys_.begin() + end);
      begin = end;
    }
  }

  // Runs of equal leading bits hold one value, or several that the row took the last bits of.
  void settle(std::uint8_t* differs) {
    for (std::int64_t begin = 0; begin < n_;) {
      std::int64_t end = begin + 1;
      bool several = false;
      while (end < n_ && (word(end) & ~row_mask_) == (word(begin) & ~row_mask_)) {
        several = several || (sizeof(T) == 8 && order_key(x_[row_at(end)]) != order_key(x_[row_at(begin)]));
        ++end;
      }
      if (several) sort_by_values(begin, end);
      for (std::int64_t i = begin; differs != nullptr && i < end; ++i) {
        const bool other =
            i + 1 == end ? end < n_ : several && order_key(x_[row_at(i)]) != order_key(x_[row_at(i + 1)]);
        differs[i] = other ? 1 : 0;
      }
      begin = end;
    }
  }

  void sort_by_values(std::int64_t begin, std::int64_t end) {
    std::sort(keys_.begin() + begin, keys_.begin() + end, [this](std::uint64_t a, std::uint64_t b) {
      const std::uint64_t row_a = a & row_mask_, row_b = b & row_mask_;
      const auto key_a = order_key(x_[row_a]), key_b = order_key(x_[row_b]);
      return key_a != key_b ? key_a < key_b : row_a < row_b;
    });
  }

  const T* x_;
  std::int64_t n_;
  std::vector<std::uint64_t>&keys_, &other_;
  int row_bits_;
  std::uint64_t row_mask_;
};

}  // namespace

void sort_rows(const double* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch, std::uint8_t* differs) {
  if (n > 0) Sorter<double>(x, n, scratch).run(rows, differs);
}
void sort_rows(const float* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch, std::uint8_t* differs) {
  if (n > 0) Sorter<float>(x, n, scratch).run(rows, differs);
}

}  // namespace stope::discretize
