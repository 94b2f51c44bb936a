// Times the best cut of every column of a made table. The rival is one thread that sorts every column with std::sort,
// as packed 64-bit words of value and row, and scans it. They take turns, and every cut is compared. Prints one JSON
// object for discretize.py and for work 004 of prior_works.py.
//
//   discretize_bench rows= columns= classes= (2) type=float32|float64 permutations= (0) threads= (0) device= (cpu)
//                    repeats= (5) seconds= (no repetition begins later) rival=yes|no
//
//   whole      best_cuts(): from a table in memory to the ranking
//   cuts       whole without checking the table and making the ranking
//   gpu        cuts without copies, if device= is a GPU
//   sort       one thread: packing the words and std::sort, nothing else
//   sort_scan  sort and the scan for the best cut
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "discretize/best_cut.hpp"
#include "discretize/value_order.hpp"
#include "stope/discretize.hpp"
#include "stope/error.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Samples {
  std::vector<double> wall_ms, processor_ms;
};

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void time(Samples& samples, const std::function<void()>& work) {
  const double before = processor_seconds();
  const Clock::time_point start = Clock::now();
  work();
  samples.wall_ms.push_back(1e3 * seconds_since(start));
  samples.processor_ms.push_back(1e3 * (processor_seconds() - before));
}

// A normal number: the sum of twelve uniform ones.
double normal(stope::Random& random) {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

stope::Table make_table(std::int64_t rows, std::int64_t columns, std::int64_t classes, bool floats) {
  stope::Table table;
  table.n_rows = rows;
  table.columns.resize(static_cast<std::size_t>(columns));
  stope::ThreadPool pool(0);
  pool.parallel_for(columns, {}, [&](std::int64_t c, int) {
    stope::Random random(static_cast<std::uint64_t>(c));
    stope::Column& column = table.columns[static_cast<std::size_t>(c)];
    column.name = "x" + std::to_string(c);
    stope::Buffer<float> narrow(floats ? rows : 0);
    stope::Buffer<double> wide(floats ? 0 : rows);
    for (std::int64_t i = 0; i < rows; ++i) {
      const double x = normal(random);
      if (floats) {
        narrow[i] = static_cast<float>(x);
      } else {
        wide[i] = x;
      }
    }
    if (floats) {
      column.data = narrow;
    } else {
      column.data = wide;
    }
  });
  stope::Random random(1U << 31);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(rows));
  std::vector<std::string> values;
  for (std::int64_t k = 0; k < classes; ++k) values.push_back("c" + std::to_string(k));
  for (std::int32_t& label : labels) {
    label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes)));
  }
  table.columns.push_back(stope::make_nominal("y", labels, values));
  table.columns.back().role = stope::Role::label;
  return table;
}

// The rival: one thread, words of value and row, std::sort, a scan. Without `scan` it only sorts.
struct Rival {
  std::vector<std::uint64_t> words;
  std::vector<std::int64_t> left;
  std::uint64_t sink = 0;

  template <class T>
  stope::discretize::AttributeBest best(const stope::discretize::DecisionProblem& problem, const T* x, bool scan) {
    namespace d = stope::discretize;
    const std::int64_t n = problem.n_rows;
    const int row_bits = 64 - __builtin_clzll(static_cast<unsigned long long>(std::max<std::int64_t>(n - 1, 1)));
    const std::uint64_t row_mask = (std::uint64_t{1} << row_bits) - 1;
    words.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t key =
          sizeof(T) == 4 ? static_cast<std::uint64_t>(d::order_key(x[i])) << 32 : d::order_key(x[i]);
      words[static_cast<std::size_t>(i)] = (key & ~row_mask) | static_cast<std::uint64_t>(i);
    }
    std::sort(words.begin(), words.end());
    sink += words[0];
    d::AttributeBest best;
    if (!scan) return best;
    left.assign(problem.class_totals.size(), 0);
    std::int64_t w = 0, highest = 0;
    for (std::int64_t i = 0; i + 1 < n; ++i) {
      const std::uint64_t row = words[static_cast<std::size_t>(i)] & row_mask,
                          next = words[static_cast<std::size_t>(i) + 1] & row_mask;
      const auto k = static_cast<std::size_t>(problem.class_of[static_cast<std::int64_t>(row)]);
      w += d::discernibility_step<std::int64_t>(1, n, problem.class_totals[k], i, left[k]);
      ++left[k];
      if (w <= highest || !(x[row] < x[next])) continue;  // in made tables different values give different words
      highest = w;
      best.found = true;
      best.worth.w = w;
      best.cut = d::cut_between(static_cast<double>(x[row]), static_cast<double>(x[next]));
    }
    return best;
  }
};

