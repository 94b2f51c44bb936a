// Starts from plain arrays, without files: statistics, nearest neighbours and classes of numbers that the program has.
//   arrays_in_memory
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stope/stope.hpp"

namespace {

using stope::ArrayView;
using stope::ElementType;

const std::vector<std::string> kNames = {"length", "width"};

// Six flowers, row by row, and the species of each.
const std::vector<float> kFlowers = {1.4F, 0.2F, 1.3F, 0.2F, 4.7F, 1.4F, 4.5F, 1.5F, 6.0F, 2.5F, 5.9F, 2.1F};
const std::vector<std::int32_t> kSpecies = {0, 0, 1, 1, 2, 2};

// Rows of numbers lie behind one another. The view has no owner, so that the table gets a copy.
stope::Table training_table() {
  stope::Table train = stope::table_of(ArrayView{kFlowers.data(), ElementType::float32, 6, 2}, kNames);
  stope::Column label = stope::make_nominal("species", kSpecies, {"setosa", "versicolor", "virginica"});
  label.role = stope::Role::label;
  train.columns.push_back(std::move(label));
  return train;
}

// Columns of numbers lie behind one another. The view shares the vector, so that the table copies nothing: nobody may
// write to the vector from here on.
stope::Table queries(std::vector<double> columns) {
  const auto owner = std::make_shared<const std::vector<double>>(std::move(columns));
  const auto n_rows = static_cast<std::int64_t>(owner->size() / 2);
  ArrayView view{owner->data(), ElementType::float64, n_rows, 2, 1, n_rows};
  view.owner = owner;
  return stope::table_of(view, kNames);
}

// The same training table from rows that come one at a time. A nominal column takes codes.
stope::Table streamed_table() {
  using stope::Role;
  using stope::ValueType;
  stope::TableBuilder builder(
      {{{"length"}, {"width"}, {"species", ValueType::polynominal, Role::label, {"setosa", "versicolor", "virginica"}}},
       {}});
  for (std::size_t row = 0; row < kSpecies.size(); ++row) {
    const double values[] = {static_cast<double>(kFlowers[2 * row]), static_cast<double>(kFlowers[2 * row + 1]),
                             static_cast<double>(kSpecies[row])};
    builder.append(ArrayView{values, ElementType::float64, 1, 3});
  }
  return builder.finish();
}

void run() {
  const stope::Statistics statistics = stope::describe(ArrayView{kFlowers.data(), ElementType::float32, 6, 2});
  for (std::size_t c = 0; c < kNames.size(); ++c) {
    std::cout << kNames[c] << ": " << statistics.columns[c].min << " to " << statistics.columns[c].max << '\n';
  }

  const stope::Table train = training_table();
  const stope::Table test = queries({1.5, 4.4, 6.1, 0.3, 1.3, 2.2});  // lengths, then widths
  const stope::KnnClassifier model = stope::KnnClassifier::fit(train);
  const stope::Neighbors nearest = model.index().kneighbors(test, {.n_neighbors = 1});
  const stope::Classification found = model.predict(test, {.n_neighbors = 1});
  for (std::size_t row = 0; row < found.codes.size(); ++row) {
    std::cout << "query " << row << ": flower " << nearest.indices[row] << " at " << nearest.distances[row] << ", "
              << found.classes[found.codes[row]] << '\n';
  }

  const stope::Classification again = stope::KnnClassifier::fit(streamed_table()).predict(test, {.n_neighbors = 1});
  std::cout << (again.codes == found.codes ? "rows that came one at a time: the same" : "DIFFERENT") << '\n';
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const stope::Error& error) {
    std::cerr << error.what() << '\n';
    return stope::exit_code(error.code());
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
