#include "stats/cpu_pass.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "device/instances.hpp"
#include "stats/gather.hpp"
#include "stats/leaf_part.hpp"

namespace stope::stats {
namespace {

RowsKernel<float>* rows_kernel(const LeafKernels& k, float) {
  return k.float32_rows;
}
RowsKernel<double>* rows_kernel(const LeafKernels& k, double) {
  return k.float64_rows;
}
RowsKernel<std::int32_t>* rows_kernel(const LeafKernels& k, std::int32_t) {
  return k.int32_rows;
}
RowsKernel<std::int64_t>* rows_kernel(const LeafKernels& k, std::int64_t) {
  return k.int64_rows;
}

// Collects the leaves of a unit and joins them.
template <class Wide>
struct Unit {
  Part<Wide> leaves[kUnitLeaves];
  std::int64_t n = 0;

  Part<Wide> joined() {
    if (n == 0) return {};
    join_all(leaves, n);
    return leaves[0];
  }
};

// Rows [begin, end) of a source; a unit begins at `begin`.
template <class T>
auto unit_part(const Source& source, std::int64_t begin, std::int64_t end, const PassOptions& options, T* scratch) {
  Unit<typename WideOf<T>::Type> unit;
  const bool in_place =
      has_kernels(source.type) && source.stride == 1 && source.rows == nullptr && options.scale == 1.0;
  for (std::int64_t row = begin; row < end; row += kLeafRows) {
    const std::int64_t n = std::min(kLeafRows, end - row);
    if (!in_place) gather(source, row, n, options.scale, scratch);
    const T* const x = in_place ? static_cast<const T*>(source.data) + row : scratch;
    LeafSums<T> sums{};
    run_kernel(*options.kernels, x, n, options.wanted, sums);
    unit.leaves[unit.n++] = part_of(sums, n, row);
  }
  return unit.joined();
}

// Returns the first row that holds the value, among the rows that the hint of part_of() leaves.
template <class Stored>
std::int64_t first_row(const Source& source, std::int64_t hint, const PassOptions& options, KernelOf<Stored> value) {
  const std::int64_t leaf = hint / kLeafRows * kLeafRows, piece = hint % kLeafRows - 1;
  std::int64_t row = leaf, end = std::min(source.n, leaf + kLeafRows), step = 1;
  if (piece >= 0 && options.wanted == Wanted::moments) {
    row += piece;
    step = kChains;
  } else if (piece >= 0) {
    row += piece * kChainRows;
    end = std::min(end, row + kChainRows);
  }
  for (; row < end; row += step) {
    KernelOf<Stored> x;
    gather_stored<Stored>(source, row, 1, options.scale, &x);
    if (x == value) return row;
  }
  return -1;
}

// Replaces the hints of part_of() by the rows of the extremes, and the extremes by the values as stored (0 or -0).
template <class Wide>
void locate(const Source& source, const PassOptions& options, Part<Wide>& part) {
  if (part.count == 0) return;
  with_type(source.type, [&](auto stored) {
    using Stored = decltype(stored);
    using T = KernelOf<Stored>;
    if constexpr (std::is_same_v<typename WideOf<T>::Type, Wide>) {
      part.min_row = first_row<Stored>(source, part.min_row, options, static_cast<T>(part.min));
      part.max_row = first_row<Stored>(source, part.max_row, options, static_cast<T>(part.max));
      T x;
      gather_stored<Stored>(source, part.min_row, 1, options.scale, &x);
      part.min = static_cast<Wide>(x);
      gather_stored<Stored>(source, part.max_row, 1, options.scale, &x);
      part.max = static_cast<Wide>(x);
    }
  });
}

// Work on sources [source, end): one unit of a long one, or several short ones.
struct Task {
  std::int64_t source, end, unit;
};

std::vector<Task> tasks_of(const std::vector<Source>& sources) {
  std::vector<Task> tasks;
  std::int64_t begin = 0, rows = 0;
  const auto n = static_cast<std::int64_t>(sources.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t own = sources[static_cast<std::size_t>(i)].n;
    if (own > kUnitRows || rows + own > kUnitRows) {
      if (begin < i) tasks.push_back({begin, i, 0});
      begin = i;
      rows = 0;
    }
    rows += own;
    if (own <= kUnitRows) continue;
    for (std::int64_t unit = 0; unit * kUnitRows < own; ++unit) tasks.push_back({i, i + 1, unit});
    begin = i + 1;
    rows = 0;
  }
  if (begin < n) tasks.push_back({begin, n, 0});
  return tasks;
}

// Joins the units of every column; unit u of column c is at parts[offsets[c] + u].
template <class Wide>
std::vector<Part<Wide>> join_units(std::vector<Part<Wide>>& parts, const std::vector<std::int64_t>& offsets) {
  std::vector<Part<Wide>> joined(offsets.size() - 1);
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const std::int64_t n = offsets[i + 1] - offsets[i];
    if (n == 0) continue;
    join_all(parts.data() + offsets[i], n);
    joined[i] = parts[static_cast<std::size_t>(offsets[i])];
  }
  return joined;
}

template <class Wide>
void locate_all(const std::vector<Source>& sources, const PassOptions& options, ThreadPool& pool,
                std::vector<Part<Wide>>& parts) {
  pool.parallel_for(static_cast<std::int64_t>(parts.size()), options.cancel, [&](std::int64_t i, int) {
    locate(sources[static_cast<std::size_t>(i)], options, parts[static_cast<std::size_t>(i)]);
  });
}

}  // namespace

