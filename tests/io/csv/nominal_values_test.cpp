#include "io/csv/nominal_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv/row_texts.hpp"

namespace stope::io::csv {
namespace {

// What join_dictionaries() promises, of rows whose texts are known: values by bytes or by their first rows.
std::vector<std::string> values_of(const std::vector<std::string>& texts, NominalOrder order) {
  std::map<std::string, std::int64_t> first_rows;
  for (std::size_t row = 0; row < texts.size(); ++row) first_rows.emplace(texts[row], row);
  std::vector<std::string> values;
  for (const auto& [text, row] : first_rows) values.push_back(text);
  if (order == NominalOrder::appearance) {
    std::sort(values.begin(), values.end(),
              [&](const std::string& a, const std::string& b) { return first_rows.at(a) < first_rows.at(b); });
  }
  return values;
}

TEST(NominalValues, OfSeveralDictionariesAreOneListInEitherOrder) {
  std::mt19937_64 g(1);
  for (const std::size_t n_rows : {0, 1, 7, 300, 20000}) {
    for (const NominalOrder order : {NominalOrder::sorted, NominalOrder::appearance}) {
      MemoryMeter meter(std::int64_t{1} << 30, "test");
      Dictionary first(meter), third(meter);
      const std::vector<const Dictionary*> dictionaries{&first, nullptr, &third};
      // The second half of the rows is read first, as threads may: codes do not follow the rows.
      std::vector<std::string> texts(n_rows);
      for (auto& text : texts) text = "text " + std::to_string(g() % (n_rows + 1));
      std::vector<std::int32_t> codes(n_rows);
      const std::size_t half = n_rows / 2;
      for (std::size_t i = 0; i < n_rows; ++i) {
        const std::size_t row = (i + half) % n_rows;
        Dictionary& dictionary = row < half ? third : first;
        codes[row] = dictionary.add_value(texts[row], static_cast<std::int64_t>(row));
      }
      const std::span<std::int32_t> all(codes);
      const Values values = join_dictionaries(dictionaries, order, {}, {{2, all.first(half)}, {0, all.subspan(half)}});
      ASSERT_EQ(values.names(), values_of(texts, order)) << n_rows;
      for (std::size_t row = 0; row < n_rows; ++row) ASSERT_EQ(values[codes[row]], texts[row]) << row;
    }
  }
}

TEST(NominalValues, OfRowsThatKeepTheirTextsAreInTheSameList) {
  std::mt19937_64 g(2);
  for (const std::size_t n_rows : {1, 7, 300, 20000}) {
    for (const NominalOrder order : {NominalOrder::sorted, NominalOrder::appearance}) {
      MemoryMeter meter(std::int64_t{1} << 30, "test");
      Dictionary dictionary(meter);
      std::vector<std::string> texts(n_rows);
      for (auto& text : texts) text = "text " + std::to_string(g() % (n_rows + 1));
      std::vector<std::int32_t> codes(n_rows, kKeptText);
      std::vector<std::string_view> kept(n_rows);
      for (std::size_t row = 0; row < n_rows; ++row) {
        if (g() % 3 == 0) {
          codes[row] = dictionary.add_value(texts[row], static_cast<std::int64_t>(row));
        } else {
          kept[row] = texts[row];
        }
      }
      const Values values = join_dictionaries({&dictionary}, order, {}, {{0, codes}}, {kept, codes});
      ASSERT_EQ(values.names(), values_of(texts, order)) << n_rows;
      for (std::size_t row = 0; row < n_rows; ++row) ASSERT_EQ(values[codes[row]], texts[row]) << row;
    }
  }
}

}  // namespace
}  // namespace stope::io::csv
