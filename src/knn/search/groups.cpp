#include "knn/search/groups.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "stope/error.hpp"
#include "table/check_table.hpp"
#include "table/match.hpp"

namespace stope::knn {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& source = {}) {
  throw Error(ErrorCode::invalid_argument, text, {.file = source, .option = "exclude_group"});
}

std::int64_t group_column(const Table& table, const std::string& name) {
  const std::int64_t index = table.find(name);
  if (index < 0) refuse("there is no column '" + name + "' to exclude groups by", table.source);
  return index;
}

// The groups are a numeric column's values; for a nominal column they are the training table's codes.
std::vector<std::int64_t> group_ids(const Column& column, const Column& train) {
  if (column.nominal() != train.nominal()) {
    throw Error(ErrorCode::invalid_data,
                "the group column '" + column.name + "' is numeric in one table and nominal in the other",
                {.option = "exclude_group", .feature = column.name});
  }
  if (column.nominal()) check_codes(column);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(column.size()), kNoGroup);
  const std::vector<std::int32_t> codes = map_values(column.values, train.values, kUnseenCode);
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (column.missing(row)) continue;
    std::int64_t id = 0;
    if (column.nominal()) {
      id = codes[static_cast<std::size_t>(column.codes()[row])];
    } else {
      // The value's bits name the group; + 0.0 makes one group of -0 and +0. A double whose bits read -1 is a NaN.
      id = std::bit_cast<std::int64_t>(column.at(row) + 0.0);
    }
    ids[static_cast<std::size_t>(row)] = id;
  }
  return ids;
}

void check_groups(const Column& column, std::int64_t n_rows, const char* rows) {
  if (column.size() == n_rows) return check_shape({{column}, n_rows, {}});
  refuse("the groups of the " + std::string(rows) + " rows are " + std::to_string(column.size()) + " for " +
         std::to_string(n_rows) + " rows");
}

}  // namespace

Groups groups_of(const Fitted& fitted, const QueryRows& queries, std::int64_t n_queries, const SearchJob& job) {
  const bool given = job.exclude_train != nullptr || job.exclude_query != nullptr;
  if (job.exclude_group.empty() && !given) return {};
  if (given) {
    if (!job.exclude_group.empty()) refuse("groups are given, and a column '" + job.exclude_group + "' of groups, too");
    if (job.exclude_train == nullptr || job.exclude_query == nullptr) {
      refuse("groups are wanted of the training rows and of the query rows");
    }
    check_groups(*job.exclude_train, fitted.n_rows(), "training");
    check_groups(*job.exclude_query, n_queries, "query");
    return {group_ids(*job.exclude_train, *job.exclude_train), group_ids(*job.exclude_query, *job.exclude_train)};
  }
  if (queries.array() != nullptr) refuse("an array has no column '" + job.exclude_group + "' to exclude groups by");
  const Column train = fitted.train_column(group_column(fitted.outline(), job.exclude_group));
  if (queries.table() == nullptr) return {group_ids(train, train), group_ids(train, train)};
  const Table& table = *queries.table();
  const Column& query = table.columns[static_cast<std::size_t>(group_column(table, job.exclude_group))];
  return {group_ids(train, train), group_ids(query, train)};
}

// Counts the training rows of the sampled queries' groups. A small table of their numbers stays in the cache, so that
// the pass over all training rows costs little.
std::int64_t usual_group_rows(const Groups& groups) {
  constexpr std::size_t kSample = 1024, kSlots = 4096, kLarger = 64;  // one in so many groups may be larger
  if (groups.train.empty() || groups.query.empty()) return 0;
  struct Slot {
    std::int64_t group = kNoGroup, rows = 0;
  };
  std::vector<Slot> slots(kSlots);
  const auto slot_of = [&](std::int64_t group) -> Slot& {
    auto at = static_cast<std::size_t>((static_cast<std::uint64_t>(group) * 0x9e3779b97f4a7c15U) >> 52U);
    while (slots[at].group != kNoGroup && slots[at].group != group) at = (at + 1) % kSlots;
    return slots[at];
  };
  const std::size_t n = std::min(kSample, groups.query.size());
  const auto sampled = [&](std::size_t i) { return groups.query[i * groups.query.size() / n]; };
  for (std::size_t i = 0; i < n; ++i) {
    if (sampled(i) != kNoGroup) slot_of(sampled(i)).group = sampled(i);
  }
  for (const std::int64_t group : groups.train) {
    if (group == kNoGroup) continue;
    if (Slot& slot = slot_of(group); slot.group == group) ++slot.rows;
  }
  std::vector<std::int64_t> rows;
  rows.reserve(n);
  for (std::size_t i = 0; i < n; ++i) rows.push_back(sampled(i) == kNoGroup ? 0 : slot_of(sampled(i)).rows);
  const auto usual = rows.end() - 1 - static_cast<std::ptrdiff_t>(n / kLarger);
  std::nth_element(rows.begin(), usual, rows.end());
  return *usual;
}

}  // namespace stope::knn
