#include "stats/cuda_pass.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "device/cuda_plugin.hpp"
#include "stats/auto_device.hpp"

namespace stope::stats {
namespace {

using cuda_abi::Failure;
using device::checked_call;

// Large enough to hide a launch and the start of a copy, small enough for copies and computation to overlap.
constexpr std::int64_t kPieceBytes = std::int64_t{32} << 20;
// The memory limit has to hold two pieces, their parts, and some spare room.
constexpr std::int64_t kPiecesInLimit = 4;

const cuda_abi::Functions& functions() {
  return *device::plugin().stats;
}

cuda_abi::Type type_of(ElementType type) {
  switch (type) {
    case ElementType::float32: return cuda_abi::Type::float32;
    case ElementType::int32: return cuda_abi::Type::int32;
    case ElementType::int64: return cuda_abi::Type::int64;
    default: break;
  }
  return cuda_abi::Type::float64;
}

cuda_abi::Values values_of(const ArrayView& array, const PassOptions& options) {
  return {array.data,          type_of(array.type), options.wanted == Wanted::moments ? 1 : 0,
          array.n_rows,        array.n_columns,     array.row_stride,
          array.column_stride, options.scale};
}

// Rows of a piece: a power of two of leaves, so that pieces are joined as leaves are.
std::int64_t piece_rows(std::int64_t row_bytes, std::int64_t limit) {
  const std::int64_t bytes = std::min(kPieceBytes, limit / kPiecesInLimit);
  const std::int64_t leaves = std::max<std::int64_t>(bytes / checked::mul(row_bytes, kLeafRows), 1);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(leaves))) * kLeafRows;
}

// Consecutive rows of an array. The part of its column c goes to parts[first + c * step].
struct Piece {
  ArrayView values;
  std::int64_t row = 0;
  std::int64_t first = 0, step = 0;
};

struct Destroy {
  void operator()(cuda_abi::Session* session) const {
    if (device::cuda_lives()) functions().destroy(session);
  }
};

// Every n-th piece, on one GPU: while one is computed, the next is copied.
template <class Wide>
class Worker {
 public:
  Worker(int gpu, const std::vector<Piece>& pieces, std::int64_t first, std::int64_t step,
         std::vector<Part<Wide>>& parts, const PassOptions& options, PhaseProgress* progress)
      : pieces_(pieces), first_(first), step_(step), parts_(parts), options_(options), progress_(progress) {
    std::int64_t bytes = 0;
    for (const Piece& piece : pieces) {
      const ArrayView& v = piece.values;
      bytes =
          std::max(bytes, ((v.n_rows - 1) * v.row_stride + (v.n_columns - 1) * v.column_stride + 1) * size_of(v.type));
      most_columns_ = std::max(most_columns_, v.n_columns);
    }
    cuda_abi::Session* session = nullptr;
    checked_call([&](Failure* failure) { return functions().create(gpu, bytes, most_columns_, &session, failure); });
    session_.reset(session);
    found_.resize(static_cast<std::size_t>(most_columns_));
  }

  void run() {
    std::int64_t submitted = first_, collected = first_;
    const auto n = static_cast<std::int64_t>(pieces_.size());
    while (collected < n) {
      for (; submitted < n && submitted < collected + cuda_abi::kSlots * step_; submitted += step_) {
        options_.cancel.check();
        const cuda_abi::Values values = values_of(pieces_[static_cast<std::size_t>(submitted)].values, options_);
        checked_call(
            [&](Failure* failure) { return functions().submit(session_.get(), slot_of(submitted), &values, failure); });
      }
      checked_call([&](Failure* failure) {
        return functions().collect(session_.get(), slot_of(collected), found_.data(), failure);
      });
      put(pieces_[static_cast<std::size_t>(collected)]);
      if (progress_ != nullptr) progress_->add(1);
      collected += step_;
    }
  }

 private:
  int slot_of(std::int64_t piece) const { return static_cast<int>((piece - first_) / step_ % cuda_abi::kSlots); }
  void put(const Piece& piece) {
    for (std::int64_t c = 0; c < piece.values.n_columns; ++c) {
      Part<Wide>& part = parts_[static_cast<std::size_t>(piece.first + c * piece.step)];
      part = found_[static_cast<std::size_t>(c)];
      part.min_row += piece.row;
      part.max_row += piece.row;
    }
  }

  const std::vector<Piece>& pieces_;
  std::int64_t first_, step_, most_columns_ = 0;
  std::vector<Part<Wide>>& parts_;
  const PassOptions& options_;
  PhaseProgress* progress_;  // counts pieces; or null
  std::unique_ptr<cuda_abi::Session, Destroy> session_;
  std::vector<Part<Wide>> found_;
};

// Runs one thread per GPU. Each writes parts of its own.
template <class Wide>
void run_pieces(const std::vector<Piece>& pieces, const PassOptions& options, const std::vector<int>& gpus,
                std::vector<Part<Wide>>& parts) {
  device::note_cuda_use();
  const auto n = static_cast<std::int64_t>(std::min(gpus.size(), pieces.size()));
  ThreadPool pool(static_cast<int>(std::max<std::int64_t>(n, 1)));
  std::optional<PhaseProgress> progress;
  if (options.told != nullptr) progress.emplace(*options.told, "statistics on GPUs", std::ssize(pieces));
  PhaseProgress* const told = progress ? &*progress : nullptr;
  pool.parallel_for(
      n, options.cancel,
      [&](std::int64_t i, int) {
        Worker<Wide>(gpus[static_cast<std::size_t>(i)], pieces, i, n, parts, options, told).run();
      },
      told);
}

