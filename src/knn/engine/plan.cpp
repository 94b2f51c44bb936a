#include "knn/engine/plan.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "knn/cuda_abi.hpp"
#include "knn/filter/tile_search.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

bool filters(const Plan& plan) {
  return plan.method.way == Method::Way::filter;
}

bool on_gpu(const Plan& plan) {
  return plan.backend.backend == device::Backend::cuda;
}

// Queries in flight cost their encoded row, their lists and, without a filter, a row of distances (on a GPU it is not
// ours); with one, an image. Lists are doubled: those of earlier parts are read while new ones are written.
std::int64_t query_bytes(const Plan& plan, const Demand& demand) {
  const bool three_blocks = on_gpu(plan) && filters(plan) && !plan.method.in_parts;  // under way at once
  // Where the table comes in parts each GPU has the block's rows for itself.
  const std::int64_t copies = static_cast<std::int64_t>(plan.backend.gpus.size()) - 1;
  const std::int64_t beside = three_blocks                           ? 2 * demand.width
                              : on_gpu(plan) && plan.method.in_parts ? copies * demand.width
                              : on_gpu(plan)                         ? 0
                              : filters(plan)                        ? demand.filter_columns
                                                                     : plan.tile_rows;
  const std::int64_t values = checked::add(demand.width, beside);
  // A GPU's lists go straight to the result.
  const std::int64_t lists = on_gpu(plan) && filters(plan) ? 1 : 2;
  const std::int64_t per_query =
      checked::add(checked::mul(values, sizeof(double)), checked::mul(lists, demand.list_bytes));
  // A worker holds the lists of its tile as well.
  const std::int64_t work_space =
      filters(plan) && !on_gpu(plan)
          ? checked::add(TileSearch::bytes(demand.filter_columns),
                         checked::mul(std::min<std::int64_t>(kScanTileQueries, plan.tile_queries), demand.list_bytes))
          : 0;
  return checked::add(checked::mul(plan.tile_queries, per_query),
                      checked::mul(plan.threads, checked::add(demand.scratch_bytes, work_space)));
}

// A training row in flight costs, unless the index holds it, its encoding; with a filter two images (one row by row,
// one in blocks), one in bytes, its residual, its place in the order and a share of a box.
std::int64_t row_bytes(const Plan& plan, const Demand& demand) {
  const std::int64_t encoded = demand.resident ? 0 : checked::mul(demand.width, sizeof(double));
  if (on_gpu(plan) && plan.method.in_parts) return 0;  // strips of some rows go to the GPU as they are encoded
  if (!filters(plan) || on_gpu(plan)) return encoded;
  constexpr std::int64_t kPerColumn = 2 * sizeof(float) + 1 + 1,
                         kPerRow = 2 * sizeof(double) + 2 * sizeof(std::int64_t);
  return checked::add(encoded, checked::add(checked::mul(demand.filter_columns, kPerColumn), kPerRow));
}

// As many rows a part as the budget leaves; 0 if it leaves too few to be worth a pass over the queries.
std::int64_t part_rows(const Plan& plan, const Demand& demand, std::int64_t budget) {
  const std::int64_t left = budget - query_bytes(plan, demand);
  const std::int64_t each = row_bytes(plan, demand);
  if (left < 0) return 0;
  if (each == 0 || left / each >= demand.n_rows) return demand.n_rows;
  constexpr std::int64_t kLeast = 1024;
  const std::int64_t rows = left / each;
  return rows >= kLeast || plan.tile_queries == 1 ? rows : 0;
}

}  // namespace

