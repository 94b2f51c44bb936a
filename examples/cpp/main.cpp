// Classifies a small table with missing values: read two tables, fit, predict, score.
//   classify_labor TRAIN TEST TARGET
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "stope/stope.hpp"

namespace {

void classify(const std::string& train_file, const std::string& test_file, const std::string& target) {
  stope::ReadOptions read;
  read.target = target;
  read.target_is_nominal = true;
  const stope::Table train = stope::read_table(train_file, read);
  const stope::Table test = stope::read_table(test_file, read);

  stope::KnnOptions options;
  options.metric.name = "gower";  // scales each attribute by its range, so no normalisation is needed
  const stope::KnnClassifier model = stope::KnnClassifier::fit(train, options);

  stope::VoteOptions vote;
  vote.n_neighbors = 3;
  const stope::Classification result = model.predict(test, vote);

  // The two files were read on their own, so the same class may have another code in each: compare the names.
  const stope::Column& truth = test.columns[static_cast<std::size_t>(test.find(stope::Role::label))];
  std::int64_t right = 0;
  for (std::size_t row = 0; row < result.codes.size(); ++row) {
    const std::string& predicted = result.classes[static_cast<std::size_t>(result.codes[row])];
    const auto code = truth.codes()[static_cast<std::int64_t>(row)];
    const std::string& known = truth.values[static_cast<std::size_t>(code)];
    right += predicted == known ? 1 : 0;
    std::cout << row << ": " << predicted << (predicted == known ? "" : " (is " + known + ")") << '\n';
  }
  std::cout << right << " of " << result.codes.size() << " right, stope " << stope::version() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: classify_labor TRAIN TEST TARGET\n";
    return 2;
  }
  try {
    classify(argv[1], argv[2], argv[3]);
    return 0;
  } catch (const stope::Error& error) {
    std::cerr << error.what() << '\n';
    return stope::exit_code(error.code());
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
