#include "knn/gpu/tensor/planned_clusters.hpp"

#include <algorithm>
#include <new>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "knn/gpu/call.hpp"
#include "knn/gpu/reference/plan.hpp"
#include "knn/gpu/tensor/resident_table.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

using cuda_abi::Failure;
using Filters = PlannedClusters::Filters;

// What clusters take on a GPU: a second set of images, with what puts them in order.
std::int64_t bytes_of_clusters(const TensorFilterSpec& spec) {
  constexpr std::int64_t kOrderBytes = 48;  // of a row: pairs that are sorted, twice, its place and its start
  constexpr auto kHalf = static_cast<std::int64_t>(sizeof(std::int16_t));
  return checked::mul(spec.spec.n_rows, spec.spec.image_width * kHalf + kOrderBytes);
}

// Whether a GPU has room for clusters beside the filter that it holds.
bool has_room(const TensorFilter& filter, const TensorFilterSpec& spec, const RunOptions& run) {
  cuda_abi::FilterSize size{};
  std::int64_t free = 0;
  checked_call(
      [&](Failure* failure) { return cuda_functions().tensor_size(filter.gpu(), &spec.spec, &size, failure); });
  checked_call([&](Failure* failure) { return device::plugin().free_memory(filter.gpu(), &free, failure); });
  const std::int64_t bytes = bytes_of_clusters(spec);
  return bytes <= gpu_budget(free, 0) && (run.memory_limit == 0 || checked::add(size.bytes, bytes) <= run.memory_limit);
}

bool all_have_room(const Filters& filters, const TensorFilterSpec& spec, const RunOptions& run) {
  return std::all_of(filters.begin(), filters.end(),
                     [&](const auto& filter) { return filter->in_clusters() || has_room(*filter, spec, run); });
}

bool all_in_clusters(const Filters& filters) {
  return std::all_of(filters.begin(), filters.end(), [](const auto& filter) { return filter->in_clusters(); });
}

bool all_were_asked(const Filters& filters) {
  return std::all_of(filters.begin(), filters.end(),
                     [](const auto& filter) { return filter->was_asked_for_clusters(); });
}

void drop(const Filters& filters) {
  for (const std::shared_ptr<TensorFilter>& filter : filters) {
    if (filter->in_clusters()) filter->drop_clusters();
  }
}

// Whether the images of a filter can be in clusters.
bool takes_clusters(const TensorFilter& filter, const TensorFilterSpec& spec, const Fitted& fitted) {
  return !filter.in_bytes() && !filter.takes_missing() && spec.spec.image_width <= cuda_abi::kMostClusterColumns &&
         fitted.all_finite();
}

ClusterPrices prices_of(const TensorFilterSpec& spec) {
  const std::int64_t forced = environment::count(environment::Variable::cluster_pairs);
  if (forced > 0) return {.look = forced, .make = checked::mul(2, forced), .judge = forced};
  return cluster_prices(spec.spec.n_rows, spec.spec.image_width);
}

}  // namespace

PlannedClusters::Order PlannedClusters::order() {
  const std::string_view word = environment::word(environment::Variable::block_order);
  return word == "near" ? Order::near : word == "table" ? Order::table : Order::planned;
}

void PlannedClusters::begin(const Filters& filters, const TensorFilterSpec& spec, const Fitted& fitted,
                            const Search& search, const RunOptions& run) {
  if (!takes_clusters(*filters.front(), spec, fitted)) return;
  const std::scoped_lock lock(mutex_);
  if (!plan_.has_value()) plan_.emplace(prices_of(spec));
  if (order() == Order::table) return drop(filters);
  if (order() == Order::near) {
    const bool makes = !all_were_asked(filters) && all_have_room(filters, spec, run);
    if (makes && look(fitted, true, search.threads, run)) make(filters, run);
    return;
  }
  if (!search.may_leave_tiles_out || !filters.front()->useful()) return;
  // Every GPU scans its share at the same time.
  const std::int64_t share = checked::ceil_div(search.n_queries, std::ssize(filters));
  plan_->count(checked::mul(share, fitted.n_rows()));
  try {
    follow(*plan_, filters, spec, fitted, search.threads, run);
  } catch (const std::bad_alloc&) {
    plan_->put_off();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    plan_->put_off();
  }
}

void PlannedClusters::follow(ClusterPlan& plan, const Filters& filters, const TensorFilterSpec& spec,
                             const Fitted& fitted, int threads, const RunOptions& run) {
  for (ClusterPlan::Step step = plan.next(); step != ClusterPlan::Step::search; step = plan.next()) {
    if (!all_have_room(filters, spec, run)) {
      plan.put_off();
    } else if (step == ClusterPlan::Step::look) {
      plan.looked(look(fitted, false, threads, run));
    } else {
      plan.tried(make(filters, run));
    }
  }
  if (!plan.in_clusters()) return drop(filters);
  // A filter that replaced another has no clusters yet.
  if (!all_were_asked(filters) && all_have_room(filters, spec, run)) make(filters, run);
}

void PlannedClusters::review(const Filters& filters) {
  const std::scoped_lock lock(mutex_);
  if (!plan_.has_value() || order() != Order::planned) return;
  if (!plan_->in_clusters()) return drop(filters);  // another search, with other filters, has given them up
  std::int64_t scanned = 0, skipped = 0;
  for (auto filter = filters.begin(); filter != filters.end(); ++filter) {
    if (std::find(filters.begin(), filter, *filter) != filter) continue;  // a GPU may be named twice
    scanned += (*filter)->cluster_work().scanned;
    skipped += (*filter)->cluster_work().skipped;
  }
  if (plan_->pays(scanned, skipped)) return;
  drop(filters);
  centres_ = {};
}

std::string PlannedClusters::reason(const Filters& filters) const {
  const std::scoped_lock lock(mutex_);
  // Images for missing values may have replaced those that a plan was made for.
  if (!plan_.has_value() || filters.front()->in_bytes() || filters.front()->takes_missing()) return {};
  switch (order()) {
    case Order::planned:
      return plan_->in_clusters() && !all_in_clusters(filters) ? "all tiles: no room for clusters" : plan_->reason();
    case Order::near:
      return all_in_clusters(filters) ? "near tiles alone: STOPE_BLOCK_ORDER=near" : "all tiles: no room for clusters";
    case Order::table: break;
  }
  return "all tiles: STOPE_BLOCK_ORDER=table";
}

std::int64_t PlannedClusters::bytes(const Filters& filters, const TensorFilterSpec& spec) {
  const bool any =
      std::any_of(filters.begin(), filters.end(), [](const auto& filter) { return filter->in_clusters(); });
  return any ? bytes_of_clusters(spec) : 0;
}

bool PlannedClusters::look(const Fitted& fitted, bool forced, int threads, const RunOptions& run) {
  ThreadPool pool(std::min(threads, kLoaderThreads));
  centres_ = find_centres(fitted, forced, pool, run.cancel);
  return centres_.n > 0;
}

bool PlannedClusters::make(const Filters& filters, const RunOptions& run) const {
  ThreadPool gpus(static_cast<int>(filters.size()));
  gpus.parallel_for(std::ssize(filters), run.cancel, [&](std::int64_t i, int) {
    filters[static_cast<std::size_t>(i)]->make_clusters(centres_.rows.data(), centres_.n, centres_.most_radius);
  });
  return all_in_clusters(filters);
}

}  // namespace stope::knn