// A test may force this number of rows in place of both limits; else 0.
std::int64_t forced_rows() {
  return environment::count(environment::Variable::stats_gpu_rows);
}

std::int64_t fewest_rows() {
  const std::int64_t forced = forced_rows();
  return forced > 0 ? forced : kFewestGpuRows;
}

}  // namespace

bool suits_gpu(std::int64_t bytes) {
  return forced_rows() > 0 || bytes >= kFewestGpuBytes;
}

bool suits_gpu(const Source& source) {
  return has_kernels(source.type) && source.rows == nullptr && source.stride == 1 && source.n >= fewest_rows();
}

bool suits_gpu(const ArrayView& matrix, std::int64_t limit) {
  if (!has_kernels(matrix.type) || matrix.row_stride < matrix.n_columns) return false;
  if (matrix.n_rows * matrix.n_columns < fewest_rows()) return false;
  const std::int64_t leaf = checked::mul(checked::mul(matrix.row_stride, size_of(matrix.type)), kLeafRows);
  return leaf <= limit / kPiecesInLimit;
}

template <class Wide>
std::vector<Part<Wide>> cuda_pass_over(const std::vector<Source>& sources, const PassOptions& options,
                                       const std::vector<int>& gpus, std::int64_t limit) {
  std::vector<Piece> pieces;
  std::vector<std::int64_t> begins = {0};
  for (const Source& source : sources) {
    const std::int64_t size = size_of(source.type), rows = piece_rows(size, limit);
    for (std::int64_t row = 0; row < source.n; row += rows) {
      const ArrayView values = {
          static_cast<const char*>(source.data) + row * size, source.type, std::min(rows, source.n - row), 1, 1, 1};
      pieces.push_back({values, row, static_cast<std::int64_t>(pieces.size()), 1});
    }
    begins.push_back(static_cast<std::int64_t>(pieces.size()));
  }
  std::vector<Part<Wide>> parts(pieces.size());
  run_pieces(pieces, options, gpus, parts);
  std::vector<Part<Wide>> joined(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (begins[i] == begins[i + 1]) continue;
    join_all(parts.data() + begins[i], begins[i + 1] - begins[i]);
    joined[i] = parts[static_cast<std::size_t>(begins[i])];
  }
  return joined;
}

template <class Wide>
std::vector<Part<Wide>> cuda_pass_over_rows(const ArrayView& matrix, const PassOptions& options,
                                            const std::vector<int>& gpus, std::int64_t limit) {
  const std::int64_t row_bytes = matrix.row_stride * size_of(matrix.type), rows = piece_rows(row_bytes, limit);
  const std::int64_t n_pieces = checked::ceil_div(matrix.n_rows, rows);
  std::vector<Piece> pieces;
  for (std::int64_t p = 0; p < n_pieces; ++p) {
    ArrayView values = matrix;
    values.data = static_cast<const char*>(matrix.data) + p * rows * row_bytes;
    values.n_rows = std::min(rows, matrix.n_rows - p * rows);
    pieces.push_back({values, p * rows, p, n_pieces});
  }
  std::vector<Part<Wide>> parts(static_cast<std::size_t>(checked::mul(n_pieces, matrix.n_columns)));
  run_pieces(pieces, options, gpus, parts);
  std::vector<Part<Wide>> joined;
  for (std::int64_t c = 0; c < matrix.n_columns; ++c) {
    join_all(parts.data() + c * n_pieces, n_pieces);
    joined.push_back(parts[static_cast<std::size_t>(c * n_pieces)]);
  }
  return joined;
}

template <class Wide>
std::vector<Part<Wide>> cuda_pass_over_device(const ArrayView& array, const PassOptions& options, double& seconds) {
  device::note_cuda_use();
  options.cancel.check();
  std::vector<Part<Wide>> parts(static_cast<std::size_t>(array.n_columns));
  if (array.n_rows == 0 || parts.empty()) return parts;
  const auto run = [&](const ArrayView& values, Part<Wide>* to) {
    const cuda_abi::Values there = values_of(values, options);
    float milliseconds = 0.0F;
    checked_call([&](Failure* failure) {
      return functions().describe(array.gpu, array.stream, &there, to, &milliseconds, failure);
    });
    seconds += 1e-3 * static_cast<double>(milliseconds);
  };
  if (array.row_stride == 1 || array.column_stride == 1) {
    run(array, parts.data());
    return parts;
  }
  for (std::int64_t c = 0; c < array.n_columns; ++c) {  // no values lie side by side: one column at a time
    ArrayView column = array;
    column.data = static_cast<const char*>(array.data) + c * array.column_stride * size_of(array.type);
    column.n_columns = column.column_stride = 1;
    run(column, &parts[static_cast<std::size_t>(c)]);
  }
  return parts;
}

template std::vector<Part<double>> cuda_pass_over(const std::vector<Source>&, const PassOptions&,
                                                  const std::vector<int>&, std::int64_t);
template std::vector<Part<std::int64_t>> cuda_pass_over(const std::vector<Source>&, const PassOptions&,
                                                        const std::vector<int>&, std::int64_t);
template std::vector<Part<double>> cuda_pass_over_rows(const ArrayView&, const PassOptions&, const std::vector<int>&,
                                                       std::int64_t);
template std::vector<Part<std::int64_t>> cuda_pass_over_rows(const ArrayView&, const PassOptions&,
                                                             const std::vector<int>&, std::int64_t);
template std::vector<Part<double>> cuda_pass_over_device(const ArrayView&, const PassOptions&, double&);
template std::vector<Part<std::int64_t>> cuda_pass_over_device(const ArrayView&, const PassOptions&, double&);

}  // namespace stope::stats
