// KnnIndex: fit the rows of an array (stope/knn_arrays.hpp).
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/array.hpp"
#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "base/huge_pages.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "base/thread_pool.hpp"
#include "device/gpu_array.hpp"
#include "knn/fitted.hpp"
#include "knn/gpu/gpu_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "table/array_rows.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace {

// The features as columns without values.
Table outline_of(const ArrayView& array) {
  Table table;
  table.n_rows = array.n_rows;
  for (std::int64_t c = 0; c < array.n_columns; ++c) {
    Column column;
    column.name = "x" + std::to_string(c);
    if (is_integer(array.type)) column.type = ValueType::integer;
    column.data = Buffer<double>();
    table.columns.push_back(std::move(column));
  }
  return table;
}

// Converts the given columns of all rows, and passes them on.
Buffer<double> converted(const ArrayView& array, const std::vector<std::int64_t>& columns, ThreadPool& pool,
                         const CancelToken& cancel, Storage storage, const knn::Fitted::SeeRows& see) {
  const auto width = static_cast<std::int64_t>(columns.size());
  const std::int64_t rows_per_task = knn::rows_in_cache(width);
  Buffer<double> rows(checked::mul(array.n_rows, width), storage);
  prefer_huge_pages(rows.data(), static_cast<std::size_t>(rows.size()) * sizeof(double));
  pool.parallel_for(checked::ceil_div(array.n_rows, rows_per_task), cancel, [&](std::int64_t task, int worker) {
    const std::int64_t begin = task * rows_per_task, end = std::min(begin + rows_per_task, array.n_rows);
    double* const to = rows.data() + begin * width;
    encode_rows(array, columns, begin, end, to);
    if (see) see(to, end - begin, worker);
  });
  return rows;
}

// The array as a table, for an index that does not hold its rows.
Table columns_of(const ArrayView& array, Storage storage, const RunOptions& run) {
  Table table = outline_of(array);
  ThreadPool pool(run.threads);
  for (std::int64_t c = 0; c < array.n_columns; ++c) {
    table.columns[static_cast<std::size_t>(c)].data = converted(array, {c}, pool, run.cancel, storage, {});
  }
  return table;
}

}  // namespace

KnnIndex KnnIndex::fit(const ArrayView& train, const KnnOptions& options, const RunOptions& run) try {
  constexpr const char* kWhat = "the training rows";
  ArrayView array = checked_array(train, kWhat);
  require_memory("the descriptions of " + counted(array.n_columns, "feature") + " need",
                 checked::mul(array.n_columns, kColumnBytes), run);
  if (array.gpu >= 0) {
    device::check_gpu_array(array, kWhat, run);
    if (const std::shared_ptr<const knn::GpuTable> rows = knn::table_kept_there(array, options, run); rows != nullptr) {
      const JobTime time(run);
      KnnIndex index;
      index.fitted_ = std::make_shared<const knn::Fitted>(outline_of(array), rows, options, run);
      time.hand("fit", 1);
      return index;
    }
    array = device::copy_to_host(array, kWhat, run);
  }
  const auto& weights = options.feature_weights;
  const bool whole_rows = std::find(weights.begin(), weights.end(), 0.0) == weights.end();
  const bool in_place = whole_rows && array.owner != nullptr && is_encoded(array);
  const std::int64_t bytes = checked::mul(checked::mul(array.n_rows, array.n_columns), sizeof(double));
  if (!in_place && (!whole_rows || !knn::holds_rows(bytes, run))) {
    return fit(columns_of(array, storage_within(bytes, memory_budget(run)), run), options, run);
  }
  const JobTime time(run);
  const PhaseProgress phase(run, "fit", 0);
  const auto rows = [&](ThreadPool& pool, const knn::Fitted::SeeRows& see) {
    if (!in_place) {
      std::vector<std::int64_t> columns(static_cast<std::size_t>(array.n_columns));
      std::iota(columns.begin(), columns.end(), 0);
      return converted(array, columns, pool, run.cancel, Storage::memory, see);
    }
    // An index only reads its rows.
    return Buffer<double>::borrow(static_cast<double*>(const_cast<void*>(array.data)), array.n_rows * array.n_columns,
                                  std::const_pointer_cast<void>(array.owner));
  };
  const bool shared = in_place && train.gpu < 0;  // a copy of a GPU's array is the index's own
  KnnIndex index;
  index.fitted_ = std::make_shared<const knn::Fitted>(
      outline_of(array), shared ? knn::Fitted::Rows::shared : knn::Fitted::Rows::own, rows, options, run);
  time.hand("fit", run.threads > 0 ? run.threads : available_threads());
  return index;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
