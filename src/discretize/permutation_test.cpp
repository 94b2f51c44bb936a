// Rounds of permutations (discretize/permutation_test.hpp).
#include "discretize/permutation_test.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/memory.hpp"

namespace stope::discretize {
namespace {

constexpr std::int64_t kMostRoundBytes = std::int64_t{1} << 28;

/// What one permutation of a round takes: its labels, also as bytes, its class totals, and a worth of each thread.
std::int64_t bytes_of_one(const DecisionProblem& problem, std::int64_t n_threads) {
  const std::int64_t labels = problem.n_rows * static_cast<std::int64_t>(sizeof(std::int32_t) + sizeof(std::uint8_t));
  const std::int64_t totals = problem.weighted ? 16 + problem.n_classes() * std::int64_t{sizeof(std::int64_t)} : 0;
  return labels + std::int64_t{sizeof(std::vector<std::int64_t>)} + totals + n_threads * std::int64_t{sizeof(Worth)};
}

/// What the highest worth of every permutation takes, for as long as the test lasts.
std::int64_t bytes_of_all(std::int64_t n_permutations) {
  constexpr std::int64_t kBytes = sizeof(Worth);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / kBytes;
  return std::min(n_permutations, most) * kBytes;
}

}  // namespace

void PermutationTest::require_room(std::int64_t n_permutations, const RunOptions& run) {
  require_memory("the highest scores of " + std::to_string(n_permutations) + " permutations need",
                 bytes_of_all(n_permutations), run);
}

PermutationTest::PermutationTest(const DecisionProblem& problem, const Scorer& scorer, const NetworkKernels* kernels,
                                 std::int64_t n_permutations, std::uint64_t seed, std::int64_t n_threads,
                                 const RunOptions& run)
    : problem_(problem),
      scorer_(scorer),
      kernels_(kernels),
      n_permutations_(n_permutations),
      most_in_round_(std::min(kMostRoundBytes, (memory_budget(run) - bytes_of_all(n_permutations)) / 4) /
                     bytes_of_one(problem, n_threads) / kPermutations * kPermutations),
      cancel_(run.cancel),
      shuffler_(problem, seed),
      as_good_(static_cast<std::size_t>(problem.n_attributes())) {
  fast_ = kernels != nullptr && !problem.weighted && scorer.criterion() == Criterion::discernibility &&
          problem.n_rows <= kMostPermutedRows && problem.n_classes() <= kMostPermutedClasses;
  for (const std::int64_t n : problem.class_totals) small_totals_.push_back(static_cast<std::int32_t>(fast_ ? n : 0));
}

PermutationTest::Tally PermutationTest::make_tally() const {
  return {std::vector<std::int64_t>(as_good_.size()), std::vector<Worth>(static_cast<std::size_t>(in_round_))};
}

bool PermutationTest::next_round() {
  n_done_ += in_round_;
  in_round_ = 0;
  if (n_done_ == n_permutations_) return false;
  const std::int64_t n = problem_.n_rows;
  in_round_ = std::min(std::max(std::int64_t{kPermutations}, most_in_round_), n_permutations_ - n_done_);
  classes_.resize(static_cast<std::size_t>(in_round_ * n));
  totals_.resize(static_cast<std::size_t>(in_round_));
  for (std::int64_t j = 0; j < in_round_; ++j) {
    cancel_.check();
    shuffler_.next(classes_.data() + j * n, totals_[static_cast<std::size_t>(j)]);
  }
  if (!fast_) return true;
  stride_ = (in_round_ + kPermutations - 1) / kPermutations * kPermutations;
  bytes_.assign(static_cast<std::size_t>(stride_ * n), 0);
  for (std::int64_t j = 0; j < in_round_; ++j) {
    cancel_.check();
    for (std::int64_t row = 0; row < n; ++row) {
      bytes_[static_cast<std::size_t>(row * stride_ + j)] =
          static_cast<std::uint8_t>(classes_[static_cast<std::size_t>(j * n + row)]);
    }
  }
  return true;
}

Labels PermutationTest::labels(std::int64_t permutation) const {
  return {classes_.data() + permutation * problem_.n_rows, &totals_[static_cast<std::size_t>(permutation)]};
}

void PermutationTest::note(std::int64_t attribute, std::int64_t permutation, const Worth& observed, const Worth& found,
                           Tally& tally) {
  if (!(found < observed)) ++tally.as_good[static_cast<std::size_t>(attribute)];
  Worth& highest = tally.highest[static_cast<std::size_t>(permutation)];
  if (highest < found) highest = found;
}

void PermutationTest::numeric(std::int64_t attribute, const Worth& observed, const OrderedColumn& column,
                              Tally& tally) const {
  tally.highest.resize(static_cast<std::size_t>(in_round_));
  if (!fast_) {
    for (std::int64_t j = 0; j < in_round_; ++j) {
      cancel_.check();
      note(attribute, j, observed, scorer_.best_cut(column, labels(j)).worth, tally);
    }
    return;
  }
  for (std::int64_t block = 0; block < in_round_; block += kPermutations) {
    cancel_.check();
    std::int32_t best[kPermutations];
    kernels_->permuted({column.rows, column.differs, column.n, bytes_.data() + block, stride_, small_totals_.data(),
                        static_cast<int>(small_totals_.size())},
                       best);
    for (std::int64_t j = block; j < std::min(in_round_, block + kPermutations); ++j) {
      note(attribute, j, observed, {best[j - block], 0.0}, tally);
    }
  }
}

void PermutationTest::symbolic(std::int64_t index, const Worth& observed, const Attribute& attribute,
                               Tally& tally) const {
  tally.highest.resize(static_cast<std::size_t>(in_round_));
  for (std::int64_t j = 0; j < in_round_; ++j) {
    cancel_.check();
    note(index, j, observed, scorer_.best_value(attribute, labels(j)).worth, tally);
  }
}

void PermutationTest::collect(Tally& tally) {
  for (std::size_t a = 0; a < as_good_.size(); ++a) as_good_[a] += tally.as_good[a];
  std::fill(tally.as_good.begin(), tally.as_good.end(), 0);
  highest_.reserve(static_cast<std::size_t>(n_permutations_));  // growing would hold them twice
  highest_.resize(std::max(highest_.size(), static_cast<std::size_t>(n_done_ + in_round_)));
  for (std::size_t j = 0; j < tally.highest.size(); ++j) {
    Worth& highest = highest_[static_cast<std::size_t>(n_done_) + j];
    if (highest < tally.highest[j]) highest = tally.highest[j];
  }
  tally.highest.clear();
}

void PermutationTest::add(const GpuPermutations& found) {
  for (std::size_t a = 0; a < found.as_good.size(); ++a) as_good_[a] += found.as_good[a];
  highest_.resize(std::max(highest_.size(), found.highest.size()));
  for (std::size_t j = 0; j < found.highest.size(); ++j) {
    const Worth worth = {found.highest[j], 0.0};
    if (highest_[j] < worth) highest_[j] = worth;
  }
}

PermutationCounts PermutationTest::counts(const Buffer<AttributeBest>& best) && {
  std::sort(highest_.begin(), highest_.end());
  PermutationCounts counts;
  counts.as_good = as_good_;
  for (const AttributeBest& one : best) {
    counts.any_as_good.push_back(highest_.end() - std::lower_bound(highest_.begin(), highest_.end(), one.worth));
  }
  return counts;
}

}  // namespace stope::discretize
