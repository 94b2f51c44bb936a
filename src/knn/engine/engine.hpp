// The engines that search, and what the planner has to know about each: one row per engine. A new engine needs a row
// here and a case in search/make_engine.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace stope::knn {

enum class Engine {
  cpu_reference,       ///< computes every distance by the formula
  cpu_filter,          ///< rules rows out by their images first
  gpu_reference,       ///< computes every distance by the formula
  difference_filter,   ///< rules rows out by sums of differences first, on GPUs
  box_search,          ///< rules rows out by boxes over boxes first, on GPUs
  tensor_filter,       ///< rules rows out by products on the matrix units first, on GPUs
  tensor_filter_parts  ///< the tensor filter for a training table that does not fit a GPU
};

/// The host memory that a query row in flight takes in addition to its encoding and its lists.
enum class QuerySpace {
  nothing,                   ///< the distances are in the GPU's memory
  tile_distances,            ///< the distances to the training rows of a tile
  image,                     ///< the image; each thread has a work space as well
  rows_under_way,            ///< the encoded rows of two more blocks, which are under way at the same time
  rows_and_lists_under_way,  ///< the same, and the lists as they came from the GPU
  row_per_other_gpu          ///< a copy of the encoded row for each GPU but the first
};

/// The host memory that a training row in flight takes, unless the index holds its encoding.
enum class TrainSpace {
  encoding,  ///< the encoded row
  images,    ///< the encoded row; its images as well, even if the index holds the encoding
  nothing    ///< the rows go to the GPU in short strips while they are encoded
};

struct EngineProperties {
  Engine engine;
  std::string_view method;  ///< its name in reports
  bool on_gpu;
  bool filters;  ///< whether images rule rows out before distances are computed
  /// Whether the engine is a SearchPipeline: several blocks are under way, and lists go straight to the result.
  /// Otherwise it is a Searcher, which reads the lists of earlier parts while it writes new ones.
  bool pipelined;
  std::int64_t n_queries;           ///< most query rows in flight; kWholeBatches: see make_plan
  std::int64_t n_queries_in_parts;  ///< most query rows in flight where the index does not hold the encoded rows
  bool queries_per_gpu;             ///< whether each GPU of the run takes that many
  std::int64_t batches_per_block;   ///< STOPE_TILE_QUERIES is multiplied by this
  QuerySpace query_space;
  TrainSpace train_space;
  Engine if_host_is_short;  ///< the engine used instead where host memory is too short; itself: there is none
  Engine if_gpu_is_short;   ///< the engine used instead where a GPU's memory is too short; itself: there is none
};

inline constexpr std::int64_t kWholeBatches = 0;

// 128 queries x 4096 rows are 4 MB of distances. They stay in the last-level cache between the pass that computes them
// and the pass that selects from them. They are also enough work to feed dozens of cores between two barriers.
inline constexpr std::int64_t kReferenceQueries = 128, kReferenceRows = 4096;
// A filter keeps no distances, and it orders the queries that it is given. The more queries there are, the nearer are
// those that share a tile. Where the training table comes in parts, each part is encoded once for all queries in
// flight.
inline constexpr std::int64_t kManyQueries = std::int64_t{1} << 17;
// The reference on a GPU needs about a second for this many queries; progress is reported after each block of them.
inline constexpr std::int64_t kGpuReferenceQueries = std::int64_t{1} << 15;
inline constexpr std::int64_t kDifferenceQueries = std::int64_t{1} << 14;
// A query of a search through boxes is short work, and near queries follow each other: the more, the nearer.
inline constexpr std::int64_t kBoxQueries = std::int64_t{1} << 17;
// The parts of the training table are copied to the GPU again for every block. So a block has as many queries as the
// budget holds, up to this bound, which keeps progress reports coming.
inline constexpr std::int64_t kPartsQueries = std::int64_t{1} << 19;

