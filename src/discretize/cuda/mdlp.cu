// The work that Mdlp queues (mdlp.hpp).
#include "discretize/cuda/mdlp.hpp"

#include <algorithm>

#include "device/cuda/check.hpp"
#include "discretize/cuda/mdlp.cuh"

namespace stope::discretize::cuda {
using stope::cuda::check;
using stope::cuda::check_launch;

Mdlp::Mdlp(const cuda_abi::Decisions& decisions)
    : n_rows_(decisions.n_rows),
      n_cuts_(decisions.most_sorted + 1),
      host_n_cuts_(decisions.most_sorted + 1),
      cuts_(cuda_abi::most_set_cuts(decisions.n_rows, decisions.most_sorted)),
      host_cuts_(cuts_.size()) {}

double Mdlp::cut(const SortedColumns& sorted, const SearchedColumns& columns, std::int32_t* n_cuts,
                 const cuda_abi::SetCut** cuts, std::int64_t* n, const stope::cuda::Stream& stream) {
  const std::int64_t n_columns = sorted.n();
  const MdlpJob job = {.columns = columns,
                       .n_missing = sorted.n_missing(),
                       .n_rows = n_rows_,
                       .n_cuts = n_cuts_.data(),
                       .cuts = cuts_.data(),
                       .n_written = reinterpret_cast<std::uint32_t*>(n_cuts_.data() + n_columns),
                       .most = cuts_.size()};
  const auto download = [&](auto* to, const auto* from, std::int64_t size) {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size) * sizeof *to, cudaMemcpyDeviceToHost, stream.get()),
          "copying cuts");
    stream.wait();
  };
  check(cudaMemsetAsync(job.cuts, 0xff, static_cast<std::size_t>(cuts_.bytes()), stream.get()), "clearing cuts");
  check(cudaMemsetAsync(job.n_written, 0, sizeof *job.n_written, stream.get()), "clearing cuts");
  const SearchShape shape(n_rows_, columns.n_classes, columns.weights != nullptr);
  const double before = watch_.seconds();
  watch_.start(stream.get());
  const auto launch = [&](auto kernel) {
    kernel<<<static_cast<unsigned>(n_columns), shape.n_threads, shape.shared, stream.get()>>>(job);
  };
  columns.weights != nullptr ? launch(mdlp_kernel<true>) : launch(mdlp_kernel<false>);
  check_launch("cutting columns");
  watch_.stop(stream.get());
  const std::int32_t* const counts = host_n_cuts_.data();
  download(host_n_cuts_.data(), n_cuts_.data(), n_columns + 1);
  std::copy(counts, counts + n_columns, n_cuts);
  *n = std::min<std::int64_t>(static_cast<std::uint32_t>(counts[n_columns]), cuts_.size());
  *cuts = host_cuts_.data();
  if (*n > 0) download(host_cuts_.data(), cuts_.data(), *n);
  watch_.read();
  return watch_.seconds() - before;
}

}  // namespace stope::discretize::cuda
