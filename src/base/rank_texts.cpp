// rank_texts (base/rank_texts.hpp): a radix sort by seven bytes at a time, behind the beginning that all texts share.
// A key holds these bytes and how many of them are the text's, so that most texts are never looked at again. Before
// many keys are sorted they become shorter: where a byte has m values in all keys, it counts from 0 to m - 1. Six
// digits then take 21 bits instead of 48.
#include "base/rank_texts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/huge_pages.hpp"
#include "base/progress.hpp"

namespace stope {
namespace {

constexpr std::size_t kKeyBytes = 7;
constexpr std::uint64_t kMore = kKeyBytes + 1;  // in a key's last byte: the text goes on behind it
constexpr std::size_t kFew = 32;                // texts that are sorted by comparison
constexpr std::size_t kRadix = 4096;            // texts from which on their keys are sorted digit by digit
constexpr std::size_t kDigitBits = 11;          // whose counts stay in the first-level cache
constexpr std::size_t kAhead = 16;              // texts fetched before they are needed
constexpr std::size_t kPoll = std::size_t{1} << 16;

using Item = RankedText;  // until the end, `rank` is a key, then whether the text differs from the one before

// Texts that begin with the same `shared` bytes and are not sorted yet.
struct Run {
  std::size_t begin, end, shared;
};

// Bytes [at, at + 7) of a text, zeros behind its end, and how many of them there are. The order of keys is that of the
// texts, as far as they have these bytes: of two that differ by zeros alone, the shorter one is a beginning.
std::uint64_t key_of(std::string_view text, std::size_t at) {
  const std::size_t left = text.size() - at;
  if (left >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    return (__builtin_bswap64(word) & ~std::uint64_t{0xFF}) | kMore;
  }
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < kKeyBytes; ++i) {
    key = (key << 8U) | (i < left ? static_cast<unsigned char>(text[at + i]) : 0U);
  }
  return (key << 8U) | left;
}

class Ranking {
 public:
  Ranking(std::span<const std::span<const std::string_view>> lists, std::vector<Item> items, const CancelToken& cancel)
      : lists_(lists), cancel_(cancel), items_(std::move(items)) {}

  std::vector<Item> ranked() {
    if (items_.empty()) return {};
    // Not by recursion: its depth would be that of the longest texts.
    runs_.push_back({0, items_.size(), 0});
    while (!runs_.empty()) {
      const Run run = runs_.back();
      runs_.pop_back();
      poll(run.end - run.begin);
      if (run.end - run.begin <= kFew) {
        sort_few(run);
      } else {
        sort_by_keys(run);
      }
    }
    std::uint64_t rank = 0;
    items_.front().rank = 0;
    for (std::size_t i = 1; i < items_.size(); ++i) items_[i].rank = rank += items_[i].rank;
    return std::move(items_);
  }

 private:
  std::string_view text_of(const Item& item) const { return lists_[item.list][item.index]; }

  void poll(std::size_t steps) {
    steps_ += steps;
    if (steps_ < kPoll) return;
    steps_ = 0;
    poll_step(cancel_);
  }

  void sort_few(const Run& run) {
    const auto rest = [&](const Item& item) { return text_of(item).substr(run.shared); };
    Item* const first = items_.data() + run.begin;
    Item* const last = items_.data() + run.end;
    // Not std::sort: it would leave the list where texts of a mapped file change under it.
    for (Item* item = first + 1; item < last; ++item) {
      const Item moved = *item;
      Item* to = item;
      for (; to > first && rest(moved) < rest(to[-1]); --to) *to = to[-1];
      *to = moved;
    }
    first->rank = 1;
    for (Item* item = first + 1; item < last; ++item) item->rank = rest(item[-1]) == rest(*item) ? 0 : 1;
  }

