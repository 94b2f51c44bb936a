// The work that WeightedCuts queues (weighted.hpp).
#include "discretize/cuda/weighted.hpp"

#include "device/cuda/check.hpp"
#include "discretize/cuda/weighted.cuh"

namespace stope::discretize::cuda {

using stope::cuda::check;
using stope::cuda::check_launch;

WeightedCuts::WeightedCuts(const cuda_abi::Decisions& decisions)
    : n_rows_(decisions.n_rows), cuts_(decisions.most_sorted) {}

double WeightedCuts::find(const SortedColumns& sorted, const SearchedColumns& columns, cuda_abi::WeightedCut* cuts,
                          const stope::cuda::Stream& stream) {
  const WeightedJob job = {.columns = columns, .n_rows = n_rows_, .cuts = cuts_.data()};
  const SearchShape shape(n_rows_, columns.n_classes, true);
  const double before = watch_.seconds();
  const auto launch = [&](auto kernel) {
    kernel<<<static_cast<unsigned>(sorted.n()), shape.n_threads, shape.shared, stream.get()>>>(job);
  };
  watch_.start(stream.get());
  switch (columns.gains.score) {
    case cuda_abi::Score::gini: launch(weighted_kernel<GiniWorth>); break;
    case cuda_abi::Score::entropy: launch(weighted_kernel<EntropyWorth>); break;
    case cuda_abi::Score::pairs: launch(weighted_kernel<PairsWorth>); break;
  }
  check_launch("searching columns");
  watch_.stop(stream.get());
  check(cudaMemcpyAsync(cuts, cuts_.data(), static_cast<std::size_t>(sorted.n()) * sizeof *cuts, cudaMemcpyDeviceToHost,
                        stream.get()),
        "copying cuts");
  stream.wait();
  watch_.read();
  return watch_.seconds() - before;
}

}  // namespace stope::discretize::cuda
