// A plug-in for tests of the loader and of what the core does without a GPU: STOPE_FAKE says what it finds. As "works"
// it searches, one measure and on the processor, and checks the order in which the core calls it.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include "device/array_abi.hpp"
#include "device/cuda_abi.hpp"
#include "fake_stats.hpp"
#include "knn/cuda_abi.hpp"
#include "knn/device_rows_abi.hpp"
#include "knn/measures/mixed_euclidean.hpp"
#include "knn/vote_abi.hpp"
#include "stope/error.hpp"

/// For tests that look it up: how often memory was pinned.
extern "C" {
std::atomic<int> stope_fake_pins = 0;
}

namespace {

using namespace stope;

bool plays(const char* role) {
  const char* text = std::getenv("STOPE_FAKE");
  return text != nullptr && std::strcmp(text, role) == 0;
}
bool searches() {
  return plays("works") || plays("filters") || plays("differences");
}

void look(cuda_abi::Machine* machine) {
  machine->runtime_version = 13000;
  machine->driver_version = plays("no driver") ? 0 : plays("old driver") ? 12040 : 13010;
  machine->problem = plays("no driver")    ? cuda_abi::Problem::no_driver
                     : plays("old driver") ? cuda_abi::Problem::old_driver
                     : plays("no gpu")     ? cuda_abi::Problem::no_gpu
                     : plays("broken")     ? cuda_abi::Problem::other
                                           : cuda_abi::Problem::none;
  std::strcpy(machine->problem_text, "initialization error");
  if (machine->problem != cuda_abi::Problem::none) return;
  machine->n_gpus = 2;
  std::strcpy(machine->gpus[0].name, "Old Card");
  machine->gpus[0].major = 7;
  std::strcpy(machine->gpus[1].name, "New Card");
  machine->gpus[1].major = plays("old gpus") ? 6 : 9;
  for (int i = 0; i < 2; ++i) machine->gpus[i].memory_bytes = std::int64_t{80} << 30;
}

int fail(cuda_abi::Failure* failure, ErrorCode code, const char* text) {
  failure->code = static_cast<std::int32_t>(code);
  std::strcpy(failure->text, text);
  return 1;
}

const cuda_abi::Host* the_host = nullptr;

int free_memory(std::int32_t, std::int64_t* bytes, cuda_abi::Failure* failure) {
  if (!searches()) return fail(failure, ErrorCode::device_lost, "the GPU was lost while it was looked at");
  *bytes = std::int64_t{1} << 30;
  return 0;
}

int pin(std::int32_t, std::int64_t bytes, void** memory, cuda_abi::Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot pin");
  ++stope_fake_pins;
  *memory = std::malloc(static_cast<std::size_t>(bytes));
  return 0;
}

// All memory is GPU 1's, unless STOPE_FAKE_OWNER says whose it is; all streams but one.
int owner(const void*, std::int32_t* gpu, cuda_abi::Failure*) {
  const char* text = std::getenv("STOPE_FAKE_OWNER");
  *gpu = text == nullptr ? 1 : std::atoi(text);
  return 0;
}

int check_stream(std::int32_t, void* stream, cuda_abi::Failure* failure) {
  return stream == &the_host ? fail(failure, ErrorCode::invalid_argument, "the stream is not one of GPU 1") : 0;
}

int download(std::int32_t gpu, void*, const cuda_abi::Rows* rows, void* to, cuda_abi::Failure* failure) {
  if (the_host->device_fails() || gpu != 1) return fail(failure, ErrorCode::device_lost, "lost while copying");
  for (std::int64_t i = 0; i < rows->n; ++i) {
    std::memcpy(static_cast<char*>(to) + i * rows->bytes, static_cast<const char*>(rows->first) + i * rows->stride,
                static_cast<std::size_t>(rows->bytes));
  }
  return 0;
}

int upload(std::int32_t gpu, void*, const void* from, std::int64_t bytes, void* to, cuda_abi::Failure* failure) {
  if (the_host->device_fails() || gpu != 1) return fail(failure, ErrorCode::device_lost, "lost while copying");
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
  return 0;
}

const cuda_abi::ArrayFunctions kArrays = {&owner, &check_stream, &download, &upload};

using knn::MixedEuclidean;
namespace abi = knn::cuda_abi;

}  // namespace

