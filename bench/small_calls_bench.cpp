// Times searches and predictions of a few rows on a fitted table, where what a call costs by itself shows. Counts the
// threads that each call starts. Prints one JSON object; small_calls.py runs it.
//
//   small_calls_bench KEY=VALUE...
//     kind=clusters          numeric columns, see support/made_table.hpp
//     rows=100000 columns=50 nominal=0 k=5
//     calls=300              timed calls of each case; seconds=0.5 ends a case earlier
//     threads=1,2,64         threads asked for
//     large=10000            rows of the one large call; 0: none
#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

#include "stope/knn.hpp"
#include "support/made_table.hpp"
#include "support/words.hpp"

namespace {

std::atomic<long> threads_started{0};

}  // namespace

/// Counts the threads of this process. The linker prefers a program's own function to libc's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* data) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  ++threads_started;
  return create(thread, attributes, start, data);
}

namespace {

using stope::Table;

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// The CPU time of all threads, which tells less of other programs on the machine than the wall time.
double cpu_microseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

// Hashes numbers by their bits.
class Answer {
 public:
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add(std::uint64_t bits) { hash_ = (hash_ ^ bits) * 0x100000001b3; }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

struct Settings {
  std::int64_t rows, columns, nominal, k, calls, large;
  double seconds;
  std::string kind;
  std::vector<int> threads;
};

Table with_label(Table table, std::uint64_t seed) {
  stope::Random random(seed);
  stope::Buffer<std::int32_t> codes(table.n_rows);
  for (std::int32_t& code : codes) code = static_cast<std::int32_t>(random.below(3));
  table.columns.push_back({"class", stope::ValueType::nominal, stope::Role::label, std::move(codes),
                           std::vector<std::string>{"a", "b", "c"}});
  return table;
}

// Calls of one kind, one after another, each with the next of some tables.
template <class Call>
void measure(const char* name, std::int64_t n_rows, int threads, const Settings& settings,
             const std::vector<Table>& queries, bool& first, const Call& call) {
  Answer answer;
  for (const Table& table : queries) call(table, answer);  // the same calls whatever the time; they warm up as well
  std::vector<double> wall;
  const long started = threads_started;
  const double cpu = cpu_microseconds();
  const auto begin = std::chrono::steady_clock::now();
  Answer ignored;
  while (static_cast<std::int64_t>(wall.size()) < settings.calls &&
         microseconds_since(begin) < 1e6 * settings.seconds) {
    const Table& table = queries[wall.size() % queries.size()];
    const auto start = std::chrono::steady_clock::now();
    call(table, ignored);
    wall.push_back(microseconds_since(start));
  }
  const auto n = static_cast<double>(wall.size());
  const double cpu_each = (cpu_microseconds() - cpu) / n;
  const double threads_each = static_cast<double>(threads_started - started) / n;
  std::sort(wall.begin(), wall.end());
  const auto at = [&](double share) { return wall[static_cast<std::size_t>(share * (n - 1.0))]; };
  std::printf(
      "%s\n  {\"call\": \"%s\", \"rows\": %lld, \"threads\": %d, \"calls\": %zu, \"least_us\": %.1f, \"tenth_us\": "
      "%.1f, "
      "\"median_us\": %.1f, \"ninetieth_us\": %.1f, \"cpu_us\": %.1f, \"threads_started\": %.2f, \"answer\": "
      "\"%016llx\"}",
      first ? "" : ",", name, static_cast<long long>(n_rows), threads, wall.size(), wall.front(), at(0.1), at(0.5),
      at(0.9), cpu_each, threads_each, static_cast<unsigned long long>(answer.hash()));
  first = false;
}

void add(const stope::Neighbors& lists, Answer& answer) {
  for (std::size_t i = 0; i < lists.indices.size(); ++i) {
    answer.add(static_cast<std::uint64_t>(lists.indices[i]));
    answer.add(lists.distances[i]);
  }
}

Settings settings_of(int argc, char** argv) {
  stope::bench::Words words(argc, argv, 1);
  Settings settings{.rows = words.integer("rows", 100'000),
                    .columns = words.integer("columns", 50),
                    .nominal = words.integer("nominal", 0),
                    .k = words.integer("k", 5),
                    .calls = words.integer("calls", 300),
                    .large = words.integer("large", 10'000),
                    .seconds = words.number("seconds", 0.5),
                    .kind = words.text("kind", "clusters"),
                    .threads = {}};
  std::istringstream threads(words.text("threads", "1,2,64"));
  for (std::string n; std::getline(threads, n, ',');) settings.threads.push_back(std::atoi(n.c_str()));
  words.done();
  return settings;
}

int bench(const Settings& settings) {
  constexpr std::int64_t kTables = 16;  // of queries, in turn
  const stope::bench::TableMaker maker(
      {.numeric = settings.kind, .n_columns = settings.columns, .n_nominal = settings.nominal});
  const Table train = with_label(maker.table(settings.rows, 1), 3);
  stope::RunOptions run;
  run.device = "cpu";
  auto start = std::chrono::steady_clock::now();
  const stope::KnnClassifier model = stope::KnnClassifier::fit(train, {}, run);
  const double fit = microseconds_since(start);
  const stope::VoteOptions vote{.n_neighbors = settings.k};
  const stope::SearchOptions search{.n_neighbors = settings.k};
  const Table one = maker.table(1, 2);
  start = std::chrono::steady_clock::now();
  (void)model.predict(one, vote, run);
  const double first_call = microseconds_since(start);
  (void)model.predict(maker.table(100, 2), vote, run);  // makes the images
  stope::SearchReport report;
  (void)model.predict_each(one, {settings.k}, vote, run, &report);
  std::printf(
      "{\"kind\": \"%s\", \"table_rows\": %lld, \"columns\": %lld, \"nominal\": %lld, \"k\": %lld, \"backend\": "
      "\"%s\", "
      "\"method\": \"%s\", \"scanned\": %lld, \"evaluated\": %lld, \"fit_us\": %.0f, \"first_us\": %.0f, \"cases\": [",
      settings.kind.c_str(), static_cast<long long>(settings.rows), static_cast<long long>(settings.columns),
      static_cast<long long>(settings.nominal), static_cast<long long>(settings.k), report.backend.c_str(),
      report.method.c_str(), static_cast<long long>(report.scanned), static_cast<long long>(report.evaluated), fit,
      first_call);
  bool first = true;
  for (const std::int64_t n_rows : {1, 10, 100}) {
    std::vector<Table> queries;
    for (std::int64_t i = 0; i < kTables; ++i)
      queries.push_back(maker.table(n_rows, static_cast<std::uint64_t>(10 + i)));
    for (const int threads : settings.threads) {
      run.threads = threads;
      measure("predict", n_rows, threads, settings, queries, first, [&](const Table& table, Answer& answer) {
        for (const double value : model.predict(table, vote, run).confidences) answer.add(value);
      });
      measure("kneighbors", n_rows, threads, settings, queries, first,
              [&](const Table& table, Answer& answer) { add(model.index().kneighbors(table, search, run), answer); });
    }
  }
  const std::vector<Table> small = {with_label(maker.table(100, 5), 6)};
  for (const int threads : settings.threads) {
    run.threads = threads;
    measure("fit", 100, threads, settings, small, first, [&](const Table& table, Answer& answer) {
      answer.add(static_cast<std::uint64_t>(stope::KnnClassifier::fit(table, {}, run).index().n_samples()));
    });
  }
  if (settings.large > 0) {
    run.threads = 0;
    measure("kneighbors", settings.large, 0, settings, {maker.table(settings.large, 4)}, first,
            [&](const Table& table, Answer& answer) { add(model.index().kneighbors(table, search, run), answer); });
  }
  std::printf("\n]}\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return bench(settings_of(argc, argv));
  } catch (const stope::Error& error) {
    std::fprintf(stderr, "small_calls_bench: %s\n", error.what());
    return 1;
  }
}
