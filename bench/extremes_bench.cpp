// Times the smallest and the largest of an array of doubles in [-1, 1), as work 001 did (prior_works.py): by a plain
// loop, and by describe() on the CPU or, if it is named, on a GPU. Prints one JSON object for each number of values.
// Every answer is compared with the plain loop's.
//
//   extremes_bench sizes=16,64,... device=cpu|cuda threads= (0) repeats= (7) seconds= (1)
//
//   loop_ms      one thread, one comparison per value
//   call_ms      describe(), from values in the host's memory to the answer there
//   all_ms       the same with all statistics
//   fresh_ms     cuda: the very first call, with the start of the driver
//   resident_ms  cuda: describe() of values in the GPU's memory; gpu_ms: the GPU's part of it
//
// A sample is the mean of as many calls as fill half a millisecond; repetitions of a size end after `seconds`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "device/gpu_memory.hpp"
#include "stope/error.hpp"
#include "stope/stats.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Plan {
  std::int64_t repeats = 7;
  double seconds = 1.0;
};

std::vector<double> samples_of(const Plan& plan, const std::function<void()>& work) {
  constexpr double kSample = 0.5, kMostCalls = 10'000;
  work();  // touches the memory first and warms the caches
  Clock::time_point start = Clock::now();
  work();
  const auto calls = static_cast<std::int64_t>(std::clamp(kSample / milliseconds_since(start), 1.0, kMostCalls));
  std::vector<double> samples;
  const Clock::time_point begin = Clock::now();
  while (static_cast<std::int64_t>(samples.size()) < plan.repeats &&
         (samples.empty() || milliseconds_since(begin) < 1e3 * plan.seconds)) {
    start = Clock::now();
    for (std::int64_t i = 0; i < calls; ++i) work();
    samples.push_back(milliseconds_since(start) / static_cast<double>(calls));
  }
  return samples;
}

void print(const char* name, const std::vector<double>& values) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.6f", i > 0 ? ", " : "", values[i]);
  std::printf("], ");
}

std::vector<double> made(std::int64_t n) {
  constexpr std::int64_t kTask = std::int64_t{1} << 20;
  std::vector<double> values(static_cast<std::size_t>(n));
  stope::ThreadPool pool(0);
  pool.parallel_for((n + kTask - 1) / kTask, {}, [&](std::int64_t task, int) {
    stope::Random random(static_cast<std::uint64_t>(task) + 1);
    const std::int64_t end = std::min(n, (task + 1) * kTask);
    for (std::int64_t i = task * kTask; i < end; ++i)
      values[static_cast<std::size_t>(i)] = 2.0 * random.uniform() - 1.0;
  });
  return values;
}

struct Extremes {
  double min = 0.0, max = 0.0;
  std::int64_t min_row = 0, max_row = 0;
  bool operator==(const Extremes&) const = default;
};

Extremes plain_loop(const double* values, std::int64_t n) {
  Extremes found{values[0], values[0], 0, 0};
  for (std::int64_t i = 1; i < n; ++i) {
    if (values[i] < found.min) found = {values[i], found.max, i, found.max_row};
    if (values[i] > found.max) found = {found.min, values[i], found.min_row, i};
  }
  return found;
}

Extremes extremes_of(const stope::Statistics& statistics) {
  const stope::ColumnStatistics& column = statistics.columns.front();
  return {column.min, column.max, column.min_row, column.max_row};
}

class Bench {
 public:
  Bench(stope::RunOptions run, const Plan& plan) : run_(std::move(run)), plan_(plan) {
    options_.depth = stope::StatsOptions::Depth::extremes;
  }

  bool size(std::int64_t n) {
    const std::vector<double> values = made(n);
    const stope::ArrayView array{values.data(), stope::ElementType::float64, n};
    Extremes expected, found;
    const auto loop = samples_of(plan_, [&] { expected = plain_loop(values.data(), n); });
    const Clock::time_point start = Clock::now();
    stope::Statistics statistics = describe(array, options_, run_);
    const double fresh = milliseconds_since(start);
    const auto call = samples_of(plan_, [&] { found = extremes_of(statistics = describe(array, options_, run_)); });
    bool right = found == expected;
    const auto all = samples_of(plan_, [&] { describe(array, {}, run_); });
    std::printf("{\"n\": %lld, ", static_cast<long long>(n));
    print("loop_ms", loop);
    print("call_ms", call);
    print("all_ms", all);
    if (run_.device == "cuda") {
      print("fresh_ms", {fresh});
      if (!driver_) driver_.emplace(0);  // after the first call, whose time includes the start of the driver
      right = resident(values, expected) && right;
    }
    std::printf("\"backend\": \"%s\", \"threads\": %d, \"min\": %.17g, \"max\": %.17g, \"right\": %s}\n",
                statistics.report.backend.c_str(), statistics.report.threads, found.min, found.max,
                right ? "true" : "false");
    std::fflush(stdout);
    return right;
  }

 private:
  bool resident(const std::vector<double>& values, const Extremes& expected) const {
    const stope::gpu_memory::Array there(*driver_, values);
    const stope::gpu_memory::Stream stream(*driver_);
    stope::ArrayView array{there.as<double>(), stope::ElementType::float64, static_cast<std::int64_t>(values.size())};
    array.gpu = 0;
    array.stream = stream.get();
    stope::Statistics statistics;
    std::vector<double> gpu;
    print("resident_ms", samples_of(plan_, [&] {
            statistics = describe(array, options_, run_);
            if (gpu.size() < 100) gpu.push_back(1e3 * statistics.report.gpu_seconds);
          }));
    print("gpu_ms", gpu);
    return extremes_of(statistics) == expected;
  }

  stope::RunOptions run_;
  Plan plan_;
  stope::StatsOptions options_;
  std::optional<stope::gpu_memory::Driver> driver_;
};

int bench(stope::bench::Words& words) {
  stope::RunOptions run;
  run.device = words.text("device", "cpu");
  run.threads = static_cast<int>(words.integer("threads", 0));
  Plan plan;
  plan.repeats = words.integer("repeats", plan.repeats);
  plan.seconds = words.number("seconds", plan.seconds);
  std::istringstream sizes(words.text("sizes", "16"));
  words.done();
  Bench bench(run, plan);
  bool right = true;
  for (std::string size; std::getline(sizes, size, ',');) right = bench.size(std::stoll(size)) && right;
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    stope::bench::Words words(argc, argv, 1);
    return bench(words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "extremes_bench: %s\n", error.what());
    return 1;
  }
}
