// Times k-NN searches on a GPU. Prints one JSON object: the fit, the first search (which copies the table and makes its
// images), the following ones, the GPU's steps in the first and in the last, and for how many of the first queries the
// CPU's answer is the same.
//
//   knn_gpu_bench ROWS QUERIES COLUMNS K DATA REPEATS [KEY=VALUE...]     DATA: support/made_table.hpp says which
//
//   metric=NAME      the measure (euclidean where all columns are numeric, else mixed-euclidean)
//   compat=rapidminer  its ties and order
//   nominal=N        the last N columns are nominal, with 8 values each (values=N changes this)
//   missing=SHARE    share of missing values
//   device=NAME      cuda (the default), cuda:0,1, cpu
//   memory=BYTES     the memory limit, on each GPU as well
//   checked=N        queries whose answer is compared (64)
//   seconds=S        no repetition begins later
//   fits=N           fits and first searches the table N times; the last time counts. In the first one the driver
//                    loads its kernels and the GPU's clocks rise
//   tables=PREFIX    writes the rows and, in full, the last search's lists, for other programs: PREFIX.train and
//                    PREFIX.query (float32, row by row), PREFIX.rows (int64) and PREFIX.distances (float64)
//   resident=1       repeats the searches with queries in the first GPU's memory, where the lists stay (numbers only)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "device/gpu_memory.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "support/made_table.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// How many queries of `few` have the CPU's neighbours and distances, bit for bit.
std::int64_t same_as_processor(const stope::KnnIndex& index, const stope::Table& few, std::int64_t k,
                               const stope::Neighbors& ours) {
  stope::RunOptions run;
  run.device = "cpu";
  const stope::Neighbors theirs = index.kneighbors(few, {.n_neighbors = k}, run);
  std::int64_t same = 0;
  for (std::int64_t i = 0; i < few.n_rows; ++i) {
    const std::ptrdiff_t begin = i * k, end = begin + k;
    same += std::equal(theirs.indices.begin() + begin, theirs.indices.begin() + end, ours.indices.begin() + begin) &&
                    std::equal(theirs.distances.begin() + begin, theirs.distances.begin() + end,
                               ours.distances.begin() + begin)
                ? 1
                : 0;
  }
  return same;
}

void print_steps(const char* name, const stope::SearchReport& report) {
  std::printf("\"%s\": {", name);
  double sum = 0.0;
  for (const auto& [step, seconds] : report.gpu_seconds) {
    std::printf("\"%s\": %.4f, ", step.c_str(), 1e3 * seconds);
    sum += seconds;
  }
  std::printf("\"sum\": %.4f}, ", 1e3 * sum);
}

struct Search {
  double seconds = 0.0;
  stope::SearchReport report;
  stope::Neighbors first;  // the checked part of the first block of its answer
};

Search search(const stope::KnnIndex& index, const stope::Table& query, std::int64_t k, std::int64_t checked,
              const stope::RunOptions& run) {
  Search result;
  const Clock::time_point start = Clock::now();
  result.report = index.kneighbors(query, {.n_neighbors = k}, run, [&](const stope::Neighbors& block) {
    if (block.first_query > 0) return;
    const auto n = static_cast<std::ptrdiff_t>(std::min(checked, block.n_queries()));
    result.first.offsets.assign(block.offsets.begin(), block.offsets.begin() + n + 1);
    result.first.indices.assign(block.indices.begin(), block.indices.begin() + n * k);
    result.first.distances.assign(block.distances.begin(), block.distances.begin() + n * k);
  });
  result.seconds = seconds_since(start);
  return result;
}

// Rows of numbers, row-major.
template <class T = double>
std::vector<T> values_of(const stope::Table& table) {
  std::vector<T> values(static_cast<std::size_t>(table.n_rows) * table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    for (std::int64_t i = 0; i < table.n_rows; ++i) {
      values[static_cast<std::size_t>(i) * table.columns.size() + c] = static_cast<T>(table.columns[c].at(i));
    }
  }
  return values;
}

