// What earlier searches in a fitted table leave for later ones, apart from images: counts, choices, spare memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "knn/engine/plan.hpp"
#include "stope/buffer.hpp"
#include "stope/table.hpp"

namespace stope::knn {

/// The history of one fitted table. Safe from several threads at once.
class SearchHistory {
 public:
  /// Adds the queries of a search, and returns the sum of all so far.
  std::int64_t add_queries(std::int64_t n);
  std::int64_t n_queries() { return add_queries(0); }

  /// Adds the seconds that a search of one thread takes without an order of near rows, by estimate, and returns the sum
  /// of all so far (docs/adr/0054-remembered-scans.md).
  double add_scan(double seconds);

  /// Returns what `choose` returned when it was first asked for this back end and question. Looking at a sample costs
  /// as much as a small search.
  enum class Question { any_order, rows_in_order, boxes_on_gpu };
  Method choice(device::Backend backend, Question question, const std::function<Method()>& choose);

  /// What the CPU's filter did for a query, on average over its last search with this order of rows. Until there was
  /// one, `compared` is negative.
  struct Work {
    double compared = -1.0;  ///< images of rows
    double evaluated = 0.0;  ///< distances
  };
  Work work(BlockOrder order);
  void keep_work(BlockOrder order, const SearchReport& report, std::int64_t n_queries);

  /// How many places lists within a radius are worth (Selection::places): those that this radius needed when it was
  /// last searched, else those of the next smaller one, whose lists are no longer.
  std::int64_t places(double radius);
  void keep_places(double radius, std::int64_t places);

  /// The groups of the training rows by a column of the table, which do not change.
  struct ColumnGroups {
    std::int64_t index = -1;      ///< of the column
    Column column;                ///< without its data
    Buffer<std::int64_t> groups;  ///< per training row
  };
  /// Returns those of the last search that kept some, if they are by this column; else null.
  std::shared_ptr<const ColumnGroups> groups(std::int64_t index);
  void keep_groups(std::shared_ptr<const ColumnGroups> groups);

  /// Returns memory for a number per training row: what a search left, or new memory. It is nobody else's.
  Buffer<std::int64_t> take_numbers(std::int64_t n_rows);
  void keep_numbers(Buffer<std::int64_t> numbers);

  /// Returns memory for the lists of a block of queries, as the last search left it; empty if there is none. Memory
  /// costs more to write for the first time than to write again.
  Neighbors take_lists();
  void keep_lists(Neighbors lists);

 private:
  std::mutex mutex_;
  std::int64_t n_queries_ = 0;
  double scanned_ = 0.0;
  std::map<std::pair<device::Backend, Question>, Method> choices_;
  Work work_[2];  // per order
  Neighbors lists_;
  std::map<double, std::int64_t> places_;  // per radius
  std::shared_ptr<const ColumnGroups> groups_;
  Buffer<std::int64_t> numbers_;
};

}  // namespace stope::knn
