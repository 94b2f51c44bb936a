#include "knn/search/make_plan.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "base/memory.hpp"
#include "base/threads_for.hpp"
#include "knn/cuda_abi.hpp"
#include "knn/filter/row_copies.hpp"
#include "knn/filter/tile_search.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

const EngineProperties& engine_of(const Plan& plan) {
  return properties(plan.method.engine);
}

// Doubles that a query row in flight takes in addition to its encoding and its lists.
std::int64_t query_space(const Plan& plan, const Demand& demand) {
  switch (engine_of(plan).query_space) {
    case QuerySpace::nothing: return 0;
    case QuerySpace::tile_distances: return plan.tile_rows;
    case QuerySpace::image: return demand.filter_columns;
    case QuerySpace::rows_under_way: return 2 * demand.width;
    case QuerySpace::rows_and_lists_under_way:
      return checked::add(2 * demand.width, checked::ceil_div(demand.list_bytes, sizeof(double)));
    case QuerySpace::row_per_other_gpu: break;
  }
  return (static_cast<std::int64_t>(plan.backend.gpus.size()) - 1) * demand.width;
}

// Bytes of all query rows in flight and of the threads' work spaces.
std::int64_t query_bytes(const Plan& plan, const Demand& demand) {
  const std::int64_t values = checked::add(demand.width, query_space(plan, demand));
  // A searcher reads the lists of earlier parts while it writes new ones.
  const std::int64_t lists = engine_of(plan).pipelined ? 1 : 2;
  const std::int64_t per_query =
      checked::add(checked::mul(values, sizeof(double)), checked::mul(lists, demand.list_bytes));
  // A thread of a filter holds the lists of its tile as well.
  const std::int64_t work_space =
      engine_of(plan).query_space == QuerySpace::image
          ? checked::add(TileSearch::bytes(demand.filter_columns),
                         checked::mul(std::min<std::int64_t>(kScanTileQueries, plan.tile_queries), demand.list_bytes))
          : 0;
  return checked::add(checked::mul(plan.tile_queries, per_query),
                      checked::mul(plan.threads, checked::add(demand.scratch_bytes, work_space)));
}

// Bytes of one training row in flight. A row has two images in floats (one row by row, one in blocks), up to three
// bytes a column in groups of four, one in nibbles, its residual, its place in the order, its share of a box, and a
// copy near its neighbours if it is short.
std::int64_t row_bytes(const Plan& plan, const Demand& demand) {
  const TrainSpace space = engine_of(plan).train_space;
  if (space == TrainSpace::nothing) return 0;
  const std::int64_t encoded = demand.resident ? 0 : checked::mul(demand.width, sizeof(double));
  if (space == TrainSpace::encoding) return encoded;
  constexpr std::int64_t kPerColumn = 2 * sizeof(float) + 3 + 1,
                         kPerRow = 3 * sizeof(double) + 3 * sizeof(std::int64_t);
  const std::int64_t copied = demand.width <= NearRows::kMostColumns ? demand.width * 8 : 0;
  return checked::add(encoded, checked::add(checked::mul(demand.filter_columns, kPerColumn), kPerRow + copied));
}

// Rows of a part that the budget allows; 0 if they are too few to be worth a pass over the queries.
std::int64_t part_rows(const Plan& plan, const Demand& demand, std::int64_t budget) {
  const std::int64_t left = budget - query_bytes(plan, demand);
  const std::int64_t each = row_bytes(plan, demand);
  if (left < 0) return 0;
  if (each == 0 || left / each >= demand.n_rows) return demand.n_rows;
  constexpr std::int64_t kLeast = 1024;
  const std::int64_t rows = left / each;
  return rows >= kLeast || plan.tile_queries == 1 ? rows : 0;
}

