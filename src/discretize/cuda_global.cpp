#include "discretize/cuda_global.hpp"

#include <algorithm>
#include <span>

#include "device/cuda_plugin.hpp"
#include "discretize/cuda_cuts.hpp"
#include "discretize/present_classes.hpp"

namespace stope::discretize {

using cuda_abi::Failure;
using device::checked_call;

const char* why_no_global_on_gpu(const DecisionProblem& problem) {
  if (problem.pure()) return "there is one class, and nothing to cut";
  if (problem.weighted && problem.n_rows > cuda_abi::kMostWeightedGlobalRows) {
    return "GPUs choose the cuts of md-global in up to 2,048 rows with weights";
  }
  if (problem.n_rows > cuda_abi::kMostGlobalRows) return "GPUs choose the cuts of md-global in up to 8,192 rows";
  if (problem.n_attributes() > cuda_abi::kMostGlobalColumns) {
    return "GPUs choose the cuts of md-global in up to 2^25 columns";
  }
  return why_not_on_gpu(problem, Criterion::discernibility, 0);
}

GlobalColumns::GlobalColumns(const DecisionProblem& problem, const std::vector<int>& gpus, const RunOptions& run)
    : problem_(problem), run_(run), sorts_(problem) {
  device::note_cuda_use();
  const PresentClasses classes(problem);
  cuda_abi::Decisions decisions{.classes = classes.of_row.data(),
                                .totals = classes.totals.data(),
                                .n_rows = classes.n_rows(),
                                .n_classes = classes.n(),
                                .type = cuda_abi::Type::float32,
                                .wanted = cuda_abi::Wanted::global,
                                .weights = problem.weighted ? problem.weights.data() : nullptr};
  sort(sorts_.floats, decisions, gpus);
  decisions.type = cuda_abi::Type::float64;
  sort(sorts_.doubles, decisions, gpus);
  pool_ = std::make_unique<ThreadPool>(static_cast<int>(std::max<std::size_t>(shares_.size(), 1)));
}

void GlobalColumns::sort(const std::vector<std::int64_t>& attributes, cuda_abi::Decisions decisions,
                         const std::vector<int>& gpus) {
  if (attributes.empty()) return;
  const std::int64_t most = memory_of_session(gpus, run_);
  const std::size_t first = shares_.size();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::span<const std::int64_t> mine = share_of(attributes, i, gpus.size());
    shares_.push_back({.attributes = {mine.begin(), mine.end()}, .session = {}});
  }
  decisions.most_sorted = std::ssize(shares_.back().attributes);  // the last share is the largest
  const std::int64_t of_piece = columns_of_piece(decisions, decisions.most_sorted, gpus, most, run_);
  ThreadPool pool(static_cast<int>(gpus.size()));
  pool.parallel_for(std::ssize(gpus), run_.cancel, [&](std::int64_t i, int) {
    Share& share = shares_[first + static_cast<std::size_t>(i)];
    share.session = make_session(gpus[static_cast<std::size_t>(i)], decisions, of_piece);
    sort_columns(problem_, share.attributes, of_piece, *share.session, run_);
  });
}

cuda_abi::GlobalBest GlobalColumns::next_cut(const cuda_abi::RowBlocks& blocks) {
  run_.cancel.check();
  const auto ask = [&](Share& share) {
    double seconds = 0.0;
    share.best = {};
    if (share.attributes.empty()) return;
    checked_call([&](Failure* failure) {
      return cut_functions().next_cut(share.session.get(), &blocks, &share.best, &seconds, failure);
    });
    if (pairs_of(share.best) > 0) {
      share.best.column = share.attributes[static_cast<std::size_t>(share.best.column)];
    }
  };
  pool_->parallel_for(std::ssize(shares_), run_.cancel,
                      [&](std::int64_t i, int) { ask(shares_[static_cast<std::size_t>(i)]); });
  cuda_abi::GlobalBest best{};
  for (const Share& share : shares_) {
    const Int128 pairs = pairs_of(share.best), most = pairs_of(best);
    if (pairs > most || (pairs == most && most > 0 && share.best.column < best.column)) best = share.best;
  }
  return best;
}

}  // namespace stope::discretize
