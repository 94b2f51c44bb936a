// Times k-NN searches on a GPU: one JSON object a case with the fit, the first search (which copies the table and makes
// its images), the following ones, what the GPU did in the last, and for how many of the first queries the answer is
// that of the processor.
//
//   knn_gpu_bench ROWS QUERIES COLUMNS K DATA REPEATS [DEVICE]     DATA: uniform | normal | latent | clusters | bytes
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace {

using stope::Random;

constexpr std::int64_t kChecked = 64;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double normal(Random& random) {
  return std::sqrt(-2.0 * std::log(1.0 - random.uniform())) * std::cos(6.283185307179586 * random.uniform());
}

// Rows of one kind of data; float32 values, as most tables have.
class Source {
 public:
  Source(const std::string& kind, std::int64_t n_columns) : kind_(kind), n_columns_(n_columns) {
    Random random(7);
    const std::int64_t n = kind == "latent" ? 16 * n_columns : kind == "clusters" ? 1000 * n_columns : 0;
    for (std::int64_t i = 0; i < n; ++i) basis_.push_back(normal(random));
  }

  stope::Table table(std::int64_t n_rows, std::uint64_t seed) const {
    stope::Table table;
    table.n_rows = n_rows;
    std::vector<stope::Buffer<float>> columns;
    for (std::int64_t c = 0; c < n_columns_; ++c) columns.emplace_back(n_rows);
    Random random(seed);
    std::vector<double> hidden(16);
    for (std::int64_t row = 0; row < n_rows; ++row) {
      for (double& h : hidden) h = kind_ == "latent" ? normal(random) : 0.0;
      const auto cluster = static_cast<std::int64_t>(random.below(1000));
      for (std::int64_t c = 0; c < n_columns_; ++c)
        columns[static_cast<std::size_t>(c)][row] = value(random, hidden, cluster, c);
    }
    for (std::int64_t c = 0; c < n_columns_; ++c) {
      table.columns.push_back({"x" + std::to_string(c),
                               stope::ValueType::real,
                               stope::Role::regular,
                               std::move(columns[static_cast<std::size_t>(c)]),
                               {}});
    }
    return table;
  }

 private:
  float value(Random& random, const std::vector<double>& hidden, std::int64_t cluster, std::int64_t c) const {
    if (kind_ == "normal") return static_cast<float>(normal(random));
    if (kind_ == "bytes") return static_cast<float>(random.below(256));
    if (kind_ == "clusters") {
      return static_cast<float>(basis_[static_cast<std::size_t>(cluster * n_columns_ + c)] + 0.1 * normal(random));
    }
    if (kind_ == "latent") {
      double sum = 0.01 * normal(random);
      for (std::size_t h = 0; h < 16; ++h)
        sum += hidden[h] * basis_[h * static_cast<std::size_t>(n_columns_) + static_cast<std::size_t>(c)];
      return static_cast<float>(sum);
    }
    return static_cast<float>(random.uniform());
  }

  std::string kind_;
  std::int64_t n_columns_;
  std::vector<double> basis_;
};

// How many of the first queries have the processor's neighbours and distances, bit for bit.
std::int64_t same_as_processor(const stope::KnnIndex& index, const stope::Table& query, std::int64_t k,
                               const stope::Neighbors& ours) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < std::min(kChecked, query.n_rows); ++i) rows.push_back(i);
  stope::RunOptions run;
  run.device = "cpu";
  const stope::Neighbors theirs = index.kneighbors(query.take(rows), {.n_neighbors = k}, run);
  std::int64_t same = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(i) * k, end = begin + k;
    same += std::equal(theirs.indices.begin() + begin, theirs.indices.begin() + end, ours.indices.begin() + begin) &&
                    std::equal(theirs.distances.begin() + begin, theirs.distances.begin() + end,
                               ours.distances.begin() + begin)
                ? 1
                : 0;
  }
  return same;
}

int bench(int argc, char** arguments) {
  const std::int64_t n = std::atoll(arguments[1]), m = std::atoll(arguments[2]), d = std::atoll(arguments[3]);
  const std::int64_t k = std::atoll(arguments[4]);
  const Source source(arguments[5], d);
  const stope::Table train = source.table(n, 1), query = source.table(m, 2);
  stope::RunOptions run;
  run.device = argc > 7 ? arguments[7] : "cuda";
  auto start = std::chrono::steady_clock::now();
  const stope::KnnIndex index = stope::KnnIndex::fit(train, {}, run);
  const double fit = seconds_since(start);
  std::vector<double> times;
  stope::SearchReport report;
  stope::Neighbors first;
  for (int i = 0; i < std::atoi(arguments[6]) + 1; ++i) {
    start = std::chrono::steady_clock::now();
    report = index.kneighbors(query, {.n_neighbors = k}, run, [&](const stope::Neighbors& block) {
      if (block.first_query == 0) first = block;
    });
    times.push_back(seconds_since(start));
  }
  std::printf(
      "{\"rows\": %lld, \"queries\": %lld, \"columns\": %lld, \"k\": %lld, \"data\": \"%s\", \"method\": \"%s\", ",
      static_cast<long long>(n), static_cast<long long>(m), static_cast<long long>(d), static_cast<long long>(k),
      arguments[5], report.method.c_str());
  std::printf("\"fit_ms\": %.3f, \"first_ms\": %.3f, \"searches_ms\": [", 1e3 * fit, 1e3 * times.front());
  for (std::size_t i = 1; i < times.size(); ++i) std::printf("%s%.3f", i > 1 ? ", " : "", 1e3 * times[i]);
  std::printf("], \"gpu_ms\": {");
  double sum = 0.0;
  for (const auto& [name, seconds] : report.gpu_seconds) {
    std::printf("\"%s\": %.3f, ", name.c_str(), 1e3 * seconds);
    sum += seconds;
  }
  std::printf("\"sum\": %.3f}, \"listed\": %lld, \"evaluated\": %lld, \"uncertified\": %lld, ", 1e3 * sum,
              static_cast<long long>(report.listed), static_cast<long long>(report.evaluated),
              static_cast<long long>(report.uncertified));
  std::printf("\"exact\": %lld, \"checked\": %lld}\n",
              static_cast<long long>(same_as_processor(index, query, k, first)),
              static_cast<long long>(std::min(kChecked, m)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fputs("knn_gpu_bench ROWS QUERIES COLUMNS K DATA REPEATS [DEVICE]\n", stderr);
    return 2;
  }
  try {
    return bench(argc, argv);
  } catch (const stope::Error& error) {
    std::fprintf(stderr, "knn_gpu_bench: %s\n", error.what());
    return 1;
  }
}
