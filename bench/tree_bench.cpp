// Times DecisionTree::fit on a table in memory and prints one JSON object for tree.py.
//
//   tree_bench x=FILE.npy y=FILE.npy criterion=discernibility|gini|entropy threads= repeats= (5)
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/tree.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// CPU time of all threads, which a loaded machine changes little.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Reads the features from one file and the classes, whole numbers, from the other.
stope::Table read(const std::string& x, const std::string& y) {
  stope::Table table = stope::read_table(x);
  const stope::Table labels = stope::read_table(y);
  std::vector<std::int32_t> codes;
  std::vector<std::string> names;
  for (std::int64_t row = 0; row < labels.n_rows; ++row) {
    codes.push_back(static_cast<std::int32_t>(labels.columns[0].at(row)));
    while (static_cast<std::int32_t>(names.size()) <= codes.back()) names.push_back(std::to_string(names.size()));
  }
  table.columns.push_back(stope::make_nominal("label", codes, names));
  table.columns.back().role = stope::Role::label;
  table.validate();
  return table;
}

int run(stope::bench::Words words) {
  const stope::Table table = read(words.text("x", ""), words.text("y", ""));
  stope::TreeOptions options;
  options.criterion = stope::criterion(words.text("criterion", "discernibility"));
  stope::RunOptions with;
  with.threads = static_cast<int>(words.integer("threads", 0));
  const std::int64_t repeats = words.integer("repeats", 5);
  words.done();
  std::string wall, processor;
  stope::DecisionTree tree;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const double before = processor_seconds();
    const Clock::time_point start = Clock::now();
    tree = stope::DecisionTree::fit(table, options, with);
    const std::string comma = wall.empty() ? "" : ", ";
    wall += comma + std::to_string(1e3 * seconds_since(start));
    processor += comma + std::to_string(1e3 * (processor_seconds() - before));
  }
  const Clock::time_point start = Clock::now();
  const stope::Classification classes = tree.predict(table, with);
  const double predict_ms = 1e3 * seconds_since(start);
  std::int64_t right = 0;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    right += classes.codes[static_cast<std::size_t>(row)] == table.columns.back().codes()[row] ? 1 : 0;
  }
  std::printf("{\"wall_ms\": [%s], \"processor_ms\": [%s], \"predict_ms\": %g, ", wall.c_str(), processor.c_str(),
              predict_ms);
  std::printf("\"leaves\": %lld, \"depth\": %lld, \"right\": %lld}\n", static_cast<long long>(tree.n_leaves()),
              static_cast<long long>(tree.max_depth()), static_cast<long long>(right));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(stope::bench::Words(argc, argv, 1));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tree_bench: %s\n", error.what());
    return 1;
  }
}
