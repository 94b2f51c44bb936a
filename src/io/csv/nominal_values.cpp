#include "io/csv/nominal_values.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "base/polled_sort.hpp"
#include "io/csv/readings.hpp"

namespace stope::io::csv {
namespace {

struct Entry {
  std::string_view text;
  std::int64_t row;
  std::size_t dictionary;
  std::int32_t code;
};

std::vector<Entry> entries_of(const std::vector<const Dictionary*>& dictionaries) {
  std::vector<Entry> entries;
  for (std::size_t d = 0; d < dictionaries.size(); ++d) {
    if (dictionaries[d] == nullptr) continue;
    const Dictionary& dictionary = *dictionaries[d];
    for (std::int32_t code = 0; code < dictionary.size(); ++code) {
      entries.push_back({dictionary.value(code), dictionary.first_row(code), d, code});
    }
  }
  return entries;
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
                         const CancelToken& cancel, const std::vector<CodedRows>& rows) {
  std::vector<Entry> entries = entries_of(dictionaries);
  polled_sort(entries.begin(), entries.end(), cancel, [](const Entry& a, const Entry& b) {
    const int compared = a.text.compare(b.text);
    return compared != 0 ? compared < 0 : a.row < b.row;
  });
  // Equal texts are neighbours now, the earliest row first.
  std::vector<std::pair<std::int64_t, std::int32_t>> groups;  // first row, index of the first entry
  std::vector<std::int32_t> group_of(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i].text != entries[i - 1].text) {
      groups.emplace_back(entries[i].row, static_cast<std::int32_t>(i));
    }
    group_of[i] = static_cast<std::int32_t>(groups.size()) - 1;
  }
  if (order == NominalOrder::appearance) std::sort(groups.begin(), groups.end());
  std::vector<std::int32_t> rank(groups.size());
  std::vector<std::string> values;
  values.reserve(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto first = static_cast<std::size_t>(groups[g].second);
    rank[static_cast<std::size_t>(group_of[first])] = static_cast<std::int32_t>(g);
    values.emplace_back(entries[first].text);
  }
  std::vector<std::vector<std::int32_t>> maps(dictionaries.size());
  for (std::size_t d = 0; d < dictionaries.size(); ++d) {
    if (dictionaries[d] != nullptr) maps[d].resize(static_cast<std::size_t>(dictionaries[d]->size()));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    maps[entries[i].dictionary][static_cast<std::size_t>(entries[i].code)] =
        rank[static_cast<std::size_t>(group_of[i])];
  }
  for (const CodedRows& some : rows) {
    const std::vector<std::int32_t>& map = maps[some.dictionary];
    for (std::int32_t& code : some.codes) {
      if (code >= 0) code = map[static_cast<std::size_t>(code)];
    }
  }
  return values;
}

}  // namespace stope::io::csv
