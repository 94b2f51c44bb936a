// The work that Mdlp queues (mdlp.hpp).
#include "discretize/cuda/mdlp.hpp"

#include <algorithm>
#include <bit>

#include "device/cuda/check.hpp"
#include "discretize/cuda/mdlp.cuh"

namespace stope::discretize::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::check_launch;

// Rows that a warp has at least, where there are so many: a block of few threads ends sooner, and more of them run.
constexpr std::int64_t kRowsOfWarp = 128;

int warps_for(std::int64_t n_rows) {
  const auto wanted = static_cast<std::uint64_t>((n_rows + kRowsOfWarp - 1) / kRowsOfWarp);
  return static_cast<int>(std::clamp<std::uint64_t>(std::bit_ceil(wanted), 2, kMostMdlpWarps));
}

}  // namespace

Mdlp::Mdlp(const cuda_abi::Decisions& decisions, std::int64_t most_columns)
    : n_rows_(decisions.n_rows),
      n_classes_(decisions.n_classes),
      sorter_(decisions.n_rows, decisions.n_classes),
      orders_(decisions.n_rows, decisions.most_sorted),
      n_missing_(decisions.most_sorted),
      n_cuts_(decisions.most_sorted + 1),
      host_n_cuts_(decisions.most_sorted + 1),
      cuts_(cuda_abi::most_set_cuts(decisions.n_rows, decisions.most_sorted)),
      host_cuts_(cuts_.size()) {
  if (n_rows_ <= kShortRows) return;
  decisions.type == cuda_abi::Type::float32 ? sorter_.reserve<float>(most_columns)
                                            : sorter_.reserve<double>(most_columns);
}

template <class T>
void Mdlp::sort(const Columns<T>& columns, const stope::cuda::Stream& stream) {
  if (n_rows_ > kShortRows) {
    sorted_.hold(stream);  // one sort after another: they use the same memory
    sorter_.sort(columns.values, columns.n_columns, columns.classes, orders_.there(), n_sorted_, stream.get());
    sorted_.record(stream);
  } else {
    short_orders_kernel<T><<<static_cast<unsigned>(columns.n_columns), kOrderThreads, 0, stream.get()>>>(
        columns, orders_.there(), n_sorted_);
    check_launch("ordering columns");
  }
  const auto blocks = static_cast<unsigned>((columns.n_columns + kOrderThreads - 1) / kOrderThreads);
  missing_kernel<T><<<blocks, kOrderThreads, 0, stream.get()>>>(columns, orders_.there(), n_sorted_, n_missing_.data());
  check_launch("counting missing values");
  n_sorted_ += columns.n_columns;
}
template void Mdlp::sort<float>(const Columns<float>&, const stope::cuda::Stream&);
template void Mdlp::sort<double>(const Columns<double>&, const stope::cuda::Stream&);

double Mdlp::cut(const Gains& gains, std::int32_t* n_cuts, const cuda_abi::SetCut** cuts, std::int64_t* n,
                 const stope::cuda::Stream& stream) {
  const MdlpJob job = {.orders = orders_.there(),
                       .n_missing = n_missing_.data(),
                       .n_rows = n_rows_,
                       .n_classes = n_classes_,
                       .gains = gains,
                       .n_cuts = n_cuts_.data(),
                       .cuts = cuts_.data(),
                       .n_written = reinterpret_cast<std::uint32_t*>(n_cuts_.data() + n_sorted_),
                       .most = cuts_.size()};
  const auto download = [&](auto* to, const auto* from, std::int64_t size) {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size) * sizeof *to, cudaMemcpyDeviceToHost, stream.get()),
          "copying cuts");
    stream.wait();
  };
  check(cudaMemsetAsync(job.cuts, 0xff, static_cast<std::size_t>(cuts_.bytes()), stream.get()), "clearing cuts");
  check(cudaMemsetAsync(job.n_written, 0, sizeof *job.n_written, stream.get()), "clearing cuts");
  const int n_warps = warps_for(n_rows_);
  const auto shared = static_cast<std::size_t>(mdlp_words(n_warps, n_classes_)) * sizeof(std::uint32_t);
  const double before = watch_.seconds();
  watch_.start(stream.get());
  mdlp_kernel<<<static_cast<unsigned>(n_sorted_), static_cast<unsigned>(32 * n_warps), shared, stream.get()>>>(job);
  check_launch("cutting columns");
  watch_.stop(stream.get());
  const std::int32_t* const counts = host_n_cuts_.data();
  download(host_n_cuts_.data(), n_cuts_.data(), n_sorted_ + 1);
  std::copy(counts, counts + n_sorted_, n_cuts);
  *n = std::min<std::int64_t>(static_cast<std::uint32_t>(counts[n_sorted_]), cuts_.size());
  *cuts = host_cuts_.data();
  if (*n > 0) download(host_cuts_.data(), cuts_.data(), *n);
  n_sorted_ = 0;
  watch_.read();
  return watch_.seconds() - before;
}

}  // namespace stope::discretize::cuda
