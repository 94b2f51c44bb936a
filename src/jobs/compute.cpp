// Jobs that make a table of tables.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/evaluation.hpp"
#include "jobs/job_options.hpp"
#include "jobs/label.hpp"
#include "jobs/pair.hpp"
#include "jobs/result_tables.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"
#include "stope/nearest_name.hpp"

namespace stope::jobs {

Pair normalized(const Table& request, const Table& reference, const DistanceOptions& distance, const RunOptions& run) {
  NeighborsModel model = make_neighbors_model(reference, distance.knn, distance.normalize, {}, run);
  return {model.normalizer.apply(request, run), std::move(model.train), std::move(model.options)};
}

namespace {

Table stats(const Table& table, const NamedOptions& options, const RunOptions& run) {
  const auto job = read_options<StatsJob>(options, "stats");
  return statistics_table(describe(table, job.options(), run), table);
}

Table histogram(const Table& table, const NamedOptions& options, const RunOptions& run) {
  const auto job = read_options<HistogramJob>(options, "histogram");
  if (job.bins < 1) {
    throw Error(ErrorCode::invalid_argument, "bins is " + std::to_string(job.bins), {.option = "bins"});
  }
  return histogram_table(describe(table, {.histogram_bins = job.bins}, run));
}

Table value_counts(const Table& table, const NamedOptions& options, const RunOptions& run) {
  read_options<NoOptions>(options, "value_counts");
  return value_counts_table(describe(table, {}, run));
}

Table rank_cuts(const Table& table, const NamedOptions& options, const RunOptions& run) {
  return best_cuts_table(best_cuts(table, read_options<BestCutsJob>(options, "best_cuts").cuts, run));
}

Table all_cuts(const Table& table, const NamedOptions& options, const RunOptions& run) {
  return cuts_table(find_cuts(table, read_options<FindCutsJob>(options, "find_cuts").cuts, run));
}

Table ranges(const Table& table, const NamedOptions& options, const RunOptions& run) {
  read_options<NoOptions>(options, "feature_ranges");
  return ranges_table(feature_ranges(table, run));
}

Table pairs(const Table& request, const Table& reference, const NamedOptions& options, const RunOptions& run) {
  auto job = read_options<PairwiseJob>(options, "pairwise");
  const Pair pair = normalized(request, reference, job.matrix.distance, run);
  job.pairwise.knn = pair.knn;
  job.pairwise.similarities = job.matrix.similarities;
  return pairs_table(cross_distances(pair.request, pair.reference, job.pairwise, run));
}

using Job = Table (*)(const Table& table, const NamedOptions& options, const RunOptions& run);
struct NamedJob {
  std::string_view name;
  Job job;
};
constexpr NamedJob kJobs[] = {{"stats", stats},         {"histogram", histogram},  {"value_counts", value_counts},
                              {"best_cuts", rank_cuts}, {"find_cuts", all_cuts},   {"evaluate", evaluation},
                              {"confusion", confusion}, {"feature_ranges", ranges}};

Job job_of(const std::string& name) {
  Names names = {"pairwise"};
  for (const NamedJob& one : kJobs) {
    if (one.name == name) return one.job;
    names.emplace_back(one.name);
  }
  throw Error(ErrorCode::invalid_argument, "there is no job '" + name + "'" + did_you_mean(name, names),
              {.option = "job"});
}

}  // namespace
}  // namespace stope::jobs

std::vector<std::string> stope::job_names() {
  std::vector<std::string> names;
  for (const jobs::NamedJob& one : jobs::kJobs) names.emplace_back(one.name);
  names.emplace_back("pairwise");
  return names;
}

stope::Table stope::compute(const std::string& job, const Table& table, const NamedOptions& options,
                            const RunOptions& run, const Table* other) {
  if (job == "pairwise") return jobs::pairs(table, other == nullptr ? table : *other, options, run);
  const jobs::Job wanted = jobs::job_of(job);
  if (other != nullptr) {
    throw Error(ErrorCode::invalid_argument, "the job '" + job + "' takes one table", {.option = "other"});
  }
  return wanted(table, options, run);
}
