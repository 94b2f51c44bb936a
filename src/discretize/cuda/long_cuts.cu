// The work that LongCuts queues (long_cuts.hpp).
#include "discretize/cuda/long_cuts.hpp"

#include <vector>

#include "device/cuda/check.hpp"

namespace stope::discretize::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::check_launch;

constexpr int kThreads = 256;

/// Finds the values that each column's best cut lies between, one thread per column.
template <class T>
__global__ void __launch_bounds__(kThreads)
    settle_kernel(const LongLevel level, const Columns<T> columns, const CutsThere cuts) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (column >= level.n_columns) return;
  const LongBest& best = level.best[column];
  cuts.w[column] = static_cast<std::int64_t>(best.w);
  if (best.w == 0) return;
  const std::uint32_t* const rows = level.orders.rows + column * level.orders.stride + best.position;
  const T* const x = columns.values + column * columns.n_rows;
  cuts.low[column] = static_cast<double>(x[rows[0]]);
  cuts.high[column] = static_cast<double>(x[rows[1]]);
}

template <class T>
void upload(stope::cuda::DeviceBuffer<T>& to, const std::vector<T>& from) {
  check(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "copying classes");
}

}  // namespace

LongCuts::LongCuts(const cuda_abi::Decisions& decisions, std::int64_t most_columns)
    : sorter_(decisions.n_rows, decisions.n_classes),
      orders_(decisions.n_rows, most_columns),
      symbolic_(most_columns),
      breaks_(most_columns * pieces_of(decisions.n_rows)),
      attributes_(most_columns),
      begins_(2),
      totals_(decisions.n_classes),
      first_nodes_((decisions.n_rows + 31) / 32),
      counts_(most_columns * decisions.n_classes * pieces_of(decisions.n_rows)),
      best_(most_columns),
      node_gains_(1) {
  decisions.type == cuda_abi::Type::float32 ? sorter_.reserve<float>(most_columns)
                                            : sorter_.reserve<double>(most_columns);
  check(cudaMemset(symbolic_.data(), 0, static_cast<std::size_t>(symbolic_.bytes())), "clearing columns");
  check(cudaMemset(attributes_.data(), 0, static_cast<std::size_t>(attributes_.bytes())), "clearing columns");
  upload(begins_, {0U, static_cast<std::uint32_t>(decisions.n_rows)});
  upload(totals_, std::vector<std::uint32_t>(decisions.totals, decisions.totals + decisions.n_classes));
}

template <class T>
void LongCuts::find(const Columns<T>& columns, const CutsThere& cuts, const stope::cuda::Stream& stream) {
  sorter_.sort(columns.values, columns.n_columns, columns.classes, orders_.there(), 0, stream.get());
  LongLevel level{};
  level.orders = orders_.there();
  level.n_columns = columns.n_columns;
  level.n_rows = columns.n_rows;
  level.n_nodes = 1;
  level.n_pieces = pieces_of(columns.n_rows);
  level.n_classes = columns.n_classes;
  level.min_samples_leaf = 1;
  level.symbolic = symbolic_.data();
  level.attributes = attributes_.data();
  level.begins = begins_.data();
  level.totals = totals_.data();
  level.first_nodes = first_nodes_.data();
  level.counts = counts_.data();
  level.breaks = breaks_.data();
  level.best = best_.data();
  level.columns_apart = true;
  level.gains = columns.gains;
  level.node_gains = node_gains_.data();
  find_best(level, stream.get());
  const auto blocks = static_cast<unsigned>((columns.n_columns + kThreads - 1) / kThreads);
  settle_kernel<T><<<blocks, kThreads, 0, stream.get()>>>(level, columns, cuts);
  check_launch("settling cuts");
  check(cudaEventRecord(done_.get(), stream.get()), "marking a stream");
}

template void LongCuts::find<float>(const Columns<float>&, const CutsThere&, const stope::cuda::Stream&);
template void LongCuts::find<double>(const Columns<double>&, const CutsThere&, const stope::cuda::Stream&);

}  // namespace stope::discretize::cuda
