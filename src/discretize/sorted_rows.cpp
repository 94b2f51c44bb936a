// The sort of one column (discretize/sorted_rows.hpp).
#include "discretize/sorted_rows.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "discretize/value_order.hpp"

namespace stope::discretize {
namespace {

constexpr std::uint64_t kDigitMask = (std::uint64_t{1} << kDigitBits) - 1;
constexpr std::int64_t kFewRows = 1024;  // with fewer rows, counting the digits costs more than comparing

int bits_of_rows(std::int64_t n) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n > 1 ? n - 1 : 1)));
}

// A sort of words digit by digit, lowest first. The words come in parts; one thread counts and moves each part.
class RadixSort {
 public:
  RadixSort(SortScratch& scratch, const Crew& crew, int n_parts)
      : keys_(scratch.keys), other_(scratch.other), counts_(scratch.counts), crew_(crew), n_parts_(n_parts) {
    if (other_.size() != keys_.size()) other_ = Buffer<std::uint64_t>(keys_.size(), scratch.storage);
    counts_.resize(static_cast<std::size_t>(n_parts));
  }

  // Sorts by the bits [low, high). Equal words keep their order.
  void by_bits(int low, int high) {
    const int n_digits = (high - low + kDigitBits - 1) / kDigitBits;
    // The count of a digit in all words does not depend on their order, but that of a part does. So one part is read
    // only once.
    if (n_parts_ == 1) count(0, low, 0, n_digits);
    for (int d = 0; d < n_digits; ++d) {
      if (n_parts_ > 1) crew_.each(n_parts_, [&](int part) { count(part, low, d, d + 1); });
      if (!make_places(static_cast<std::size_t>(d))) continue;
      crew_.each(n_parts_, [&](int part) { move(part, low + d * kDigitBits, static_cast<std::size_t>(d)); });
      std::swap(keys_, other_);
    }
  }

 private:
  void count(int part, int low, int first_digit, int last_digit) {
    SortScratch::Counts& counts = counts_[static_cast<std::size_t>(part)];
    for (int d = first_digit; d < last_digit; ++d) counts[static_cast<std::size_t>(d)].fill(0);
    const std::uint64_t* const end = keys_.data() + begin_of(part + 1);
    for (const std::uint64_t* key = keys_.data() + begin_of(part); key != end; ++key) {
      for (int d = first_digit; d < last_digit; ++d) {
        ++counts[static_cast<std::size_t>(d)][(*key >> (low + d * kDigitBits)) & kDigitMask];
      }
    }
  }

  // Turns counts into the places where each part's words go. Returns false if all words have the same digit.
  bool make_places(std::size_t digit) {
    std::uint32_t begin = 0;
    for (std::size_t value = 0; value <= kDigitMask; ++value) {
      const std::uint32_t before = begin;
      for (SortScratch::Counts& counts : counts_) {
        const std::uint32_t n = counts[digit][value];
        counts[digit][value] = begin;
        begin += n;
      }
      if (begin - before == static_cast<std::uint64_t>(keys_.size())) return false;
    }
    return true;
  }

  void move(int part, int shift, std::size_t digit) {
    auto& places = counts_[static_cast<std::size_t>(part)][digit];
    const std::uint64_t* const end = keys_.data() + begin_of(part + 1);
    for (const std::uint64_t* key = keys_.data() + begin_of(part); key != end; ++key) {
      other_[std::int64_t{places[(*key >> shift) & kDigitMask]++}] = *key;
    }
  }

  std::int64_t begin_of(int part) const { return part_begin(keys_.size(), n_parts_, part); }

  Buffer<std::uint64_t>&keys_, &other_;
  std::vector<SortScratch::Counts>& counts_;
  const Crew& crew_;
  int n_parts_;
};

template <class T>
class Sorter {
 public:
  Sorter(const T* x, std::int64_t n, SortScratch& scratch, const Crew& crew)
      : x_(x),
        n_(n),
        scratch_(scratch),
        keys_(scratch.keys),
        crew_(crew),
        n_parts_(crew.n_parts(n)),
        row_bits_(sizeof(T) == 4 ? 32 : bits_of_rows(n)) {
    row_mask_ = (std::uint64_t{1} << row_bits_) - 1;
  }

  void run(std::uint32_t* rows, std::uint8_t* differs) {
    if (keys_.size() != n_) keys_ = Buffer<std::uint64_t>(n_, scratch_.storage);
    const std::uint64_t varying = fill();
    if (n_ < kFewRows) {
      std::sort(keys_.begin(), keys_.end());
    } else {
      sort_bits(static_cast<int>(std::bit_width(varying)));
    }
    each_part(row_bits_, [&](int, std::int64_t begin, std::int64_t end) {
      settle(begin, end, differs);
      for (std::int64_t i = begin; i < end; ++i) rows[i] = row_at(i);
    });
  }

