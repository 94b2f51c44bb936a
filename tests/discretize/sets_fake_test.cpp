// The core's half of finding sets of cuts on GPUs, with the fake plug-in (tests/device/fake_plugin.cpp).
#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "discretize/set_cases.hpp"
#include "effort.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace discretize_cases;

class FakeSets : public testing::Test, protected WithFakePlugin {};

TEST_F(FakeSets, ByMdlpAreTheProcessors) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", repeated(100, 30), 200, 12, 1), repeated(300, 100));
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda:1,1,1", repeated(30, 12), 200, 12, 2), 30);
}

TEST_F(FakeSets, ByMdlpWithWeightsAreTheProcessors) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", repeated(100, 30), 200, 12, 12, kMdlp, true), 200);
}

// 524 columns of doubles are a piece.
TEST_F(FakeSets, ByMdlpComeInPieces) {
  Random random(3);
  EXPECT_GT(expect_the_processors_sets(cut_decisions(random, 1000, 540, 2, false), "cuda"), 500);
}

// Fewer columns are sorted at once than there are, so they are cut in several rounds.
TEST_F(FakeSets, ByMdlpKeepToTheMemoryLimit) {
  Random random(4);
  const Table of = cut_decisions(random, 2000, 24, 2, false);
  BackendReport report;
  const CutSet want = set_on(of, "cpu", report, kMdlp);
  RunOptions run;
  for (const char* device : {"cuda", "cuda:1,1"}) {
    run.device = device;
    for (const std::int64_t limit : {1200000, 600000}) {
      run.memory_limit = limit;
      SCOPED_TRACE(device + std::string(" ") + std::to_string(limit));
      expect_same_sets(discretize::cuts_without_tree(of, kMdlp, run, report), want);
      EXPECT_EQ(report.backend, "cuda");
    }
  }
  run.device = "cuda";
  run.memory_limit = 60000;
  try {
    discretize::cuts_without_tree(of, kMdlp, run, report);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("MDLP of a column of 2000 rows takes"), std::string::npos) << error.what();
  }
}

TEST_F(FakeSets, ByMdGlobalAreTheProcessors) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", repeated(100, 30), 200, 12, 8, kGlobal), 300);
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda:1,1,1", repeated(30, 12), 200, 12, 9, kGlobal), 30);
  Random random(10);
  const Table of = random_decisions(random, {500, 12, 4, 3, false, true});
  EXPECT_EQ(expect_the_processors_sets(of, "cuda", {.missing = MissingPolicy::value, .max_cuts = 3}), 3);
}

TEST_F(FakeSets, ByMdGlobalWithWeightsAreTheProcessors) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", repeated(100, 30), 200, 12, 13, kGlobal, true), 200);
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda:1,1", repeated(30, 12), 200, 12, 14, kGlobal, true), 30);
}

// Every column must stay sorted on its GPU.
TEST_F(FakeSets, ByMdGlobalKeepToTheMemoryLimit) {
  Random random(11);
  const Table of = cut_decisions(random, 2000, 24, 2, false);
  BackendReport report;
  const CutSet want = set_on(of, "cpu", report, kGlobal);
  RunOptions run;
  run.device = "cuda";
  run.memory_limit = 1500000;  // pieces of some columns
  expect_same_sets(discretize::cuts_without_tree(of, kGlobal, run, report), want);
  EXPECT_EQ(report.backend, "cuda");
  run.memory_limit = 400000;
  try {
    discretize::cuts_without_tree(of, kGlobal, run, report);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("md-global over 24 columns of 2000 rows takes"), std::string::npos)
        << error.what();
  }
}

TEST_F(FakeSets, WhatGpusDoNotDoIsTheProcessors) {
  Random random(5);
  const auto expect_left = [](const Table& table, const DiscretizeOptions& options, const std::string& why) {
    BackendReport report;
    const CutSet theirs = set_on(table, "cpu", report, options);
    expect_same_sets(set_on(table, "cuda", report, options), theirs);
    EXPECT_EQ(report.backend, "scalar");
    EXPECT_EQ(report.reason, why);
    EXPECT_EQ(report.device_reason, "");
  };
  expect_left(cut_decisions(random, 5000, 1, 2, false, true), kGlobal,
              "GPUs choose the cuts of md-global in up to 2,048 rows with weights");
  expect_left(cut_decisions(random, 8193, 1, 2, false), kGlobal,
              "GPUs choose the cuts of md-global in up to 8,192 rows");
  expect_left(cut_decisions(random, 50, 3, 2, false), {.method = DiscretizeMethod::chimerge}, "");
}

TEST_F(FakeSets, AutoTakesTheGpuThatPays) {
  Random random(6);
  const Table many = cut_decisions(random, 1000, 250, 2, true), few = cut_decisions(random, 50, 3, 2, true);
  BackendReport report;
  set_on(few, "cuda", report, kMdlp);  // starts the driver
  EXPECT_EQ(report.backend, "cuda");
  EXPECT_EQ(report.reason, "device cuda: New Card, sm_90");
  for (const DiscretizeOptions& options : {kMdlp, kGlobal}) {
    const CutSet theirs = set_on(many, "cpu", report, options);
    expect_same_sets(set_on(many, "auto", report, options), theirs);
    EXPECT_EQ(report.backend, "cuda");
    EXPECT_EQ(report.reason, "New Card, sm_90");
    EXPECT_TRUE(report.device_reason.starts_with("auto: about ")) << report.device_reason;
    set_on(few, "auto", report, options);
    EXPECT_EQ(report.backend, "scalar");
    EXPECT_TRUE(report.device_reason.starts_with("auto: under 1 ms on the CPU")) << report.device_reason;
    for (int n = 1; n <= 3; ++n) {  // a piece is submitted and collected, then searched
      fault::arm_device(n);
      expect_same_sets(set_on(many, "auto", report, options), theirs);
      fault::arm_device(0);
      EXPECT_EQ(report.backend, "scalar");
      EXPECT_NE(report.device_reason.find("the GPU was lost"), std::string::npos) << report.device_reason;
    }
  }
  set_on(many, "auto", report, {.method = DiscretizeMethod::chimerge, .missing = MissingPolicy::value});
  EXPECT_EQ(report.device_reason, "auto: GPUs find no sets of cuts by this method");
}

TEST_F(FakeSets, ALostGpuIsAnError) {
  Random random(7);
  const Table some = cut_decisions(random, 1000, 5, 2, false);
  BackendReport report;
  for (const DiscretizeOptions& options : {kMdlp, kGlobal}) {
    for (int n = 1; n <= 3; ++n) {  // a piece is submitted and collected, then searched
      fault::arm_device(n);
      try {
        set_on(some, "cuda", report, options);
        ADD_FAILURE() << "call " << n << " did not fail";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::device_lost);
      }
      fault::arm_device(0);
    }
  }
}

}  // namespace
}  // namespace stope
