// Jobs of the C ABI that make a table of tables.
#include <cmath>
#include <string>
#include <string_view>

#include "base/array.hpp"
#include "capi/array.hpp"
#include "capi/guarded.hpp"
#include "capi/job_options.hpp"
#include "capi/result_tables.hpp"
#include "capi/run.hpp"
#include "capi/table.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::capi {
namespace {

Table stats(const Table& table, const Options& options, const RunOptions& run) {
  const auto job = read_options<StatsJob>(options, "stats");
  return statistics_table(describe(table, job.options(), run), table);
}

Table histogram(const Table& table, const Options& options, const RunOptions& run) {
  const auto job = read_options<HistogramJob>(options, "histogram");
  if (job.bins < 1) {
    throw Error(ErrorCode::invalid_argument, "bins is " + std::to_string(job.bins), {.option = "bins"});
  }
  return histogram_table(describe(table, {.histogram_bins = job.bins}, run));
}

Table value_counts(const Table& table, const Options& options, const RunOptions& run) {
  read_options<NoOptions>(options, "value_counts");
  return value_counts_table(describe(table, {}, run));
}

Table rank_cuts(const Table& table, const Options& options, const RunOptions& run) {
  return best_cuts_table(best_cuts(table, read_options<BestCutsJob>(options, "best_cuts").cuts, run));
}

Table all_cuts(const Table& table, const Options& options, const RunOptions& run) {
  return cuts_table(find_cuts(table, read_options<FindCutsJob>(options, "find_cuts").cuts, run));
}

Table scores(const Table& table, const Options& options, const RunOptions& run) {
  return evaluation_table(evaluate(table, read_options<EvaluateJob>(options, "evaluate").options(), run));
}

Table ranges(const Table& table, const Options& options, const RunOptions& run) {
  read_options<NoOptions>(options, "feature_ranges");
  return ranges_table(feature_ranges(table, run));
}

// Both tables as the measure takes them. The reference is searched, so normalisation is fitted to it.
struct Pair {
  Table request, reference;
  KnnOptions knn;
};

Pair normalized(const Table& request, const Table& reference, const DistanceOptions& distance, const RunOptions& run) {
  NeighborsModel model = make_neighbors_model(reference, distance.knn, distance.normalize, {}, run);
  return {model.normalizer.apply(request, run), std::move(model.train), std::move(model.options)};
}

Table pairs(const Table& request, const Table& reference, const Options& options, const RunOptions& run) {
  auto job = read_options<PairwiseJob>(options, "pairwise");
  const Pair pair = normalized(request, reference, job.matrix.distance, run);
  job.pairwise.knn = pair.knn;
  job.pairwise.similarities = job.matrix.similarities;
  return pairs_table(cross_distances(pair.request, pair.reference, job.pairwise, run));
}

using Job = Table (*)(const Table& table, const Options& options, const RunOptions& run);
struct NamedJob {
  std::string_view name;
  Job job;
};
constexpr NamedJob kJobs[] = {{"stats", stats},          {"histogram", histogram}, {"value_counts", value_counts},
                              {"best_cuts", rank_cuts},  {"find_cuts", all_cuts},  {"evaluate", scores},
                              {"feature_ranges", ranges}};

Job job_of(const std::string& name) {
  Names names = {"pairwise"};
  for (const NamedJob& one : kJobs) {
    if (one.name == name) return one.job;
    names.emplace_back(one.name);
  }
  throw Error(ErrorCode::invalid_argument, "there is no job '" + name + "'" + did_you_mean(name, names),
              {.option = "job"});
}

Table compute(const std::string& name, const Table& table, const Table* other, const Options& options,
              const RunOptions& run) {
  if (name == "pairwise") return pairs(table, other == nullptr ? table : *other, options, run);
  const Job job = job_of(name);
  if (other != nullptr) {
    throw Error(ErrorCode::invalid_argument, "the job '" + name + "' takes one table", {.option = "other"});
  }
  return job(table, options, run);
}

void require_doubles(const ArrayView& out, std::int64_t n_rows, std::int64_t n_columns) {
  if (out.type != ElementType::float64 || out.gpu >= 0) {
    throw Error(ErrorCode::invalid_argument, "out: distances are float64, in the host's memory", {.option = "out"});
  }
  if (out.n_rows == n_rows && out.n_columns == n_columns) return;
  throw Error(ErrorCode::invalid_argument,
              "out has " + std::to_string(out.n_rows) + " x " + std::to_string(out.n_columns) + " elements, not " +
                  std::to_string(n_rows) + " x " + std::to_string(n_columns),
              {.option = "out"});
}

void pairwise_matrix(const Table& request, const Table& reference, const PairwiseMatrixJob& job, const RunOptions& run,
                     const stope_array& out) {
  const ArrayView view = view_of(&out, "out");
  require_doubles(view, request.n_rows, reference.n_rows);
  if (request.n_rows > 0 && reference.n_rows > 0) required(view.data, "out");
  const ArrayView to = checked_array(view, "out");
  const Pair pair = normalized(request, reference, job.distance, run);
  auto* const distances = static_cast<double*>(const_cast<void*>(to.data));
  pairwise_distances(pair.request, pair.reference, {.knn = pair.knn, .similarities = job.similarities}, run,
                     [&](const PairwiseBlock& block) {
                       const double* value = block.values;
                       for (std::int64_t i = 0; i < block.n_requests; ++i) {
                         const std::int64_t row = (block.first_request + i) * to.row_stride;
                         for (std::int64_t j = 0; j < block.n_reference; ++j) {
                           distances[row + j * to.column_stride] = *value++;
                         }
                       }
                     });
}

}  // namespace
}  // namespace stope::capi

using namespace stope::capi;

stope_code stope_compute(const char* job, const stope_table* table, const stope_table* other,
                         const stope_options* options, stope_run* run, stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const std::string name = required(job, "job");
    const auto first = at<HeldTable>(table);
    const auto second = other == nullptr ? nullptr : at<HeldTable>(other);
    const Options set = options_of(options);
    const JobRun with(run);
    *out = give_table(compute(name, first->table, second == nullptr ? nullptr : &second->table, set, with.options()));
  });
}

stope_code stope_pairwise_distances(const stope_table* table, const stope_table* other, const stope_options* options,
                                    stope_run* run, const stope_array* out, stope_error* error) {
  return guarded(error, [&] {
    const auto request = at<HeldTable>(table), reference = other == nullptr ? request : at<HeldTable>(other);
    const auto job = read_options<PairwiseMatrixJob>(options, "pairwise_distances");
    required(out, "out");
    const JobRun with(run);
    pairwise_matrix(request->table, reference->table, job, with.options(), *out);
  });
}
