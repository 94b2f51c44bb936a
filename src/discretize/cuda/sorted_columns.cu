// The work that SortedColumns queues (sorted_columns.hpp).
#include "discretize/cuda/sorted_columns.hpp"

#include "device/cuda/check.hpp"
#include "discretize/cuda/sorted_columns.cuh"

namespace stope::discretize::cuda {

using stope::cuda::check_launch;

SortedColumns::SortedColumns(const cuda_abi::Decisions& decisions, std::int64_t most_columns)
    : n_rows_(decisions.n_rows),
      sorter_(decisions.n_rows, decisions.n_classes),
      orders_(decisions.n_rows, decisions.most_sorted),
      n_missing_(decisions.most_sorted) {
  if (n_rows_ <= kShortRows) return;
  decisions.type == cuda_abi::Type::float32 ? sorter_.reserve<float>(most_columns)
                                            : sorter_.reserve<double>(most_columns);
}

template <class T>
void SortedColumns::sort(const Columns<T>& columns, const stope::cuda::Stream& stream) {
  if (n_rows_ > kShortRows) {
    sorted_.hold(stream);  // one sort after another: they use the same memory
    sorter_.sort(columns.values, columns.n_columns, columns.classes, orders(), n_, stream.get());
    sorted_.record(stream);
  } else {
    short_orders_kernel<T>
        <<<static_cast<unsigned>(columns.n_columns), kOrderThreads, 0, stream.get()>>>(columns, orders(), n_);
    check_launch("ordering columns");
  }
  const auto blocks = static_cast<unsigned>((columns.n_columns + kOrderThreads - 1) / kOrderThreads);
  missing_kernel<T><<<blocks, kOrderThreads, 0, stream.get()>>>(columns, orders(), n_, n_missing_.data());
  check_launch("counting missing values");
  n_ += columns.n_columns;
}
template void SortedColumns::sort<float>(const Columns<float>&, const stope::cuda::Stream&);
template void SortedColumns::sort<double>(const Columns<double>&, const stope::cuda::Stream&);

}  // namespace stope::discretize::cuda
