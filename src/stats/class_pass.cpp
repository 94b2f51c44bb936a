#include "stats/class_pass.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "stats/leaf_part.hpp"

namespace stope::stats {
namespace {

// Values at the beginning of a class lie at a multiple of a cache line.
constexpr std::int64_t kAligned = 16;
// Rows between asking for a slot's cache line and writing to it. The slots of many classes leave the second-level
// cache.
constexpr std::int64_t kAhead = 64;

std::int64_t room_of(std::int64_t n_rows) {
  return checked::ceil_div(std::min(n_rows, kLeafRows), kAligned) * kAligned;
}

// Returns the first row that holds the value, which one of them does. Rows are compared in blocks, without a branch a
// row.
template <class T>
std::int64_t first_row(const T* x, std::int64_t n, T value) {
  constexpr std::int64_t kBlock = 64;
  std::int64_t row = 0;
  for (; row + kBlock <= n; row += kBlock) {
    int found = 0;
    for (std::int64_t i = 0; i < kBlock; ++i) found |= x[row + i] == value ? 1 : 0;
    if (found != 0) break;
  }
  while (row + 1 < n && x[row] != value) ++row;
  return row;
}

// What one worker needs for a column.
struct Scratch {
  Buffer<double> values;
  std::vector<double> min, max;  // of the leaves of a class so far; NaN: none
  std::vector<Part<double>> leaves;
};

// Adds a leaf's sums up. Its extremes get their rows where they exceed those of the leaves before; others lose in the
// join, whatever their rows are.
template <class T>
Part<double> leaf_part(const T* x, const ClassSlots::Leaf& leaf, const PassOptions& options, Scratch& scratch) {
  LeafSums<T> sums{};
  run_kernel(*options.kernels, x, leaf.n, options.wanted, sums);
  Part<double> part = part_of(sums, leaf.n, leaf.row);
  if (part.count == 0) return part;
  const auto k = static_cast<std::size_t>(leaf.of_class);
  if (!(part.min >= scratch.min[k])) {
    const std::int64_t row = first_row(x, leaf.n, sums.min);
    part.min_row = leaf.row + row;
    part.min = static_cast<double>(x[row]);  // 0 or -0, as it is stored
    scratch.min[k] = part.min;
  }
  if (!(part.max <= scratch.max[k])) {
    const std::int64_t row = first_row(x, leaf.n, sums.max);
    part.max_row = leaf.row + row;
    part.max = static_cast<double>(x[row]);
    scratch.max[k] = part.max;
  }
  return part;
}

template <class T>
void pass_over_column(const T* x, const ClassSlots& slots, const PassOptions& options, Scratch& scratch,
                      Part<double>* parts) {
  const std::size_t n_classes = slots.begins.size() - 1;
  if (scratch.values.empty()) {
    scratch.values = Buffer<double>(slots.size);
    // Each class is written at a place of its own: with small pages, nearly every value would need another entry of the
    // TLB.
    prefer_huge_pages(scratch.values.data(), static_cast<std::size_t>(slots.size) * sizeof(double));
  }
  scratch.min.assign(n_classes, std::numeric_limits<double>::quiet_NaN());
  scratch.max.assign(n_classes, std::numeric_limits<double>::quiet_NaN());
  scratch.leaves.resize(slots.leaves.size());
  T* const values = reinterpret_cast<T*>(scratch.values.data());
  const std::int32_t* const slot = slots.of_row.data();
  std::int64_t row = 0;
  for (const ClassSlots::Leaf& leaf : slots.leaves) {
    options.cancel.check();
    for (; row < leaf.end; ++row) {
      __builtin_prefetch(values + slot[row + kAhead], 1, 2);
      values[slot[row]] = x[row];
    }
    scratch.leaves[static_cast<std::size_t>(leaf.place)] = leaf_part(values + leaf.slot, leaf, options, scratch);
  }
  for (std::size_t k = 0; k < n_classes; ++k) {
    const std::int64_t n = slots.begins[k + 1] - slots.begins[k];
    Part<double>* const leaves = scratch.leaves.data() + slots.begins[k];
    if (n == 0) continue;
    join_all(leaves, n);
    parts[k] = leaves[0];
  }
}

// Nothing where the slots of `workers` columns do not fit the memory that the run may use.
std::optional<ClassSlots> slots_of(const Column& by, const Classes& classes, std::int64_t workers,
                                   const RunOptions& run) {
  const Buffer<std::int32_t>& codes = by.codes();
  const std::size_t n_classes = classes.begins.size() - 1;
  ClassSlots slots;
  slots.begins.assign(1, 0);
  std::vector<ClassSlots::Leaf> open;  // the leaf of every class that its next row belongs to
  open.reserve(n_classes);
  for (std::size_t k = 0; k < n_classes; ++k) {
    const std::int64_t n = classes.begins[k + 1] - classes.begins[k];
    open.push_back({0, static_cast<std::int64_t>(k), 0, slots.size, std::min(n, kLeafRows), slots.begins.back()});
    slots.begins.push_back(slots.begins.back() + checked::ceil_div(n, kLeafRows));
    slots.size += room_of(n);
  }
  const auto unused = static_cast<std::int32_t>(std::min<std::int64_t>(slots.size, INT32_MAX));
  slots.size += kAligned;
  const std::int64_t a_worker =
      slots.size * std::int64_t{sizeof(double)} + slots.begins.back() * std::int64_t{sizeof(Part<double>)};
  const std::int64_t bytes = codes.size() * std::int64_t{sizeof(std::int32_t)} +
                             slots.begins.back() * std::int64_t{sizeof(ClassSlots::Leaf)} +
                             checked::mul(workers, a_worker);
  if (slots.size > INT32_MAX || bytes > memory_budget(run) / 4) return std::nullopt;
  slots.of_row = Buffer<std::int32_t>(codes.size() + kAhead);
  prefer_huge_pages(slots.of_row.data(), static_cast<std::size_t>(slots.of_row.size()) * sizeof(std::int32_t));
  std::fill(slots.of_row.end() - kAhead, slots.of_row.end(), unused);
  slots.leaves.reserve(static_cast<std::size_t>(slots.begins.back()));
  std::vector<std::int32_t> next;  // slot of the next row
  next.reserve(n_classes);
  for (const ClassSlots::Leaf& leaf : open) next.push_back(static_cast<std::int32_t>(leaf.slot));
  for (std::int64_t row = 0; row < codes.size(); ++row) {
    if (codes[row] < 0) {
      slots.of_row[row] = unused;
      continue;
    }
    const auto k = static_cast<std::size_t>(codes[row]);
    slots.of_row[row] = next[k]++;
    ClassSlots::Leaf& leaf = open[k];
    if (next[k] < leaf.slot + leaf.n) continue;
    leaf.end = row + 1;
    slots.leaves.push_back(leaf);
    next[k] = static_cast<std::int32_t>(leaf.slot);
    leaf.row += leaf.n;
    leaf.n = std::min(kLeafRows, classes.begins[k + 1] - classes.begins[k] - leaf.row);
    ++leaf.place;
  }
  return slots;
}

// One part for every column and class. A column is the source of all rows, with a stride of 1.
std::vector<Part<double>> pass_over_columns(const std::vector<Source>& columns, const ClassSlots& slots,
                                            const PassOptions& options, ThreadPool& pool) {
  const std::size_t n_classes = slots.begins.size() - 1;
  std::vector<Part<double>> parts(columns.size() * n_classes);
  std::vector<Scratch> scratch(static_cast<std::size_t>(pool.size()));
  std::int64_t n_rows = 0;  // that have a class
  for (const ClassSlots::Leaf& leaf : slots.leaves) n_rows += leaf.n;
  const std::unique_ptr<PhaseProgress> progress = progress_of(options, n_rows * std::ssize(columns));
  pool.parallel_for(
      std::ssize(columns), options.cancel,
      [&](std::int64_t c, int worker) {
        const Source& column = columns[static_cast<std::size_t>(c)];
        Scratch& own = scratch[static_cast<std::size_t>(worker)];
        Part<double>* const theirs = parts.data() + static_cast<std::size_t>(c) * n_classes;
        if (column.type == ElementType::float32) {
          pass_over_column(static_cast<const float*>(column.data), slots, options, own, theirs);
        } else {
          pass_over_column(static_cast<const double*>(column.data), slots, options, own, theirs);
        }
        if (progress) progress->add(n_rows);
      },
      progress.get());
  return parts;
}

}  // namespace

std::optional<std::vector<Part<double>>> ClassPass::over(const std::vector<Source>& sources, const PassOptions& options,
                                                         ThreadPool& pool) {
  // One thread reads a column. Gathering takes about four times as long, but every class can have a thread of its own.
  constexpr std::int64_t kTimesAsLong = 4;
  const auto n_columns = static_cast<std::int64_t>(sources.size() / std::max<std::size_t>(n_classes(), 1));
  if (n_columns == 0 || n_columns * kTimesAsLong < pool.size()) return std::nullopt;
  if (!slots_) slots_ = slots_of(by_, classes_, std::min<std::int64_t>(pool.size(), n_columns), run_);
  if (!slots_) return std::nullopt;
  std::vector<Source> columns;
  for (std::size_t i = 0; i < sources.size(); i += n_classes()) {
    columns.push_back(sources[i]);
    columns.back().rows = nullptr;
    columns.back().n = by_.codes().size();
  }
  return pass_over_columns(columns, *slots_, options, pool);
}

}  // namespace stope::stats
