// The plan of a search follows the engine's row of properties, and shrinks until it fits.
#include "knn/search/make_plan.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "expect_error.hpp"
#include "knn/cuda_abi.hpp"
#include "knn/filter/tile_search.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;

Demand demand_of(std::int64_t n_queries) {
  return {.n_queries = n_queries, .n_rows = 100'000, .width = 16, .list_bytes = 320, .filter_columns = 16};
}

Plan plan_of(Engine engine, const Demand& demand, std::int64_t limit = kGigabyte, std::vector<int> gpus = {0}) {
  device::BackendChoice backend;
  if (properties(engine).on_gpu) {
    backend.backend = device::Backend::cuda;
    backend.gpus = std::move(gpus);
  }
  RunOptions run;
  run.memory_limit = limit;
  run.threads = 2;
  return make_plan(demand, backend, {.engine = engine, .reason = "chosen"}, run);
}

TEST(MakePlan, BlocksHaveTheSizesOfTheEngine) {
  const std::int64_t n = std::int64_t{1} << 20;
  EXPECT_EQ(plan_of(Engine::cpu_reference, demand_of(n)).tile_queries, 128);
  EXPECT_EQ(plan_of(Engine::cpu_filter, demand_of(n)).tile_queries, 1 << 17);
  EXPECT_EQ(plan_of(Engine::gpu_reference, demand_of(n)).tile_queries, 1 << 15);
  EXPECT_EQ(plan_of(Engine::difference_filter, demand_of(n), kGigabyte, {0, 1}).tile_queries, 2 << 14);
  EXPECT_EQ(plan_of(Engine::box_search, demand_of(n)).tile_queries, 1 << 17);
  EXPECT_EQ(plan_of(Engine::tensor_filter_parts, demand_of(n)).tile_queries, 1 << 19);
  const std::int64_t batches = plan_of(Engine::tensor_filter, demand_of(n)).tile_queries;
  EXPECT_LE(batches, cuda_abi::kTensorBatchQueries);
  EXPECT_EQ(batches % 256, 0);
  EXPECT_EQ(plan_of(Engine::cpu_filter, demand_of(100)).tile_queries, 100);
}

TEST(MakePlan, AThreadIsStartedForAQuarterOfAMillisecond) {
  Demand demand = demand_of(100);
  RunOptions run;
  run.threads = 64;
  run.memory_limit = kGigabyte;
  const auto threads = [&](double seconds) {
    demand.seconds = seconds;
    return make_plan(demand, {}, {.engine = Engine::cpu_reference}, run).threads;
  };
  EXPECT_EQ(threads(0.0), 1);
  EXPECT_EQ(threads(0.0004), 1);
  EXPECT_EQ(threads(0.0008), 3);
  EXPECT_EQ(threads(1.0), 64);
  EXPECT_EQ(threads(std::numeric_limits<double>::infinity()), 64);
}

TEST(MakePlan, AThreadOfAFilterHoldsTheListsOfItsTileAndNoMore) {
  const Demand demand = demand_of(std::int64_t{1} << 20);
  RunOptions run;
  run.memory_limit = 4 * kGigabyte;
  const auto planned = [&](int threads) {
    run.threads = threads;
    return make_plan(demand, {}, {.engine = Engine::cpu_filter}, run).memory_planned;
  };
  EXPECT_EQ(planned(3) - planned(2), TileSearch::bytes(demand.filter_columns) + kScanTileQueries * demand.list_bytes);
}

TEST(MakePlan, ATableInPartsIsEncodedOnceForManyQueries) {
  Demand demand = demand_of(std::int64_t{1} << 20);
  demand.resident = false;
  demand.n_rows = 1000;
  EXPECT_EQ(plan_of(Engine::cpu_reference, demand, 16 * kGigabyte).tile_queries, 1 << 17);
  EXPECT_EQ(plan_of(Engine::gpu_reference, demand, 16 * kGigabyte).tile_queries, 1 << 17);
}

TEST(MakePlan, ALimitCoversTheIndexToTheByte) {
  Demand demand = demand_of(1000);
  const auto least_limit = [&] {
    std::int64_t too_low = 1, enough = kGigabyte;
    while (enough - too_low > 1) {
      const std::int64_t middle = (too_low + enough) / 2;
      try {
        plan_of(Engine::cpu_reference, demand, middle);
        enough = middle;
      } catch (const Error&) {
        too_low = middle;
      }
    }
    return enough;
  };
  const std::int64_t without = least_limit();
  demand.index_bytes = 1000;
  EXPECT_EQ(least_limit(), without + 1000);
}

// An order is kept only where memory has room for the whole table's.
TEST(MakePlan, AnOrderForLaterSearchesNeedsTheWholeTable) {
  const Demand demand = demand_of(1);
  RunOptions run;
  run.threads = 2;
  const Method method{.engine = Engine::cpu_filter, .order = BlockOrder::near, .values = true, .for_later = true};
  const auto plan_within = [&](std::int64_t limit) {
    run.memory_limit = limit;
    return make_plan(demand, {}, method, run);
  };
  EXPECT_EQ(plan_within(kGigabyte).method.order, BlockOrder::near);
  const Plan tight = plan_within(std::int64_t{12} << 20);
  EXPECT_LT(tight.part_rows, demand.n_rows);
  EXPECT_EQ(tight.method.engine, Engine::cpu_filter);
  EXPECT_EQ(tight.method.order, BlockOrder::table);
  EXPECT_FALSE(tight.method.values);
}

TEST(MakePlan, AFilterThatDoesNotFitGivesWayToTheReferenceOfItsDevice) {
  for (const EngineProperties& row : kEngines) {
    Demand demand = demand_of(1000);
    demand.width = demand.filter_columns = 1000;
    demand.resident = false;
    SCOPED_TRACE(row.method);
    const Plan roomy = plan_of(row.engine, demand, 4 * kGigabyte);
    EXPECT_EQ(roomy.method.engine, row.engine);
    EXPECT_EQ(roomy.method.reason, "chosen");
    EXPECT_LE(roomy.memory_planned, 4 * kGigabyte);
    const Plan tight = plan_of(row.engine, demand, std::int64_t{1} << 20);
    EXPECT_LE(tight.memory_planned, std::int64_t{1} << 20);
    if (row.engine == Engine::cpu_filter) {  // its work spaces alone are larger
      EXPECT_EQ(tight.method.engine, Engine::cpu_reference);
      EXPECT_EQ(tight.method.reason, "the memory limit leaves no room for a filter");
    }
    EXPECT_EQ(properties(tight.method.engine).on_gpu, row.on_gpu);
    expect_error(ErrorCode::out_of_memory, "but the memory limit leaves 1000",
                 [&] { plan_of(row.engine, demand, 1000); });
  }
}

}  // namespace
}  // namespace stope::knn