struct abi::Session {
  struct Slot {
    bool busy = false;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> counts, rows;
    std::vector<double> distances;
  };
  MixedEuclidean measure;
  abi::Sizes sizes;
  std::vector<knn::Attribute> attributes;
  std::vector<double> queries, rows[2];
  Slot slots[abi::kSlots];

  double distance(const abi::Tile& tile, std::int64_t i, std::int64_t j) const {
    const double* x = rows[tile.buffer].data() + (tile.first_row + j) * sizes.width;
    const double* y = queries.data() + (tile.first_query + i) * sizes.width;
    MixedEuclidean::State state;
    for (std::int64_t a = 0; a < sizes.width; ++a)
      measure.add(state, x[a], y[a], attributes[static_cast<std::size_t>(a)]);
    return measure.finish(state);
  }
  bool holds(const abi::Tile& tile) const {
    const auto n_rows = static_cast<std::int64_t>(rows[tile.buffer].size()) / sizes.width;
    const auto n_queries = static_cast<std::int64_t>(queries.size()) / sizes.width;
    return tile.n_queries >= 1 && tile.n_queries <= sizes.tile_queries && tile.n_rows >= 1 &&
           tile.n_rows <= sizes.tile_rows && tile.first_query + tile.n_queries <= n_queries &&
           tile.first_row + tile.n_rows <= n_rows;
  }
};

namespace {

bool has_measure(const char* type, std::int64_t n_bytes) {
  if (searches()) return std::strcmp(type, typeid(MixedEuclidean).name()) == 0 && n_bytes == sizeof(MixedEuclidean);
  return !plays("no measure");
}

int create(std::int32_t, const abi::Measure* measure, const abi::Sizes* sizes, abi::Session** session,
           abi::Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
  auto made = std::make_unique<abi::Session>();
  const auto* attributes = static_cast<const knn::Attribute*>(measure->attributes);
  made->sizes = *sizes;
  made->attributes.assign(attributes, attributes + measure->n_attributes);
  *session = made.release();
  return 0;
}

void destroy(abi::Session* session) {
  const std::unique_ptr<abi::Session> owner(session);
}

int load_queries(abi::Session* session, const double* rows, std::int64_t n, abi::Failure* failure) {
  if (n > session->sizes.held_queries) return fail(failure, ErrorCode::internal, "too many queries");
  session->queries.assign(rows, rows + n * session->sizes.width);
  return 0;
}

int load_rows(abi::Session* session, std::int64_t buffer, const double* rows, std::int64_t n, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while copying");
  if (n > session->sizes.held_rows || buffer >= session->sizes.n_buffers) {
    return fail(failure, ErrorCode::internal, "too many rows");
  }
  session->rows[buffer].assign(rows, rows + n * session->sizes.width);
  return 0;
}

int submit(abi::Session* session, int number, const abi::Tile* tile, const double* thresholds, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while submitting");
  abi::Session::Slot& slot = session->slots[number];
  if (slot.busy || !session->holds(*tile)) return fail(failure, ErrorCode::internal, "a tile that cannot be");
  slot = {};
  slot.busy = true;
  for (std::int64_t i = 0; i < tile->n_queries; ++i) {
    slot.offsets.push_back(static_cast<std::int64_t>(slot.rows.size()));
    for (std::int64_t j = 0; j < tile->n_rows; ++j) {
      const double distance = session->distance(*tile, i, j);
      if (!(distance <= thresholds[i]) && thresholds[i] < std::numeric_limits<double>::infinity()) continue;
      slot.rows.push_back(static_cast<std::int32_t>(j));
      slot.distances.push_back(distance);
    }
    slot.counts.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(slot.rows.size()) - slot.offsets.back()));
  }
  return 0;
}

