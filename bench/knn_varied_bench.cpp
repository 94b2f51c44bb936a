// Times searches within a radius, and searches that exclude groups. Prints one JSON object: the method, the first
// search, the following ones, how many rows the lists have, how many queries the reference answered, a hash of all
// lists. The hash is the same for every device and filter.
//
//   knn_varied_bench ROWS QUERIES COLUMNS REPEATS [KEY=VALUE...]
//
//   near=K         within a radius: the distance of the K-th neighbour, in the middle of 15 queries (20)
//   groups=N       instead: the k nearest rows that are not in the query's group, one of N of equal size
//   k=K            of those (10)
//   metric=NAME    the measure (euclidean)
//   data=NAME      support/made_table.hpp says which (uniform)
//   device=NAME    cuda (the default), cpu
//   compat=rapidminer  instead of a radius: k neighbours by its ties
//   plain=1        instead of a radius: k neighbours
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "support/made_table.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Job {
  bool within = true;
  double radius = 0.0;
  stope::SearchOptions search;
};

struct Done {
  double milliseconds = 0.0;
  std::int64_t n_listed = 0;
  std::uint64_t hash = 0;
  stope::SearchReport report;
};

Done search(const stope::KnnIndex& index, const stope::Table& query, const Job& job, const stope::RunOptions& run) {
  Done done;
  const Clock::time_point start = Clock::now();
  const stope::Neighbors found = job.within ? index.radius_neighbors(query, job.radius, job.search, run, &done.report)
                                            : index.kneighbors(query, job.search, run);
  done.milliseconds = 1e3 * std::chrono::duration<double>(Clock::now() - start).count();
  if (!job.within) done.report = index.kneighbors(query, job.search, run, [](const stope::Neighbors&) {});
  done.n_listed = static_cast<std::int64_t>(found.indices.size());
  const auto add = [&](std::uint64_t value) { done.hash = (done.hash ^ value) * 0x9e3779b97f4a7c15U; };
  for (const std::int64_t offset : found.offsets) add(static_cast<std::uint64_t>(offset));
  for (std::size_t i = 0; i < found.indices.size(); ++i) {
    add(static_cast<std::uint64_t>(found.indices[i]));
    add(std::bit_cast<std::uint64_t>(found.distances[i]));
  }
  return done;
}

double middle_distance(const stope::KnnIndex& index, const stope::Table& query, std::int64_t near) {
  constexpr std::int64_t kQueries = 15;
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < std::min(kQueries, query.n_rows); ++i) rows.push_back(i);
  const stope::Neighbors found = index.kneighbors(query.take(rows), {.n_neighbors = near}, {.device = "cpu"});
  std::vector<double> distances;
  for (std::size_t i = 1; i < found.offsets.size(); ++i) {
    distances.push_back(found.distances[static_cast<std::size_t>(found.offsets[i]) - 1]);
  }
  std::nth_element(distances.begin(), distances.begin() + std::ssize(distances) / 2, distances.end());
  return distances[distances.size() / 2];
}

stope::Column groups_of(std::int64_t n_rows, std::int64_t n_groups) {
  std::vector<double> groups;
  for (std::int64_t i = 0; i < n_rows; ++i) groups.push_back(static_cast<double>(i % n_groups));
  return stope::make_numeric("", groups);
}

int bench(int argc, char** arguments) {
  const std::int64_t n = std::atoll(arguments[1]), m = std::atoll(arguments[2]);
  stope::bench::Words words(argc, arguments, 5);
  const std::string data = words.text("data", "uniform");
  const stope::bench::TableKind kind{.numeric = data, .n_columns = std::atoll(arguments[3])};
  const std::int64_t near = words.integer("near", 20), n_groups = words.integer("groups", 0);
  Job job;
  job.search.n_neighbors = words.integer("k", 10);
  stope::KnnOptions options;
  options.metric.name = words.text("metric", "euclidean");
  const bool heaps = words.text("compat", "none") == "rapidminer";
  if (heaps) options.compat = stope::Compat::rapidminer;
  const bool plain = words.integer("plain", 0) != 0;
  stope::RunOptions run;
  run.device = words.text("device", "cuda");
  words.done();

  const stope::bench::TableMaker maker(kind);
  const stope::Table train = maker.table(n, 1), query = maker.table(m, 2);
  const stope::KnnIndex index = stope::KnnIndex::fit(train, options, run);
  job.within = !heaps && !plain && n_groups == 0;
  if (job.within) job.radius = middle_distance(index, query, near);
  if (n_groups > 0) {
    job.search.exclude_train = groups_of(n, n_groups);
    job.search.exclude_query = groups_of(m, n_groups);
  }
  const Done first = search(index, query, job, run);
  Done last = first;
  std::string times;
  for (int i = 0; i < std::atoi(arguments[4]); ++i) {
    last = search(index, query, job, run);
    times += (i > 0 ? ", " : "") + std::to_string(last.milliseconds);
  }
  std::printf(
      "{\"rows\": %lld, \"queries\": %lld, \"columns\": %lld, \"data\": \"%s\", \"metric\": \"%s\", "
      "\"within\": %s, \"near\": %lld, \"radius\": %.17g, \"groups\": %lld, \"k\": %lld, \"compat\": \"%s\", "
      "\"device\": \"%s\", ",
      static_cast<long long>(n), static_cast<long long>(m), static_cast<long long>(kind.n_columns), data.c_str(),
      options.metric.name.c_str(), job.within ? "true" : "false", static_cast<long long>(near), job.radius,
      static_cast<long long>(n_groups), static_cast<long long>(job.search.n_neighbors), heaps ? "rapidminer" : "none",
      run.device.c_str());
  std::printf("\"method\": \"%s\", \"backend\": \"%s\", \"method_reason\": \"%s\", \"uncertified\": %lld, ",
              last.report.method.c_str(), last.report.backend.c_str(), last.report.method_reason.c_str(),
              static_cast<long long>(last.report.uncertified));
  std::printf("\"listed\": %lld, \"hash\": \"%016llx\", \"first_ms\": %.3f, \"gpu_ms\": {",
              static_cast<long long>(last.n_listed), static_cast<unsigned long long>(last.hash), first.milliseconds);
  const char* separator = "";
  for (const auto& [step, seconds] : last.report.gpu_seconds) {
    std::printf("%s\"%s\": %.4f", separator, step.c_str(), 1e3 * seconds);
    separator = ", ";
  }
  std::printf("}, \"searches_ms\": [%s]}\n", times.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** arguments) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: knn_varied_bench ROWS QUERIES COLUMNS REPEATS [KEY=VALUE...]\n");
    return 2;
  }
  try {
    return bench(argc, arguments);
  } catch (const stope::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
