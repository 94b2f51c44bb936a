// Jobs of the C ABI that make a table of tables.
#include <string>

#include "base/array.hpp"
#include "capi/array.hpp"
#include "capi/guarded.hpp"
#include "capi/options.hpp"
#include "capi/run.hpp"
#include "capi/table.hpp"
#include "jobs/job_options.hpp"
#include "jobs/pair.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"
#include "stope/knn_pairwise.hpp"

namespace stope::capi {
namespace {

using jobs::PairwiseMatrixJob;

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
  const jobs::Pair pair = jobs::normalized(request, reference, job.distance, run);
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
    const stope::NamedOptions set = options_of(options);
    const JobRun with(run);
    const stope::Table* const reference = second == nullptr ? nullptr : &second->table;
    *out = give_table(stope::compute(name, first->table, set, with.options(), reference));
  });
}

stope_code stope_pairwise_distances(const stope_table* table, const stope_table* other, const stope_options* options,
                                    stope_run* run, const stope_array* out, stope_error* error) {
  return guarded(error, [&] {
    const auto request = at<HeldTable>(table), reference = other == nullptr ? request : at<HeldTable>(other);
    const auto job = read_options<stope::jobs::PairwiseMatrixJob>(options, "pairwise_distances");
    required(out, "out");
    const JobRun with(run);
    pairwise_matrix(request->table, reference->table, job, with.options(), *out);
  });
}