int collect(abi::Session* session, int number, abi::Survivors* survivors, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while collecting");
  abi::Session::Slot& slot = session->slots[number];
  if (!slot.busy) return fail(failure, ErrorCode::internal, "nothing to collect");
  slot.busy = false;
  *survivors = {slot.offsets.data(), slot.counts.data(), slot.distances.data(), slot.rows.data()};
  return 0;
}

int matrix(abi::Session* session, const abi::Tile* tile, bool similarity, bool, double* values, std::int64_t ld,
           abi::Failure* failure) {
  if (!session->holds(*tile)) return fail(failure, ErrorCode::internal, "a tile that cannot be");
  for (std::int64_t i = 0; i < tile->n_queries; ++i) {
    for (std::int64_t j = 0; j < tile->n_rows; ++j) {
      const double distance = session->distance(*tile, i, j);
      values[i * ld + j] = similarity ? -distance : distance;
    }
  }
  return 0;
}

}  // namespace

// What training rows vote with, and predictions with lists of k, which are no longer there afterwards.
struct Votes {
  std::vector<std::int32_t> codes, winners;
  std::vector<double> targets, sample_weights, values;
  knn::VotingRows rows{};
  bool ready = false;

  int load(const abi::Voters& voters, abi::Failure* failure) {
    if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
    if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while loading");
    const auto copy = [&](auto& to, const auto* from) {
      if (from != nullptr) to.assign(from, from + voters.n_rows);
      return from != nullptr ? to.data() : nullptr;
    };
    rows = {copy(codes, voters.rows.codes), voters.rows.n_classes, copy(targets, voters.rows.targets),
            copy(sample_weights, voters.rows.sample_weights)};
    ready = true;
    return 0;
  }

  void cast(const knn::VoteRule rule, const std::vector<std::int64_t>& ks, std::int64_t k, std::int64_t n,
            std::vector<double>& distances, std::vector<std::int32_t>& found, std::vector<std::int32_t>& uncertain) {
    const std::int64_t n_values = rows.n_values();
    winners.assign(ks.size() * static_cast<std::size_t>(n), -7);
    values.assign(winners.size() * static_cast<std::size_t>(n_values), -7.0);
    for (std::size_t j = 0; j < ks.size(); ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = j * static_cast<std::size_t>(n) + static_cast<std::size_t>(i);
        const knn::VotingList<std::int32_t> list{distances.data() + i * k, found.data() + i * k, ks[j], ks[j]};
        std::int32_t& unknown = uncertain[static_cast<std::size_t>(i)];
        if (unknown == 0 && knn::first_without_weight(rule, list) >= 0) unknown = 1;
        if (unknown != 0) continue;
        double* const out = values.data() + at * static_cast<std::size_t>(n_values);
        std::fill_n(out, n_values, 0.0);
        if (rows.codes != nullptr) {
          winners[at] = knn::vote_for_class(rule, rows, list, out);
        } else {
          *out = knn::vote_for_mean(rule, rows, list);
        }
      }
    }
    std::fill(distances.begin(), distances.end(), -5.0);
    std::fill(found.begin(), found.end(), -5);
  }
};

// A filter that keeps the rows and answers when a batch is collected: the query rows must be there still.
struct abi::Filter {
  struct Slot {
    bool busy = false;
    abi::FilterQuery query{};
    std::vector<double> distances;
    std::vector<std::int32_t> rows, uncertain;
    knn::VoteRule rule{};
    std::vector<std::int64_t> ks;  // of a vote
    std::vector<double> device_rows;
    abi::DeviceLists device_lists{};
    Votes votes;
  };
  MixedEuclidean measure;
  Votes voters;
  std::vector<knn::Attribute> attributes;
  std::vector<std::int32_t> unmasked;  // attributes that no query may lack
  struct Table {
    std::int64_t n_rows = 0;
    bool ready = false;
    std::vector<double> rows;
  };
  std::int64_t width, most_rows, most_queries, most_neighbors, n_tables = 1;
  Table tables[abi::kFilterTables];
  struct Piece {
    const double* rows = nullptr;
    std::int64_t n = 0;
    int table = 0;
  };
  Piece pieces[abi::kFilterPieces];
  int last_piece = 0;
  Slot slots[abi::kFilterSlots];
  std::atomic<int> n_batches[abi::kFilterTables] = {};  // under way; read beside submits to another table
  std::atomic<int> n_made = 0;                          // tables since the last answer: a millisecond each