std::unique_ptr<PhaseProgress> progress_of(const PassOptions& options, std::int64_t total) {
  if (options.told == nullptr) return nullptr;
  return std::make_unique<PhaseProgress>(*options.told, options.phase, std::max(options.total, total),
                                         options.done_before);
}

const LeafKernels& kernels_for(device::Backend backend) {
  constexpr device::Instances kKernels = {&scalar::kLeafKernels, &avx2::kLeafKernels, &avx512::kLeafKernels};
  return *kKernels.of(backend);
}

template <class Wide>
std::vector<Part<Wide>> pass_over(const std::vector<Source>& sources, const PassOptions& options, ThreadPool& pool) {
  std::vector<std::int64_t> offsets = {0};
  std::int64_t total = 0;
  for (const Source& source : sources) {
    offsets.push_back(offsets.back() + checked::ceil_div(source.n, kUnitRows));
    total += source.n;
  }
  std::vector<Part<Wide>> parts(static_cast<std::size_t>(offsets.back()));
  std::vector<Buffer<double>> scratch(static_cast<std::size_t>(pool.size()));
  const std::vector<Task> tasks = tasks_of(sources);
  std::unique_ptr<PhaseProgress> progress = progress_of(options, total);
  pool.parallel_for(
      static_cast<std::int64_t>(tasks.size()), options.cancel,
      [&](std::int64_t t, int worker) {
        const Task& task = tasks[static_cast<std::size_t>(t)];
        Buffer<double>& own = scratch[static_cast<std::size_t>(worker)];
        if (own.empty()) own = Buffer<double>(kLeafRows);
        std::int64_t rows = 0;
        for (std::int64_t i = task.source; i < task.end; ++i) {
          const Source& source = sources[static_cast<std::size_t>(i)];
          const std::int64_t begin = task.unit * kUnitRows, end = std::min(source.n, begin + kUnitRows);
          rows += end - begin;
          if (begin == end) continue;
          with_kernel_type(source.type, [&](auto type) {
            using T = decltype(type);
            if constexpr (std::is_same_v<typename WideOf<T>::Type, Wide>) {
              parts[static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)] + task.unit)] =
                  unit_part(source, begin, end, options, reinterpret_cast<T*>(own.data()));
            }
          });
        }
        if (progress) progress->add(rows);
      },
      progress.get());
  std::vector<Part<Wide>> joined = join_units(parts, offsets);
  locate_all(sources, options, pool, joined);
  return joined;
}

