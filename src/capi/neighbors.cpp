// Neighbours for the C ABI: lists in memory of the caller, lists within a radius, merged lists.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "capi/array.hpp"
#include "capi/guarded.hpp"
#include "capi/model.hpp"
#include "capi/options.hpp"
#include "capi/run.hpp"
#include "capi/table.hpp"
#include "jobs/job_options.hpp"
#include "knn/merge_padded.hpp"
#include "stope/error.hpp"

namespace stope::capi {

template <>
struct KindOf<Neighbors> {
  static constexpr Kind value = Kind::lists;
};

namespace {

SearchOptions search_options(const stope_options* options, std::int64_t n_neighbors) {
  SearchOptions search = read_options<jobs::NeighborsJob>(options, "a search").search;
  search.n_neighbors = n_neighbors;
  return search;
}

void require_at_least(std::int64_t least, std::int64_t value, const char* what) {
  if (value >= least) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(what) + " is " + std::to_string(value) + ", not at least " + std::to_string(least),
              {.option = what});
}

// Rows of an array are searched for as they are.
void require_plain_rows(const Predictor& predictor) {
  const auto refuse = [](const char* why) {
    throw Error(ErrorCode::unsupported, std::string("the model ") + why + " of a table, not of an array",
                {.option = "rows"});
  };
  const Model& model = predictor.model();
  if (std::holds_alternative<ChainModel>(model.fitted)) {
    refuse("is a chain, whose steps take tables: search for rows");
  }
  const auto* const neighbors = std::get_if<NeighborsModel>(&model.fitted);
  if (neighbors != nullptr && neighbors->normalizer.options().method != Normalization::none) {
    refuse("normalises its rows: search for those");
  }
}

// The model with the k and the weights that the options name.
Predictor with_options(const Predictor& predictor, const stope_options* options) {
  const auto job = read_options<jobs::ApplyJob>(options, "apply");
  if (job.proba || job.explain) {
    throw Error(ErrorCode::invalid_argument, "predictions of an array take the options 'n_neighbors' and 'weights'",
                {.option = job.proba ? "proba" : "explain"});
  }
  const auto* const knn = std::get_if<NeighborsModel>(&predictor.model().fitted);
  if (knn == nullptr || (!job.n_neighbors && job.weights.empty())) return predictor;
  return predictor.with_vote(job.n_neighbors.value_or(knn->n_neighbors),
                             job.weights.empty() ? knn->weights : vote_weights(job.weights));
}

NeighborArrays arrays_of(std::int64_t n_rows, std::int64_t* indices, double* distances) {
  if (n_rows > 0) {
    required(indices, "indices");
    required(distances, "distances");
  }
  return {.indices = indices, .distances = distances};
}

}  // namespace
}  // namespace stope::capi

using namespace stope::capi;

stope_code stope_neighbors(const stope_model* model, const stope_table* rows, int64_t n_neighbors,
                           const stope_options* options, stope_run* run, int64_t* indices, double* distances,
                           stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<HeldModel>(model);
    const auto table = at<HeldTable>(rows);
    const auto search = search_options(options, n_neighbors);
    const auto& index = held->predictor.index();
    const auto out = arrays_of(table->table.n_rows, indices, distances);
    const JobRun job(run);
    index.kneighbors(held->predictor.normalized(table->table, job.options()), search, job.options(), out);
  });
}

stope_code stope_neighbors_of_array(const stope_model* model, const stope_array* rows, int64_t n_neighbors,
                                    const stope_options* options, stope_run* run, int64_t* indices, double* distances,
                                    stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<HeldModel>(model);
    const auto view = view_of(rows, "rows");
    const auto search = search_options(options, n_neighbors);
    const auto& index = held->predictor.index();
    require_plain_rows(held->predictor);
    auto out = arrays_of(view.n_rows, indices, distances);
    out.gpu = view.gpu;
    out.stream = view.stream;
    const JobRun job(run);
    index.kneighbors(view, search, job.options(), out);
  });
}

stope_code stope_predict_of_array(const stope_model* model, const stope_array* rows, const stope_options* options,
                                  stope_run* run, int32_t* codes, double* values, stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<HeldModel>(model);
    const auto view = view_of(rows, "rows");
    require_plain_rows(held->predictor);
    const auto predictor = with_options(held->predictor, options);
    const JobRun job(run);
    predictor.predict(view, {.codes = codes, .values = values, .gpu = view.gpu, .stream = view.stream}, job.options());
  });
}

stope_code stope_radius_neighbors(const stope_model* model, const stope_table* rows, double radius,
                                  const stope_options* options, stope_run* run, stope_lists** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const auto held = at<HeldModel>(model);
    const auto table = at<HeldTable>(rows);
    const auto search = search_options(options, 1);
    const auto& index = held->predictor.index();
    const JobRun job(run);
    auto lists =
        index.radius_neighbors(held->predictor.normalized(table->table, job.options()), radius, search, job.options());
    *out = give<stope_lists>(std::make_shared<stope::Neighbors>(std::move(lists)));
  });
}

int64_t stope_lists_rows(const stope_lists* lists) {
  const auto held = find<stope::Neighbors>(lists);
  return held == nullptr ? -1 : held->n_queries();
}

int64_t stope_lists_entries(const stope_lists* lists) {
  const auto held = find<stope::Neighbors>(lists);
  return held == nullptr ? -1 : std::ssize(held->indices);
}

stope_code stope_lists_copy(const stope_lists* lists, int64_t* offsets, int64_t* indices, double* distances,
                            stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<stope::Neighbors>(lists);
    if (offsets != nullptr) std::copy(held->offsets.begin(), held->offsets.end(), offsets);
    if (indices != nullptr) std::copy(held->indices.begin(), held->indices.end(), indices);
    if (distances != nullptr) std::copy(held->distances.begin(), held->distances.end(), distances);
  });
}

void stope_lists_free(stope_lists* lists) {
  remove_handle(lists, Kind::lists);
}

stope_code stope_merge_neighbors(int64_t n_parts, int64_t stride, int64_t n_queries, int64_t n_neighbors,
                                 const int64_t* indices, const double* distances, int64_t* merged_indices,
                                 double* merged_distances, stope_error* error) {
  return guarded(error, [&] {
    require_at_least(1, n_parts, "n_parts");
    require_at_least(0, n_queries, "n_queries");
    require_at_least(1, n_neighbors, "n_neighbors");
    const std::int64_t entries = stope::checked::mul(n_queries, n_neighbors);
    require_at_least(entries, stride, "stride");
    stope::checked::mul(n_parts, stride);
    if (entries == 0) return;
    required(indices, "indices");
    required(distances, "distances");
    required(merged_indices, "merged_indices");
    required(merged_distances, "merged_distances");
    stope::knn::merge_padded({n_parts, stride, n_queries, n_neighbors, indices, distances}, merged_indices,
                             merged_distances);
  });
}
