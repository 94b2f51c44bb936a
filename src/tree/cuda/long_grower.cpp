// Trees of long tables (long_tree.hpp): the memory, and the host's work between the kernels of a level. The host
// numbers the children and says where their rows go.
#include <algorithm>
#include <limits>

#include "device/cuda/buffer.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/stream.hpp"
#include "discretize/cuda/gains.hpp"
#include "discretize/cuda/long_sorter.hpp"
#include "tree/cuda/grower.hpp"
#include "tree/cuda/long_tree.hpp"
#include "tree/cuda/tree_columns.hpp"

namespace stope::tree::cuda {
namespace {

using discretize::cuda::LongBest;
using stope::cuda::DeviceBuffer;
using stope::cuda::GrowingBuffer;

std::int64_t tiles_of(std::int64_t n_pieces) {
  return (n_pieces + discretize::cuda::kTilePieces - 1) / discretize::cuda::kTilePieces;
}

class LongGrower : public Grower {
 public:
  explicit LongGrower(const cuda_abi::Problem& problem)
      : n_rows_(problem.n_rows),
        n_columns_(problem.n_columns),
        n_classes_(problem.n_classes),
        max_depth_(problem.max_depth),
        min_samples_leaf_(problem.min_samples_leaf),
        sorter_(n_rows_, n_classes_),
        orders_(n_rows_, n_columns_),
        others_(n_rows_, n_columns_),
        columns_(problem, stream_),
        gains_(problem.score, n_rows_),
        sides_((n_rows_ + 31) / 32),
        first_nodes_((n_rows_ + 31) / 32),
        totals_(problem.totals, problem.totals + problem.n_classes),
        begins_{0, static_cast<std::uint32_t>(n_rows_)} {
    const std::int64_t n_pieces = discretize::cuda::pieces_of(n_rows_);
    counts_ = DeviceBuffer<std::uint32_t>(checked::mul(checked::mul(n_columns_, n_classes_), n_pieces));
    breaks_ = DeviceBuffer<std::uint8_t>(checked::mul(n_columns_, n_pieces));
    tiles_ = DeviceBuffer<std::uint32_t>(checked::add(checked::mul(n_columns_, tiles_of(n_pieces)), 1));
    level_.orders = orders_.there();
    level_.n_columns = n_columns_;
    level_.n_classes = n_classes_;
    level_.min_samples_leaf = static_cast<int>(std::min<std::int64_t>(min_samples_leaf_, kMostLeast));
    level_.min_w = problem.min_w;
    level_.symbolic = columns_.symbolic();
    level_.attributes = columns_.attributes();
    level_.columns = columns_.columns();
    level_.first_nodes = first_nodes_.data();
    level_.counts = counts_.data();
    level_.breaks = breaks_.data();
    level_.sides = sides_.data();
    level_.n_table_rows = n_rows_;
    level_.gains = gains_.there();
    stope::cuda::check(cudaStreamSynchronize(nullptr), "making a table");  // stream_ does not wait for it
  }
  ~LongGrower() override { cudaStreamSynchronize(stream_.get()); }

  void reserve(cuda_abi::Type type, std::int64_t n_columns) override {
    switch (type) {
      case cuda_abi::Type::float32: return sorter_.reserve<float>(n_columns);
      case cuda_abi::Type::float64: return sorter_.reserve<double>(n_columns);
      case cuda_abi::Type::code: return sorter_.reserve<std::int32_t>(n_columns);
    }
  }

  void sort(cuda_abi::Type type, const void* values, std::int64_t n_columns, std::int64_t first,
            cudaStream_t stream) override {
    switch (type) {
      case cuda_abi::Type::float32: return sort_as<float>(values, n_columns, first, stream);
      case cuda_abi::Type::float64: return sort_as<double>(values, n_columns, first, stream);
      case cuda_abi::Type::code: return sort_as<std::int32_t>(values, n_columns, first, stream);
    }
  }

  void begin(const std::vector<ColumnKind>& kinds) override { columns_.set(kinds, stream_); }

