// The fake plug-in's reference search: it computes every distance on the CPU when a tile is submitted.
#include <cstring>
#include <limits>
#include <memory>
#include <typeinfo>
#include <vector>

#include "device/fake_filters.hpp"
#include "knn/measure/formulas/mixed_euclidean.hpp"

namespace stope {
using knn::MixedEuclidean;
namespace abi = knn::cuda_abi;

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
  const double* there[2] = {};  // rows in place of these, which something else holds
  std::int64_t n_there[2] = {};
  Slot slots[abi::kSlots];
  fake::Alive alive{};

  double distance(const abi::Tile& tile, std::int64_t i, std::int64_t j) const {
    const double* x = there[tile.buffer] + (tile.first_row + j) * sizes.width;
    const double* y = queries.data() + (tile.first_query + i) * sizes.width;
    MixedEuclidean::State state;
    for (std::int64_t a = 0; a < sizes.width; ++a)
      measure.add(state, x[a], y[a], attributes[static_cast<std::size_t>(a)]);
    return measure.finish(state);
  }
  bool holds(const abi::Tile& tile) const {
    const auto n_queries = static_cast<std::int64_t>(queries.size()) / sizes.width;
    return tile.n_queries >= 1 && tile.n_queries <= sizes.tile_queries && tile.n_rows >= 1 &&
           tile.n_rows <= sizes.tile_rows && tile.first_query + tile.n_queries <= n_queries &&
           tile.first_row + tile.n_rows <= n_there[tile.buffer];
  }
};

namespace fake {
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
  count_to_gpu(n * session->sizes.width * 8);
  session->queries.assign(rows, rows + n * session->sizes.width);
  return 0;
}

int load_rows(abi::Session* session, std::int64_t buffer, const double* rows, std::int64_t n, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while copying");
  if (session->sizes.lent_rows != 0 || n > session->sizes.held_rows || buffer >= session->sizes.n_buffers) {
    return fail(failure, ErrorCode::internal, "too many rows");
  }
  count_to_gpu(n * session->sizes.width * 8);
  session->rows[buffer].assign(rows, rows + n * session->sizes.width);
  session->there[buffer] = session->rows[buffer].data();
  session->n_there[buffer] = n;
  return 0;
}

// Rows in the table's order.
struct Lent {
  const std::vector<double>* values;
  std::int64_t n, width;
};
Lent lent_by(const abi::LentRows& rows) {
  if (rows.rows != nullptr) return {&rows.rows->values, rows.rows->n, rows.rows->width};
  const abi::TensorFilter* const filter = rows.tensor != nullptr ? rows.tensor : rows_of(*rows.differences);
  if (filter == nullptr) return {};
  return {&filter->tables[0].rows, filter->tables[0].n_rows, filter->width};
}

int lend_rows(abi::Session* session, std::int64_t buffer, const abi::LentRows* rows, std::int64_t first, std::int64_t n,
              abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while lending");
  const std::int64_t width = session->sizes.width;
  const Lent lent = lent_by(*rows);
  if (lent.values == nullptr || n > session->sizes.held_rows || buffer >= session->sizes.n_buffers ||
      lent.width != width || first + n > lent.n || std::ssize(*lent.values) != lent.n * width) {
    return fail(failure, ErrorCode::internal, "rows that cannot be lent");
  }
  const double* const from = lent.values->data() + first * width;
  if (session->sizes.lent_rows == 0) session->rows[buffer].assign(from, from + n * width);
  session->there[buffer] = session->sizes.lent_rows != 0 ? from : session->rows[buffer].data();
  session->n_there[buffer] = n;
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

void add_reference(abi::Functions& functions) {
  functions.has_measure = &has_measure;
  functions.create = &create;
  functions.destroy = &destroy;
  functions.load_queries = &load_queries;
  functions.load_rows = &load_rows;
  functions.lend_rows = &lend_rows;
  functions.submit = &submit;
  functions.collect = &collect;
  functions.matrix = &matrix;
}

}  // namespace fake
}  // namespace stope
