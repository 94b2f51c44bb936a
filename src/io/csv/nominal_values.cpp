#include "io/csv/nominal_values.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "base/huge_pages.hpp"
#include "base/rank_texts.hpp"
#include "io/csv/readings.hpp"

namespace stope::io::csv {
namespace {

using Lists = std::vector<std::span<const std::string_view>>;

// Puts texts to their places, in their own order: they are read one after the other, and only places are far apart. A
// place that has a text keeps it.
template <class PlaceOf>
void put_texts(std::span<const std::string_view> texts, const PlaceOf& place_of, std::vector<std::string>& values) {
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i + kAhead < texts.size()) {
      const std::int32_t ahead = place_of(i + kAhead);
      if (ahead >= 0) __builtin_prefetch(&values[static_cast<std::size_t>(ahead)], 1);
    }
    if (texts[i].data() == nullptr) continue;
    std::string& value = values[static_cast<std::size_t>(place_of(i))];
    if (value.empty()) value = std::string(texts[i]);  // as long as it is: assign() would leave room
  }
}

// Gives texts the ranks of their first rows. `first_row` tells the first one of a text.
template <class FirstRow>
void rank_by_appearance(const FirstRow& first_row, std::vector<RankedText>& ranked) {
  if (ranked.empty()) return;
  std::vector<std::pair<std::int64_t, std::uint64_t>> rows(ranked.back().rank + 1);  // first row, rank
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {std::numeric_limits<std::int64_t>::max(), i};
  for (const RankedText& text : ranked) {
    std::int64_t& first = rows[text.rank].first;
    first = std::min(first, first_row(text));
  }
  std::sort(rows.begin(), rows.end());
  std::vector<std::uint64_t> place(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) place[rows[i].second] = i;
  for (RankedText& text : ranked) text.rank = place[text.rank];
  std::sort(ranked.begin(), ranked.end(), [](const RankedText& a, const RankedText& b) { return a.rank < b.rank; });
}

// The values of dictionaries, and the texts that rows have kept, which are the last list.
std::vector<RankedText> items_of(const Lists& lists, std::span<const std::string_view> kept) {
  std::vector<RankedText> items = all_texts(std::span(lists).first(lists.size() - 1));
  if (kept.empty()) return items;
  const std::size_t n_values = items.size();
  items.reserve(n_values + kept.size());
  prefer_huge_pages(items.data(), items.capacity() * sizeof(RankedText));
  const auto list = static_cast<std::uint32_t>(lists.size() - 1);
  for (std::size_t row = 0; row < kept.size(); ++row) {
    if (kept[row].data() != nullptr) items.push_back({0, list, static_cast<std::uint32_t>(row)});
  }
  return items;
}

}  // namespace

void add_known_values(Dictionary& dictionary, const ColumnPlan& plan) {
  const std::vector<std::string>& values = plan.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    dictionary.add_value(values[i], plan.listed ? 0 : plan.known->first_rows[i]);
  }
}

bool is_truth_list(const Values& values) {
  return !values.empty() && values.size() <= 2 &&
         std::all_of(values.begin(), values.end(), [](const std::string& v) { return is_truth_value(v); });
}

void order_codes(const Dictionary& dictionary, NominalOrder order, std::vector<std::int32_t>& codes) {
  codes.resize(static_cast<std::size_t>(dictionary.size()));
  std::iota(codes.begin(), codes.end(), 0);
  std::sort(codes.begin(), codes.end(), [&](std::int32_t a, std::int32_t b) {
    if (order == NominalOrder::appearance && dictionary.first_row(a) != dictionary.first_row(b)) {
      return dictionary.first_row(a) < dictionary.first_row(b);
    }
    return dictionary.value(a) < dictionary.value(b);
  });
}

Values join_dictionaries(const std::vector<const Dictionary*>& dictionaries, NominalOrder order,
                         const CancelToken& cancel, const std::vector<CodedRows>& rows, const KeptRows& kept) {
  Lists lists(dictionaries.size() + 1);
  std::vector<std::vector<std::int32_t>> maps(dictionaries.size());
  for (std::size_t d = 0; d < dictionaries.size(); ++d) {
    if (dictionaries[d] != nullptr) lists[d] = dictionaries[d]->values();
    maps[d].resize(lists[d].size());
  }
  lists.back() = kept.texts;
  std::vector<RankedText> ranked = rank_texts(lists, items_of(lists, kept.texts), cancel);
  if (order == NominalOrder::appearance) {
    const auto first_row = [&](const RankedText& text) {
      if (text.list == dictionaries.size()) return std::int64_t{text.index};
      return dictionaries[text.list]->first_row(static_cast<std::int32_t>(text.index));
    };
    rank_by_appearance(first_row, ranked);
  }
  const std::size_t n_values = ranked.empty() ? 0 : ranked.back().rank + 1;
  for (const RankedText& text : ranked) {
    if (text.list < maps.size()) maps[text.list][text.index] = static_cast<std::int32_t>(text.rank);
  }
  for (const CodedRows& some : rows) {
    const std::vector<std::int32_t>& map = maps[some.dictionary];
    for (std::int32_t& code : some.codes) {
      if (code >= 0) code = map[static_cast<std::size_t>(code)];
    }
  }
  for (const RankedText& text : ranked) {
    if (text.list == maps.size()) kept.codes[text.index] = static_cast<std::int32_t>(text.rank);
  }
  ranked = {};
  std::vector<std::string> values;
  values.reserve(n_values);
  prefer_huge_pages(values.data(), n_values * sizeof(std::string));
  values.resize(n_values);
  for (std::size_t d = 0; d < maps.size(); ++d) put_texts(lists[d], [&](std::size_t i) { return maps[d][i]; }, values);
  put_texts(kept.texts, [&](std::size_t row) { return kept.codes[row]; }, values);
  return values;
}

}  // namespace stope::io::csv