std::vector<stope::discretize::AttributeBest> by_rival(const stope::discretize::DecisionProblem& problem, bool scan) {
  Rival rival;
  std::vector<stope::discretize::AttributeBest> best;
  best.reserve(problem.attributes.size());
  for (const auto& attribute : problem.attributes) {
    best.push_back(attribute.with_numbers([&](const auto* x) { return rival.best(problem, x, scan); }));
  }
  volatile std::uint64_t sink = rival.sink;
  static_cast<void>(sink);
  return best;
}

void print(const char* name, const Samples& samples) {
  if (samples.wall_ms.empty()) return;
  for (const auto& [what, values] : {std::pair{"wall_ms", &samples.wall_ms}, {"processor_ms", &samples.processor_ms}}) {
    std::printf("%s\"%s\": [", what[0] == 'w' ? (std::string(", \"") + name + "\": {").c_str() : ", ", what);
    for (std::size_t i = 0; i < values->size(); ++i) std::printf("%s%.3f", i > 0 ? ", " : "", (*values)[i]);
    std::printf("]");
  }
  std::printf("}");
}

void run(stope::bench::Words& words) {
  const std::int64_t rows = words.integer("rows", 161), columns = words.integer("columns", 1000);
  const std::int64_t classes = words.integer("classes", 2), repeats = words.integer("repeats", 5);
  const bool floats = words.text("type", "float32") == "float32", rival = words.text("rival", "yes") == "yes";
  const auto seconds = static_cast<double>(words.integer("seconds", 60));
  stope::BestCutOptions options;
  options.n_permutations = words.integer("permutations", 0);
  stope::RunOptions run;
  run.threads = static_cast<int>(words.integer("threads", 0));
  run.device = words.text("device", "cpu");
  words.done();

  namespace d = stope::discretize;
  const stope::Table table = make_table(rows, columns, classes, floats);
  const d::DecisionProblem problem = d::make_problem(table, stope::MissingPolicy::error, run);
  Samples whole, cuts, sort, sort_scan, gpu;
  std::vector<d::AttributeBest> theirs;
  d::BestCutRun ours;
  stope::BestCuts ranking;
  const Clock::time_point begin = Clock::now();
  for (std::int64_t i = 0; i < repeats && (i == 0 || seconds_since(begin) < seconds); ++i) {
    time(whole, [&] { ranking = best_cuts(table, options, run); });
    time(cuts, [&] {
      ours = d::best_cut_of_each(problem, stope::Criterion::discernibility, options.n_permutations, options.seed, run);
    });
    if (ours.gpu_seconds > 0.0) gpu.wall_ms.push_back(1e3 * ours.gpu_seconds);
    if (!rival) continue;
    time(sort, [&] { by_rival(problem, false); });
    time(sort_scan, [&] { theirs = by_rival(problem, true); });
  }
  std::uint64_t answer = 0xcbf29ce484222325U;  // FNV-1a over scores and cuts
  std::int64_t different = 0;
  std::size_t attribute = 0;
  for (const d::AttributeBest& best : ours.best) {
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(best.worth.w), __builtin_bit_cast(std::uint64_t, best.cut)}) {
      answer = (answer ^ part) * 0x100000001b3U;
    }
    const d::AttributeBest& their = rival ? theirs[attribute++] : best;
    if (best.worth.w != their.worth.w || best.cut != their.cut) ++different;
  }
  std::printf(
      "{\"rows\": %lld, \"columns\": %lld, \"classes\": %lld, \"backend\": \"%s\", \"threads\": %d, \"answer\": "
      "\"%016llx\", \"different\": %lld",
      static_cast<long long>(rows), static_cast<long long>(columns), static_cast<long long>(classes),
      ours.report.backend.c_str(), ours.report.threads, static_cast<unsigned long long>(answer),
      static_cast<long long>(different));
  print("whole", whole);
  print("cuts", cuts);
  print("gpu", gpu);
  print("sort", sort);
  print("sort_scan", sort_scan);
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    stope::bench::Words words(argc, argv, 1);
    run(words);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "discretize_bench: %s\n", error.what());
    return 1;
  }
}
