// rank_texts (base/rank_texts.hpp): a radix sort by seven bytes at a time, behind the beginning that all texts share.
// A key holds these bytes and how many of them are the text's, so that most texts are never looked at again.
#include "base/rank_texts.hpp"

#include <algorithm>
#include <array>
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
  Ranking(std::span<const std::span<const std::string_view>> lists, const CancelToken& cancel)
      : lists_(lists), cancel_(cancel) {
    std::size_t n = 0;
    for (const auto& list : lists) n += list.size();
    items_.reserve(n);
    prefer_huge_pages(items_.data(), n * sizeof(Item));
    for (std::size_t l = 0; l < lists.size(); ++l) {
      for (std::size_t i = 0; i < lists[l].size(); ++i) {
        items_.push_back({0, static_cast<std::uint32_t>(l), static_cast<std::uint32_t>(i)});
      }
    }
  }

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
    std::sort(first, last, [&](const Item& a, const Item& b) { return rest(a) < rest(b); });
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
        while (first[same] == text[same]) ++same;
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
    if (n < kRadix) {
      std::sort(first, first + n, [](const Item& a, const Item& b) { return a.rank < b.rank; });
    } else {
      radix_sort(first, n);
    }
    for (std::size_t begin = run.begin; begin < run.end;) {
      const std::uint64_t key = items_[begin].rank;
      std::size_t end = begin;
      while (end < run.end && items_[end].rank == key) items_[end++].rank = 0;
      items_[begin].rank = 1;
      if (end - begin > 1 && (key & 0xFFU) == kMore) runs_.push_back({begin, end, run.shared + kKeyBytes});
      begin = end;
    }
  }

  // By the bytes in which keys differ, the last one first.
  void radix_sort(Item* items, std::size_t n) {
    constexpr std::size_t kDigits = sizeof(std::uint64_t);
    std::array<std::array<std::size_t, 256>, kDigits> counts{};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t d = 0; d < kDigits; ++d) ++counts[d][(items[i].rank >> (8 * d)) & 0xFFU];
    }
    if (spare_.empty()) {
      spare_.reserve(items_.size());
      prefer_huge_pages(spare_.data(), items_.size() * sizeof(Item));
      spare_.resize(items_.size());
    }
    Item* from = items;
    Item* to = spare_.data();
    for (std::size_t d = 0; d < kDigits; ++d) {
      if (counts[d][(from->rank >> (8 * d)) & 0xFFU] == n) continue;
      std::size_t at = 0;
      for (std::size_t& count : counts[d]) at += std::exchange(count, at);
      for (std::size_t i = 0; i < n; ++i) to[counts[d][(from[i].rank >> (8 * d)) & 0xFFU]++] = from[i];
      std::swap(from, to);
      poll(n);
    }
    if (from != items) std::copy_n(from, n, items);
  }

  std::span<const std::span<const std::string_view>> lists_;
  const CancelToken& cancel_;
  std::vector<Item> items_, spare_;
  std::vector<Run> runs_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<RankedText> rank_texts(std::span<const std::span<const std::string_view>> lists,
                                   const CancelToken& cancel) {
  return Ranking(lists, cancel).ranked();
}

}  // namespace stope