  // Calls f(item, text) for the run's texts, until it returns false.
  template <class F>
  void for_texts(const Run& run, const F& f) {
    for (std::size_t i = run.begin; i < run.end; ++i) {
      if (i + 2 * kAhead < run.end) {
        const Item& later = items_[i + 2 * kAhead];
        __builtin_prefetch(&lists_[later.list][later.index]);
        __builtin_prefetch(text_of(items_[i + kAhead]).data() + run.shared);
      }
      if (!f(items_[i], text_of(items_[i]))) return;
    }
  }

  std::size_t shared_bytes(const Run& run) {
    const std::string_view first = text_of(items_[run.begin]);
    std::size_t shared = first.size();
    for_texts(run, [&](const Item&, std::string_view text) {
      shared = std::min(shared, text.size());
      if (std::memcmp(first.data() + run.shared, text.data() + run.shared, shared - run.shared) != 0) {
        std::size_t same = run.shared;
        while (same < shared && first[same] == text[same]) ++same;
        shared = same;
      }
      return shared > run.shared;
    });
    return shared;
  }

  void sort_by_keys(Run run) {
    run.shared = shared_bytes(run);
    for_texts(run, [&](Item& item, std::string_view text) {
      item.rank = key_of(text, run.shared);
      return true;
    });
    Item* const first = items_.data() + run.begin;
    const std::size_t n = run.end - run.begin;
    std::uint64_t more = kMore, more_mask = 0xFF;  // in a key: the text goes on
    if (n < kRadix) {
      std::sort(first, first + n, [](const Item& a, const Item& b) { return a.rank < b.rank; });
    } else {
      const Shortening shortening(first, n);
      more = shortening.more;
      more_mask = shortening.more_mask;
      radix_sort(first, n, shortening);
    }
    for (std::size_t begin = run.begin; begin < run.end;) {
      const std::uint64_t key = items_[begin].rank;
      std::size_t end = begin;
      while (end < run.end && items_[end].rank == key) items_[end++].rank = 0;
      items_[begin].rank = 1;
      if (end - begin > 1 && (key & more_mask) == more) runs_.push_back({begin, end, run.shared + kKeyBytes});
      begin = end;
    }
  }

  // What each byte of a key adds to a shorter key, in the same order.
  struct Shortening {
    static constexpr std::size_t kBytes = sizeof(std::uint64_t);
    using Counts = std::array<std::array<std::size_t, 256>, kBytes>;
    std::array<std::array<std::uint64_t, 256>, kBytes> parts{};  // by position, the last byte first
    std::size_t n_bits = 0;
    std::uint64_t more = 0,
                  more_mask = 0;  // (key & more_mask) == more: the text goes on. No key has it if there is none

    Shortening(const Item* items, std::size_t n) {
      Counts counts{};
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t d = 0; d < kBytes; ++d) ++counts[d][(items[i].rank >> (8 * d)) & 0xFFU];
      }
      std::uint64_t n_keys = take_lengths(counts, n);
      for (std::size_t d = 1; d < kBytes; ++d) {
        std::uint64_t n_values = 0;
        for (std::size_t byte = 0; byte < 256; ++byte) {
          if (counts[d][byte] != 0) parts[d][byte] = n_keys * n_values++;
        }
        n_keys *= n_values;  // at most 16 lengths and 256 values of each of seven bytes: 2^60
      }
      n_bits = static_cast<std::size_t>(std::bit_width(n_keys - 1));
    }

    std::uint64_t operator()(std::uint64_t key) const {
      std::uint64_t result = 0;
      for (std::size_t d = 0; d < kBytes; ++d) result += parts[d][(key >> (8 * d)) & 0xFFU];
      return result;
    }

