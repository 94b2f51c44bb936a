// Sorts columns for a scan: short ones several at a time by a network (column_network.hpp), others one by one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/backend.hpp"
#include "discretize/column_network.hpp"
#include "discretize/crew.hpp"
#include "discretize/problem.hpp"
#include "discretize/sorted_rows.hpp"
#include "stope/buffer.hpp"

namespace stope::discretize {

/// The network of a back end; null for the reference, which sorts every column with std::stable_sort.
const NetworkKernels* network_kernels(device::Backend backend);

/// The rank of rows by class, equal classes in row order. It is empty for tables that no network sorts.
struct ClassRanks {
  std::vector<std::uint32_t> rank_of_row, row_of_rank;
  explicit ClassRanks(const DecisionProblem& problem);
};

/// Bytes per row that a sorter of long columns holds, with the order that order_of() fills in.
inline constexpr std::int64_t kSorterBytesPerRow =
    kSortBytesPerRow + std::int64_t{sizeof(std::uint32_t)} + std::int64_t{sizeof(std::uint8_t)};

/// The sorter of one thread.
class GroupSorter {
 public:
  /// `kernels` may be null; `ranks` must outlive the sorter.
  GroupSorter(const NetworkKernels* kernels, std::int64_t n_rows, const ClassRanks& ranks,
              Storage storage = Storage::memory);

  /// How many columns sort() takes: 1 unless the network sorts columns of this length.
  int lanes() const { return lanes_; }
  /// Sorts numeric attributes of one type, no more than lanes().
  void sort(std::span<const Attribute* const> columns);
  /// Whether best_of_two_classes() holds for this column: the network sorted it, and different values have different
  /// words.
  bool network_decides(int lane) const { return decides_[lane]; }
  /// n_first: rows of the first class of two.
  void best_of_two_classes(std::int64_t n_first, NetworkBest& best) const;
  /// Returns the row at a place in a column that the network decides.
  std::uint32_t network_row(int lane, std::int64_t position) const;
  /// Fills in the rows in order and, for every place but the last, whether the next row has another value.
  void order_of(int lane, std::uint32_t* rows, std::uint8_t* differs, const Crew& crew = {});

 private:
  bool words_tell_values_apart(int lane) const;

  const NetworkKernels* kernels_;  // null where the network does not sort columns of this length
  bool reference_;
  std::int64_t n_;
  const ClassRanks& ranks_;
  int lanes_ = 1;
  std::vector<const Attribute*> columns_;
  Buffer<std::uint64_t> words_;
  bool decides_[kMostLanes] = {};
  SortScratch scratch_;
};

}  // namespace stope::discretize
