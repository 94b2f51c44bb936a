#include "knn/gpu/uncertified_queries.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "knn/gpu/reference/searcher.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 15;  // rows and lists held at once
constexpr std::int64_t kLongestGrowth = 8;  // lists within a radius that are longer than planned get so much more room

}  // namespace

UncertifiedQueries::UncertifiedQueries(const Fitted& fitted, const Plan& plan, const RunOptions& run)
    : fitted_(fitted), plan_(plan), run_(run) {}

// A list within a radius may have any length. The plan has room for selection.places a query of the block. A single
// list as long as the table has room anyway.
bool UncertifiedQueries::answer(const QueryBlock& queries, const Selection& selection,
                                const std::vector<std::int32_t>& uncertified, const Fetch& fetch, const Take& take) {
  const std::int64_t n_rows = fitted_.n_rows();
  room_ = std::max(checked::mul(queries.n, std::min(selection.places, n_rows)), n_rows);
  const bool within = selection.kind == Selection::Kind::radius;
  std::vector<std::int64_t> which;
  const auto search_those = [&] {
    if (!which.empty() && room_ >= 0) search(queries, selection, which, fetch, take);
    which.clear();
  };
  for (std::int64_t i = 0; i < queries.n && room_ >= 0; ++i) {
    if (uncertified[static_cast<std::size_t>(i)] == 0) continue;
    const bool in_a_row = which.empty() || which.back() + 1 == i;
    const bool full = static_cast<std::int64_t>(which.size()) >= (within ? most_at_once(selection) : kMostAtOnce);
    if (full || (selection.exclude_self && !in_a_row)) search_those();
    which.push_back(i);
  }
  search_those();
  return room_ >= 0;
}

// Returns how many lists of the longest length take at most a quarter of the room that is left.
std::int64_t UncertifiedQueries::most_at_once(const Selection& selection) const {
  constexpr std::int64_t kShare = 4;
  const std::int64_t longest = std::max<std::int64_t>(1, std::min(selection.longest, fitted_.n_rows()));
  return std::clamp<std::int64_t>(room_ / kShare / longest, 1, kMostAtOnce);
}

void UncertifiedQueries::search(const QueryBlock& queries, const Selection& selection, Which which, const Fetch& fetch,
                                const Take& take) {
  Lists found(which.size());
  if (find(queries, selection, which, fetch, found) != PartEnd::complete) {
    return search_within(queries, selection, which, fetch, take);
  }
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (selection.kind == Selection::Kind::radius) room_ -= found.length(i);
    take(which[i], found.list(i));
  }
  answered_ += std::ssize(which);
}

// Searches again, fewer queries at once, with room for longer lists.
void UncertifiedQueries::search_within(const QueryBlock& queries, Selection selection, Which which, const Fetch& fetch,
                                       const Take& take) {
  selection.longest = which.size() == 1 ? fitted_.n_rows()
                                        : std::min(checked::mul(selection.longest, kLongestGrowth), fitted_.n_rows());
  while (!which.empty() && room_ >= 0) {
    const auto n = std::min(which.size(), static_cast<std::size_t>(most_at_once(selection)));
    search(queries, selection, which.first(n), fetch, take);
    which = which.subspan(n);
  }
}

// Where rows have to be copied, the reference keeps them, and it is made once, for a whole block. Where they are held,
// it is made for about as many queries as there are: most often there are few.
void UncertifiedQueries::make_reference(std::int64_t n_queries) {
  Plan plan = plan_;
  plan.method = {.engine = Engine::gpu_reference};
  plan.part_rows = fitted_.n_rows();
  if (!held_.on_gpus.empty()) {
    constexpr std::uint64_t kFewest = 16;
    const auto about =
        static_cast<std::int64_t>(std::bit_ceil(std::max(static_cast<std::uint64_t>(n_queries), kFewest)));
    plan.tile_queries = std::max(n_queries, std::min(plan_.tile_queries, about));
    if (reference_ != nullptr) {
      SearchReport before;
      std::exchange(reference_, nullptr)->report(before);
      evaluated_ += before.evaluated;
    }
    reference_ = make_gpu_reference_searcher(fitted_, plan, run_, held_);
    planned_queries_ = plan.tile_queries;
    return;
  }
  if (!fitted_.resident()) {
    // The rows get an eighth of the budget: the rest is for the reference's tiles and for what is on the GPU.
    const std::int64_t row = checked::mul(fitted_.width(), sizeof(double));
    plan.part_rows = std::clamp<std::int64_t>(plan.memory_budget / 8 / row, 1, fitted_.n_rows());
  }
  train_ = std::make_unique<TrainParts>(fitted_, plan.part_rows, fitted_.rows_alone_on(plan.backend.gpus));
  reference_ = make_gpu_reference_searcher(fitted_, plan, run_);
  planned_queries_ = std::numeric_limits<std::int64_t>::max();
}

PartEnd UncertifiedQueries::find(const QueryBlock& queries, const Selection& selection, Which which, const Fetch& fetch,
                                 Lists& found) {
  const auto n = static_cast<std::int64_t>(which.size());
  if (reference_ == nullptr || n > planned_queries_) make_reference(n);
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
  if (train_ == nullptr) return reference_->search({0, fitted_.n_rows(), nullptr}, few, selection, found);
  ThreadPool pool(plan_.threads);
  for (std::int64_t part = 0; part < train_->count(); ++part) {
    const PartEnd end = reference_->search(train_->part(part, pool, run_.cancel), few, selection, found);
    if (end != PartEnd::complete) return end;
  }
  return PartEnd::complete;
}

void UncertifiedQueries::report(SearchReport& report) const {
  if (reference_ != nullptr) reference_->report(report);
  report.evaluated += evaluated_;
  report.uncertified += answered_;
}

}  // namespace stope::knn