inline constexpr EngineProperties kEngines[] = {
    {.engine = Engine::cpu_reference,
     .method = "reference",
     .on_gpu = false,
     .filters = false,
     .pipelined = false,
     .n_queries = kReferenceQueries,
     .n_queries_in_parts = kManyQueries,
     .queries_per_gpu = false,
     .batches_per_block = 1,
     .query_space = QuerySpace::tile_distances,
     .train_space = TrainSpace::encoding,
     .if_host_is_short = Engine::cpu_reference,
     .if_gpu_is_short = Engine::cpu_reference},
    {.engine = Engine::cpu_filter,
     .method = "filter",
     .on_gpu = false,
     .filters = true,
     .pipelined = false,
     .n_queries = kManyQueries,
     .n_queries_in_parts = kManyQueries,
     .queries_per_gpu = false,
     .batches_per_block = 1,
     .query_space = QuerySpace::image,
     .train_space = TrainSpace::images,
     .if_host_is_short = Engine::cpu_reference,
     .if_gpu_is_short = Engine::cpu_filter},
    {.engine = Engine::gpu_reference,
     .method = "reference",
     .on_gpu = true,
     .filters = false,
     .pipelined = false,
     .n_queries = kGpuReferenceQueries,
     .n_queries_in_parts = kManyQueries,
     .queries_per_gpu = false,
     .batches_per_block = 1,
     .query_space = QuerySpace::nothing,
     .train_space = TrainSpace::encoding,
     .if_host_is_short = Engine::gpu_reference,
     .if_gpu_is_short = Engine::gpu_reference},
    {.engine = Engine::difference_filter,
     .method = "filter",
     .on_gpu = true,
     .filters = true,
     .pipelined = true,
     .n_queries = kDifferenceQueries,
     .n_queries_in_parts = kDifferenceQueries,
     .queries_per_gpu = true,
     .batches_per_block = 1,
     .query_space = QuerySpace::rows_under_way,
     .train_space = TrainSpace::encoding,
     .if_host_is_short = Engine::gpu_reference,
     .if_gpu_is_short = Engine::gpu_reference},
    {.engine = Engine::box_search,
     .method = "filter",
     .on_gpu = true,
     .filters = true,
     .pipelined = true,
     .n_queries = kBoxQueries,
     .n_queries_in_parts = kBoxQueries,
     .queries_per_gpu = true,
     .batches_per_block = 1,
     .query_space = QuerySpace::rows_and_lists_under_way,
     .train_space = TrainSpace::encoding,
     .if_host_is_short = Engine::gpu_reference,
     .if_gpu_is_short = Engine::gpu_reference},
    {.engine = Engine::tensor_filter,
     .method = "filter",
     .on_gpu = true,
     .filters = true,
     .pipelined = true,
     .n_queries = kWholeBatches,
     .n_queries_in_parts = kWholeBatches,
     .queries_per_gpu = true,
     .batches_per_block = 1,
     .query_space = QuerySpace::rows_under_way,
     .train_space = TrainSpace::encoding,
     .if_host_is_short = Engine::gpu_reference,
     .if_gpu_is_short = Engine::tensor_filter_parts},
    {.engine = Engine::tensor_filter_parts,
     .method = "filter",
     .on_gpu = true,
     .filters = true,
     .pipelined = true,
     .n_queries = kPartsQueries,
     .n_queries_in_parts = kPartsQueries,
     .queries_per_gpu = false,
     .batches_per_block = 3,
     .query_space = QuerySpace::row_per_other_gpu,
     .train_space = TrainSpace::nothing,
     .if_host_is_short = Engine::gpu_reference,
     .if_gpu_is_short = Engine::gpu_reference},
};

constexpr const EngineProperties& properties(Engine engine) {
  return kEngines[static_cast<std::size_t>(engine)];
}

/// Whether every engine's row is at its place, and whether each replacement runs on the same device.
constexpr bool engines_are_sound() {
  for (std::size_t i = 0; i < std::size(kEngines); ++i) {
    const EngineProperties& row = kEngines[i];
    if (row.engine != static_cast<Engine>(i)) return false;
    if (row.on_gpu != properties(row.if_host_is_short).on_gpu) return false;
    if (row.on_gpu != properties(row.if_gpu_is_short).on_gpu) return false;
  }
  return true;
}
static_assert(std::size(kEngines) == static_cast<std::size_t>(Engine::tensor_filter_parts) + 1 && engines_are_sound());

/// The engine that computes every distance by the formula.
constexpr Engine reference_engine(bool on_gpu) {
  return on_gpu ? Engine::gpu_reference : Engine::cpu_reference;
}

}  // namespace stope::knn
