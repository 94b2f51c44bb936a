// Times describe() on an array from a file, in turn with a plain read of the same array by as many threads. Prints one
// JSON object for stats.py.
//
//   stats_bench file=PATH offset=BYTES type=float32|float64|int32|int64 rows= columns= layout=rows|columns
//               threads= device= repeats= (5)
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"
#include "stope/stats.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct Sample {
  double wall, processor;
};

Sample timed(const std::function<void()>& work) {
  const double before = processor_seconds();
  const Clock::time_point start = Clock::now();
  work();
  return {std::chrono::duration<double>(Clock::now() - start).count(), processor_seconds() - before};
}

// The floor: every word is loaded once and used in one instruction.
std::uint64_t read_all(const char* bytes, std::int64_t n, stope::ThreadPool& pool) {
  constexpr std::int64_t kTask = std::int64_t{1} << 20;
  std::vector<std::uint64_t> found(static_cast<std::size_t>(pool.size()));
  pool.parallel_for(n / kTask, {}, [&](std::int64_t task, int worker) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(bytes + task * kTask);
    std::uint64_t sums[32] = {};
    for (std::int64_t i = 0; i < kTask / 8; i += 32) {
      for (int j = 0; j < 32; ++j) sums[j] ^= words[i + j];
    }
    for (const std::uint64_t sum : sums) found[static_cast<std::size_t>(worker)] ^= sum;
  });
  std::uint64_t all = 0;
  for (const std::uint64_t one : found) all ^= one;
  return all;
}

stope::ElementType type_of(const std::string& name) {
  for (auto number = 0; number <= static_cast<int>(stope::ElementType::boolean); ++number) {
    const auto type = static_cast<stope::ElementType>(number);
    if (name == to_string(type)) return type;
  }
  throw stope::Error(stope::ErrorCode::invalid_argument, "no type '" + name + "'");
}

void print(const char* name, const std::vector<Sample>& samples) {
  std::printf(", \"%s\": {\"wall_ms\": [", name);
  for (std::size_t i = 0; i < samples.size(); ++i) std::printf("%s%.3f", i > 0 ? ", " : "", 1e3 * samples[i].wall);
  std::printf("], \"processor_ms\": [");
  for (std::size_t i = 0; i < samples.size(); ++i) std::printf("%s%.3f", i > 0 ? ", " : "", 1e3 * samples[i].processor);
  std::printf("]}");
}

void run(stope::bench::Words& words) {
  const std::string path = words.text("file", "");
  const std::int64_t offset = words.integer("offset", 0);
  const std::string type = words.text("type", "float32");
  stope::ArrayView array;
  array.type = type_of(type);
  array.n_rows = words.integer("rows", 1);
  array.n_columns = words.integer("columns", 1);
  const bool by_rows = words.text("layout", "rows") == "rows";
  array.row_stride = by_rows ? array.n_columns : 1;
  array.column_stride = by_rows ? 1 : array.n_rows;
  stope::RunOptions options;
  options.threads = static_cast<int>(words.integer("threads", 0));
  options.device = words.text("device", "auto");
  const std::int64_t repeats = words.integer("repeats", 5);
  words.done();

  const std::int64_t bytes = array.n_rows * array.n_columns * size_of(array.type);
  const stope::Buffer<char> buffer(bytes);
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  if (!file.read(const_cast<char*>(buffer.data()), bytes)) {
    throw stope::Error(stope::ErrorCode::invalid_data, path + " is shorter than it should be");
  }
  array.data = buffer.data();

  stope::ThreadPool pool(options.threads);
  std::vector<Sample> read, all, extremes;
  std::uint64_t sink = read_all(buffer.data(), bytes, pool);
  stope::Statistics statistics;
  const stope::StatsOptions few{.depth = stope::StatsOptions::Depth::extremes};
  for (std::int64_t i = 0; i < repeats; ++i) {
    read.push_back(timed([&] { sink ^= read_all(buffer.data(), bytes, pool); }));
    extremes.push_back(timed([&] { describe(array, few, options); }));
    all.push_back(timed([&] { statistics = describe(array, {}, options); }));
  }
  std::printf("{\"backend\": \"%s\", \"threads\": %d, \"bytes\": %lld, \"sink\": %d", statistics.report.backend.c_str(),
              statistics.report.threads, static_cast<long long>(bytes), static_cast<int>(sink & 1));
  print("read", read);
  print("extremes", extremes);
  print("all", all);
  std::printf(", \"columns\": [");
  for (std::size_t c = 0; c < statistics.columns.size() && c < 4; ++c) {
    const stope::ColumnStatistics& s = statistics.columns[c];
    std::printf(
        "%s{\"missing\": %lld, \"min\": %.17g, \"max\": %.17g, \"min_row\": %lld, \"mean\": %.17g, \"variance\": "
        "%.17g}",
        c > 0 ? ", " : "", static_cast<long long>(s.missing), s.min, s.max, static_cast<long long>(s.min_row), s.mean,
        s.variance);
  }
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    stope::bench::Words words(argc, argv, 1);
    run(words);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stats_bench: %s\n", error.what());
    return 1;
  }
}
