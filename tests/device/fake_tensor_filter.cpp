// The fake plug-in's tensor filter.
#include <memory>
#include <numeric>

#include "device/fake_filters.hpp"

namespace stope::fake {
namespace {

// Without "filters" it acts as a GPU without matrix units.
int tensor_size(std::int32_t, const abi::TensorSpec* spec, abi::FilterSize* size, abi::Failure*) {
  *size = {filters() && (spec->byte_factor == 0 || plays("byte filters")),
           (spec->lent_rows != 0 ? 0 : spec->n_buffers * spec->n_rows * spec->width * 8) + spec->most_queries * 64};
  return 0;
}

int tensor_create(std::int32_t, const abi::TensorSpec* spec, abi::TensorFilter** filter, abi::Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
  auto made = std::make_unique<abi::TensorFilter>();
  const auto* attributes = static_cast<const knn::Attribute*>(spec->measure.attributes);
  made->attributes.assign(attributes, attributes + spec->measure.n_attributes);
  std::vector<bool> masked(static_cast<std::size_t>(spec->width));
  for (std::int64_t c = 0; c < spec->n_columns; ++c) {
    const abi::ImageColumn& column = spec->columns[c];
    if (column.masked != 0) masked[static_cast<std::size_t>(column.source)] = true;
  }
  for (std::size_t a = 0; a < masked.size(); ++a) {
    if (!masked[a]) made->unmasked.push_back(static_cast<std::int32_t>(a));
  }
  made->byte_factor = spec->byte_factor;
  if (spec->byte_factor != 0) made->scale = spec->columns->scale;
  for (std::int64_t c = 0; c < spec->n_columns; ++c) {
    const abi::ImageColumn& column = spec->columns[c];
    made->centres.push_back(column.centre);
    const bool fits = column.query == abi::ImagePart::number && column.train == abi::ImagePart::number &&
                      column.masked == 0 && column.source == c && column.scale == made->scale;
    if (spec->byte_factor != 0 && !fits) return fail(failure, ErrorCode::internal, "a column that is not of bytes");
  }
  made->width = spec->width;
  made->most_rows = spec->n_rows;
  made->lent_rows = spec->lent_rows != 0;
  made->n_buffers = spec->n_buffers;
  made->most_queries = spec->most_queries;
  made->most_neighbors = spec->most_neighbors;
  *filter = made.release();
  return 0;
}

void tensor_destroy(abi::TensorFilter* filter) {
  const std::unique_ptr<abi::TensorFilter> owner(filter);
}

int tensor_begin(abi::TensorFilter* filter, int buffer, std::int64_t n_rows, abi::Failure* failure) {
  if (buffer >= filter->n_buffers || n_rows > filter->most_rows || filter->n_batches[buffer] > 0) {
    return fail(failure, ErrorCode::internal, "cannot begin");
  }
  filter->tables[buffer] = {n_rows, false, false, {}};
  for (auto& piece : filter->pieces) piece = {};
  return 0;
}

// The rows are read only in this wait: they must still be there.
int tensor_wait(abi::TensorFilter* filter, int number, abi::Failure*) {
  const auto [from, n, buffer] = std::exchange(filter->pieces[number], {});
  std::vector<double>& rows = filter->tables[buffer].rows;
  if (from != nullptr) rows.insert(rows.end(), from, from + n * filter->width);
  return 0;
}

int tensor_lend(abi::TensorFilter* filter, int buffer, const abi::RowsOnGpu* rows, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while lending");
  abi::TensorFilter::Table& table = filter->tables[buffer];
  if (!filter->lent_rows || rows->n != table.n_rows || rows->width != filter->width) {
    return fail(failure, ErrorCode::internal, "rows that cannot be lent");
  }
  table.rows = rows->values;
  return 0;
}

int tensor_load(abi::TensorFilter* filter, int buffer, int piece, const double* rows, std::int64_t n,
                abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while loading");
  if (filter->lent_rows) return fail(failure, ErrorCode::internal, "there is no room for rows");
  if (filter->pieces[piece].rows != nullptr) return fail(failure, ErrorCode::internal, "a piece that is under way");
  count_to_gpu(n * filter->width * 8);
  filter->pieces[piece] = {rows, n, buffer};
  filter->last_piece = piece;
  return 0;
}

int tensor_finish(abi::TensorFilter* filter, int number, std::int64_t* n_always, abi::Failure* failure) {
  for (int i = 1; i <= abi::kTensorPieces; ++i) {
    tensor_wait(filter, (filter->last_piece + i) % abi::kTensorPieces, failure);
  }
  abi::TensorFilter::Table& table = filter->tables[number];
  if (static_cast<std::int64_t>(table.rows.size()) != table.n_rows * filter->width) {
    return fail(failure, ErrorCode::internal, "rows are missing");
  }
  table.ready = true;
  ++filter->n_made;
  *n_always = 0;
  for (std::int64_t row = 0; row < table.n_rows && filter->byte_factor != 0; ++row) {
    *n_always += filter->in_bytes(table.rows.data() + row * filter->width) ? 0 : 1;
  }
  return 0;
}

// It takes centres that are rows of the table. Then it says that it left three pairs in four out, or none as "useless
// clusters".
int tensor_clusters(abi::TensorFilter* filter, int number, const double* centres, std::int64_t n_centres,
                    double most_radius, bool* made, abi::Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
  abi::TensorFilter::Table& table = filter->tables[number];
  const std::int64_t width = filter->width;
  *made = table.in_clusters = false;
  if (n_centres == 0 || plays("no clusters")) return 0;
  if (!table.ready || !(most_radius > 0.0)) return fail(failure, ErrorCode::internal, "clusters that cannot be");
  *made = true;
  for (std::int64_t i = 0; i < n_centres && *made; ++i) {
    *made = false;
    for (std::int64_t row = 0; row < table.n_rows && !*made; ++row) {
      *made = std::equal(centres + i * width, centres + (i + 1) * width, table.rows.data() + row * width);
    }
  }
  table.in_clusters = *made;
  return 0;
}

int voters_create(std::int32_t, const knn::VoterView* voters, abi::VotersOnGpu** copy, abi::Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while loading");
  auto made = std::make_unique<abi::VotersOnGpu>();
  const auto keep = [&](auto& to, const auto* from) {
    if (from != nullptr) to.assign(from, from + voters->n_rows);
    count_to_gpu(std::ssize(to) * static_cast<std::int64_t>(sizeof(*from)));
    return from != nullptr ? to.data() : nullptr;
  };
  made->rows = {keep(made->codes, voters->codes), voters->n_classes, keep(made->targets, voters->targets),
                keep(made->sample_weights, voters->sample_weights), voters->n_rows};
  *copy = made.release();
  return 0;
}

void voters_destroy(abi::VotersOnGpu* copy) {
  const std::unique_ptr<abi::VotersOnGpu> owner(copy);
}

int tensor_submit(abi::TensorFilter* filter, int number, const abi::TensorQuery* query, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while submitting");
  abi::TensorFilter::Slot& slot = filter->slots[number];
  const bool fits = query->n >= 1 && query->n <= filter->most_queries && query->k <= filter->most_neighbors;
  if (slot.busy || !filter->tables[query->buffer].ready || !fits)
    return fail(failure, ErrorCode::internal, "a batch that cannot be");
  if (query->vote != nullptr) {
    // Room for predictions is made when they come.
    if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
  }
  slot = {};
  slot.busy = true;
  if (std::accumulate(filter->n_batches, filter->n_batches + filter->n_buffers, 0) == 2) count_third_batch();
  ++filter->n_batches[query->buffer];
  slot.query = *query;
  if (query->vote != nullptr) {
    slot.rule = query->vote->rule;
    slot.ks.assign(query->vote->ks, query->vote->ks + query->vote->n_ks);
    slot.votes.rows = query->vote->voters->rows;
  }
  if (query->device_rows != nullptr) {
    slot.device_rows = taken(*query->device_rows, query->n, filter->width);
    slot.query.rows = slot.device_rows.data();
  } else {
    count_to_gpu(query->n * filter->width * 8);
  }
  const bool leaves_out = filter->tables[query->buffer].in_clusters && query->n > abi::kFewQueries &&
                          query->heap == 0 && query->within == nullptr &&
                          query->k + (query->self >= 0 ? 1 : 0) <= abi::kMostClusterNeighbors;
  if (leaves_out && !plays("useless clusters")) slot.skipped = query->n * filter->tables[query->buffer].n_rows / 4 * 3;
  if (query->device_lists != nullptr) slot.device_lists = *query->device_lists;
  slot.predictions_stay = query->vote != nullptr && query->device_predictions != nullptr;
  if (slot.predictions_stay) slot.device_predictions = *query->device_predictions;
  return 0;
}

// What an uncertified query has there has no meaning.
void leave_predictions(abi::TensorFilter::Slot& slot, abi::FilterAnswer& answer) {
  const abi::DevicePredictions& there = slot.device_predictions;
  const std::vector<std::int32_t>& winners = slot.votes.winners;
  if (there.winners != nullptr) std::copy(winners.begin(), winners.end(), there.winners);
  if (there.values != nullptr) std::copy(slot.votes.values.begin(), slot.votes.values.end(), there.values);
  answer.winners = nullptr;
  answer.values = nullptr;
}

int tensor_collect(abi::TensorFilter* filter, int number, abi::FilterAnswer* answer, abi::Failure* failure) {
  abi::TensorFilter::Slot& slot = filter->slots[number];
  if (!slot.busy) return fail(failure, ErrorCode::internal, "nothing to collect");
  slot.busy = false;
  --filter->n_batches[slot.query.buffer];
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while collecting");
  for (std::int64_t i = 0; i < slot.query.n; ++i) filter->answer(slot, i);
  *answer = {slot.distances.data(),
             slot.rows.data(),
             slot.uncertified.data(),
             slot.query.n * filter->tables[slot.query.buffer].n_rows - slot.skipped,
             0,
             0,
             {}};
  answer->skipped = slot.skipped;
  answer->milliseconds[abi::kTableImagesStep] = static_cast<float>(filter->n_made.exchange(0));
  if (slot.device_lists.indices != nullptr) {
    for (std::int64_t i = 0; i < slot.query.n * slot.query.k; ++i) {
      if (slot.uncertified[static_cast<std::size_t>(i / slot.query.k)] != 0) continue;
      slot.device_lists.indices[i] = slot.rows[static_cast<std::size_t>(i)];
      slot.device_lists.distances[i] = slot.distances[static_cast<std::size_t>(i)];
    }
    answer->distances = nullptr;
    answer->rows = nullptr;
  } else if (slot.ks.empty()) {
    count_to_host(slot.query.n * slot.query.k * 12);
  }
  count_to_host(slot.query.n * 4);  // which queries are uncertified
  if (!slot.ks.empty()) {
    slot.votes.cast(slot.rule, slot.ks, slot.query.k, slot.query.n, slot.distances, slot.rows, slot.uncertified);
    answer->winners = slot.votes.winners.data();
    answer->values = slot.votes.values.data();
    if (slot.predictions_stay) {
      leave_predictions(slot, *answer);
    } else {
      count_to_host(std::ssize(slot.votes.winners) * 4 + std::ssize(slot.votes.values) * 8);
    }
  }
  return 0;
}

}  // namespace

void add_filter(abi::Functions& functions) {
  functions.tensor_size = &tensor_size;
  functions.tensor_create = &tensor_create;
  functions.tensor_destroy = &tensor_destroy;
  functions.tensor_begin = &tensor_begin;
  functions.tensor_load = &tensor_load;
  functions.tensor_lend = &tensor_lend;
  functions.tensor_wait = &tensor_wait;
  functions.tensor_finish = &tensor_finish;
  functions.tensor_clusters = &tensor_clusters;
  functions.voters_create = &voters_create;
  functions.voters_destroy = &voters_destroy;
  functions.tensor_submit = &tensor_submit;
  functions.tensor_collect = &tensor_collect;
}

}  // namespace stope::fake
