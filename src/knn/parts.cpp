// Training tables in parts: ranges of the whole, and lists of parts merged (stope/knn_parts.hpp).
#include "stope/knn_parts.hpp"

#include <algorithm>
#include <limits>

#include "base/guarded.hpp"
#include "base/thread_pool.hpp"
#include "knn/lists/neighbor_list.hpp"
#include "knn/ranges.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "table/check_table.hpp"

namespace stope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Throws for offsets that do not lie in the lists, or fall.
void check_lists(const Neighbors& lists, std::size_t part) {
  const auto refuse = [part](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "part " + std::to_string(part) + ": " + what);
  };
  if (lists.indices.size() != lists.distances.size()) refuse("as many indices as distances are wanted");
  if (lists.offsets.empty() || lists.offsets.front() < 0) refuse("the offsets of the lists do not begin at 0 or later");
  if (!std::is_sorted(lists.offsets.begin(), lists.offsets.end())) refuse("the offsets of the lists fall");
  if (lists.offsets.back() > static_cast<std::int64_t>(lists.indices.size())) {
    refuse("the offsets of the lists go beyond the " + std::to_string(lists.indices.size()) + " entries");
  }
}

void check_parts(std::span<const Neighbors> parts) {
  for (std::size_t part = 0; part < parts.size(); ++part) {
    check_lists(parts[part], part);
    if (parts[part].n_queries() == parts[0].n_queries() && parts[part].first_query == parts[0].first_query) continue;
    throw Error(ErrorCode::invalid_argument,
                "part " + std::to_string(part) + " has the lists of " + std::to_string(parts[part].n_queries()) +
                    " queries from query " + std::to_string(parts[part].first_query) + " on, part 0 those of " +
                    std::to_string(parts[0].n_queries()) + " from " + std::to_string(parts[0].first_query) + " on");
  }
}

// Appends the entries of list `query`.
void gather(const Neighbors& lists, std::size_t query, std::vector<knn::Neighbor>& found) {
  for (auto i = static_cast<std::size_t>(lists.offsets[query]); i < static_cast<std::size_t>(lists.offsets[query + 1]);
       ++i) {
    if (lists.indices[i] >= 0) found.push_back({lists.distances[i], lists.indices[i]});
  }
}

}  // namespace

Neighbors merge_neighbors(std::span<const Neighbors> parts, std::int64_t n_neighbors) try {
  if (n_neighbors < 0) {
    throw Error(ErrorCode::invalid_argument, "n_neighbors = " + std::to_string(n_neighbors) + " is below 0");
  }
  check_parts(parts);
  Neighbors merged;
  if (parts.empty()) return merged;
  merged.first_query = parts.front().first_query;
  std::vector<knn::Neighbor> found;
  for (std::size_t query = 0; query + 1 < parts.front().offsets.size(); ++query) {
    found.clear();
    for (const Neighbors& part : parts) gather(part, query, found);
    const std::size_t kept =
        n_neighbors == 0 ? found.size() : std::min(found.size(), static_cast<std::size_t>(n_neighbors));
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(), knn::closer);
    for (std::size_t i = 0; i < kept; ++i) {
      merged.indices.push_back(found[i].row);
      merged.distances.push_back(found[i].distance);
    }
    merged.offsets.push_back(static_cast<std::int64_t>(merged.indices.size()));
  }
  return merged;
} catch (...) {
  rethrow_as_error();
}

FeatureRanges feature_ranges(const Table& table, const RunOptions& run) try {
  check_shape(table);
  check_names(table);
  FeatureRanges ranges;
  std::vector<const Column*> columns;
  for (const std::int64_t index : table.features()) {
    const Column& column = table.columns[static_cast<std::size_t>(index)];
    if (column.nominal()) continue;
    columns.push_back(&column);
    ranges.features.push_back({column.name, kInfinity, -kInfinity});
  }
  ThreadPool pool(run.threads);
  pool.parallel_for(static_cast<std::int64_t>(columns.size()), run.cancel, [&](std::int64_t i, int) {
    FeatureRange& range = ranges.features[static_cast<std::size_t>(i)];
    std::visit(
        [&](const auto& values) {
          for (const auto value : values) {
            range.low = std::min(range.low, static_cast<double>(value));  // a NaN changes neither
            range.high = std::max(range.high, static_cast<double>(value));
          }
        },
        columns[static_cast<std::size_t>(i)]->data);
  });
  return ranges;
} catch (...) {
  rethrow_as_error();
}

FeatureRanges join(const FeatureRanges& a, const FeatureRanges& b) try {
  const auto same = [](const FeatureRange& x, const FeatureRange& y) { return x.name == y.name; };
  if (!std::equal(a.features.begin(), a.features.end(), b.features.begin(), b.features.end(), same)) {
    throw Error(ErrorCode::invalid_argument, "the ranges are those of tables with different numeric features");
  }
  FeatureRanges joined = a;
  for (std::size_t i = 0; i < joined.features.size(); ++i) {
    FeatureRange& range = joined.features[i];
    range.low = std::min(range.low, b.features[i].low);
    range.high = std::max(range.high, b.features[i].high);
  }
  return joined;
} catch (...) {
  rethrow_as_error();
}

namespace knn {

double width_of(const FeatureRange& range) {
  return range.low <= range.high ? range.high - range.low : 0.0;
}

const FeatureRange& range_of(const FeatureRanges& ranges, const std::string& name) {
  const auto found = std::find_if(ranges.features.begin(), ranges.features.end(),
                                  [&](const FeatureRange& range) { return range.name == name; });
  if (found == ranges.features.end()) {
    throw Error(ErrorCode::invalid_argument, "ranges are given, but none of the feature '" + name + "'");
  }
  return *found;
}

}  // namespace knn
}  // namespace stope
