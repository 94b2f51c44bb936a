// Trees of short tables (short_tree.hpp): memory, and levels in batches.
#include <algorithm>
#include <iterator>
#include <limits>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "tree/cuda/grower.hpp"
#include "tree/cuda/short_tree.hpp"
#include "tree/cuda/tree_columns.hpp"

namespace stope::tree::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::DeviceBuffer;
using stope::cuda::PinnedBuffer;

// Levels that are queued before the host checks whether the tree is done. An empty level costs two launches, less than
// a check.
constexpr int kLevelsAtOnce = 8;

template <class T>
void clear(const DeviceBuffer<T>& memory, cudaStream_t stream) {
  check(cudaMemsetAsync(memory.data(), 0, static_cast<std::size_t>(memory.bytes()), stream), "clearing a tree");
}

template <class Number>
int as_int(Number n) {
  return static_cast<int>(std::min<Number>(n, std::numeric_limits<int>::max()));
}

class ShortGrower : public Grower {
 public:
  explicit ShortGrower(const cuda_abi::Problem& problem)
      : n_rows_(static_cast<int>(problem.n_rows)),
        n_columns_(problem.n_columns),
        stride_((n_columns_ + 31) / 32 * 32),  // a word's 32 columns begin at a multiple of 128 bytes
        n_splits_(most_splits(n_rows_)),
        totals_(problem.totals, problem.totals + problem.n_classes),
        rows_(checked::mul((n_rows_ + rows_of_word(n_rows_) - 1) / rows_of_word(n_rows_), stride_)),
        changes_(checked::mul((n_rows_ + 31) / 32, stride_)),
        columns_(problem, stream_),
        nodes_(n_rows_),
        counts_(checked::mul(2 * n_splits_, problem.n_classes)),
        keys_(n_splits_),
        splits_(n_splits_),
        level_(1),
        host_splits_(n_splits_),
        host_right_(checked::mul(n_splits_, problem.n_classes)),
        host_level_(1) {
    tree_ = {.orders = {.rows = rows_.data(), .changes = changes_.data(), .stride = stride_, .n_rows = n_rows_},
             .n_columns = n_columns_,
             .attributes = columns_.attributes(),
             .symbolic = columns_.symbolic(),
             .columns = columns_.columns(),
             .classes = columns_.classes(),
             .n_classes = problem.n_classes,
             .max_depth = as_int(problem.max_depth),
             .min_samples_leaf = as_int(problem.min_samples_leaf),
             .min_w = static_cast<std::uint32_t>(std::min<std::int64_t>(problem.min_w, 0xffffffff)),
             .nodes = nodes_.data(),
             .totals = counts_.data(),
             .right = counts_.data() + n_splits_ * problem.n_classes,
             .keys = keys_.data(),
             .splits = splits_.data(),
             .level = level_.data()};
  }
  ~ShortGrower() override { cudaStreamSynchronize(stream_.get()); }

  void sort(cuda_abi::Type type, const void* values, std::int64_t n_columns, std::int64_t first,
            cudaStream_t stream) override {
    switch (type) {
      case cuda_abi::Type::float32:
        return sort_short(static_cast<const float*>(values), n_columns, tree_.orders, first, stream);
      case cuda_abi::Type::float64:
        return sort_short(static_cast<const double*>(values), n_columns, tree_.orders, first, stream);
      case cuda_abi::Type::code:
        return sort_short(static_cast<const std::int32_t*>(values), n_columns, tree_.orders, first, stream);
    }
  }

  void begin(const std::vector<ColumnKind>& kinds) override {
    columns_.set(kinds, stream_);
    std::vector<std::uint32_t> totals(totals_.begin(), totals_.end());
    const Level root = {0, 1, 0, n_rows_};
    cudaStream_t stream = stream_.get();
    clear(nodes_, stream);
    clear(counts_, stream);
    clear(keys_, stream);
    upload(counts_.data(), totals.data(), std::ssize(totals), stream_);
    upload(level_.data(), &root, 1, stream_);
    stream_.wait();
  }

  std::int64_t grow() override {
    watch_.start(stream_.get());
    for (int i = 0; i < kLevelsAtOnce; ++i) grow_level(tree_, stream_.get());
    watch_.stop(stream_.get());
    download(host_level_.data(), level_.data(), 1, stream_);
    stream_.wait();
    watch_.read();
    return host_level_.data()->n_open == 0 ? 0 : host_level_.data()->open_rows;
  }

  cuda_abi::Splits splits() override {
    const std::int64_t n = host_level_.data()->first;
    download(host_splits_.data(), splits_.data(), n, stream_);
    download(host_right_.data(), tree_.right, n * tree_.n_classes, stream_);
    stream_.wait();
    return {host_splits_.data(), host_right_.data(), n, 0.0, watch_.seconds()};
  }

 private:
  int n_rows_;
  std::int64_t n_columns_, stride_, n_splits_;
  std::vector<std::int64_t> totals_;
  stope::cuda::Stream stream_;
  DeviceBuffer<std::uint32_t> rows_, changes_;
  TreeColumns columns_;
  DeviceBuffer<std::uint16_t> nodes_;
  DeviceBuffer<std::uint32_t> counts_;  ///< the nodes' counts, then those of their right children
  DeviceBuffer<unsigned long long> keys_;
  DeviceBuffer<cuda_abi::Split> splits_;
  DeviceBuffer<Level> level_;
  PinnedBuffer<cuda_abi::Split> host_splits_;
  PinnedBuffer<std::uint32_t> host_right_;
  PinnedBuffer<Level> host_level_;
  stope::cuda::Stopwatch watch_;
  ShortTree tree_{};
};

}  // namespace

std::unique_ptr<Grower> make_short_grower(const cuda_abi::Problem& problem) {
  return std::make_unique<ShortGrower>(problem);
}

}  // namespace stope::tree::cuda
