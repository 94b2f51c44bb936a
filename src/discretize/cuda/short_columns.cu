// Launches of the search in short columns (short_columns.cuh). Columns of floats that fit words of 32 bits are searched
// first, then the others with words of 64.
#include "discretize/cuda/short_columns.cuh"

#include <algorithm>

#include "device/cuda/check.hpp"

namespace stope::discretize::cuda {
namespace {

constexpr unsigned kLeftBlocks = 512;  // for the few columns that are left

template <Worth kWorth, class T, class Word, int n>
void launch(const ShortJob<T>& job, cudaStream_t stream) {
  constexpr std::int64_t kWarps = kShortThreads / 32;
  const auto blocks = static_cast<unsigned>((job.columns.n_columns + kWarps - 1) / kWarps);
  short_columns_kernel<kWorth, T, Word, n>
      <<<kIsListed<T, Word> ? std::min(blocks, kLeftBlocks) : blocks, kShortThreads, 0, stream>>>(job);
  stope::cuda::check_launch("best cuts of short columns");
}

template <Worth kWorth, class T, class Word>
void launch(const ShortJob<T>& job, cudaStream_t stream) {
  const std::int64_t n = (job.columns.n_rows + 31) / 32;  // words of a lane; powers of two are merged fastest
  if (n <= 1) return launch<kWorth, T, Word, 1>(job, stream);
  if (n <= 2) return launch<kWorth, T, Word, 2>(job, stream);
  if (n <= 4) return launch<kWorth, T, Word, 4>(job, stream);
  if (n <= 8) return launch<kWorth, T, Word, 8>(job, stream);
  if (n <= 16) return launch<kWorth, T, Word, 16>(job, stream);
  launch<kWorth, T, Word, 32>(job, stream);
}

template <class T, class Word>
void launch(const ShortJob<T>& job, cudaStream_t stream) {
  if (job.columns.gains.score != cuda_abi::Score::pairs) return launch<Worth::gain, T, Word>(job, stream);
  job.columns.n_classes == 2 ? launch<Worth::two, T, Word>(job, stream) : launch<Worth::pairs, T, Word>(job, stream);
}

}  // namespace

template <>
void find_cuts_of_short<float>(const Columns<float>& columns, const CutsThere& cuts, int* list, cudaStream_t stream) {
  int* const n_list = list + columns.n_columns;
  stope::cuda::check(cudaMemsetAsync(n_list, 0, sizeof(int), stream), "clearing a counter");
  launch<float, std::uint32_t>({columns, cuts, nullptr, nullptr, list, n_list}, stream);
  launch<float, std::uint64_t>({columns, cuts, list, n_list, nullptr, nullptr}, stream);
}

template <>
void find_cuts_of_short<double>(const Columns<double>& columns, const CutsThere& cuts, int*, cudaStream_t stream) {
  launch<double, std::uint64_t>({columns, cuts, nullptr, nullptr, nullptr, nullptr}, stream);
}

}  // namespace stope::discretize::cuda
