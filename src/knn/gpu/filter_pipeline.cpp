#include "knn/gpu/filter_pipeline.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kOneIn = 64;  // one query in so many may be left to the reference

}  // namespace

std::optional<ImageNeed> GpuFilterPipeline::begin(int which, const QueryBlock& queries, const Selection& selection,
                                                  const QueryEncoder& encode) {
  Block& block = blocks_[static_cast<std::size_t>(which)];
  block.queries = queries;
  block.queries.rows = block.rows.data();
  block.selection = &selection;
  block.encode = &encode;
  block.uncertified.assign(static_cast<std::size_t>(queries.n), 1);
  if (vary_) block.found.reset(selection, block.queries);
  if (votes_ && !predictions_stay()) {
    shape_outcome(*selection.ballot, queries, block.outcome);
  } else {
    block.outcome = {queries.first, queries.n, {}, {}, {}, {}, true};
  }
  return start(static_cast<std::size_t>(which));
}

std::optional<ImageNeed> GpuFilterPipeline::finish(int which, Neighbors& out) {
  Block& block = blocks_[static_cast<std::size_t>(which)];
  if (const std::optional<ImageNeed> need = collect(static_cast<std::size_t>(which), &out)) return need;
  if (vary_) return finish_varied(block, out);
  answer_uncertified(block, [&](std::int64_t query, const std::vector<Neighbor>& list) {
    copy_list(list, *block.selection, query, out);
  });
  return {};
}

std::optional<ImageNeed> GpuFilterPipeline::finish_kept(int which, Outcome& out) {
  Block& block = blocks_[static_cast<std::size_t>(which)];
  if (const std::optional<ImageNeed> need = collect(static_cast<std::size_t>(which), nullptr)) return need;
  answer_uncertified(
      block, [&](std::int64_t query, std::vector<Neighbor> list) { add_list(query, std::move(list), block.outcome); });
  sort_lists(block.outcome);
  std::swap(out, block.outcome);
  return {};
}

std::optional<ImageNeed> GpuFilterPipeline::finish_varied(Block& block, Neighbors& out) {
  const Selection& selection = *block.selection;
  const bool within = selection.kind == Selection::Kind::radius;
  const bool room =
      !too_many_are_unknown(block) && answer_uncertified(block, [&](std::int64_t query, std::vector<Neighbor> list) {
        block.found.put(query, std::move(list));
      });
  if (within) {
    lengths_.add(block.found.lengths());
    const std::int64_t places = room ? places_needed() : std::min(more_places(k_), kPlaces.back());
    fitted_.history().keep_places(selection.radius, places);
  }
  if (!room) return ImageNeed::places;
  block.found.write(out, finish_threads(), run_.cancel);
  return {};
}

// Says whether more places would pay, or else the reference for all. Lists within a radius that are too long for the
// filter end as queries without an answer.
bool GpuFilterPipeline::too_many_are_unknown(const Block& block) const {
  constexpr std::int64_t kOneInAtLast = 4;
  if (block.selection->kind != Selection::Kind::radius) return false;
  const std::int64_t unknown = std::count(block.uncertified.begin(), block.uncertified.end(), 1);
  return more_places_pay(unknown, block.queries.n, may_have_more_places() ? kOneIn : kOneInAtLast);
}

// A query costs the reference some hundred times as much as a filter. That is about the cost of the images of a
// hundredth of the table, which a filter with more places makes anew. It takes fewer queries at once, too.
bool GpuFilterPipeline::more_places_pay(std::int64_t unknown, std::int64_t n, std::int64_t one_in) const {
  constexpr std::int64_t kMostForTheReference = 128;
  return unknown > n / one_in &&
         static_cast<double>(unknown) * static_cast<double>(n_queries_) > static_cast<double>(n) * kMostForTheReference;
}

// Returns the places with which the lists so far leave few enough queries to the reference.
std::int64_t GpuFilterPipeline::places_needed() const {
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    if (!more_places_pay(lengths_.longer[i], lengths_.n, kOneIn)) return kPlaces[i];
  }
  return kPlaces.back();
}

void GpuFilterPipeline::report(SearchReport& report) const {
  uncertified_.report(report);
  report.tile_queries = plan_.tile_queries;
  report_filter(report);
}

void GpuFilterPipeline::hold_rows(device::PinnedPool<double>& memory, int gpu) {
  const std::int64_t values = checked::mul(plan_.tile_queries, fitted_.width());
  const auto n_blocks = static_cast<std::size_t>(checked::ceil_div(n_queries_, plan_.tile_queries));
  for (std::size_t i = 0; i < std::min(n_blocks, blocks_.size()); ++i) blocks_[i].rows = memory.borrow(gpu, values);
}

void GpuFilterPipeline::release_rows(device::PinnedPool<double>& memory) {
  for (Block& block : blocks_) memory.give_back(std::move(block.rows));
}

bool GpuFilterPipeline::copy_voters(const std::shared_ptr<const HeldVoters>& voters) {
  for (const int gpu : plan_.backend.gpus) {
    std::shared_ptr<const GpuVoters>& copy = voters_[gpu];
    if (copy == nullptr) copy = fitted_.gpu_filters().voters().copy_on(gpu, voters);
    if (copy == nullptr) return false;
  }
  return true;
}

bool GpuFilterPipeline::fits_the_limit(const Ballot& ballot, const FilterRoom& filter, std::int64_t n_batches) const {
  return checked::add(filter.bytes, vote_bytes(ballot, filter.most_queries, n_batches)) <= run_.memory_limit;
}

void GpuFilterPipeline::take_answer(Block& block, Range range, const cuda_abi::FilterAnswer& answer, bool voted) {
  std::copy_n(answer.uncertified, range.n, block.uncertified.begin() + range.begin);
  if (voted) {
    put_predictions(*block.selection->ballot, {answer.winners, answer.values, range.begin, range.n}, block.outcome);
  }
  const std::scoped_lock lock(work_mutex_);
  work_.add(answer);
}

void GpuFilterPipeline::keep_lists(Block& block, Range range, const double* distances, const std::int32_t* rows) {
  const std::scoped_lock lock(outcome_mutex_);
  for (std::int64_t i = 0; i < range.n; ++i) {
    if (block.uncertified[static_cast<std::size_t>(range.begin + i)] != 0) continue;
    std::vector<Neighbor> list;
    for (std::int64_t j = i * k_; j < (i + 1) * k_; ++j) list.push_back({distances[j], rows[j]});
    add_list(range.begin + i, std::move(list), block.outcome);
  }
}

bool GpuFilterPipeline::answer_uncertified(const Block& block, const UncertifiedQueries::Take& take) {
  const auto fetch = [&](std::int64_t begin, std::int64_t n, double* rows) {
    if (block.queries.rows == nullptr) {
      return (*block.encode)(block.queries.first + begin, n, rows, finish_threads());
    }
    std::copy_n(block.queries.rows + begin * fitted_.width(), n * fitted_.width(), rows);
  };
  return uncertified_.answer(block.queries, *block.selection, block.uncertified, fetch, take);
}

}  // namespace stope::knn