Plan make_plan(const Demand& demand, const device::BackendChoice& backend, const Method& method,
               const RunOptions& run) {
  // 128 x 4096 distances are 4 MB: they stay in the last-level cache between the pass that computes them and the pass
  // that selects from them, and are enough work to feed dozens of cores between two barriers.
  constexpr std::int64_t kReferenceQueries = 128;
  constexpr std::int64_t kReferenceRows = 4096;
  // A filter keeps no distances, and orders the queries it is given: the more, the nearer those that share a tile.
  // Where the training table comes in parts, each is encoded once for all queries in flight.
  constexpr std::int64_t kManyQueries = std::int64_t{1} << 17;
  constexpr std::int64_t kGpuQueries = std::int64_t{1} << 15;  // a second or so of work between two calls of progress
  // What it takes at once (knn/gpu/tensor/resident_table.hpp) at most, in blocks of one size, which are whole blocks of
  // its scan: while it searches one, the host prepares the next.
  constexpr std::int64_t kGpuDifferenceQueries = std::int64_t{1} << 14, kGpuScanQueries = 256;
  // Where every block has the training table copied to the GPU again: as many as the budget holds, but for progress.
  constexpr std::int64_t kGpuPartsQueries = std::int64_t{1} << 19;

  Plan plan;
  plan.backend = backend;
  plan.method = method;
  plan.memory_budget = memory_budget(run);
  plan.threads = run.threads > 0 ? run.threads : available_threads();
  const std::int64_t forced_queries = environment::count(environment::Variable::tile_queries);
  const std::int64_t forced_rows = environment::count(environment::Variable::tile_rows);
  const std::int64_t forced_part = environment::count(environment::Variable::part_rows);
  // The more GPUs, the less time to prepare a block in while they search: more blocks, of enough for each of them.
  constexpr std::int64_t kBlocksOfSeveralGpus = 4, kGpuShare = std::int64_t{1} << 13;
  const auto gpu_filter_queries = [&](std::int64_t n_gpus) {
    const std::int64_t n = std::max<std::int64_t>(demand.n_queries, 1), unit = n_gpus * kGpuScanQueries;
    std::int64_t n_blocks = checked::ceil_div(n, n_gpus * cuda_abi::kTensorBatchQueries);
    if (n_gpus > 1) n_blocks = std::max(n_blocks, std::min(kBlocksOfSeveralGpus, n / (n_gpus * kGpuShare)));
    return checked::mul(checked::ceil_div(checked::ceil_div(n, n_blocks), unit), unit);
  };
  const auto set_tiles = [&] {
    const auto n_gpus = static_cast<std::int64_t>(backend.gpus.size());
    const bool gpu_filter = on_gpu(plan) && filters(plan), products = plan.method.kind == ScanKind::products;
    const std::int64_t most = gpu_filter && plan.method.in_parts  ? kGpuPartsQueries
                              : gpu_filter && products            ? gpu_filter_queries(n_gpus)
                              : gpu_filter                        ? n_gpus * kGpuDifferenceQueries
                              : filters(plan) || !demand.resident ? kManyQueries
                              : on_gpu(plan)                      ? kGpuQueries
                                                                  : kReferenceQueries;
    // Blocks of a filter that takes the table in parts are several batches: the override is for those.
    constexpr std::int64_t kBatches = 3;
    const std::int64_t forced = gpu_filter && plan.method.in_parts ? kBatches * forced_queries : forced_queries;
    plan.tile_queries =
        std::clamp<std::int64_t>(forced > 0 ? forced : most, 1, std::max<std::int64_t>(demand.n_queries, 1));
    plan.tile_rows = std::clamp<std::int64_t>(forced_rows > 0 ? forced_rows : kReferenceRows, 1, demand.n_rows);
  };
  set_tiles();
  // A limit covers the index as well; what is measured as available leaves it out already.
  // A quarter goes to the pinned memory through which rows reach a GPU and survivors come back (plan_gpu).
  const std::int64_t limit = on_gpu(plan) ? plan.memory_budget / 4 * 3 : plan.memory_budget;
  const std::int64_t budget = limit - (run.memory_limit > 0 ? demand.index_bytes : 0);
  while ((plan.part_rows = part_rows(plan, demand, budget)) == 0) {
    if (plan.tile_queries > 1) {
      plan.tile_queries = (plan.tile_queries + 1) / 2;
    } else if (filters(plan)) {
      plan.method = {Method::Way::reference, {}, {}, "the memory limit leaves no room for a filter"};
      set_tiles();
    } else if (plan.tile_rows > 1) {
      plan.tile_rows = (plan.tile_rows + 1) / 2;
    } else if (plan.threads > 1 && demand.scratch_bytes > 0) {
      plan.threads = (plan.threads + 1) / 2;
    } else {
      throw Error(ErrorCode::out_of_memory,
                  "one query row needs " +
                      std::to_string(checked::add(query_bytes(plan, demand), row_bytes(plan, demand))) +
                      " bytes beside the " + std::to_string(demand.index_bytes) +
                      " of the index, the memory limit is " + std::to_string(plan.memory_budget));
    }
  }
  if (forced_part > 0) plan.part_rows = std::min(forced_part, plan.part_rows);
  // The distances of a tile need no more rows than a part has.
  plan.tile_rows = std::min(plan.tile_rows, plan.part_rows);
  plan.memory_planned = checked::add(query_bytes(plan, demand), checked::mul(plan.part_rows, row_bytes(plan, demand)));
  return plan;
}

SearchReport report_of(const Plan& plan) {
  SearchReport report;
  report.backend = plan.backend.name;
  report.reason = plan.backend.reason;
  report.method = plan.method.way == Method::Way::reference ? "reference"
                  : plan.method.order == BlockOrder::near   ? "filter, blocks"
                                                            : "filter";
  report.method_reason = plan.method.reason;
  report.tile_queries = plan.tile_queries;
  report.tile_rows = plan.tile_rows;
  report.part_rows = plan.part_rows;
  report.memory_budget = plan.memory_budget;
  report.memory_planned = plan.memory_planned;
  report.threads = plan.threads;
  return report;
}

}  // namespace stope::knn
