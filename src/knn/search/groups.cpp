#include "knn/search/groups.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "base/threads_for.hpp"
#include "knn/engine/search_history.hpp"
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

// Calls work(begin, end) for pieces of n rows, in threads where that pays.
template <class Work>
void for_pieces(std::int64_t n, const RunOptions& run, const Work& work) {
  constexpr std::int64_t kRowsPerTask = std::int64_t{1} << 17;
  constexpr double kSecondsPerRow = 1e-9;
  ThreadPool pool(
      threads_for(static_cast<double>(n) * kSecondsPerRow, run.threads > 0 ? run.threads : available_threads()));
  pool.parallel_for(checked::ceil_div(n, kRowsPerTask), run.cancel,
                    [&](std::int64_t task, int) { work(task * kRowsPerTask, std::min(n, (task + 1) * kRowsPerTask)); });
}

// The value's bits name the group; + 0.0 makes one group of -0 and +0. A double whose bits read -1 is a NaN.
template <class Value>
void number_values(const Value* values, std::int64_t begin, std::int64_t end, std::int64_t* groups) {
  for (std::int64_t row = begin; row < end; ++row) {
    const double value = static_cast<double>(values[row]) + 0.0;
    groups[row] = value == value ? std::bit_cast<std::int64_t>(value) : kNoGroup;
  }
}

// Writes a column's groups: a numeric column's values, or a nominal column's codes in the training table.
void number_groups(const Column& column, const Column& train, const RunOptions& run, std::int64_t* groups) {
  if (column.nominal() != train.nominal()) {
    throw Error(ErrorCode::invalid_data,
                "the group column '" + column.name + "' is numeric in one table and nominal in the other",
                {.option = "exclude_group", .feature = column.name});
  }
  if (!column.nominal()) {
    return for_pieces(column.size(), run, [&](std::int64_t begin, std::int64_t end) {
      std::visit([&](const auto& values) { number_values(values.data(), begin, end, groups); }, column.data);
    });
  }
  check_codes(column);
  const std::vector<std::int32_t> to_train = map_values(column.values, train.values, kUnseenCode);
  const std::int32_t* const codes = column.codes().data();
  for_pieces(column.size(), run, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int32_t code = codes[row];
      groups[row] = code == kMissingCode ? kNoGroup : to_train[static_cast<std::size_t>(code)];
    }
  });
}

Buffer<std::int64_t> query_groups(const Column& column, const Column& train, const RunOptions& run) {
  Buffer<std::int64_t> groups(column.size());
  number_groups(column, train, run, groups.data());
  return groups;
}

// Returns the groups of the training rows by a column of their table.
std::shared_ptr<const SearchHistory::ColumnGroups> train_groups(const Fitted& fitted, std::int64_t index,
                                                                const RunOptions& run) {
  if (auto kept = fitted.history().groups(index); kept != nullptr) return kept;
  auto made = std::make_shared<SearchHistory::ColumnGroups>();
  made->index = index;
  made->column = fitted.train_column(index);
  made->groups = query_groups(made->column, made->column, run);
  std::visit([](auto& values) { values = {}; }, made->column.data);
  if (fitted.resident()) fitted.history().keep_groups(made);  // a table in parts has no memory to spare
  return made;
}

void check_groups(const Column& column, std::int64_t n_rows, const char* rows) {
  if (column.size() == n_rows) return check_shape({{column}, n_rows, {}});
  refuse("the groups of the " + std::string(rows) + " rows are " + std::to_string(column.size()) + " for " +
         std::to_string(n_rows) + " rows");
}

}  // namespace

