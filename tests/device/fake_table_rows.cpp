// The fake plug-in's training rows in a GPU's memory.
#include <algorithm>
#include <limits>
#include <memory>

#include "device/fake_filters.hpp"

namespace stope::fake {

std::vector<double> taken(const abi::DeviceRows& from, std::int64_t n, std::int64_t width) {
  std::vector<double> rows(static_cast<std::size_t>(n * width));
  for (std::int64_t i = 0; i < n * width; ++i) {
    const std::int64_t at = i / width * from.stride + i % width;
    rows[static_cast<std::size_t>(i)] = from.is_float != 0
                                            ? static_cast<double>(static_cast<const float*>(from.values)[at])
                                            : static_cast<const double*>(from.values)[at];
  }
  return rows;
}

namespace {

int rows_create(std::int32_t gpu, const abi::DeviceRows* from, std::int64_t n, std::int64_t width,
                abi::RowsOnGpu** rows, abi::Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot allocate on the GPU");
  if (the_host->device_fails() || gpu != 1) return fail(failure, ErrorCode::device_lost, "lost while copying");
  *rows = std::make_unique<abi::RowsOnGpu>(abi::RowsOnGpu{taken(*from, n, width), n, width}).release();
  return 0;
}

void rows_destroy(abi::RowsOnGpu* rows) {
  const std::unique_ptr<abi::RowsOnGpu> owner(rows);
}

int rows_extremes(const abi::RowsOnGpu* rows, const abi::ColumnExtremes* out, abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while looking for extremes");
  std::fill_n(out->low, rows->width, std::numeric_limits<double>::infinity());
  std::fill_n(out->high, rows->width, -std::numeric_limits<double>::infinity());
  std::fill_n(out->missing, rows->width, 0);
  for (std::int64_t i = 0; i < rows->n * rows->width; ++i) {
    const double value = rows->values[static_cast<std::size_t>(i)];
    const std::int64_t column = i % rows->width;
    if (value < out->low[column]) out->low[column] = value;
    if (value > out->high[column]) out->high[column] = value;
    if (value != value) out->missing[column] = 1;
  }
  count_to_host(rows->width * 20);
  return 0;
}

int rows_download(const abi::RowsOnGpu* rows, std::int64_t first, const std::int64_t* which, std::int64_t n, double* to,
                  abi::Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while copying");
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = which != nullptr ? which[i] : first + i;
    if (row < 0 || row >= rows->n) return fail(failure, ErrorCode::internal, "a row that is not there");
    std::copy_n(rows->values.data() + row * rows->width, rows->width, to + i * rows->width);
  }
  count_to_host(n * rows->width * 8);
  return 0;
}

}  // namespace

void add_table_rows(abi::Functions& functions) {
  functions.rows_create = &rows_create;
  functions.rows_destroy = &rows_destroy;
  functions.rows_extremes = &rows_extremes;
  functions.rows_download = &rows_download;
}

}  // namespace stope::fake