  std::int64_t grow() override {
    search();
    mark();
    return next_level(nullptr);
  }

  std::span<const cuda_abi::Split> look() override {
    search();
    return {level_splits(), static_cast<std::size_t>(level_.n_nodes)};
  }

  void mark(const std::uint8_t* is_mine, const std::uint32_t** sides, const std::uint32_t** right_counts) override {
    std::vector<cuda_abi::Split> mine(level_splits(), level_splits() + level_.n_nodes);
    for (std::size_t node = 0; node < mine.size(); ++node) {
      if (is_mine[node] == 0) mine[node].attribute = -1;
    }
    upload(level_.splits, mine.data(), level_.n_nodes, stream_);
    mark();
    host_sides_.resize(static_cast<std::size_t>(sides_.size()));
    download(host_sides_.data(), sides_.data(), sides_.size(), stream_);
    stream_.wait();
    *sides = host_sides_.data();
    *right_counts = level_right_counts();
  }

  std::int64_t move(const cuda_abi::Split* splits, const std::uint32_t* right_counts,
                    const std::uint32_t* sides) override {
    std::copy_n(splits, level_.n_nodes, level_splits());
    std::copy_n(right_counts, level_.n_nodes * n_classes_, level_right_counts());
    return next_level(sides);
  }

  cuda_abi::Splits splits() override {
    return {splits_.data(), right_counts_.data(), static_cast<std::int64_t>(splits_.size()), 0.0,
            search_.seconds() + mark_.seconds() + move_.seconds()};
  }

 private:
  static constexpr std::int64_t kMostLeast = std::numeric_limits<int>::max();

  template <class T>
  void sort_as(const void* values, std::int64_t n_columns, std::int64_t first, cudaStream_t stream) {
    sorter_.sort(static_cast<const T*>(values), n_columns, columns_.classes(), orders_.there(), first, stream);
  }

  // The splits of this level's nodes: the last ones of those of all levels.
  cuda_abi::Split* level_splits() { return splits_.data() + splits_.size() - level_.n_nodes; }
  std::uint32_t* level_right_counts() {
    return right_counts_.data() + right_counts_.size() - level_.n_nodes * n_classes_;
  }

  void search() {
    begin_level();
    search_.start(stream_.get());
    find_splits(level_, stream_.get());
    search_.stop(stream_.get());
    splits_.resize(splits_.size() + static_cast<std::size_t>(level_.n_nodes));
    right_counts_.resize(right_counts_.size() + static_cast<std::size_t>(level_.n_nodes * n_classes_));
    download(level_splits(), level_.splits, level_.n_nodes, stream_);
    stream_.wait();
    search_.read();
  }

  void mark() {
    mark_.start(stream_.get());
    mark_rows(level_, stream_.get());
    mark_.stop(stream_.get());
    download(level_right_counts(), level_.right_counts, level_.n_nodes * n_classes_, stream_);
    stream_.wait();
    mark_.read();
  }

  // `sides` has the sides from all sessions. If it is null, those on the GPU are complete.
  std::int64_t next_level(const std::uint32_t* sides) {
    ++depth_;
    split(level_splits(), level_right_counts());
    if (begins_.size() == 1) return 0;
    if (sides != nullptr) upload(sides_.data(), sides, sides_.size(), stream_);
    upload(moves_there_.of(level_.n_nodes), moves_.data(), level_.n_nodes, stream_);
    move_.start(stream_.get());
    move_rows(level_, moves_there_.data(), tiles_.data(), others_.there(), stream_.get());
    move_.stop(stream_.get());
    std::swap(orders_, others_);
    level_.orders = orders_.there();
    stream_.wait();
    move_.read();
    return begins_.back();
  }

