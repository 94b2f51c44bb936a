// Times describe() of an array in a GPU's memory, and compares its bits with the CPU's. Prints one JSON object for
// stats_gpu.py.
//
//   stats_gpu_bench type=float32|float64|int32|int64 rows= columns= layout=rows|columns repeats= (20)
#include <bit>
#include <chrono>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "device/gpu_memory.hpp"
#include "stope/error.hpp"
#include "stope/stats.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Samples {
  std::vector<double> gpu, call;  // milliseconds
};

void print(const char* name, const Samples& samples) {
  for (const auto& [what, values] : {std::pair{"gpu_ms", &samples.gpu}, {"call_ms", &samples.call}}) {
    std::printf("\"%s_%s\": [", name, what);
    for (std::size_t i = 0; i < values->size(); ++i) std::printf("%s%.4f", i > 0 ? ", " : "", (*values)[i]);
    std::printf("], ");
  }
}

bool same(const stope::ColumnStatistics& a, const stope::ColumnStatistics& b) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return a.count == b.count && a.missing == b.missing && a.zeros == b.zeros && bits(a.min) == bits(b.min) &&
         bits(a.max) == bits(b.max) && a.min_row == b.min_row && a.max_row == b.max_row && bits(a.sum) == bits(b.sum) &&
         bits(a.mean) == bits(b.mean) && bits(a.variance) == bits(b.variance) && bits(a.skewness) == bits(b.skewness);
}

// Floats in [-1, 1), integers of all sizes.
template <class T>
std::vector<T> make(std::int64_t n) {
  constexpr std::int64_t kTask = std::int64_t{1} << 20;
  std::vector<T> values(static_cast<std::size_t>(n));
  stope::ThreadPool pool(0);
  pool.parallel_for((n + kTask - 1) / kTask, {}, [&](std::int64_t task, int) {
    stope::Random random(static_cast<std::uint64_t>(task) + 1);
    for (std::int64_t i = task * kTask; i < std::min(n, (task + 1) * kTask); ++i) {
      T& value = values[static_cast<std::size_t>(i)];
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(random.next());
      } else {
        value = static_cast<T>(2.0 * random.uniform() - 1.0);
      }
    }
  });
  return values;
}

template <class T>
void run(stope::bench::Words& words, stope::ElementType type) {
  stope::ArrayView shape{.data = nullptr, .type = type};
  shape.n_rows = words.integer("rows", 1);
  shape.n_columns = words.integer("columns", 1);
  const bool by_rows = words.text("layout", "rows") == "rows";
  shape.row_stride = by_rows ? shape.n_columns : 1;
  shape.column_stride = by_rows ? 1 : shape.n_rows;
  const std::int64_t repeats = words.integer("repeats", 20);
  words.done();

  const std::vector<T> values = make<T>(shape.n_rows * shape.n_columns);
  const stope::gpu_memory::Driver driver(0);
  const stope::gpu_memory::Array there(driver, values);
  const stope::gpu_memory::Stream stream(driver);
  stope::ArrayView array = shape;
  array.data = there.as<T>();
  array.gpu = 0;
  array.stream = stream.get();

  bool all_same = true;
  const auto time = [&](stope::StatsOptions::Depth depth) {
    stope::StatsOptions options;
    options.depth = depth;
    Samples samples;
    stope::Statistics found;
    for (std::int64_t i = 0; i < repeats; ++i) {
      const Clock::time_point start = Clock::now();
      found = describe(array, options);
      samples.call.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      samples.gpu.push_back(1e3 * found.report.gpu_seconds);
    }
    stope::ArrayView here = shape;
    here.data = values.data();
    stope::RunOptions processor;
    processor.device = "cpu";
    const stope::Statistics expected = describe(here, options, processor);
    for (std::size_t c = 0; c < expected.columns.size(); ++c) {
      all_same = all_same && same(found.columns[c], expected.columns[c]);
    }
    return samples;
  };
  const Samples all = time(stope::StatsOptions::Depth::all), extremes = time(stope::StatsOptions::Depth::extremes);
  std::printf("{");
  print("all", all);
  print("extremes", extremes);
  std::printf("\"bytes\": %zu, \"same\": %s}\n", values.size() * sizeof(T), all_same ? "true" : "false");
}

}  // namespace

int main(int argc, char** argv) {
  using stope::ElementType;
  try {
    stope::bench::Words words(argc, argv, 1);
    const std::string type = words.text("type", "float32");
    if (type == "float32") {
      run<float>(words, ElementType::float32);
    } else if (type == "float64") {
      run<double>(words, ElementType::float64);
    } else if (type == "int32") {
      run<std::int32_t>(words, ElementType::int32);
    } else if (type == "int64") {
      run<std::int64_t>(words, ElementType::int64);
    } else {
      throw stope::Error(stope::ErrorCode::invalid_argument, "no type '" + type + "'");
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stats_gpu_bench: %s\n", error.what());
    return 1;
  }
}
