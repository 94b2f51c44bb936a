// The core's half of growing trees on GPUs, with the fake plug-in (tests/device/fake_tree.cpp).
#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "effort.hpp"
#include "stope/error.hpp"
#include "tree/gpu_cases.hpp"

namespace stope {
namespace {

using namespace testing_trees;

class FakeTrees : public testing::Test, protected WithFakePlugin {
 protected:
  static Table table(const Shape& shape) {
    Random random(8);
    return random_decisions(random, shape);
  }
};

TEST_F(FakeTrees, AreTheProcessors) {
  expect_the_processors_trees_of_random_tables("cuda", repeated(1000, 100), 60, 6, 1);
  expect_the_processors_trees_of_random_tables("cuda", repeated(20, 4), 300, 12, 2);
  expect_the_processors_tree(table({1500, 4, 2, 3, false, true}), "cuda");
}

TEST_F(FakeTrees, ByGiniAndEntropyAreTheProcessors) {
  expect_the_processors_trees_of_random_tables("cuda", repeated(600, 60), 60, 6, 4, true);
  expect_the_processors_trees_of_random_tables("cuda", repeated(20, 4), 300, 12, 5, true);
  expect_the_processors_trees_of_random_tables("cuda:1,1", repeated(200, 20), 60, 6, 6, true);
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    expect_the_processors_tree(table({1500, 4, 2, 3, false, true}), "cuda", {.criterion = criterion});
    expect_the_processors_tree(table({1100, 3, 2, 2, false, false}), "cuda:1,1,1",
                               {.criterion = criterion, .max_depth = 5, .min_samples_leaf = 9});
  }
}

// A cut whose gain is only rounding is passed over, and a later one has its chance.
TEST_F(FakeTrees, PassOverGainsThatAreRounding) {
  Random random(7);
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    for (std::int64_t n_values = 2; n_values < 60; n_values += 3) {
      const auto n_classes = static_cast<std::int32_t>(2 + random.below(9));
      const Table even = discretize_cases::even_decisions(random, n_values, 4, n_classes);
      expect_the_processors_tree(even, "cuda", {.criterion = criterion});
    }
  }
}

TEST_F(FakeTrees, OfSeveralGpusAreTheProcessors) {
  expect_the_processors_trees_of_random_tables("cuda:1,1", repeated(200, 20), 60, 6, 3);    // one GPU is enough
  for (const char* devices : {"cuda:1,1", "cuda:1,1,1", "cuda:1,1,1,1,1,1,1,1,1,1,1,1"}) {  // more GPUs than attributes
    expect_the_processors_tree(table({1500, 4, 3, 3, false, true}), devices);
    expect_the_processors_tree(table({1100, 3, 2, 2, false, false}), devices, {.max_depth = 5, .min_samples_leaf = 9});
  }
}

TEST_F(FakeTrees, ComeInSeveralPieces) {
  // Pieces are 4 MB, and there are three of doubles at least. All of a plain build's are in pieces, floats as well.
  const bool all = effort() >= 100;
  expect_the_processors_tree(table({1000, all ? 5000 : 1100, 3, 3, false, all}), "cuda", {.max_depth = 1});
}

TEST_F(FakeTrees, WhatGpusDoNotDoIsRefused) {
  const auto refused = [](const Table& of, TreeOptions options) {
    options.missing = MissingPolicy::value;
    try {
      tree_on(of, "cuda", options);
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    }
  };
  refused(table({30, 3, 1, 3, true, true}), {});
  refused(table({1000, 3, 1, 3000, false, true}), {});
}

TEST_F(FakeTrees, ALostGpuIsAnError) {
  const Table large = table({1000, 10, 1, 3, false, true});
  const Table larger = table({1100, 10, 1, 3, false, true});
  for (int n = 1; n <= 10; ++n) {
    fault::arm_device(n);
    try {
      tree_on(n <= 5 ? large : larger, n <= 5 ? "cuda" : "cuda:1,1", {.missing = MissingPolicy::value});
      ADD_FAILURE() << "call " << n << " did not fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device_lost);
    }
    fault::arm_device(0);
  }
}

TEST_F(FakeTrees, OfMoreThanTheMemoryLimitAreRefused) {
  RunOptions run;
  run.device = "cuda";
  run.memory_limit = 500000;
  const Table some = table({2000, 10, 1, 3, false, true});  // 11 x 2000 x 18 bytes, and a batch
  try {
    DecisionTree::fit(some, {.missing = MissingPolicy::value}, run);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("500000 bytes of GPU memory can be used"), std::string::npos)
        << error.what();
  }
  run.memory_limit = 1600000;
  EXPECT_GT(DecisionTree::fit(some, {.missing = MissingPolicy::value}, run).nodes().size(), 1U);
}

// The GPU's driver has started already: a job large enough to start it would take longer than a test may.
TEST_F(FakeTrees, AutoTakesAGpuThatPaysAndGivesUpOneThatFails) {
  const Table few = table({30, 3, 1, 3, false, true}), many = table({1000, 300, 0, 2, false, true});
  const auto on_auto = [](const Table& of, Criterion criterion = Criterion::discernibility) {
    RunOptions run;
    run.threads = 1;
    return DecisionTree::fit(of, {.criterion = criterion, .missing = MissingPolicy::value, .max_depth = 2}, run);
  };
  tree_on(few, "cuda", {.missing = MissingPolicy::value});
  const TreeReport little = on_auto(few).report(), large = on_auto(many).report();
  EXPECT_NE(little.backend, "cuda");
  EXPECT_EQ(little.device_reason, "auto: under 1 ms on the CPU, 2 ms on the GPU");
  EXPECT_EQ(on_auto(many, Criterion::gini).report().backend, "cuda");
  EXPECT_EQ(large.backend, "cuda");
  EXPECT_EQ(large.reason, "New Card, sm_90");
  EXPECT_TRUE(large.device_reason.starts_with("auto: about ")) << large.device_reason;
  fault::arm_device(1);
  const DecisionTree tree = on_auto(many);
  fault::arm_device(0);
  EXPECT_NE(tree.report().backend, "cuda");
  EXPECT_TRUE(tree.report().device_reason.starts_with("auto: the GPU was given up: ")) << tree.report().device_reason;
  EXPECT_EQ(tree.nodes().size(), on_auto(many).nodes().size());
}

TEST_F(FakeTrees, CanBeCancelled) {
  CancelToken token;
  RunOptions run;
  run.device = "cuda";
  run.cancel = token;
  int n_reports = 0;
  run.progress = [&](std::string_view, std::int64_t, std::int64_t) {
    if (++n_reports == 2) token.cancel();
  };
  try {
    DecisionTree::fit(table({1000, 10, 1, 3, false, true}), {.missing = MissingPolicy::value}, run);
    ADD_FAILURE() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
  EXPECT_EQ(n_reports, 2);
}

}  // namespace
}  // namespace stope
