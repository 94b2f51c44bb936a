#include "knn/gpu/gpu_table.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "knn/fitted.hpp"
#include "knn/gpu/call.hpp"
#include "knn/gpu/device_rows_abi.hpp"
#include "knn/gpu/reference/plan.hpp"
#include "knn/measure/table.hpp"
#include "stope/error.hpp"

namespace stope::knn {

using cuda_abi::Failure;

void GpuTable::Destroy::operator()(cuda_abi::RowsOnGpu* rows) const {
  if (device::cuda_lives()) cuda_functions().rows_destroy(rows);
}

GpuTable::GpuTable(const ArrayView& rows) : gpu_(rows.gpu), n_rows_(rows.n_rows), width_(rows.n_columns) {
  const cuda_abi::DeviceRows from{rows.data, rows.row_stride, rows.type == ElementType::float32 ? 1 : 0, 0,
                                  rows.stream};
  checked_call([&](Failure* failure) {
    cuda_abi::RowsOnGpu* made = nullptr;
    const int code = cuda_functions().rows_create(gpu_, &from, n_rows_, width_, &made, failure);
    rows_.reset(made);
    return code;
  });
}

GpuTable::Extremes GpuTable::extremes() const {
  const auto width = static_cast<std::size_t>(width_);
  Extremes found{std::vector<double>(width), std::vector<double>(width), std::vector<std::int32_t>(width)};
  const cuda_abi::ColumnExtremes out{found.low.data(), found.high.data(), found.missing.data()};
  checked_call([&](Failure* failure) { return cuda_functions().rows_extremes(rows_.get(), &out, failure); });
  return found;
}

void GpuTable::download(std::int64_t first, std::int64_t n, double* to) const {
  checked_call(
      [&](Failure* failure) { return cuda_functions().rows_download(rows_.get(), first, nullptr, n, to, failure); });
}

void GpuTable::gather(const std::vector<std::int64_t>& which, double* to) const {
  checked_call([&](Failure* failure) {
    return cuda_functions().rows_download(rows_.get(), 0, which.data(), std::ssize(which), to, failure);
  });
}

std::shared_ptr<const GpuTable> table_kept_there(const ArrayView& rows, const KnnOptions& options,
                                                 const RunOptions& run) {
  const bool floating = rows.type == ElementType::float32 || rows.type == ElementType::float64;
  const bool is_rows = (rows.column_stride == 1 || rows.n_columns == 1) && rows.row_stride >= rows.n_columns;
  const std::vector<double>& weights = options.feature_weights;
  const bool all_compared = std::find(weights.begin(), weights.end(), 0.0) == weights.end();
  const MeasureRow& measure = find_measure(options.metric);
  const bool needs_values = measure.domain != Domain::any || measure.needs_all_rows;
  // A run for the CPU will want the rows on the host. STOPE_DEVICE_ROWS forbids a GPU to hold the whole table.
  const bool for_gpus = run.device != "cpu" && environment::count(environment::Variable::device_rows) == 0;
  if (!floating || !is_rows || !all_compared || needs_values || !for_gpus || rows.n_rows == 0) return nullptr;
  const std::int64_t bytes = checked::mul(checked::mul(rows.n_rows, rows.n_columns), sizeof(double));
  if (!holds_rows(bytes, run)) return nullptr;  // the host could not take them later
  std::int64_t free = 0;
  checked_call([&](Failure* failure) { return device::plugin().free_memory(rows.gpu, &free, failure); });
  if (bytes > gpu_budget(free, run.memory_limit) / 2) return nullptr;  // images take about as much
  try {
    device::note_cuda_use();
    return std::make_shared<const GpuTable>(rows);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    return nullptr;
  }
}

}  // namespace stope::knn
