#include "gram/gpu_rows.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "device/cuda_plugin.hpp"
#include "device/staging.hpp"
#include "device/staging_threads.hpp"
#include "gram/shape.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

using cuda_abi::Failure;
using device::checked_call;

// Pinned memory per slot, which takes long to allocate. A bus of 55 GB/s copies it in 150 microseconds.
constexpr std::int64_t kPieceBytes = std::int64_t{8} << 20;
constexpr std::int64_t kAlignment = 16;  // rows on the GPU are aligned to that

const cuda_abi::Functions& functions() {
  return *device::plugin().gram;
}

// A test may force how many rows a buffer holds; 0: as many as fit.
std::int64_t forced_rows() {
  return environment::count(environment::Variable::device_rows);
}

// Bytes that a session takes besides its rows, for the buffers of gram/cuda/session.hpp.
std::int64_t fixed_bytes(std::int64_t n_columns, std::int64_t n_groups, std::int64_t n_rows, std::int64_t vectors) {
  const std::int64_t vector = checked::mul(padded_columns(n_columns), 8);
  const std::int64_t group = checked::mul(cuda_abi::sum_columns(n_columns), 8);
  const std::int64_t sums = checked::mul(group, checked::mul(n_groups, vectors + 1));
  const std::int64_t all = checked::add(sums, checked::mul(vector, vectors + 3));
  return checked::add(checked::add(all, checked::mul(n_rows, 8)), cuda_abi::kMessageBytes);
}

}  // namespace

void GpuRows::Destroy::operator()(cuda_abi::Session* session) const noexcept {
  if (device::cuda_lives()) functions().destroy(session);
}

GpuRows::GpuRows(int gpu, const RowSource& rows, const GroupRange& groups, const double* shift,
                 std::int64_t most_vectors, const RunOptions& run)
    : rows_(rows),
      groups_(groups),
      first_row_(group_begin(groups.first, rows.n_rows(), gram::n_groups(rows.n_rows(), rows.n_columns()))),
      end_row_(group_begin(groups.end, rows.n_rows(), gram::n_groups(rows.n_rows(), rows.n_columns()))) {
  spec_.n_rows = rows.n_rows();
  spec_.n_columns = rows.n_columns();
  spec_.first_group = groups.first;
  spec_.end_group = groups.end;
  spec_.element_bytes = size_of(rows.dtype());
  const std::int64_t in_16 = kAlignment / spec_.element_bytes;
  spec_.row_stride = checked::ceil_div(spec_.n_columns, in_16) * in_16;
  spec_.block_groups = groups.block;
  spec_.most_vectors = most_vectors;
  spec_.shift = shift;
  std::int64_t free = 0;
  checked_call([&](Failure* failure) { return device::plugin().free_memory(gpu, &free, failure); });
  device::note_cuda_use();
  const std::int64_t most = free / 10 * 9;
  // Another process may take the memory that is free now. A session with fewer rows then works as well.
  constexpr int kAttempts = 6;
  std::int64_t budget = run.memory_limit > 0 ? std::min(run.memory_limit, most) : most;
  for (int attempt = 1; session_ == nullptr; ++attempt, budget /= 2) {
    try {
      create(gpu, budget);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || attempt == kAttempts) throw;
    }
  }
  const std::int64_t row_bytes = spec_.row_stride * spec_.element_bytes;
  piece_rows_ = std::clamp<std::int64_t>(kPieceBytes / row_bytes, 1, spec_.held_rows);
  for (auto& piece : pieces_) piece = device::Pinned<char>(gpu, checked::mul(piece_rows_, row_bytes));
}

void GpuRows::create(int gpu, std::int64_t budget) {
  // Rows of several parts need a sum per part on the GPU. A part has at least 512 columns, hence at most n_leaves()
  // sums.
  const std::int64_t row_bytes =
      checked::add(checked::mul(spec_.row_stride, spec_.element_bytes), n_leaves(spec_.n_columns) * 8);
  const std::int64_t fixed = fixed_bytes(spec_.n_columns, groups_.end - groups_.first, n_rows(), spec_.most_vectors);
  const std::int64_t fit = (budget - fixed) / row_bytes, forced = forced_rows();
  spec_.held_rows = forced > 0 ? std::min(forced, n_rows()) : n_rows();
  spec_.n_buffers = spec_.held_rows == n_rows() ? 1 : 2;
  if (spec_.held_rows * spec_.n_buffers > fit) {
    spec_.n_buffers = 2;
    spec_.held_rows = std::min(spec_.held_rows, fit / 2);
  }
  if (spec_.held_rows < 1) {
    throw Error(ErrorCode::out_of_memory, "the gram operator needs " +
                                              std::to_string(checked::add(fixed, 2 * row_bytes)) +
                                              " bytes of GPU memory for rows of " + std::to_string(spec_.n_columns) +
                                              " columns, but only " + std::to_string(budget) + " can be used");
  }
  cuda_abi::Session* session = nullptr;
  checked_call([&](Failure* failure) { return functions().create(gpu, &spec_, &session, failure); });
  session_.reset(session);
}

