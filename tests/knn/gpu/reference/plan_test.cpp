// The plan of a search on a GPU: it fits the budget whatever is asked, and only sizes follow from it. No GPU is needed.
#include "knn/gpu/reference/plan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/random.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

void expect_sound(const GpuDemand& demand, const GpuPlan& plan, std::int64_t budget) {
  const cuda_abi::Sizes& sizes = plan.sizes;
  EXPECT_LE(plan.bytes, budget);
  EXPECT_GE(sizes.tile_queries, 1);
  EXPECT_GE(sizes.tile_rows, 1);
  EXPECT_GE(sizes.held_queries, sizes.tile_queries);
  EXPECT_GE(sizes.held_rows, 1);
  EXPECT_LE(sizes.held_rows, demand.n_rows);
  EXPECT_TRUE(sizes.n_buffers == 2 || (sizes.n_buffers == 1 && sizes.held_rows == demand.n_rows));
  EXPECT_TRUE(sizes.lent_rows == 0 || sizes.held_rows == demand.n_rows);
  EXPECT_LT(sizes.tile_queries * sizes.tile_rows, std::int64_t{1} << 31);
  EXPECT_TRUE(sizes.scratch_doubles == 0 || sizes.scratch_threads >= 1);
}

TEST(GpuPlan, FitsTheBudget) {
  Random random(1);
  const auto up_to = [&](int bits) {
    return static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(static_cast<std::uint64_t>(bits))));
  };
  int planned = 0;
  for (int i = 0; i < 20000; ++i) {
    GpuDemand demand{.width = 1 + up_to(14),
                     .n_queries = up_to(18),
                     .n_rows = 1 + up_to(36),
                     .n_storage = up_to(20),
                     .terms_per_pair = 1 + up_to(24),
                     .scratch_doubles = random.below(4) == 0 ? up_to(24) : 0};
    if (random.below(4) == 0) demand.most_tile_queries = 1 + up_to(40);
    if (random.below(4) == 0) demand.most_tile_rows = 1 + up_to(40);
    if (random.below(4) == 0) demand.most_held_rows = 1 + up_to(20);
    demand.lent_rows = random.below(4) == 0;
    const std::int64_t budget = up_to(38);
    SCOPED_TRACE(i);
    try {
      const GpuPlan plan = plan_gpu(demand, budget);
      expect_sound(demand, plan, budget);
      EXPECT_TRUE(demand.most_tile_queries == 0 || plan.sizes.tile_queries <= demand.most_tile_queries);
      EXPECT_TRUE(demand.most_tile_rows == 0 || plan.sizes.tile_rows <= demand.most_tile_rows);
      EXPECT_TRUE(demand.lent_rows || demand.most_held_rows == 0 || plan.sizes.held_rows <= demand.most_held_rows);
      EXPECT_EQ(plan.sizes.lent_rows != 0, demand.lent_rows);
      ++planned;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::out_of_memory);
      EXPECT_NE(std::string(error.what()).find("bytes on the GPU"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(planned, 5000);
}

TEST(GpuPlan, HoldsTheTableWhereItFits) {
  const GpuDemand demand{.width = 128, .n_queries = 10000, .n_rows = 1000000, .terms_per_pair = 128};
  const GpuPlan roomy = plan_gpu(demand, std::int64_t{100} << 30);
  EXPECT_EQ(roomy.sizes.n_buffers, 1);
  EXPECT_EQ(roomy.sizes.held_rows, 1000000);
  EXPECT_EQ(roomy.sizes.held_queries, 10000);
  const GpuPlan narrow = plan_gpu(demand, std::int64_t{256} << 20);  // the table has 1 GB
  EXPECT_EQ(narrow.sizes.n_buffers, 2);
  EXPECT_GT(narrow.sizes.held_rows, narrow.sizes.tile_rows);
}

TEST(GpuPlan, RowsThatAreLentTakeNoMemoryAndFewQueriesHaveLongTiles) {
  GpuDemand demand{.width = 128, .n_queries = 16, .n_rows = 1000000, .terms_per_pair = 128, .lent_rows = true};
  const GpuPlan few = plan_gpu(demand, std::int64_t{800} << 20);
  EXPECT_EQ(few.sizes.held_rows, 1000000);
  EXPECT_EQ(few.sizes.tile_queries * few.sizes.tile_rows, 512 * 8192);
  EXPECT_LT(few.bytes, std::int64_t{200} << 20);
  demand.n_queries = 10000;
  const GpuPlan many = plan_gpu(demand, std::int64_t{800} << 20);
  EXPECT_EQ(many.sizes.tile_queries, 512);
  EXPECT_EQ(many.sizes.tile_rows, 8192);
}

TEST(GpuPlan, TheBudgetIsTheLimitOrMostOfWhatIsFree) {
  EXPECT_EQ(gpu_budget(1000, 0), 800);
  EXPECT_EQ(gpu_budget(1000, 500), 500);
  EXPECT_EQ(gpu_budget(1000, 900), 800);
}

TEST(GpuPlan, LargeGpusLeaveNoMoreThanEightGibibytesToOthers) {
  constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
  EXPECT_EQ(gpu_budget(40 * kGibibyte, 0), 32 * kGibibyte);
  EXPECT_EQ(gpu_budget(139 * kGibibyte, 0), 131 * kGibibyte);
  EXPECT_EQ(gpu_budget(139 * kGibibyte, 120 * kGibibyte), 120 * kGibibyte);
}

}  // namespace
}  // namespace stope::knn
