// Compares votes on the GPU with the host's, bit for bit: classes and means, every rule, several k, classes beyond a
// block's shared memory and beyond what GPUs vote on. They go through the tensor filter, the difference filter and
// boxes, with queries that these cannot answer. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "device/needs_gpu.hpp"
#include "effort.hpp"
#include "knn/vote/vote_cases.hpp"

namespace stope {
namespace {

/// The parameter: a filter, as STOPE_SCAN names it, or "boxes".
class VotesCuda : public NeedsGpuAs<testing::TestWithParam<std::string>> {
 protected:
  void SetUp() override {
    NeedsGpuAs::SetUp();
    if (IsSkipped()) return;
    setenv("STOPE_BACKEND", "cuda", 1);  // however small the job
    const bool boxes = GetParam() == "boxes";
    setenv(boxes ? "STOPE_VISIT" : "STOPE_SCAN", boxes ? "queries" : GetParam().c_str(), 1);
  }
  ~VotesCuda() override {
    for (const char* name : {"STOPE_BACKEND", "STOPE_SCAN", "STOPE_VISIT"}) unsetenv(name);
  }
  static bool voted(const SearchReport& report) { return report.method.find(", votes") != std::string::npos; }
};

INSTANTIATE_TEST_SUITE_P(, VotesCuda, testing::Values("products", "differences", "boxes"),
                         [](const auto& scan) { return scan.param; });

TEST_P(VotesCuda, RandomCases) {
  Random random(21);
  std::vector<std::int64_t> rows = {2, 33, 128, 1000, 4097, 9000};
  std::vector<std::int64_t> queries = {1, 31, 32, 127, 128, 129, 300, 1025};
  const bool sanitized = rounds() < 8;  // then tables are small and few
  if (sanitized) rows.resize(4), queries.resize(6);
  const std::vector<int> classes = {0, 0, 1, 2, 3, 10, 47, 48, 49, 100, 126, 127};
  int on_gpu = 0, certain = 0;
  const int n_rounds = sanitized ? 24 : 240;
  for (int round = 0; round < n_rounds; ++round) {
    const std::int64_t n = rows[random.below(rows.size())], m = queries[random.below(queries.size())];
    const int n_classes = classes[random.below(classes.size())];
    SCOPED_TRACE(std::to_string(round) + ": " + std::to_string(n) + " x " + std::to_string(m) + ", classes " +
                 std::to_string(n_classes));
    const auto n_columns = 1 + static_cast<std::int64_t>(random.below(12));
    const vote_cases::Case job = vote_cases::random_case(random, n, m, 128, n_classes, n_columns);
    const SearchReport report = vote_cases::expect_the_processors_votes(job, n_classes, {});
    if (HasFailure()) return;
    on_gpu += voted(report) ? 1 : 0;
    certain += voted(report) && report.uncertified < m / 2 ? 1 : 0;
  }
  EXPECT_GT(on_gpu, n_rounds / 4);  // the host votes where groups are excluded
  EXPECT_GT(certain, n_rounds / 8);
}

// There are more queries than a batch holds, in both slots of the GPU, from several threads.
TEST_P(VotesCuda, ManyBatchesAndThreads) {
  if (rounds() < 8) GTEST_SKIP() << "too long under a sanitizer";
  for (const int n_classes : {0, 7}) {
    vote_cases::Case job;
    for (std::uint64_t seed = 1; job.ks.size() != 2 || job.vote.exclude_self || !job.vote.exclude_group.empty();
         ++seed) {
      Random random(seed);
      job = vote_cases::random_case(random, 5000, 40000, 20, n_classes, 8);
    }
    const SearchReport report = vote_cases::expect_the_processors_votes(job, n_classes, {});
    EXPECT_TRUE(voted(report)) << report.method << ": " << report.method_reason;
    if (n_classes == 0) continue;
    const KnnClassifier model = KnnClassifier::fit(job.train, job.options);
    const Classification theirs = [&] {
      const vote_cases::NoForcedBackend free;
      return model.predict(job.query, {.n_neighbors = 5}, {.device = "cpu"});
    }();
    std::vector<Classification> ours(3);
    {
      std::vector<std::jthread> threads;
      for (Classification& mine : ours)
        threads.emplace_back([&] { mine = model.predict(job.query, {.n_neighbors = 5}); });
    }
    for (const Classification& mine : ours) {
      EXPECT_EQ(mine.codes, theirs.codes);
      vote_cases::expect_bits(mine.confidences, theirs.confidences);
    }
  }
}

TEST_P(VotesCuda, PredictorsOnOneIndexVoteWithTheirOwnLabels) {
  Random random(12);
  const vote_cases::SharedIndex shared(random, 3000, rounds() < 8 ? 130 : 2000);
  EXPECT_TRUE(
      voted(shared.classifiers.back().predict(shared.query, {}, {}, [](std::int64_t, const Classification&) {})));
  vote_cases::expect_own_labels(shared, {.n_neighbors = 9, .weights = VoteWeights::distance}, {});
}

}  // namespace
}  // namespace stope