 private:
  std::uint64_t word(std::int64_t i) const { return keys_[i]; }
  std::uint32_t row_at(std::int64_t i) const { return static_cast<std::uint32_t>(word(i) & row_mask_); }

  // Calls work(part, begin, end) for every part of the words. If words are in order, those with the same bits above
  // `low` are in one part. With `low` 64, parts may end anywhere.
  template <class Work>
  void each_part(int low, const Work& work) const {
    std::vector<std::int64_t> begins;  // found before any work moves words
    for (int part = 0; part <= n_parts_; ++part) {
      std::int64_t i = part_begin(n_, n_parts_, part);
      while (low < 64 && i > 0 && i < n_ && word(i) >> low == word(i - 1) >> low) ++i;
      begins.push_back(i);
    }
    crew_.each(n_parts_, [&](int part) {
      const auto p = static_cast<std::size_t>(part);
      work(part, begins[p], begins[p + 1]);
    });
  }

  // Fills in words in row order, and returns the bits in which they differ.
  std::uint64_t fill() {
    std::vector<std::uint64_t> varying(static_cast<std::size_t>(n_parts_), 0);
    const auto word_of = [&](std::int64_t row) {
      std::uint64_t key = order_key(x_[row]);
      if constexpr (sizeof(T) == 4) key <<= 32;
      return (key & ~row_mask_) | static_cast<std::uint64_t>(row);
    };
    const std::uint64_t first = word_of(0);
    each_part(64, [&](int part, std::int64_t begin, std::int64_t end) {
      std::uint64_t here = 0;
      for (std::int64_t row = begin; row < end; ++row) {
        const std::uint64_t key = word_of(row);
        keys_[row] = key;
        here |= key ^ first;
      }
      varying[static_cast<std::size_t>(part)] = here & ~row_mask_;
    });
    std::uint64_t all = 0;
    for (const std::uint64_t of_part : varying) all |= of_part;
    return all;
  }

  // Sorts by the bits [row_bits_, high). The leading bits tell most values apart; the few others are sorted after them.
  void sort_bits(int high) {
    constexpr int kLeadingBits = 3 * kDigitBits;
    RadixSort radix(scratch_, crew_, n_parts_);
    if (high - row_bits_ <= kLeadingBits) {
      if (high > row_bits_) radix.by_bits(row_bits_, high);
      return;
    }
    const int low = high - kLeadingBits;
    radix.by_bits(low, high);
    const std::int64_t confused = count_confused(low);
    if (confused > n_ / 4) {  // then by all digits; equal words are still in row order
      radix.by_bits(row_bits_, high);
    } else if (confused > 0) {
      each_part(low, [&](int, std::int64_t begin, std::int64_t end) { sort_confused(begin, end, low); });
    }
  }

  // Counts neighbours whose leading bits are equal but whose other bits differ.
  std::int64_t count_confused(int low) const {
    std::vector<std::int64_t> confused(static_cast<std::size_t>(n_parts_), 0);
    each_part(64, [&](int part, std::int64_t begin, std::int64_t end) {
      std::int64_t here = 0;
      for (std::int64_t i = begin; i < std::min(end, n_ - 1); ++i) {
        const std::uint64_t differing = (word(i) ^ word(i + 1)) & ~row_mask_;
        here += differing != 0 && differing >> low == 0 ? 1 : 0;
      }
      confused[static_cast<std::size_t>(part)] = here;
    });
    std::int64_t all = 0;
    for (const std::int64_t of_part : confused) all += of_part;
    return all;
  }

  void sort_confused(std::int64_t first, std::int64_t last, int low) {
    for (std::int64_t begin = first; begin < last;) {
      std::int64_t end = begin + 1;
      while (end < last && word(end) >> low == word(begin) >> low) ++end;
      if (end - begin > 1) std::sort(keys_.begin() + begin, keys_.begin() + end);
      begin = end;
    }
  }

  // A run of equal leading bits holds one value, or several values whose last bits were replaced by the row.
  void settle(std::int64_t first, std::int64_t last, std::uint8_t* differs) {
    for (std::int64_t begin = first; begin < last;) {
      std::int64_t end = begin + 1;
      bool several = false;
      while (end < last && (word(end) & ~row_mask_) == (word(begin) & ~row_mask_)) {
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
  SortScratch& scratch_;
  Buffer<std::uint64_t>& keys_;
  const Crew& crew_;
  int n_parts_;
  int row_bits_;
  std::uint64_t row_mask_;
};

}  // namespace

void sort_rows(const double* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch, std::uint8_t* differs,
               const Crew& crew) {
  if (n > 0) Sorter<double>(x, n, scratch, crew).run(rows, differs);
}
void sort_rows(const float* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch, std::uint8_t* differs,
               const Crew& crew) {
  if (n > 0) Sorter<float>(x, n, scratch, crew).run(rows, differs);
}

}  // namespace stope::discretize
