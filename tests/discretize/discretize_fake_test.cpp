// The core's half of finding cuts on GPUs, with the fake plug-in (tests/device/fake_plugin.cpp).
#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "discretize/gpu_cases.hpp"
#include "effort.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace discretize_cases;

class FakeCuts : public testing::Test, protected WithFakePlugin {
 protected:
  static Table table(std::int64_t n_rows, int n_numeric) {
    Random random(8);
    return random_decisions(random, {n_rows, n_numeric, 2, 3, false, true});
  }
  /// Columns of doubles are copied in two pieces: 12 of the 13 fill 16 MB.
  static Table in_pieces() {
    Random random(8);
    return random_decisions(random, {170000, 13, 2, 3, false, false});
  }
};

TEST_F(FakeCuts, AreTheProcessors) {
  expect_the_processors_cuts_of_random_tables("cuda", repeated(300, 60), 200, 12, 1);
  expect_the_processors_cuts_of_random_tables("cuda:1,1,1", repeated(30, 12), 200, 12, 2);
  expect_the_processors_cuts(in_pieces(), "cuda");
  expect_the_processors_cuts(in_pieces(), "cuda:1,1");
}

TEST_F(FakeCuts, AreTheProcessorsByGiniAndEntropy) {
  expect_the_processors_cuts_of_random_tables("cuda", repeated(300, 60), 200, 12, 5, 0, true);
  expect_the_processors_cuts_of_random_tables("cuda:1,1,1", repeated(30, 12), 200, 12, 6, 0, true);
}

TEST_F(FakeCuts, GainsThatAreRoundingAreNone) {
  Random random(9);
  int n_found = 0, n_rounded = 0;
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    for (std::int64_t n_values = 2; n_values < 60; ++n_values) {
      const auto n_classes = static_cast<std::int32_t>(2 + random.below(9));
      const Table even = even_decisions(random, n_values, 4, n_classes);
      expect_the_processors_cuts(even, "cuda", 0, criterion);
      for (const BestCut& cut : cuts_on(even, "cuda", 0, criterion).cuts) {
        ++(cut.score > 0.0 ? n_found : n_rounded);
      }
    }
  }
  EXPECT_EQ(n_found, 2 * 58);
  EXPECT_EQ(n_rounded, 2 * 58 * 3);
}

TEST_F(FakeCuts, WithWeightsAreTheProcessors) {
  expect_the_processors_cuts_of_random_tables("cuda", repeated(150, 40), 200, 12, 7, 0, false, true);
  expect_the_processors_cuts_of_random_tables("cuda:1,1,1", repeated(30, 12), 200, 12, 8, 0, false, true);
}

// The same weight for every class at every value.
TEST_F(FakeCuts, WeightedGainsThatAreRoundingAreNone) {
  Random random(10);
  int n_found = 0, n_rounded = 0;
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    for (std::int64_t n_values = 2; n_values < 40; ++n_values) {
      const auto n_classes = static_cast<std::int32_t>(2 + random.below(9));
      Table even = even_decisions(random, n_values, 4, n_classes);
      std::vector<double> weights;
      for (std::int64_t row = 0; row < even.n_rows; ++row) {
        weights.push_back(static_cast<double>(1 + row % n_values * 7919) / 1024.0);
      }
      even.columns.push_back(make_numeric("w", weights));
      even.columns.back().role = Role::weight;
      expect_the_processors_cuts(even, "cuda", 0, criterion);
      for (const BestCut& cut : cuts_on(even, "cuda", 0, criterion).cuts) {
        ++(cut.score > 0.0 ? n_found : n_rounded);
      }
    }
  }
  EXPECT_EQ(n_found, 2 * 38);
  EXPECT_EQ(n_rounded, 2 * 38 * 3);
}

TEST_F(FakeCuts, HaveTheProcessorsPermutations) {
  expect_the_processors_cuts_of_random_tables("cuda", repeated(100, 20), 100, 12, 3, 300);
  expect_the_processors_cuts_of_random_tables("cuda:1,1,1", repeated(30, 12), 100, 12, 4, 300);
}

// Labels of a round have an eighth of the memory, or of what the GPU may take.
TEST_F(FakeCuts, PermutationsComeInRounds) {
  Random random(5);
  const Table of = random_decisions(random, {500, 3, 1, 3, false, false});
  const BestCuts want = cuts_on(of, "cpu", 400);
  BestCutOptions options;
  options.missing = MissingPolicy::value;
  options.order = AttributeOrder::column;
  options.n_permutations = 400;
  options.seed = 5;
  RunOptions run;
  run.device = "cuda:1,1";
  run.threads = 1;
  run.memory_limit = 1000000;  // rounds of 128
  const BestCuts got = best_cuts(of, options, run);
  EXPECT_EQ(got.report.backend, "cuda");
  ASSERT_EQ(got.cuts.size(), want.cuts.size());
  for (std::size_t i = 0; i < want.cuts.size(); ++i) {
    EXPECT_EQ(got.cuts[i].p_value, want.cuts[i].p_value) << i;
    EXPECT_EQ(got.cuts[i].family_p_value, want.cuts[i].family_p_value) << i;
  }
}

TEST_F(FakeCuts, OneClassIsAsGoodUnderEveryPermutation) {
  Random random(6);
  Table of = random_decisions(random, {40, 3, 0, 2, false, true});
  of.columns.back() = make_nominal("y", std::vector<std::int32_t>(40, 1), {"a", "b"});
  of.columns.back().role = Role::label;
  const BestCuts want = cuts_on(of, "cpu", 9), got = cuts_on(of, "cuda", 9);
  for (std::size_t i = 0; i < want.cuts.size(); ++i) {
    EXPECT_EQ(want.cuts[i].p_value, 1.0) << i;
    EXPECT_EQ(got.cuts[i].p_value, 1.0) << i;
    EXPECT_EQ(got.cuts[i].family_p_value, 1.0) << i;
  }
}

