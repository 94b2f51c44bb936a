// Times k-NN searches with stope on the CPU. Prints one JSON object with the fit, the first search (which makes the
// back end's images of the table) and the following ones, in wall time and in CPU time, and writes the answer for
// others to check.
//
//   knn_cpu_bench TRAIN QUERY METRIC K THREADS REPEATS OUT     (STOPE_BACKEND chooses the back end)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/knn.hpp"

namespace {

struct Seconds {
  double wall, cpu;  // cpu: of all threads
};

class Stopwatch {
 public:
  Seconds elapsed() const {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(),
            static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC};
  }

 private:
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  std::clock_t cpu_ = std::clock();
};

void print(const char* name, const std::vector<Seconds>& times, double Seconds::* which) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 1; i < times.size(); ++i) std::printf("%s%.6f", i > 1 ? ", " : "", times[i].*which);
  std::printf("], ");
}

template <class T>
void write(const std::string& path, const std::vector<T>& values) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(values.data(), sizeof(T), values.size(), file) != values.size() ||
      std::fclose(file) != 0) {
    throw stope::Error(stope::ErrorCode::io, "cannot write " + path);
  }
}

int bench(char** arguments) {
  const stope::Table train = stope::read_table(arguments[1]), query = stope::read_table(arguments[2]);
  stope::KnnOptions options;
  options.metric.name = arguments[3];
  const stope::SearchOptions search{.n_neighbors = std::atoll(arguments[4])};
  stope::RunOptions run;
  run.threads = std::atoi(arguments[5]);

  const Stopwatch of_fit;
  const stope::KnnIndex index = stope::KnnIndex::fit(train, options, run);
  const Seconds fit = of_fit.elapsed();
  std::vector<std::int64_t> indices;
  std::vector<double> distances;
  std::vector<Seconds> times;
  times.reserve(static_cast<std::size_t>(std::atoi(arguments[6])) + 1);
  stope::SearchReport report;
  for (int i = 0; i < std::atoi(arguments[6]) + 1; ++i) {
    indices.clear();
    distances.clear();
    const Stopwatch of_search;
    report = index.kneighbors(query, search, run, [&](const stope::Neighbors& block) {
      indices.insert(indices.end(), block.indices.begin(), block.indices.end());
      distances.insert(distances.end(), block.distances.begin(), block.distances.end());
    });
    times.push_back(of_search.elapsed());
  }
  write(std::string(arguments[7]) + ".indices", indices);
  write(std::string(arguments[7]) + ".distances", distances);
  std::printf(
      "{\"backend\": \"%s\", \"method\": \"%s\", \"fit\": %.6f, \"first\": %.6f, \"fit_cpu\": %.6f, \"first_cpu\": "
      "%.6f, ",
      report.backend.c_str(), report.method.c_str(), fit.wall, times.front().wall, fit.cpu, times.front().cpu);
  print("searches", times, &Seconds::wall);
  print("searches_cpu", times, &Seconds::cpu);
  std::printf("\"pairs\": %lld, \"scanned\": %lld, \"skipped\": %lld, \"listed\": %lld, \"evaluated\": %lld}\n",
              static_cast<long long>(report.pairs), static_cast<long long>(report.scanned),
              static_cast<long long>(report.skipped), static_cast<long long>(report.listed),
              static_cast<long long>(report.evaluated));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fputs("knn_cpu_bench TRAIN QUERY METRIC K THREADS REPEATS OUT\n", stderr);
    return 2;
  }
  try {
    return bench(argv);
  } catch (const stope::Error& error) {
    std::fprintf(stderr, "knn_cpu_bench: %s\n", error.what());
    return 1;
  }
}
