#include "knn/filter/image_blocks.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"

namespace stope::knn {
namespace {

static_assert(kScanBlockRows % kTransposedRows == 0);

// Writes the image at a position, and returns its residual.
double put_row(const ImageSource& source, std::int64_t position, float* image) {
  return source.mapper.map(source.part.rows + source.images.row(position) * source.width, image);
}

// Writes a block, and returns the rows that are always listed. `rows` has room for kTransposedRows images.
std::uint64_t make_block(const ImageSource& source, std::int64_t number, float* block, float* rows) {
  const TrainImages& images = source.images;
  const std::int64_t n_columns = source.map().n_columns();
  std::uint64_t always = 0;
  for (int first = 0; first < kScanBlockRows; first += kTransposedRows) {
    for (int i = 0; i < kTransposedRows; ++i) {
      const std::int64_t position = number * kScanBlockRows + first + i;
      float* const image = rows + i * n_columns;
      if (position >= images.n_rows) {
        std::fill_n(image, n_columns, std::numeric_limits<float>::quiet_NaN());
        continue;
      }
      const double residual = put_row(source, position, image);
      if (!(residual <= images.residual)) always |= std::uint64_t{1} << (first + i);
    }
    source.mapper.kernels().transpose(rows, n_columns, block + first);
  }
  return always;
}

// A task has several blocks, so that a block of few columns is worth one.
template <class Make>
void make_blocks(std::int64_t n_blocks, ThreadPool& pool, const CancelToken& cancel, const Make& make) {
  constexpr std::int64_t kBlocksPerTask = 8;
  pool.parallel_for(checked::ceil_div(n_blocks, kBlocksPerTask), cancel, [&](std::int64_t task, int worker) {
    const std::int64_t end = std::min((task + 1) * kBlocksPerTask, n_blocks);
    for (std::int64_t number = task * kBlocksPerTask; number < end; ++number) make(number, worker);
  });
}

// Scratch memory of every thread that works.
class Scratch {
 public:
  Scratch(ThreadPool& pool, std::int64_t size) : size_(size), buffers_(static_cast<std::size_t>(pool.size())) {}
  float* of(int worker) {
    Buffer<float>& buffer = buffers_[static_cast<std::size_t>(worker)];
    if (buffer.empty()) buffer = Buffer<float>(size_);
    return buffer.data();
  }

 private:
  std::int64_t size_;
  std::vector<Buffer<float>> buffers_;
};

}  // namespace

void for_each_block(const ImageSource& source, ThreadPool& pool, const CancelToken& cancel, const UseBlock& use) {
  const std::int64_t n_columns = source.map().n_columns();
  if (!source.made.blocks.empty()) {
    make_blocks(source.images.n_blocks, pool, cancel, [&](std::int64_t number, int) {
      use(number, source.made.blocks.data() + number * kScanBlockRows * n_columns,
          source.made.always[static_cast<std::size_t>(number)]);
    });
    return;
  }
  Scratch scratch(pool, checked::mul(n_columns, kScanBlockRows + kTransposedRows));
  make_blocks(source.images.n_blocks, pool, cancel, [&](std::int64_t number, int worker) {
    float* const block = scratch.of(worker);
    use(number, block, make_block(source, number, block, block + n_columns * kScanBlockRows));
  });
}

FloatBlocks make_float_blocks(const ImageSource& source, ThreadPool& pool, const CancelToken& cancel) {
  if (!source.made.blocks.empty()) return source.made;
  const std::int64_t n_columns = source.map().n_columns(), n_blocks = source.images.n_blocks;
  FloatBlocks floats;
  floats.blocks = Buffer<float>(checked::mul(source.n_slots(), n_columns));
  prefer_huge_pages(floats.blocks.data(), static_cast<std::size_t>(floats.blocks.size()) * sizeof(float));
  floats.always.assign(static_cast<std::size_t>(n_blocks), 0);
  Scratch scratch(pool, checked::mul(n_columns, kTransposedRows));
  make_blocks(n_blocks, pool, cancel, [&](std::int64_t number, int worker) {
    float* const block = floats.blocks.data() + number * kScanBlockRows * n_columns;
    floats.always[static_cast<std::size_t>(number)] = make_block(source, number, block, scratch.of(worker));
  });
  return floats;
}

}  // namespace stope::knn