TEST_F(FakeCuts, WhatGpusDoNotDoIsRefused) {
  const Table some = table(30, 3);
  RunOptions run;
  run.device = "cuda";
  const auto refused = [&](const Table& of, const BestCutOptions& options) {
    try {
      best_cuts(of, options, run);
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    }
  };
  BestCutOptions options;
  options.missing = MissingPolicy::value;
  options.criterion = Criterion::gini;
  options.n_permutations = 1;
  refused(some, options);
  options.criterion = Criterion::discernibility;
  Random random(3);
  refused(random_decisions(random, {65536, 1, 0, 2, false, false}), options);
  refused(random_decisions(random, {30, 3, 0, 2, true, false}), options);
}

// The GPU's driver has started already: a job large enough to start it would take longer than a test may.
TEST_F(FakeCuts, AutoTakesAGpuThatPaysAndGivesUpOneThatFails) {
  const Table few = table(30, 3), many = table(1000, 1000);
  const auto on_auto = [](const Table& of, Criterion criterion = Criterion::discernibility, int n_permutations = 0) {
    BestCutOptions options;
    options.n_permutations = n_permutations;
    options.criterion = criterion;
    options.missing = MissingPolicy::value;
    RunOptions run;
    run.threads = 1;
    return best_cuts(of, options, run);
  };
  cuts_on(few, "cuda");
  const DiscretizeReport little = on_auto(few).report;
  EXPECT_NE(little.backend, "cuda");
  EXPECT_EQ(little.device_reason, "auto: under 1 ms on the CPU, 1 ms on the GPU");
  EXPECT_EQ(on_auto(few, Criterion::gini, 1).report.device_reason,
            "auto: GPUs try permutations by discernibility only");
  EXPECT_EQ(on_auto(many, Criterion::entropy).report.backend, "cuda");
  Random random(11);
  for (const bool of_many : {false, true}) {
    Table weighted = of_many ? many : few;
    add_weights(random, weighted);
    EXPECT_EQ(on_auto(weighted).report.backend == "cuda", of_many);
  }
  const BestCuts found = on_auto(many);
  EXPECT_EQ(found.report.backend, "cuda");
  EXPECT_EQ(found.report.reason, "New Card, sm_90");
  EXPECT_TRUE(found.report.device_reason.starts_with("auto: about ")) << found.report.device_reason;
  const Table some = table(1000, 20);  // under 1 ms without permutations
  EXPECT_NE(on_auto(some).report.backend, "cuda");
  const BestCuts permuted = on_auto(some, Criterion::discernibility, 64 * 16);
  EXPECT_EQ(permuted.report.backend, "cuda") << permuted.report.device_reason;
  fault::arm_device(3);  // while the highest of each permutation is asked for
  const BestCuts given_up = on_auto(some, Criterion::discernibility, 64 * 16);
  fault::arm_device(0);
  EXPECT_NE(given_up.report.backend, "cuda");
  for (std::size_t i = 0; i < permuted.cuts.size(); ++i) {
    EXPECT_EQ(given_up.cuts[i].p_value, permuted.cuts[i].p_value) << i;
    EXPECT_EQ(given_up.cuts[i].family_p_value, permuted.cuts[i].family_p_value) << i;
  }
  fault::arm_device(1);
  const BestCuts without = on_auto(many);
  fault::arm_device(0);
  EXPECT_NE(without.report.backend, "cuda");
  EXPECT_TRUE(without.report.device_reason.starts_with("auto: the GPU was given up: ")) << without.report.device_reason;
  ASSERT_EQ(without.cuts.size(), found.cuts.size());
  EXPECT_EQ(without.cuts[0].cut, found.cuts[0].cut);
}

TEST_F(FakeCuts, KeepToTheMemoryLimit) {
  const Table of = table(2000, 40);
  RunOptions run;
  run.device = "cuda";
  BestCutOptions options;
  options.missing = MissingPolicy::value;
  options.order = AttributeOrder::column;
  const BestCuts want = cuts_on(of, "cpu");
  for (const char* device : {"cuda", "cuda:1,1"}) {
    run.device = device;
    for (const std::int64_t limit : {1000000, 600000, 400000}) {  // a few columns at a time
      run.memory_limit = limit;
      const BestCuts got = best_cuts(of, options, run);
      ASSERT_EQ(got.cuts.size(), want.cuts.size());
      for (std::size_t i = 0; i < want.cuts.size(); ++i) EXPECT_EQ(got.cuts[i].cut, want.cuts[i].cut) << i;
    }
  }
  run.device = "cuda";
  run.memory_limit = 40000;
  try {
    best_cuts(of, options, run);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("40000 can be used"), std::string::npos) << error.what();
  }
}

// 32 bytes a permutation: the GPU, which is lost at its first call, is not asked.
TEST_F(FakeCuts, PermutationsBeyondTheMemoryLimitAreRefusedBeforeTheGpuWorks) {
  BestCutOptions options;
  options.missing = MissingPolicy::value;
  options.n_permutations = 100000;
  RunOptions run;
  run.device = "cuda";
  run.memory_limit = 1000000;
  fault::arm_device(1);
  try {
    best_cuts(table(30, 3), options, run);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
  }
}

TEST_F(FakeCuts, ALostGpuIsAnError) {
  const Table large = in_pieces();
  for (int n = 1; n <= 4; ++n) {
    fault::arm_device(n);
    try {
      cuts_on(large, "cuda");
      ADD_FAILURE() << "call " << n << " did not fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device_lost);
    }
    fault::arm_device(0);
  }
}

}  // namespace
}  // namespace stope