  double distance(const std::vector<double>& rows, std::int64_t row, const double* y) const {
    MixedEuclidean::State state;
    for (std::int64_t a = 0; a < width; ++a) {
      measure.add(state, rows[static_cast<std::size_t>(row * width + a)], y[a],
                  attributes[static_cast<std::size_t>(a)]);
    }
    return measure.finish(state);
  }

  void answer(Slot& slot, std::int64_t query) const {
    const double* y = slot.query.rows + query * width;
    std::vector<std::pair<double, std::int32_t>> all;
    const Table& table = tables[slot.query.table];
    const double* const within = slot.query.within;
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      if (slot.query.self >= 0 && slot.query.self + query == row) continue;
      const double distance = this->distance(table.rows, row, y);
      if (within != nullptr && !(distance <= within[query])) continue;
      if (distance == distance) all.emplace_back(distance, static_cast<std::int32_t>(row));
    }
    std::sort(all.begin(), all.end());
    const auto k = static_cast<std::size_t>(slot.query.k);
    // Not of every query, and heaps it leaves to the reference.
    const bool bound = std::none_of(unmasked.begin(), unmasked.end(), [&](auto a) { return std::isnan(y[a]); });
    const bool known = bound && (all.size() >= k || within != nullptr) && slot.query.heap == 0 &&
                       !(std::fmod(std::fabs(y[0]) * 7.0, 5.0) >= 4.5);
    slot.uncertain.push_back(known ? 0 : 1);
    if (known && all.size() < k) all.resize(k, {std::numeric_limits<double>::infinity(), abi::kNoFilterRow});
    for (std::size_t i = 0; i < k; ++i) {
      slot.distances.push_back(known ? all[i].first : -1.0);
      slot.rows.push_back(known ? all[i].second : -1);
    }
  }
};

