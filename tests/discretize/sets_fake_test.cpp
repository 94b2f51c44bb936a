// The core's half of finding sets of cuts on GPUs, with the fake plug-in (tests/device/fake_plugin.cpp).
#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "discretize/set_cases.hpp"
#include "effort.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace discretize_cases;

constexpr DiscretizeOptions kMdlp{.method = DiscretizeMethod::mdlp, .missing = MissingPolicy::value};

class FakeSets : public testing::Test, protected WithFakePlugin {};

TEST_F(FakeSets, ByMdlpAreTheProcessors) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", repeated(100, 30), 200, 12, 1), 300);
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda:1,1,1", repeated(30, 12), 200, 12, 2), 30);
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

TEST_F(FakeSets, WhatGpusDoNotDoIsTheProcessors) {
  Random random(5);
  const Table weighted = random_decisions(random, {60, 5, 1, 2, true, false});
  BackendReport report;
  expect_same_sets(set_on(weighted, "cuda", report, kMdlp), set_on(weighted, "cpu", report, kMdlp));
  set_on(weighted, "cuda", report, kMdlp);
  EXPECT_EQ(report.backend, "scalar");
  EXPECT_EQ(report.reason, "GPUs look for cuts without weights only");
  EXPECT_EQ(report.device_reason, "");
}

TEST_F(FakeSets, AutoKeepsToTheProcessor) {
  Random random(6);
  const Table many = cut_decisions(random, 1000, 50, 2, true);
  BackendReport report;
  set_on(many, "cuda", report, kMdlp);
  EXPECT_EQ(report.backend, "cuda");
  EXPECT_EQ(report.reason, "device cuda: New Card, sm_90");
  set_on(many, "auto", report, kMdlp);
  EXPECT_EQ(report.backend, "scalar");
  EXPECT_EQ(report.device_reason, "auto: GPUs cut by MDLP where one is named");
}

TEST_F(FakeSets, ALostGpuIsAnError) {
  Random random(7);
  const Table some = cut_decisions(random, 1000, 5, 2, false);
  BackendReport report;
  for (int n = 1; n <= 3; ++n) {  // a piece is submitted and collected, then cut
    fault::arm_device(n);
    try {
      set_on(some, "cuda", report, kMdlp);
      ADD_FAILURE() << "call " << n << " did not fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device_lost);
    }
    fault::arm_device(0);
  }
}

}  // namespace
}  // namespace stope
