// The fake plug-in's difference filter.
#include <memory>

#include "device/fake_filters.hpp"

namespace stope {
namespace abi = knn::cuda_abi;

// Keeps rows and measure as the tensor filter does; it answers at once.
struct abi::DifferenceFilter {
  abi::TensorFilter rows;  // the measure, and the rows in the first table
  fake::Votes votes;
  struct Answer {
    std::vector<double> distances;
    std::vector<std::int32_t> found, uncertified;
  };
  Answer answers[kAnswerPlaces];
  bool has_memory[kAnswerPlaces] = {};  // per place: it is allocated for the first answer there
  bool boxes = false;

  bool excluded(const abi::DifferenceQuery& query, std::int64_t i, std::int64_t row) const {
    if (query.self >= 0 && query.self + i == row) return true;
    return query.train_groups != nullptr && query.query_groups[i] != abi::kExcludesNothing &&
           query.query_groups[i] == query.train_groups[row];
  }
  void answer(const abi::DifferenceQuery& query, std::int64_t i) {
    const double* y = query.rows + i * rows.width;
    std::vector<std::pair<double, std::int32_t>> all;
    const bool within = query.within < std::numeric_limits<double>::infinity();
    const abi::TensorFilter::Table& table = rows.tables[0];
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      const double distance = rows.distance(table.rows, row, y);
      if (within && !(distance <= query.within)) continue;
      if (distance == distance && !excluded(query, i, row)) all.emplace_back(distance, static_cast<std::int32_t>(row));
    }
    std::sort(all.begin(), all.end());
    const auto k = static_cast<std::size_t>(query.k);
    // Not for some queries, and not for heaps.
    const bool known = (within || all.size() >= k) && query.heap == 0 && std::fmod(std::fabs(y[0]) * 7.0, 5.0) < 4.5;
    if (known && all.size() < k) all.resize(k, {std::numeric_limits<double>::infinity(), abi::kNoFilterRow});
    Answer& answer = answers[query.place];
    answer.uncertified.push_back(known ? 0 : 1);
    for (std::size_t j = 0; j < k; ++j) {
      answer.distances.push_back(known ? all[j].first : -1.0);
      answer.found.push_back(known ? all[j].second : -1);
    }
  }
};

namespace fake {
namespace {

int differences_size(std::int32_t, const abi::DifferenceSpec* spec, abi::FilterSize* size, abi::Failure*) {
  *size = {plays("differences") || (plays("boxes") && spec->boxes != 0),
           spec->n_rows * spec->width * 8 + spec->most_queries * 64};
  return 0;
}

int differences_create(std::int32_t, const abi::DifferenceSpec* spec, abi::DifferenceFilter** filter,
                       abi::Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
  auto made = std::make_unique<abi::DifferenceFilter>();
  const auto* attributes = static_cast<const knn::Attribute*>(spec->measure.attributes);
  made->rows.attributes.assign(attributes, attributes + spec->measure.n_attributes);
  made->rows.width = spec->width;
  made->rows.tables[0].n_rows = spec->n_rows;
  made->rows.most_neighbors = spec->most_neighbors;
  made->boxes = spec->boxes != 0;
  *filter = made.release();
  return 0;
}

void differences_destroy(abi::DifferenceFilter* filter) {
  const std::unique_ptr<abi::DifferenceFilter> owner(filter);
}

int differences_load(abi::DifferenceFilter* filter, const double* rows, std::int64_t n, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while loading");
  std::vector<double>& all = filter->rows.tables[0].rows;
  count_to_gpu(n * filter->rows.width * 8);
  all.insert(all.end(), rows, rows + n * filter->rows.width);
  return 0;
}

int differences_finish(abi::DifferenceFilter* filter, std::int64_t* n_always, abi::Failure* failure) {
  const abi::TensorFilter::Table& table = filter->rows.tables[0];
  if (static_cast<std::int64_t>(table.rows.size()) != table.n_rows * filter->rows.width) {
    return fail(failure, ErrorCode::internal, "rows are missing");
  }
  *n_always = 0;
  return 0;
}

int differences_search(abi::DifferenceFilter* filter, const abi::DifferenceQuery* query, abi::FilterAnswer* answer,
                       abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while searching");
  if (query->k > filter->rows.most_neighbors) return fail(failure, ErrorCode::internal, "more than it is made for");
  bool& has_memory = filter->has_memory[query->place];
  if (!has_memory && the_host->alloc_fails()) {
    return fail(failure, ErrorCode::out_of_memory, "cannot allocate pinned memory");
  }
  has_memory = true;
  abi::DifferenceFilter::Answer& there = filter->answers[query->place];
  there = {};
  for (std::int64_t i = 0; i < query->n; ++i) filter->answer(*query, i);
  *answer = {there.distances.data(),
             there.found.data(),
             there.uncertified.data(),
             query->n * filter->rows.tables[0].n_rows,
             0,
             0,
             {}};
  if (filter->boxes) {
    answer->scanned = query->n;
    answer->skipped = query->n * (filter->rows.tables[0].n_rows - 1);
    answer->opened = 3 * query->n;
  }
  if (query->vote != nullptr) {
    if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
    const abi::Vote& vote = *query->vote;
    filter->votes.rows = vote.voters->rows;
    filter->votes.cast(vote.rule, {vote.ks, vote.ks + vote.n_ks}, query->k, query->n, there.distances, there.found,
                       there.uncertified);
    answer->winners = filter->votes.winners.data();
    answer->values = filter->votes.values.data();
  }
  return 0;
}

}  // namespace

const abi::TensorFilter* rows_of(const abi::DifferenceFilter& filter) {
  return filter.boxes ? nullptr : &filter.rows;
}

void add_differences(abi::Functions& functions) {
  functions.differences_size = &differences_size;
  functions.differences_create = &differences_create;
  functions.differences_destroy = &differences_destroy;
  functions.differences_load = &differences_load;
  functions.differences_finish = &differences_finish;
  functions.differences_search = &differences_search;
}

}  // namespace fake
}  // namespace stope