namespace {

// Without "filters" it pretends to be a GPU without matrix units.
int filter_size(std::int32_t, const abi::FilterSpec* spec, abi::FilterSize* size, abi::Failure*) {
  *size = {plays("filters"), spec->n_tables * spec->n_rows * spec->width * 8 + spec->most_queries * 64};
  return 0;
}

int filter_create(std::int32_t, const abi::FilterSpec* spec, abi::Filter** filter, abi::Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
  auto made = std::make_unique<abi::Filter>();
  const auto* attributes = static_cast<const knn::Attribute*>(spec->measure.attributes);
  made->attributes.assign(attributes, attributes + spec->measure.n_attributes);
  std::vector<bool> masked(static_cast<std::size_t>(spec->width));
  for (std::int64_t c = 0; c < spec->n_columns; ++c) {
    const abi::FilterColumn& column = spec->columns[c];
    if (column.masked != 0) masked[static_cast<std::size_t>(column.source)] = true;
  }
  for (std::size_t a = 0; a < masked.size(); ++a) {
    if (!masked[a]) made->unmasked.push_back(static_cast<std::int32_t>(a));
  }
  made->width = spec->width;
  made->most_rows = spec->n_rows;
  made->n_tables = spec->n_tables;
  made->most_queries = spec->most_queries;
  made->most_neighbors = spec->most_neighbors;
  *filter = made.release();
  return 0;
}

void filter_destroy(abi::Filter* filter) {
  const std::unique_ptr<abi::Filter> owner(filter);
}

int filter_begin(abi::Filter* filter, int table, std::int64_t n_rows, abi::Failure* failure) {
  if (table >= filter->n_tables || n_rows > filter->most_rows || filter->n_batches[table] > 0) {
    return fail(failure, ErrorCode::internal, "cannot begin");
  }
  filter->tables[table] = {n_rows, false, {}};
  for (auto& piece : filter->pieces) piece = {};
  return 0;
}

// The rows are read when they are waited for: they must be there still.
int filter_wait(abi::Filter* filter, int number, abi::Failure*) {
  const auto [from, n, table] = std::exchange(filter->pieces[number], {});
  std::vector<double>& rows = filter->tables[table].rows;
  if (from != nullptr) rows.insert(rows.end(), from, from + n * filter->width);
  return 0;
}

int filter_load(abi::Filter* filter, int table, int piece, const double* rows, std::int64_t n, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while loading");
  if (filter->pieces[piece].rows != nullptr) return fail(failure, ErrorCode::internal, "a piece that is under way");
  filter->pieces[piece] = {rows, n, table};
  filter->last_piece = piece;
  return 0;
}

int filter_finish(abi::Filter* filter, int number, std::int64_t* n_always, abi::Failure* failure) {
  for (int i = 1; i <= abi::kFilterPieces; ++i) {
    filter_wait(filter, (filter->last_piece + i) % abi::kFilterPieces, failure);
  }
  abi::Filter::Table& table = filter->tables[number];
  if (static_cast<std::int64_t>(table.rows.size()) != table.n_rows * filter->width) {
    return fail(failure, ErrorCode::internal, "rows are missing");
  }
  table.ready = true;
  ++filter->n_made;
  *n_always = 0;
  return 0;
}

int filter_voters(abi::Filter* filter, const abi::Voters* voters, abi::Failure* failure) {
  return filter->voters.load(*voters, failure);
}

int filter_submit(abi::Filter* filter, int number, const abi::FilterQuery* query, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while submitting");
  abi::Filter::Slot& slot = filter->slots[number];
  const bool fits = query->n >= 1 && query->n <= filter->most_queries && query->k <= filter->most_neighbors;
  if (slot.busy || !filter->tables[query->table].ready || !fits)
    return fail(failure, ErrorCode::internal, "a batch that cannot be");
  if (query->vote != nullptr) {
    if (!filter->voters.ready) return fail(failure, ErrorCode::internal, "nobody to vote");
    // Room for predictions is made as they come.
    if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
  }
  slot = {};
  slot.busy = true;
  ++filter->n_batches[query->table];
  slot.query = *query;
  if (query->vote != nullptr) {
    slot.rule = query->vote->rule;
    slot.ks.assign(query->vote->ks, query->vote->ks + query->vote->n_ks);
    slot.votes.rows = filter->voters.rows;
  }
  if (query->device_rows != nullptr) {
    slot.device_rows.resize(static_cast<std::size_t>(query->n * filter->width));
    for (std::int64_t i = 0; i < query->n * filter->width; ++i) {
      const abi::DeviceRows& from = *query->device_rows;
      const std::int64_t at = i / filter->width * from.stride + i % filter->width;
      slot.device_rows[static_cast<std::size_t>(i)] =
          from.is_float != 0 ? static_cast<double>(static_cast<const float*>(from.values)[at])
                             : static_cast<const double*>(from.values)[at];
    }
    slot.query.rows = slot.device_rows.data();
  }
  if (query->device_lists != nullptr) slot.device_lists = *query->device_lists;
  return 0;
}

int filter_collect(abi::Filter* filter, int number, abi::FilterAnswer* answer, abi::Failure* failure) {
  abi::Filter::Slot& slot = filter->slots[number];
  if (!slot.busy) return fail(failure, ErrorCode::internal, "nothing to collect");
  slot.busy = false;
  --filter->n_batches[slot.query.table];
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while collecting");
  for (std::int64_t i = 0; i < slot.query.n; ++i) filter->answer(slot, i);
  *answer = {slot.distances.data(),
             slot.rows.data(),
             slot.uncertain.data(),
             slot.query.n * filter->tables[slot.query.table].n_rows,
             0,
             0,
             {}};
  answer->milliseconds[abi::kFilterSteps - 1] = static_cast<float>(filter->n_made.exchange(0));
  if (slot.device_lists.indices != nullptr) {
    for (std::int64_t i = 0; i < slot.query.n * slot.query.k; ++i) {
      if (slot.uncertain[static_cast<std::size_t>(i / slot.query.k)] != 0) continue;
      slot.device_lists.indices[i] = slot.rows[static_cast<std::size_t>(i)];
      slot.device_lists.distances[i] = slot.distances[static_cast<std::size_t>(i)];
    }
    answer->distances = nullptr;
    answer->rows = nullptr;
  }
  if (!slot.ks.empty()) {
    slot.votes.cast(slot.rule, slot.ks, slot.query.k, slot.query.n, slot.distances, slot.rows, slot.uncertain);
    answer->winners = slot.votes.winners.data();
    answer->values = slot.votes.values.data();
  }
  return 0;
}

}  // namespace