// The tensor filter takes at most kTensorBatchQueries at once on each GPU. All its blocks have one size, a multiple of
// the scan's blocks. While the GPU searches one block, the host prepares the next.
std::int64_t whole_batches(std::int64_t n_queries, std::int64_t n_gpus) {
  constexpr std::int64_t kScanQueries = 256;
  // The more GPUs there are, the less time the host has to prepare a block while they search. So several GPUs get more
  // blocks, as long as each block has enough queries for every GPU.
  constexpr std::int64_t kBlocksOfSeveralGpus = 4, kGpuShare = std::int64_t{1} << 13;
  const std::int64_t n = std::max<std::int64_t>(n_queries, 1), unit = n_gpus * kScanQueries;
  std::int64_t n_blocks = checked::ceil_div(n, n_gpus * cuda_abi::kTensorBatchQueries);
  if (n_gpus > 1) n_blocks = std::max(n_blocks, std::min(kBlocksOfSeveralGpus, n / (n_gpus * kGpuShare)));
  return checked::mul(checked::ceil_div(checked::ceil_div(n, n_blocks), unit), unit);
}

// Sets the sizes for the plan's engine, before anything is shrunk.
void set_tiles(Plan& plan, const Demand& demand) {
  const EngineProperties& engine = engine_of(plan);
  const auto n_gpus = static_cast<std::int64_t>(plan.backend.gpus.size());
  const std::int64_t each = demand.resident ? engine.n_queries : engine.n_queries_in_parts;
  std::int64_t queries = engine.queries_per_gpu ? n_gpus * each : each;
  if (each == kWholeBatches) queries = whole_batches(demand.n_queries, n_gpus);
  if (const std::int64_t forced = environment::count(environment::Variable::tile_queries); forced > 0) {
    queries = engine.batches_per_block * forced;
  }
  const std::int64_t forced_rows = environment::count(environment::Variable::tile_rows);
  plan.tile_queries = std::clamp<std::int64_t>(queries, 1, std::max<std::int64_t>(demand.n_queries, 1));
  plan.tile_rows = std::clamp<std::int64_t>(forced_rows > 0 ? forced_rows : kReferenceRows, 1, demand.n_rows);
}

// Makes the plan smaller by one step; false if it is as small as can be.
bool shrink(Plan& plan, const Demand& demand) {
  if (plan.tile_queries > 1) {
    plan.tile_queries = (plan.tile_queries + 1) / 2;
  } else if (engine_of(plan).if_host_is_short != plan.method.engine) {
    plan.method = {.engine = engine_of(plan).if_host_is_short,
                   .reason = "the memory limit leaves no room for a filter"};
    set_tiles(plan, demand);
  } else if (plan.tile_rows > 1) {
    plan.tile_rows = (plan.tile_rows + 1) / 2;
  } else if (plan.threads > 1 && demand.scratch_bytes > 0) {
    plan.threads = (plan.threads + 1) / 2;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Plan make_plan(const Demand& demand, const device::BackendChoice& backend, const Method& method,
               const RunOptions& run) {
  Plan plan;
  plan.backend = backend;
  plan.method = method;
  plan.memory_budget = memory_budget(run);
  plan.threads = threads_for(demand.seconds, run.threads > 0 ? run.threads : available_threads());
  set_tiles(plan, demand);
  const std::int64_t forced_part = environment::count(environment::Variable::part_rows);
  // A limit covers the index as well; memory measured as available leaves the index out already. A quarter goes to the
  // pinned memory through which rows reach a GPU and survivors come back (plan_gpu).
  const std::int64_t limit = engine_of(plan).on_gpu ? plan.memory_budget / 4 * 3 : plan.memory_budget;
  const std::int64_t budget = limit - (run.memory_limit > 0 ? demand.index_bytes : 0);
  while ((plan.part_rows = part_rows(plan, demand, budget)) == 0) {
    if (shrink(plan, demand)) continue;
    const std::int64_t one = checked::add(query_bytes(plan, demand), row_bytes(plan, demand));
    refuse_memory("the index and one query row need", checked::add(one, demand.index_bytes), plan.memory_budget);
  }
  if (forced_part > 0) plan.part_rows = std::min(forced_part, plan.part_rows);
  // What is made of parts is not kept.
  if (plan.method.for_later && plan.part_rows < demand.n_rows) {
    plan.method = {.engine = plan.method.engine,
                   .kind = plan.method.kind,
                   .reason = "the memory limit leaves no room to keep an order of near rows"};
  }
  // A tile needs no more rows than a part has.
  plan.tile_rows = std::min(plan.tile_rows, plan.part_rows);
  plan.memory_planned = checked::add(query_bytes(plan, demand), checked::mul(plan.part_rows, row_bytes(plan, demand)));
  return plan;
}

}  // namespace stope::knn