template <class T>
void write(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file.flush()) throw stope::Error(stope::ErrorCode::io, "cannot write " + path);
}

// Writes the lists of all queries.
void write_lists(const std::string& prefix, const stope::KnnIndex& index, const stope::Table& query, std::int64_t k,
                 const stope::RunOptions& run) {
  const stope::Neighbors lists = index.kneighbors(query, {.n_neighbors = k}, run);
  write(prefix + ".rows", std::vector<std::int64_t>(lists.indices.begin(), lists.indices.end()));
  write(prefix + ".distances", std::vector<double>(lists.distances.begin(), lists.distances.end()));
}

struct ResidentSearches {
  std::vector<double> times;
  stope::SearchReport report;
  bool same = false;  // whether the first lists are those of `last`
};

// Searches whose queries are in the GPU's memory, and whose lists stay there.
ResidentSearches search_resident(const stope::KnnIndex& index, const stope::Table& query, std::int64_t k, int repeats,
                                 double limit, const stope::RunOptions& run, const Search& last) {
  namespace gpu = stope::gpu_memory;
  const gpu::Driver driver(0);
  const auto n_lists = static_cast<std::size_t>(query.n_rows * k);
  const gpu::Array rows(driver, values_of(query)), found(driver, std::vector<std::int64_t>(n_lists)),
      distances(driver, std::vector<double>(n_lists));
  const stope::ArrayView queries{.data = rows.as<void>(),
                                 .n_rows = query.n_rows,
                                 .n_columns = static_cast<std::int64_t>(query.columns.size()),
                                 .gpu = 0};
  const stope::NeighborArrays lists{found.as<std::int64_t>(), distances.as<double>(), 0};
  ResidentSearches result;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < repeats && seconds_since(begin) < limit; ++i) {
    const Clock::time_point start = Clock::now();
    result.report = index.kneighbors(queries, {.n_neighbors = k}, run, lists);
    result.times.push_back(seconds_since(start));
  }
  const std::vector<std::int64_t> ours = found.values<std::int64_t>();
  result.same = std::equal(last.first.indices.begin(), last.first.indices.end(), ours.begin());
  return result;
}