// The same for the filter by differences, which answers at once.
struct abi::DifferenceFilter {
  abi::Filter rows;  // in its first table; and the measure
  Votes votes;
  std::vector<double> distances;
  std::vector<std::int32_t> found, uncertain;

  bool excluded(const abi::DifferenceQuery& query, std::int64_t i, std::int64_t row) const {
    if (query.self >= 0 && query.self + i == row) return true;
    return query.train_groups != nullptr && query.query_groups[i] >= 0 &&
           query.query_groups[i] == query.train_groups[row];
  }
  void answer(const abi::DifferenceQuery& query, std::int64_t i) {
    const double* y = query.rows + i * rows.width;
    std::vector<std::pair<double, std::int32_t>> all;
    const abi::Filter::Table& table = rows.tables[0];
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      const double distance = rows.distance(table.rows, row, y);
      if (distance == distance && !excluded(query, i, row)) all.emplace_back(distance, static_cast<std::int32_t>(row));
    }
    std::sort(all.begin(), all.end());
    const auto k = static_cast<std::size_t>(query.k);
    const bool known = all.size() >= k && std::fmod(std::fabs(y[0]) * 7.0, 5.0) < 4.5;  // not of every query
    uncertain.push_back(known ? 0 : 1);
    for (std::size_t j = 0; j < k; ++j) {
      distances.push_back(known ? all[j].first : -1.0);
      found.push_back(known ? all[j].second : -1);
    }
  }
};

