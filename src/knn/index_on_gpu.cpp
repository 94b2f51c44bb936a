// KnnIndex: rows and lists in a GPU's memory (stope/device_arrays.hpp).
#include <string>
#include <vector>

#include "knn/gpu/caller_rows.hpp"
#include "knn/search/search.hpp"
#include "stope/device_arrays.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

// Returns the columns that an index compares, of a matrix whose columns are the training table's features.
std::vector<std::int64_t> compared_columns(const knn::Fitted& fitted, const DeviceMatrix& queries) {
  const std::vector<std::int64_t> features = fitted.train().features();
  if (static_cast<std::int64_t>(features.size()) != queries.n_columns) {
    refuse("the query rows have " + std::to_string(queries.n_columns) + " columns, the training table has " +
           std::to_string(features.size()) + " features");
  }
  std::vector<std::int64_t> columns;
  std::size_t next = 0;  // the next compared feature: those of weight 0 are not compared
  for (std::size_t c = 0; c < features.size() && next < fitted.features().size(); ++c) {
    const Column& column = fitted.train().columns[static_cast<std::size_t>(features[c])];
    if (column.name != fitted.features()[next].name) continue;
    if (column.nominal()) refuse("the feature '" + column.name + "' is nominal; rows in a GPU's memory have numbers");
    columns.push_back(static_cast<std::int64_t>(c));
    ++next;
  }
  return columns;
}

// Chooses the matrix's GPU, unless the run is for another device: the lists then go by the host.
RunOptions on_its_gpu(const RunOptions& run, int gpu) {
  RunOptions its = run;
  const std::string name = "cuda:" + std::to_string(gpu);
  if (run.device == "auto" || run.device == "cuda") its.device = name;
  if (its.device != "cpu" && its.device != name) {
    refuse("the query rows are on GPU " + std::to_string(gpu) + ", the search is to run on '" + run.device + "'");
  }
  return its;
}

// Writes the lists of queries that the GPU left to the host, consecutive ones together.
void write_listed(const knn::Outcome& outcome, const knn::DeviceQueries& rows) {
  for (std::size_t begin = 0, end = 0; begin < outcome.listed.size(); begin = end) {
    std::vector<std::int64_t> indices;
    std::vector<double> distances;
    const std::int64_t ahead = outcome.listed[begin] - static_cast<std::int64_t>(begin);
    for (; end < outcome.listed.size() && outcome.listed[end] - static_cast<std::int64_t>(end) == ahead; ++end) {
      for (const knn::Neighbor& candidate : outcome.lists[end]) {
        indices.push_back(candidate.row);
        distances.push_back(candidate.distance);
      }
    }
    rows.write(outcome.first_query + outcome.listed[begin], indices, distances);
  }
}

}  // namespace

KnnIndex KnnIndex::fit(const DeviceMatrix& train, const KnnOptions& options, const RunOptions& run) {
  knn::check_matrix(train, "the training rows");
  return fit(knn::table_of(train), options, run);
}

SearchReport KnnIndex::kneighbors(const DeviceMatrix& queries, const SearchOptions& search, const RunOptions& run,
                                  const DeviceNeighbors& out) const {
  const std::int64_t k = search.n_neighbors, most = n_samples() - (search.exclude_self ? 1 : 0);
  if (!search.exclude_group.empty()) refuse("rows in a GPU's memory have no groups to exclude");
  if (k > most) {
    refuse("k = " + std::to_string(k) + " is more than the " + std::to_string(most) +
           " training rows there are to choose from");
  }
  knn::SearchJob job{knn::select_nearest(*fitted_, {k}, search.exclude_self), {}};
  const RunOptions its = on_its_gpu(run, queries.gpu);
  knn::check_matrix(queries, "the query rows");
  const knn::DeviceQueries rows(queries, out, k, compared_columns(*fitted_, queries));
  if (rows.as_they_are()) job.selection.device = &rows;
  job.outcome_sink = [&](const knn::Outcome& outcome) { write_listed(outcome, rows); };
  return knn::run_search(*fitted_, rows, job, its, [&](const std::vector<Neighbors>& lists) {
    rows.write(lists.front().first_query, lists.front().indices, lists.front().distances);
  });
}

}  // namespace stope
