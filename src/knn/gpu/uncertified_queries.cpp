#include "knn/gpu/uncertified_queries.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "knn/gpu/reference/searcher.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 15;  // rows and lists held at once

}  // namespace

UncertifiedQueries::UncertifiedQueries(const Fitted& fitted, const Plan& plan, const RunOptions& run)
    : fitted_(fitted), plan_(plan), run_(run) {}

void UncertifiedQueries::answer(const QueryBlock& queries, const Selection& selection,
                                const std::vector<std::int32_t>& uncertified, const Fetch& fetch, const Take& take) {
  std::vector<std::int64_t> which;
  const auto search_those = [&] {
    if (!which.empty()) search(queries, selection, which, fetch, take);
    which.clear();
  };
  for (std::int64_t i = 0; i < queries.n; ++i) {
    if (uncertified[static_cast<std::size_t>(i)] == 0) continue;
    const bool in_a_row = which.empty() || which.back() + 1 == i;
    if (static_cast<std::int64_t>(which.size()) == kMostAtOnce || (selection.exclude_self && !in_a_row)) search_those();
    which.push_back(i);
  }
  search_those();
}

void UncertifiedQueries::search(const QueryBlock& queries, const Selection& selection,
                                const std::vector<std::int64_t>& which, const Fetch& fetch, const Take& take) {
  if (reference_ == nullptr) {
    Plan plan = plan_;
    plan.method = {.engine = Engine::gpu_reference};
    plan.part_rows = fitted_.n_rows();
    if (!fitted_.resident()) {
      // The rows get an eighth of the budget: the rest is for the reference's tiles and for what is on the GPU.
      const std::int64_t row = checked::mul(fitted_.width(), sizeof(double));
      plan.part_rows = std::clamp<std::int64_t>(plan.memory_budget / 8 / row, 1, fitted_.n_rows());
    }
    train_ = std::make_unique<TrainParts>(fitted_, plan.part_rows, fitted_.rows_alone_on(plan.backend.gpus));
    reference_ = make_gpu_reference_searcher(fitted_, plan, run_);
  }
  const auto n = static_cast<std::int64_t>(which.size());
  Buffer<double> rows(checked::mul(n, fitted_.width()));
  std::vector<std::int64_t> groups;
  for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
    const std::int64_t first = which[static_cast<std::size_t>(begin)];
    while (end < n && which[static_cast<std::size_t>(end)] == first + (end - begin)) ++end;
    fetch(first, end - begin, rows.data() + begin * fitted_.width());
    if (queries.groups != nullptr) {
      groups.insert(groups.end(), queries.groups + first, queries.groups + first + (end - begin));
    }
  }
  const QueryBlock few{queries.first + which.front(), n, rows.data(), groups.empty() ? nullptr : groups.data()};
  Lists found(which.size());
  ThreadPool pool(plan_.threads);
  for (std::int64_t part = 0; part < train_->count(); ++part) {
    const PartEnd end = reference_->search(train_->part(part, pool, run_.cancel), few, selection, found);
    if (end != PartEnd::complete) throw Error(ErrorCode::internal, "a GPU's filter searched within a radius");
  }
  for (std::size_t i = 0; i < which.size(); ++i) take(which[i], found.list(i));
  answered_ += n;
}

void UncertifiedQueries::report(SearchReport& report) const {
  if (reference_ != nullptr) reference_->report(report);
  report.uncertified += answered_;
}

}  // namespace stope::knn
