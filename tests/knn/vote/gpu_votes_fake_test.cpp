// The host's half of votes on GPUs, with the fake plug-in (device/fake_plugin.cpp): predictions of blocks under way,
// several GPUs, queries without an answer there, no room for predictions. No GPU is needed; gpu_votes_cuda_test.cpp
// tests the real plug-in.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "effort.hpp"
#include "knn/vote/vote_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

/// The parameter: the filter that the fake plug-in has.
class FakeVotes : public testing::TestWithParam<std::string>, protected WithFakePlugin {
 protected:
  FakeVotes() : WithFakePlugin(GetParam(), "cuda") {}
  static bool voted(const SearchReport& report) {
    return report.method.size() > 7 && report.method.compare(report.method.size() - 7, 7, ", votes") == 0;
  }
  /// Makes a case whose votes do go through the fake filter.
  static vote_cases::Case usual_case(int n_classes) {
    for (std::uint64_t seed = 1;; ++seed) {
      Random random(seed);
      vote_cases::Case job = vote_cases::random_case(random, 300, 120, 20, n_classes, 3);
      const bool excludes = job.vote.exclude_self || !job.vote.exclude_group.empty();
      if (job.options.compat == Compat::none && job.ks.size() == 2 && !excludes) return job;
    }
  }
  RunOptions run_ = {.threads = 2, .device = "cuda"};
};

INSTANTIATE_TEST_SUITE_P(, FakeVotes, testing::Values("filters", "differences"),
                         [](const auto& plays) { return plays.param; });

TEST_P(FakeVotes, AnyBlocksAndGpusGiveThePredictionsOfTheHost) {
  Random random(5);
  int on_gpu = 0;
  std::int64_t uncertified = 0;
  const int rounds = repeated(300, 30);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const std::vector<int> sizes = {0, 0, 1, 2, 3, 12, 40, 60, 126, 127, 200};
    const int n_classes = sizes[random.below(sizes.size())];
    const auto n = 2 + static_cast<std::int64_t>(random.below(300)),
               m = 1 + static_cast<std::int64_t>(random.below(150));
    const vote_cases::Case job = vote_cases::random_case(random, n, m, 30, n_classes, 3);
    set_size("STOPE_TILE_QUERIES", 1 + random.below(60));
    run_.device = random.below(3) == 0 ? "cuda:1,1,1" : "cuda";
    const SearchReport report = vote_cases::expect_the_processors_votes(job, n_classes, run_);
    const auto bytes = static_cast<std::int64_t>(job.ks.size()) * (8 * std::max(n_classes, 1) + 4);
    // Where products leave excluded groups to the host, it votes, too.
    const bool on_host = GetParam() == "filters" && !job.vote.exclude_group.empty();
    EXPECT_EQ(voted(report), report.method.starts_with("filter") && bytes <= 1024 && !on_host) << report.method;
    on_gpu += voted(report) ? 1 : 0;
    uncertified += voted(report) ? report.uncertified : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(on_gpu, rounds * 2 / 5);
  EXPECT_GT(uncertified, rounds);
}

TEST_P(FakeVotes, PredictionsComeBlockByBlockInOrder) {
  const vote_cases::Case job = usual_case(3);
  const KnnClassifier model = KnnClassifier::fit(job.train, job.options);
  const VoteOptions vote{.n_neighbors = 4, .weights = job.vote.weights};
  const Classification whole = model.predict(job.query, vote, run_);
  setenv("STOPE_TILE_QUERIES", "7", 1);
  std::vector<std::int32_t> codes;
  std::vector<double> confidences;
  const SearchReport report =
      model.predict(job.query, vote, run_, [&](std::int64_t first, const Classification& block) {
        EXPECT_EQ(first, static_cast<std::int64_t>(codes.size()));
        codes.insert(codes.end(), block.codes.begin(), block.codes.end());
        confidences.insert(confidences.end(), block.confidences.begin(), block.confidences.end());
      });
  EXPECT_TRUE(voted(report)) << report.method;
  EXPECT_EQ(codes, whole.codes);
  vote_cases::expect_bits(confidences, whole.confidences);
}