std::int64_t GpuRows::n_parts() const {
  return checked::ceil_div(n_rows(), spec_.held_rows);
}

void GpuRows::begin(const cuda_abi::Job& job) {
  checked_call([&](Failure* failure) { return functions().begin(session_.get(), &job, failure); });
}

void GpuRows::run(std::int64_t part, const RunOptions& run) {
  const std::int64_t first = first_row_ + part * spec_.held_rows, n = std::min(spec_.held_rows, end_row_ - first);
  const int buffer = static_cast<int>(part % spec_.n_buffers);
  if (!resident() || !loaded_) load(buffer, first, n, run);
  loaded_ = resident();
  checked_call([&](Failure* failure) { return functions().run(session_.get(), buffer, first, n, failure); });
}

// Copies rows piece by piece through pinned memory: one piece is written while the other is copied.
void GpuRows::load(int buffer, std::int64_t first, std::int64_t n, const RunOptions& run) {
  constexpr std::int64_t kTaskBytes = std::int64_t{256} << 10;
  const std::int64_t stride = spec_.row_stride * spec_.element_bytes;
  const device::StagedSizes sizes{.all = n * stride,
                                  .piece = piece_rows_ * stride,
                                  .task = std::max<std::int64_t>(1, kTaskBytes / stride) * stride};
  device::Staging staging(
      sizes, device::staging_threads(run, sizes.all),
      [&](std::int64_t at, std::int64_t bytes, char* to) { write_rows(first + at / stride, bytes / stride, to); });
  const auto allow = [&] {
    checked_call([&](Failure* failure) { return functions().wait(session_.get(), next_slot_, failure); });
    staging.allow_next(pieces_[next_slot_].data());
  };
  if (n > 0) allow();
  for (std::int64_t piece = 0; piece < staging.n_pieces(); ++piece) {
    run.cancel.check();
    staging.fill();
    const std::int64_t rows = staging.bytes_of(piece) / stride;
    checked_call([&](Failure* failure) {
      return functions().load(session_.get(), buffer, next_slot_, pieces_[next_slot_].data(), piece * piece_rows_, rows,
                              failure);
    });
    copied_bytes_ += rows * stride;
    next_slot_ = (next_slot_ + 1) % cuda_abi::kSlots;
    if (piece + 1 < staging.n_pieces()) allow();
  }
}

// Writes rows with the GPU's stride. The gaps between them are written, too, so that nothing uninitialised is copied.
void GpuRows::write_rows(std::int64_t first, std::int64_t n, char* to) const {
  const std::int64_t element = spec_.element_bytes, width = spec_.n_columns * element;
  const std::int64_t stride = spec_.row_stride * element, from_stride = rows_.row_stride() * element;
  std::vector<char> scratch(rows_.in_place() ? 0 : static_cast<std::size_t>(n * from_stride));
  const auto* from = static_cast<const char*>(rows_.rows(first, n, scratch.data()));
  for (std::int64_t row = 0; row < n; ++row, from += from_stride) {
    std::memcpy(to + row * stride, from, static_cast<std::size_t>(width));
    std::memset(to + row * stride + width, 0, static_cast<std::size_t>(stride - width));
  }
}

void GpuRows::finish(double* y, double* sums) {
  checked_call([&](Failure* failure) { return functions().finish(session_.get(), y, sums, failure); });
}

float GpuRows::measure(int repeats) {
  float milliseconds = 0.0F;
  checked_call([&](Failure* failure) { return functions().measure(session_.get(), repeats, &milliseconds, failure); });
  return milliseconds;
}

void GpuRows::replay(const double* x, double* sums) {
  checked_call([&](Failure* failure) { return functions().replay(session_.get(), x, sums, failure); });
}

}  // namespace stope::gram