int bench(int argc, char** arguments) {
  const std::int64_t n = std::atoll(arguments[1]), m = std::atoll(arguments[2]), k = std::atoll(arguments[4]);
  stope::bench::Words words(argc, arguments, 7);
  stope::bench::TableKind kind{.numeric = arguments[5], .n_columns = std::atoll(arguments[3])};
  kind.n_nominal = words.integer("nominal", 0);
  kind.n_values = words.integer("values", kind.n_values);
  kind.missing = words.number("missing", 0.0);
  stope::KnnOptions options;
  options.metric.name = words.text("metric", kind.n_nominal > 0 ? "mixed-euclidean" : "euclidean");
  if (words.text("compat", "none") == "rapidminer") options.compat = stope::Compat::rapidminer;
  stope::RunOptions run;
  run.device = words.text("device", "cuda");
  run.memory_limit = words.integer("memory", 0);
  const std::int64_t checked = words.integer("checked", 64);
  const double limit = words.number("seconds", std::numeric_limits<double>::infinity());
  const std::int64_t fits = words.integer("fits", 1);
  const bool is_resident = words.integer("resident", 0) != 0;
  const std::string tables = words.text("tables", "");
  words.done();

  Clock::time_point start = Clock::now();
  const stope::bench::TableMaker maker(kind);
  stope::Table train = maker.table(n, 1);
  const stope::Table query = maker.table(m, 2);
  const double making = seconds_since(start);
  for (std::int64_t i = 1; i < fits; ++i) search(stope::KnnIndex::fit(train, options, run), query, k, checked, run);
  start = Clock::now();
  const stope::KnnIndex index = stope::KnnIndex::fit(train, options, run);
  const double fit = seconds_since(start);
  if (!tables.empty()) {
    write(tables + ".train", values_of<float>(train));
    write(tables + ".query", values_of<float>(query));
  }
  train = {};  // the index has its rows, which may take most of the memory
  const Search first = search(index, query, k, checked, run);
  Search last = first;
  std::vector<double> times;
  start = Clock::now();
  for (int i = 0; i < std::atoi(arguments[6]) && seconds_since(start) < limit; ++i) {
    last = search(index, query, k, checked, run);
    times.push_back(last.seconds);
  }
  ResidentSearches resident;
  if (is_resident) resident = search_resident(index, query, k, std::atoi(arguments[6]), limit, run, last);
  if (!tables.empty()) write_lists(tables, index, query, k, run);

  std::printf(
      "{\"rows\": %lld, \"queries\": %lld, \"columns\": %lld, \"nominal\": %lld, \"missing\": %g, \"k\": %lld, ",
      static_cast<long long>(n), static_cast<long long>(m), static_cast<long long>(kind.n_columns),
      static_cast<long long>(kind.n_nominal), kind.missing, static_cast<long long>(k));
  std::printf("\"data\": \"%s\", \"metric\": \"%s\", \"device\": \"%s\", \"memory\": %lld, ", arguments[5],
              options.metric.name.c_str(), run.device.c_str(), static_cast<long long>(run.memory_limit));
  const stope::SearchReport& report = last.report;
  std::printf("\"backend\": \"%s\", \"method\": \"%s\", \"method_reason\": \"%s\", ", report.backend.c_str(),
              report.method.c_str(), report.method_reason.c_str());
  std::printf("\"tile_queries\": %lld, \"tile_rows\": %lld, \"part_rows\": %lld, ",
              static_cast<long long>(report.tile_queries), static_cast<long long>(report.tile_rows),
              static_cast<long long>(report.part_rows));
  std::printf("\"making_ms\": %.3f, \"fit_ms\": %.3f, \"first_ms\": %.3f, \"searches_ms\": [", 1e3 * making, 1e3 * fit,
              1e3 * first.seconds);
  for (std::size_t i = 0; i < times.size(); ++i) std::printf("%s%.3f", i > 0 ? ", " : "", 1e3 * times[i]);
  std::printf("], ");
  print_steps("first_gpu_ms", first.report);
  print_steps("gpu_ms", report);
  if (is_resident) {
    std::printf("\"resident_ms\": [");
    for (std::size_t i = 0; i < resident.times.size(); ++i) {
      std::printf("%s%.3f", i > 0 ? ", " : "", 1e3 * resident.times[i]);
    }
    std::printf("], \"resident_method\": \"%s\", \"resident_same\": %s, ", resident.report.method.c_str(),
                resident.same ? "true" : "false");
    print_steps("resident_gpu_ms", resident.report);
  }
  std::printf("\"scanned\": %lld, \"listed\": %lld, \"evaluated\": %lld, \"uncertified\": %lld, ",
              static_cast<long long>(report.scanned), static_cast<long long>(report.listed),
              static_cast<long long>(report.evaluated), static_cast<long long>(report.uncertified));
  std::fflush(stdout);  // the times are known; the rest may take long on a slow CPU
  const std::int64_t n_checked = std::min(checked, last.first.n_queries());
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < n_checked; ++i) rows.push_back(i);
  std::printf("\"exact\": %lld, \"checked\": %lld}\n",
              static_cast<long long>(same_as_processor(index, query.take(rows), k, last.first)),
              static_cast<long long>(n_checked));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fputs("knn_gpu_bench ROWS QUERIES COLUMNS K DATA REPEATS [KEY=VALUE...]\n", stderr);
    return 2;
  }
  try {
    return bench(argc, argv);
  } catch (const stope::Error& error) {
    std::fprintf(stderr, "knn_gpu_bench: %s\n", error.what());
    return 1;
  }
}