  void begin_level() {
    const auto n = static_cast<std::int64_t>(begins_.size()) - 1;
    level_.n_nodes = n;
    level_.n_rows = begins_.back();
    level_.n_pieces = discretize::cuda::pieces_of(level_.n_rows);
    level_.n_tiles = tiles_of(level_.n_pieces);
    std::uint32_t* const begins = begins_there_.of(n + 1);
    std::uint32_t* const totals = totals_there_.of(n * n_classes_);
    upload(begins, begins_.data(), n + 1, stream_);
    upload(totals, totals_.data(), n * n_classes_, stream_);
    level_.begins = begins;
    level_.totals = totals;
    level_.best = best_.of(n);
    level_.node_gains = node_gains_.of(n);
    level_.splits = splits_there_.of(n);
    level_.right_counts = right_there_.of(n * n_classes_);
  }

  /// Makes this level the next one: the children of its nodes that might be split, and where their rows go.
  void split(cuda_abi::Split* splits, const std::uint32_t* right_counts) {
    const auto k = static_cast<std::size_t>(n_classes_);
    std::vector<std::uint32_t> begins, totals;
    moves_.clear();
    std::uint32_t n_open = 0, rights = 0;  // rows of open children; rows that go right
    for (std::size_t node = 0; node + 1 < begins_.size(); ++node) {
      cuda_abi::Split& split = splits[node];
      LongMove move{begins_[node], rights, kNowhere, kNowhere};
      std::vector<std::uint32_t> left(totals_.begin() + static_cast<std::ptrdiff_t>(node * k),
                                      totals_.begin() + static_cast<std::ptrdiff_t>((node + 1) * k));
      const std::vector<std::uint32_t> right(right_counts + node * k, right_counts + (node + 1) * k);
      for (std::size_t i = 0; i < k; ++i) left[i] -= right[i];
      const auto open = [&](const std::vector<std::uint32_t>& counts, std::uint32_t n_rows, std::uint32_t& to) {
        const auto n_present = std::count_if(counts.begin(), counts.end(), [](std::uint32_t n) { return n > 0; });
        if (split.attribute < 0 || depth_ >= max_depth_ || n_present < 2 || n_rows / 2 < min_samples_leaf_) return 0;
        begins.push_back(n_open);
        totals.insert(totals.end(), counts.begin(), counts.end());
        to = n_open;
        n_open += n_rows;
        return 1;
      };
      for (const std::uint32_t n : right) split.n_right += n;
      const auto n_right = static_cast<std::uint32_t>(split.n_right);
      split.open = open(left, begins_[node + 1] - begins_[node] - n_right, move.left_to);
      split.open |= open(right, n_right, move.right_to) << 1;
      rights += n_right;
      moves_.push_back(move);
    }
    begins.push_back(n_open);
    begins_ = std::move(begins);
    totals_ = std::move(totals);
  }

  std::int64_t n_rows_, n_columns_;
  int n_classes_;
  std::int64_t max_depth_, min_samples_leaf_, depth_ = 0;
  stope::cuda::Stream stream_;
  discretize::cuda::LongSorter sorter_;
  discretize::cuda::OrdersMemory orders_, others_;  ///< orders_ has this level's; others_ has room for the next level's
  TreeColumns columns_;
  discretize::cuda::GainMemory gains_;
  DeviceBuffer<std::uint32_t> sides_, first_nodes_, counts_, tiles_;
  DeviceBuffer<std::uint8_t> breaks_;
  GrowingBuffer<std::uint32_t> begins_there_, totals_there_, right_there_;
  GrowingBuffer<LongBest> best_;
  GrowingBuffer<discretize::cuda::NodeGains> node_gains_;
  GrowingBuffer<LongMove> moves_there_;
  GrowingBuffer<cuda_abi::Split> splits_there_;
  TreeLevel level_{};
  stope::cuda::Stopwatch search_, mark_, move_;
  // This level: where nodes begin, and their classes. All levels: the splits of their nodes.
  std::vector<std::uint32_t> totals_, begins_, right_counts_, host_sides_;
  std::vector<LongMove> moves_;
  std::vector<cuda_abi::Split> splits_;
};

}  // namespace

std::unique_ptr<Grower> make_long_grower(const cuda_abi::Problem& problem) {
  return std::make_unique<LongGrower>(problem);
}

}  // namespace stope::tree::cuda