TEST_P(FakeVotes, NoRoomForVotesLeavesThemToTheHost) {
  for (const int n_classes : {0, 4}) {
    const vote_cases::Case job = usual_case(n_classes);
    setenv("STOPE_TILE_QUERIES", "25", 1);
    int recovered = 0, on_host = 0;
    for (std::int64_t n = 1; n < 40; ++n) {
      fault::arm_alloc(n);
      try {
        const SearchReport report = vote_cases::expect_the_processors_votes(job, n_classes, run_);
        ++recovered;
        on_host += voted(report) ? 0 : 1;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      }
      fault::arm_alloc(0);
    }
    EXPECT_GT(recovered, 15);
    EXPECT_GE(on_host, 1);
  }
  // A memory limit that has room for the filter alone does not either.
  const vote_cases::Case job = usual_case(100);
  unsetenv("STOPE_TILE_QUERIES");
  run_.memory_limit = 300 * 3 * 8 + 2048 * 64 + 1000000;
  vote_cases::Case one = job;
  one.ks = {5};
  const SearchReport small = vote_cases::expect_the_processors_votes(one, 100, run_);
  EXPECT_EQ(small.method.rfind("filter", 0), 0U) << small.method << ": " << small.method_reason;
  EXPECT_FALSE(voted(small));
  run_.memory_limit = std::int64_t{1} << 30;
  const SearchReport large = vote_cases::expect_the_processors_votes(one, 100, run_);
  EXPECT_TRUE(voted(large)) << large.method << ": " << large.method_reason;
}

TEST_P(FakeVotes, ALostGpuIsReportedWhereverItHappens) {
  const vote_cases::Case job = usual_case(3);
  setenv("STOPE_TILE_QUERIES", "30", 1);
  const KnnClassifier model = KnnClassifier::fit(job.train, job.options);
  int lost = 0;
  for (std::int64_t n = 1;; ++n) {
    ASSERT_LT(n, 1000);
    const KnnClassifier fresh = KnnClassifier::fit(job.train, job.options);
    fault::arm_device(n);
    try {
      fresh.predict_each(job.query, job.ks, job.vote, run_);
      break;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::device_lost) << error.what();
      ++lost;
    }
    fault::arm_device(0);
    ASSERT_NO_FATAL_FAILURE(vote_cases::expect_the_processors_votes(job, 3, run_));
  }
  fault::arm_device(0);
  EXPECT_GT(lost, 5);
}

TEST_P(FakeVotes, SeveralThreadsPredictAtOnce) {
  const vote_cases::Case job = usual_case(5);
  setenv("STOPE_TILE_QUERIES", "9", 1);
  const KnnClassifier model = KnnClassifier::fit(job.train, job.options);
  const std::vector<Classification> theirs = model.predict_each(job.query, job.ks, job.vote, run_);
  vote_cases::expect_the_processors_votes(job, 5, run_);
  std::vector<std::vector<Classification>> ours(6);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : ours) threads.emplace_back([&] { mine = model.predict_each(job.query, job.ks, job.vote, run_); });
  }
  for (const auto& mine : ours) {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      EXPECT_EQ(mine[i].codes, theirs[i].codes);
      vote_cases::expect_bits(mine[i].confidences, theirs[i].confidences);
    }
  }
}

TEST_P(FakeVotes, PredictorsOnOneIndexVoteWithTheirOwnLabels) {
  Random random(11);
  const vote_cases::SharedIndex shared(random, 300, 60);
  setenv("STOPE_TILE_QUERIES", "7", 1);
  EXPECT_TRUE(
      voted(shared.classifiers.back().predict(shared.query, {}, run_, [](std::int64_t, const Classification&) {})));
  for (const VoteWeights weights : {VoteWeights::uniform, VoteWeights::distance}) {
    vote_cases::expect_own_labels(shared, {.n_neighbors = 6, .weights = weights}, run_);
  }
}

}  // namespace
}  // namespace stope
