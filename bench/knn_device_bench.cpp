// Times one k-NN job on one device as a program sees it, from host memory to host memory. Prints one JSON object with
// the fit, the first search of the fitted table (which copies it and makes images) and the following ones.
//
//   knn_device_bench ROWS QUERIES COLUMNS K METRIC DEVICE REPEATS [warm]
//
// With `warm` a tiny search comes first, so that the driver has started. STOPE_TILE_* and other variables work as
// usual.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

stope::Table uniform_table(std::int64_t n_rows, std::int64_t n_columns, std::uint64_t seed) {
  stope::Table table;
  table.n_rows = n_rows;
  stope::Random random(seed);
  for (std::int64_t c = 0; c < n_columns; ++c) {
    stope::Buffer<float> values(n_rows);
    for (float& value : values) value = static_cast<float>(random.uniform());
    table.columns.push_back(
        {"x" + std::to_string(c), stope::ValueType::real, stope::Role::regular, std::move(values), {}});
  }
  return table;
}

int bench(int argc, char** arguments) {
  const std::int64_t n = std::atoll(arguments[1]), m = std::atoll(arguments[2]), d = std::atoll(arguments[3]);
  stope::KnnOptions options;
  options.metric.name = arguments[5];
  stope::RunOptions run;
  run.device = arguments[6];
  const stope::SearchOptions search{.n_neighbors = std::atoll(arguments[4])};
  const auto ignore = [](const stope::Neighbors&) {};
  if (argc > 8) {
    const stope::Table few = uniform_table(64, 2, 3);
    stope::KnnIndex::fit(few, options, run).kneighbors(few, {.n_neighbors = 1}, run, ignore);
  }
  const stope::Table train = uniform_table(n, d, 1), query = uniform_table(m, d, 2);
  auto start = std::chrono::steady_clock::now();
  const stope::KnnIndex index = stope::KnnIndex::fit(train, options, run);
  const double fit = milliseconds_since(start);
  std::vector<double> times;
  stope::SearchReport report;
  for (int i = 0; i < std::atoi(arguments[7]) + 1; ++i) {
    start = std::chrono::steady_clock::now();
    report = index.kneighbors(query, search, run, ignore);
    times.push_back(milliseconds_since(start));
  }
  double on_gpu = 0.0;
  for (const auto& [step, seconds] : report.gpu_seconds) on_gpu += 1e3 * seconds;
  const double first = times.front();
  std::sort(times.begin() + 1, times.end());
  std::printf(
      "{\"rows\": %lld, \"queries\": %lld, \"columns\": %lld, \"k\": %s, \"metric\": \"%s\", \"device\": \"%s\", "
      "\"backend\": \"%s\", \"method\": \"%s\", \"threads\": %d, \"warm\": %s, \"fit_ms\": %.3f, \"first_ms\": %.3f, "
      "\"next_ms\": %.3f, \"least_ms\": %.3f, \"gpu_ms\": %.3f, \"uncertified\": %lld, \"reason\": \"%s\"}\n",
      static_cast<long long>(n), static_cast<long long>(m), static_cast<long long>(d), arguments[4], arguments[5],
      arguments[6], report.backend.c_str(), report.method.c_str(), report.threads, argc > 8 ? "true" : "false", fit,
      first, times[1 + (times.size() - 2) / 2], times[std::min<std::size_t>(1, times.size() - 1)], on_gpu,
      static_cast<long long>(report.uncertified), report.device_reason.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8 || std::atoi(argv[7]) < 1) {
    std::fputs("knn_device_bench ROWS QUERIES COLUMNS K METRIC DEVICE REPEATS [warm]\n", stderr);
    return 2;
  }
  try {
    return bench(argc, argv);
  } catch (const stope::Error& error) {
    std::fprintf(stderr, "knn_device_bench: %s\n", error.what());
    return 1;
  }
}