namespace {

// Computes the leaf of `width` columns of a matrix that begins at `row`, into one entry of `sums` a column.
template <class T>
void leaf_of_rows(const std::vector<Source>& columns, std::int64_t first, std::int64_t width, std::int64_t row,
                  std::int64_t n, const PassOptions& options, char* scratch, LeafSums<T>* sums) {
  const Source& source = columns[static_cast<std::size_t>(first)];
  if (has_kernels(source.type)) {
    const T* from = static_cast<const T*>(source.data) + row * source.stride;
    rows_kernel(*options.kernels, T{})(from, source.stride, n, width, options.wanted, scratch, sums);
    return;
  }
  // Small integers are widened, one column after the other. The rows of a leaf stay in the second-level cache.
  T* const values = reinterpret_cast<T*>(scratch);
  for (std::int64_t c = 0; c < width; ++c) {
    gather(columns[static_cast<std::size_t>(first + c)], row, n, 1.0, values);
    run_kernel(*options.kernels, values, n, options.wanted, sums[c]);
  }
}

}  // namespace

template <class Wide>
std::vector<Part<Wide>> pass_over_rows(const std::vector<Source>& columns, const PassOptions& options,
                                       ThreadPool& pool) {
  const LeafKernels& kernels = *options.kernels;
  const auto n_columns = static_cast<std::int64_t>(columns.size());
  const std::int64_t n_rows = columns.front().n;
  const std::int64_t n_blocks = checked::ceil_div(n_columns, kernels.row_columns);
  const std::int64_t n_units = checked::ceil_div(n_rows, kUnitRows);
  std::vector<std::int64_t> offsets;
  for (std::int64_t c = 0; c <= n_columns; ++c) offsets.push_back(c * n_units);
  std::vector<Part<Wide>> parts(static_cast<std::size_t>(offsets.back()));
  std::vector<Buffer<char>> scratch(static_cast<std::size_t>(pool.size()));
  std::unique_ptr<PhaseProgress> progress = progress_of(options, n_rows * n_columns);
  pool.parallel_for(
      n_blocks * n_units, options.cancel,
      [&](std::int64_t t, int worker) {
        const std::int64_t unit = t / n_blocks, column = t % n_blocks * kernels.row_columns;
        const std::int64_t width = std::min(kernels.row_columns, n_columns - column);
        Buffer<char>& own = scratch[static_cast<std::size_t>(worker)];
        if (own.empty())
          own = Buffer<char>(std::max<std::int64_t>(kernels.row_scratch, kLeafRows * sizeof(std::int64_t)));
        const std::int64_t begin = unit * kUnitRows, end = std::min(n_rows, begin + kUnitRows);
        with_kernel_type(columns.front().type, [&](auto type) {
          using T = decltype(type);
          if constexpr (std::is_same_v<typename WideOf<T>::Type, Wide>) {
            std::vector<Unit<Wide>> units(static_cast<std::size_t>(width));
            std::vector<LeafSums<T>> sums(static_cast<std::size_t>(width));
            for (std::int64_t row = begin; row < end; row += kLeafRows) {
              const std::int64_t n = std::min(kLeafRows, end - row);
              leaf_of_rows(columns, column, width, row, n, options, own.data(), sums.data());
              for (std::size_t c = 0; c < units.size(); ++c) units[c].leaves[units[c].n++] = part_of(sums[c], n, row);
            }
            for (std::int64_t c = 0; c < width; ++c) {
              parts[static_cast<std::size_t>((column + c) * n_units + unit)] =
                  units[static_cast<std::size_t>(c)].joined();
            }
          }
        });
        if (progress) progress->add((end - begin) * width);
      },
      progress.get());
  std::vector<Part<Wide>> joined = join_units(parts, offsets);
  locate_all(columns, options, pool, joined);
  return joined;
}

template std::vector<Part<double>> pass_over(const std::vector<Source>&, const PassOptions&, ThreadPool&);
template std::vector<Part<std::int64_t>> pass_over(const std::vector<Source>&, const PassOptions&, ThreadPool&);
template std::vector<Part<double>> pass_over_rows(const std::vector<Source>&, const PassOptions&, ThreadPool&);
template std::vector<Part<std::int64_t>> pass_over_rows(const std::vector<Source>&, const PassOptions&, ThreadPool&);

}  // namespace stope::stats