namespace {

int differences_size(std::int32_t, const abi::DifferenceSpec* spec, abi::FilterSize* size, abi::Failure*) {
  *size = {plays("differences"), spec->n_rows * spec->width * 8 + spec->most_queries * 64};
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
  *filter = made.release();
  return 0;
}

void differences_destroy(abi::DifferenceFilter* filter) {
  const std::unique_ptr<abi::DifferenceFilter> owner(filter);
}

int differences_load(abi::DifferenceFilter* filter, const double* rows, std::int64_t n, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while loading");
  std::vector<double>& all = filter->rows.tables[0].rows;
  all.insert(all.end(), rows, rows + n * filter->rows.width);
  return 0;
}

int differences_finish(abi::DifferenceFilter* filter, std::int64_t* n_always, abi::Failure* failure) {
  const abi::Filter::Table& table = filter->rows.tables[0];
  if (static_cast<std::int64_t>(table.rows.size()) != table.n_rows * filter->rows.width) {
    return fail(failure, ErrorCode::internal, "rows are missing");
  }
  *n_always = 0;
  return 0;
}

int differences_voters(abi::DifferenceFilter* filter, const abi::Voters* voters, abi::Failure* failure) {
  return filter->votes.load(*voters, failure);
}

int differences_search(abi::DifferenceFilter* filter, const abi::DifferenceQuery* query, abi::DifferenceAnswer* answer,
                       abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while searching");
  if (query->k > filter->rows.most_neighbors) return fail(failure, ErrorCode::internal, "more than it is made for");
  filter->distances.clear(), filter->found.clear(), filter->uncertain.clear();
  for (std::int64_t i = 0; i < query->n; ++i) filter->answer(*query, i);
  *answer = {filter->distances.data(),
             filter->found.data(),
             filter->uncertain.data(),
             query->n * filter->rows.tables[0].n_rows,
             0,
             0,
             {}};
  if (query->vote != nullptr) {
    if (!filter->votes.ready) return fail(failure, ErrorCode::internal, "nobody to vote");
    if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
    const abi::Vote& vote = *query->vote;
    filter->votes.cast(vote.rule, {vote.ks, vote.ks + vote.n_ks}, query->k, query->n, filter->distances, filter->found,
                       filter->uncertain);
    answer->winners = filter->votes.winners.data();
    answer->values = filter->votes.values.data();
  }
  return 0;
}

const abi::Functions kKnn = {.has_measure = &has_measure,
                             .create = &create,
                             .destroy = &destroy,
                             .load_queries = &load_queries,
                             .load_rows = &load_rows,
                             .submit = &submit,
                             .collect = &collect,
                             .matrix = &matrix,
                             .filter_size = &filter_size,
                             .filter_create = &filter_create,
                             .filter_destroy = &filter_destroy,
                             .filter_begin = &filter_begin,
                             .filter_load = &filter_load,
                             .filter_wait = &filter_wait,
                             .filter_finish = &filter_finish,
                             .filter_voters = &filter_voters,
                             .filter_submit = &filter_submit,
                             .filter_collect = &filter_collect,
                             .differences_size = &differences_size,
                             .differences_create = &differences_create,
                             .differences_destroy = &differences_destroy,
                             .differences_load = &differences_load,
                             .differences_finish = &differences_finish,
                             .differences_voters = &differences_voters,
                             .differences_search = &differences_search};

}  // namespace

namespace {

// Statistics, by the same arithmetic one chain after another; a slot is computed when it is collected.
int stats_create(std::int32_t gpu, std::int64_t bytes, std::int64_t columns, stats::cuda_abi::Session** session,
                 cuda_abi::Failure* failure) {
  if (gpu != 1) return fail(failure, ErrorCode::internal, "not the GPU that can be used");
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "no room for pieces");
  *session = new stats::cuda_abi::Session{bytes, columns, {}};
  return 0;
}
void stats_destroy(stats::cuda_abi::Session* session) {
  delete session;
}
int stats_submit(stats::cuda_abi::Session* session, int slot, const stats::cuda_abi::Values* values,
                 cuda_abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost before a piece");
  const char* problem = session->take(slot, *values);
  return problem == nullptr ? 0 : fail(failure, ErrorCode::internal, problem);
}
int stats_collect(stats::cuda_abi::Session* session, int slot, void* parts, cuda_abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost in a piece");
  const char* problem = session->give(slot, parts);
  return problem == nullptr ? 0 : fail(failure, ErrorCode::internal, problem);
}
int stats_describe(std::int32_t gpu, void*, const stats::cuda_abi::Values* values, void* parts,
                   cuda_abi::Failure* failure) {
  if (gpu != 1 || the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while describing");
  fake_stats::describe(*values, parts);
  return 0;
}
const stats::cuda_abi::Functions kStats = {&stats_create, &stats_destroy, &stats_submit, &stats_collect,
                                           &stats_describe};

}  // namespace

extern "C" const cuda_abi::Functions* stope_cuda_plugin(const cuda_abi::Host* host) {
  the_host = host;
  if (plays("nothing")) return nullptr;
  static cuda_abi::Functions functions;
  functions = {cuda_abi::kVersion, sizeof(cuda_abi::Functions),
               "sm_80 sm_90a",     &look,
               &free_memory,       &pin,
               &std::free,         &kKnn,
               &kArrays,           &kStats};
  if (plays("other version")) functions.version = cuda_abi::kVersion + 1;
  return &functions;
}