   private:
    // The lengths, in a key's last byte. Without zeros in texts, the zeros behind a text tell its length, but for one
    // of seven bytes and one that goes on. Returns how many values they take.
    std::uint64_t take_lengths(const Counts& counts, std::size_t n) {
      std::uint64_t ended = 0;  // texts of at most so many bytes
      bool zeros = false;
      for (std::size_t at = 0; at < kKeyBytes; ++at) {
        ended += counts[0][at];
        zeros = zeros || counts[kBytes - 1 - at][0] != ended;
      }
      if (zeros) {
        for (std::size_t length = 0; length <= kMore; ++length) parts[0][length] = length;
        more = kMore;
        more_mask = 0xF;
        return 16;
      }
      const std::size_t n_more = counts[0][kMore];
      const bool both = n_more > 0 && n_more < n;
      parts[0][kMore] = both ? 1 : 0;
      more = n_more < n ? 1 : 0;
      more_mask = both ? 1 : 0;
      return both ? 2 : 1;
    }
  };

  // Makes keys shorter, and sorts them by up to kDigitBits bits at a time, the last ones first.
  void radix_sort(Item* items, std::size_t n, const Shortening& shortening) {
    const std::size_t n_passes = (shortening.n_bits + kDigitBits - 1) / kDigitBits;
    const std::size_t n_bits = n_passes == 0 ? 0 : (shortening.n_bits + n_passes - 1) / n_passes;
    const std::uint64_t mask = (std::uint64_t{1} << n_bits) - 1;
    counts_.assign(n_passes << n_bits, 0);
    for (std::size_t i = 0; i < n; ++i) {
      items[i].rank = shortening(items[i].rank);
      for (std::size_t p = 0; p < n_passes; ++p) ++counts_[(p << n_bits) + ((items[i].rank >> (p * n_bits)) & mask)];
    }
    if (spare_.empty()) {
      spare_.reserve(items_.size());
      prefer_huge_pages(spare_.data(), items_.size() * sizeof(Item));
      spare_.resize(items_.size());
    }
    Item* from = items;
    Item* to = spare_.data();
    for (std::size_t p = 0; p < n_passes; ++p) {
      std::size_t* const places = counts_.data() + (p << n_bits);
      std::size_t at = 0;
      for (std::size_t digit = 0; digit <= mask; ++digit) at += std::exchange(places[digit], at);
      for (std::size_t i = 0; i < n; ++i) to[places[(from[i].rank >> (p * n_bits)) & mask]++] = from[i];
      std::swap(from, to);
      poll(n);
    }
    if (from != items) std::copy_n(from, n, items);
  }

  std::span<const std::span<const std::string_view>> lists_;
  const CancelToken& cancel_;
  std::vector<Item> items_, spare_;
  std::vector<std::size_t> counts_;
  std::vector<Run> runs_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<RankedText> rank_texts(std::span<const std::span<const std::string_view>> lists,
                                   const CancelToken& cancel) {
  return rank_texts(lists, all_texts(lists), cancel);
}

std::vector<RankedText> rank_texts(std::span<const std::span<const std::string_view>> lists,
                                   std::vector<RankedText> texts, const CancelToken& cancel) {
  return Ranking(lists, std::move(texts), cancel).ranked();
}

std::vector<RankedText> all_texts(std::span<const std::span<const std::string_view>> lists) {
  std::size_t n = 0;
  for (const auto& list : lists) n += list.size();
  std::vector<RankedText> texts;
  texts.reserve(n);
  prefer_huge_pages(texts.data(), n * sizeof(RankedText));
  for (std::size_t l = 0; l < lists.size(); ++l) {
    for (std::size_t i = 0; i < lists[l].size(); ++i) {
      texts.push_back({0, static_cast<std::uint32_t>(l), static_cast<std::uint32_t>(i)});
    }
  }
  return texts;
}

std::vector<std::int32_t> sort_texts(std::vector<std::string>& texts, const CancelToken& cancel) {
  if (std::is_sorted(texts.begin(), texts.end())) return {};
  std::vector<std::int32_t> places(texts.size());
  {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const std::span<const std::string_view> list(views);
    for (const RankedText& text : rank_texts(std::span(&list, 1), cancel)) {
      places[text.index] = static_cast<std::int32_t>(text.rank);
    }
  }
  std::vector<std::string> sorted(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) sorted[static_cast<std::size_t>(places[i])] = std::move(texts[i]);
  texts = std::move(sorted);
  return places;
}

}  // namespace stope
