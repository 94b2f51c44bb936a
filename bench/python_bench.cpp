// Times the C++ calls that a one-row call of the Python package ends in, on the same arrays. Prints one JSON object;
// python.py runs it.
//
//   python_bench KEY=VALUE...
//     train=FILE queries=FILE   float64 rows in C order, without a header
//     rows=N columns=D k=5      the queries are taken one after another
//     seconds=0.5               of timed calls of each kind
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "stope/knn.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

std::vector<double> read(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::vector<double> values(static_cast<std::size_t>(in.tellg()) / sizeof(double));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(double)));
  if (!in) throw stope::Error(stope::ErrorCode::io, "cannot read " + path);
  return values;
}

// The times of calls, one after another, sorted.
template <class Call>
std::vector<double> times_of(double seconds, std::int64_t n_queries, const Call& call) {
  for (std::int64_t i = 0; i < n_queries; ++i) call(i);  // warms up
  std::vector<double> times;
  const auto begin = Clock::now();
  while (microseconds_since(begin) < 1e6 * seconds) {
    const auto start = Clock::now();
    call(static_cast<std::int64_t>(times.size()) % n_queries);
    times.push_back(microseconds_since(start));
  }
  std::sort(times.begin(), times.end());
  return times;
}

void print(const char* name, const std::vector<double>& times, const char* end) {
  std::printf("\"%s\": {\"least_us\": %.2f, \"median_us\": %.2f, \"calls\": %zu}%s", name, times.front(),
              times[times.size() / 2], times.size(), end);
}

int bench(int argc, char** argv) {
  stope::bench::Words words(argc, argv, 1);
  const std::vector<double> train = read(words.text("train", "")), queries = read(words.text("queries", ""));
  const std::int64_t rows = words.integer("rows", 1), columns = words.integer("columns", 1), k = words.integer("k", 5);
  const double seconds = words.number("seconds", 0.5);
  words.done();
  stope::RunOptions run;
  run.device = "cpu";
  const stope::ArrayView view{train.data(), stope::ElementType::float64, rows, columns};
  const stope::KnnIndex index = stope::KnnIndex::fit(view, {.metric = {.name = "euclidean"}}, run);
  stope::Buffer<std::int32_t> codes(rows);
  for (std::int64_t i = 0; i < rows; ++i) codes[i] = static_cast<std::int32_t>(i % 3);
  const stope::Column label{"class", stope::ValueType::nominal, stope::Role::label, std::move(codes),
                            std::vector<std::string>{"0", "1", "2"}};
  const stope::KnnClassifier classifier = stope::KnnClassifier::fit(index, label);
  const std::int64_t n_queries = static_cast<std::int64_t>(queries.size()) / columns;
  const auto row = [&](std::int64_t i) {
    return stope::ArrayView{queries.data() + i * columns, stope::ElementType::float64, 1, columns};
  };
  std::vector<std::int64_t> indices(static_cast<std::size_t>(k));
  std::vector<double> distances(indices.size());
  const stope::SearchOptions search{.n_neighbors = k};
  const stope::VoteOptions vote{.n_neighbors = k, .confidences = stope::Confidences::none};
  std::printf("{");
  print("kneighbors",
        times_of(seconds, n_queries,
                 [&](std::int64_t i) {
                   (void)index.kneighbors(row(i), search, run,
                                          {.indices = indices.data(), .distances = distances.data()});
                 }),
        ", ");
  print("predict", times_of(seconds, n_queries, [&](std::int64_t i) { (void)classifier.predict(row(i), vote, run); }),
        "}\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return bench(argc, argv);
  } catch (const stope::Error& error) {
    std::fprintf(stderr, "python_bench: %s\n", error.what());
    return 1;
  }
}