Groups groups_of(const Fitted& fitted, const QueryRows& queries, std::int64_t n_queries, const SearchJob& job,
                 const RunOptions& run) {
  const bool given = job.exclude_train != nullptr || job.exclude_query != nullptr;
  if (job.exclude_group.empty() && !given) return {};
  if (given) {
    if (!job.exclude_group.empty()) refuse("groups are given, and a column '" + job.exclude_group + "' of groups, too");
    if (job.exclude_train == nullptr || job.exclude_query == nullptr) {
      refuse("groups are wanted of the training rows and of the query rows");
    }
    check_groups(*job.exclude_train, fitted.n_rows(), "training");
    check_groups(*job.exclude_query, n_queries, "query");
    Groups groups{fitted.history().take_numbers(fitted.n_rows()), {}, true};
    number_groups(*job.exclude_train, *job.exclude_train, run, groups.train.data());
    groups.query = query_groups(*job.exclude_query, *job.exclude_train, run);
    return groups;
  }
  if (queries.array() != nullptr) refuse("an array has no column '" + job.exclude_group + "' to exclude groups by");
  const auto train = train_groups(fitted, group_column(fitted.outline(), job.exclude_group), run);
  if (queries.table() == nullptr) return {train->groups, train->groups};
  const Table& table = *queries.table();
  const Column& query = table.columns[static_cast<std::size_t>(group_column(table, job.exclude_group))];
  return {train->groups, query_groups(query, train->column, run)};
}

namespace {

/// The groups of sampled queries, in a table that stays in the cache. Most training rows are in none of them, and a bit
/// in 8 KB says so.
class SampledGroups {
 public:
  static constexpr std::size_t kSlots = 4096;

  void add(std::int64_t group) {
    const std::uint64_t hash = hash_of(group);
    bits_[hash >> 54U] |= std::uint64_t{1} << (hash >> 48U & 63U);
    slots_[slot_of(group)] = group;
  }
  bool may_have(std::int64_t group) const {
    const std::uint64_t hash = hash_of(group);
    return (bits_[hash >> 54U] >> (hash >> 48U & 63U) & 1U) != 0;
  }
  /// Returns the slot of a group, or kSlots if it is not in the sample.
  std::size_t find(std::int64_t group) const {
    const std::size_t slot = slot_of(group);
    return group != kNoGroup && slots_[slot] == group ? slot : kSlots;
  }

 private:
  static std::uint64_t hash_of(std::int64_t group) { return static_cast<std::uint64_t>(group) * 0x9e3779b97f4a7c15U; }
  std::size_t slot_of(std::int64_t group) const {
    std::size_t slot = hash_of(group) >> 52U;
    while (slots_[slot] != kNoGroup && slots_[slot] != group) slot = (slot + 1) % kSlots;
    return slot;
  }

  std::vector<std::uint64_t> bits_ = std::vector<std::uint64_t>(1024, 0);
  std::vector<std::int64_t> slots_ = std::vector<std::int64_t>(kSlots, kNoGroup);
};

}  // namespace

std::int64_t usual_group_rows(const Groups& groups, const RunOptions& run) {
  constexpr std::int64_t kSample = 1024, kLarger = 64;  // one in so many groups may be larger
  const std::int64_t n = std::min(kSample, groups.query.size());
  if (groups.train.empty() || n == 0) return 0;
  SampledGroups sample;
  const auto sampled = [&](std::int64_t i) { return groups.query[i * groups.query.size() / n]; };
  for (std::int64_t i = 0; i < n; ++i) {
    if (sampled(i) != kNoGroup) sample.add(sampled(i));
  }
  std::vector<std::int64_t> counts(SampledGroups::kSlots + 1, 0);
  std::mutex mutex;
  for_pieces(groups.train.size(), run, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> own(counts.size(), 0);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t group = groups.train[row];
      if (sample.may_have(group)) ++own[sample.find(group)];
    }
    const std::scoped_lock lock(mutex);
    for (std::size_t slot = 0; slot < own.size(); ++slot) counts[slot] += own[slot];
  });
  counts.back() = 0;  // of the rows in no sampled group
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(counts[sample.find(sampled(i))]);
  const auto usual = rows.end() - 1 - static_cast<std::ptrdiff_t>(n / kLarger);
  std::nth_element(rows.begin(), usual, rows.end());
  return *usual;
}

}  // namespace stope::knn
