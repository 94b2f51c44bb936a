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

// Sorts by the bits from `low` on; equal ones keep their order.
void radix_sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& other, int low) {
  constexpr int kMostDigits = (64 + kDigitBits - 1) / kDigitBits;
  std::array<std::array<std::uint32_t, kDigitValues>, kMostDigits> counts;
  const int n_digits = (64 - low + kDigitBits - 1) / kDigitBits;
  for (int d = 0; d < n_digits; ++d) counts[static_cast<std::size_t>(d)].fill(0);
  constexpr std::uint64_t kMask = kDigitValues - 1;
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
      : x_(x), n_(n), keys_(scratch.keys), other_(scratch.other), row_bits_(bits_of_rows(n)) {
    row_mask_ = (std::uint64_t{1} << row_bits_) - 1;
  }

  void run(std::uint32_t* rows) {
    keys_.resize(static_cast<std::size_t>(n_));
    if constexpr (sizeof(T) == 4) row_bits_ = 32, row_mask_ = 0xffffffffU;
    fill();
    if (n_ < kFewRows) {
      std::sort(keys_.begin(), keys_.end());
    } else {
      other_.resize(keys_.size());
      radix_sort(keys_, other_, row_bits_);
    }
    if (sizeof(T) == 8) settle();
    for (std::int64_t i = 0; i < n_; ++i) rows[i] = row_at(i);
  }

 private:
  std::uint32_t row_at(std::int64_t i) const {
    return static_cast<std::uint32_t>(keys_[static_cast<std::size_t>(i)] & row_mask_);
  }
  std::uint64_t prefix_at(std::int64_t i) const { return keys_[static_cast<std::size_t>(i)] & ~row_mask_; }

  void fill() {
    for (std::int64_t row = 0; row < n_; ++row) {
      std::uint64_t key = order_key(x_[row]);
      if constexpr (sizeof(T) == 4) key <<= 32;
      keys_[static_cast<std::size_t>(row)] = (key & ~row_mask_) | static_cast<std::uint64_t>(row);
    }
  }

  // Runs of equal leading bits hold one value, or several that the row took the last bits of.
  void settle() {
    for (std::int64_t begin = 0; begin < n_;) {
      std::int64_t end = begin + 1;
      bool differs = false;
      while (end < n_ && prefix_at(end) == prefix_at(begin)) {
        differs = differs || order_key(x_[row_at(end)]) != order_key(x_[row_at(begin)]);
        ++end;
      }
      if (differs) {
        std::sort(keys_.begin() + begin, keys_.begin() + end, [this](std::uint64_t a, std::uint64_t b) {
          const std::uint64_t row_a = a & row_mask_, row_b = b & row_mask_;
          const std::uint64_t key_a = order_key(x_[row_a]), key_b = order_key(x_[row_b]);
          return key_a != key_b ? key_a < key_b : row_a < row_b;
        });
      }
      begin = end;
    }
  }

  const T* x_;
  std::int64_t n_;
  std::vector<std::uint64_t>&keys_, &other_;
  int row_bits_;
  std::uint64_t row_mask_;
};

}  // namespace

void sort_rows(const double* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch) {
  if (n > 0) Sorter<double>(x, n, scratch).run(rows);
}
void sort_rows(const float* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch) {
  if (n > 0) Sorter<float>(x, n, scratch).run(rows);
}

}  // namespace stope::discretize
