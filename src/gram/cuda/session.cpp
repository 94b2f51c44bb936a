#include "gram/cuda/session.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "gram/shape.hpp"

namespace stope::gram::cuda {
namespace {

using cuda_abi::Mode;
using stope::cuda::check;
using stope::cuda::DeviceBuffer;
using stope::cuda::PinnedBuffer;

// Rows that are read twice come in panels of that size, which stay in an L2 cache of 50 MB between the two reads.
constexpr std::int64_t kPanelBytes = std::int64_t{24} << 20;
constexpr int kMostFactor = 256;  // groups that one launch adds

template <class T>
void copy(T* to, const T* from, std::int64_t n, cudaMemcpyKind kind, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T), kind, stream), "copying vectors");
}

}  // namespace

GramSession::GramSession(int gpu, const cuda_abi::Spec& spec)
    : gpu_(gpu),
      spec_(spec),
      layout_(layout_of(gpu)),
      padded_(padded_columns(spec.n_columns)),
      sum_columns_(sum_columns(spec.n_columns)),
      n_groups_(n_groups(spec.n_rows, spec.n_columns)),
      first_row_(group_begin(spec.first_group, spec.n_rows, n_groups_)),
      end_row_(group_begin(spec.end_group, spec.n_rows, n_groups_)),
      rows_(static_cast<std::size_t>(spec.n_buffers)) {
  const std::int64_t bytes = checked::mul(checked::mul(spec.held_rows, spec.row_stride), spec.element_bytes);
  for (Rows& rows : rows_) rows.values = DeviceBuffer<char>(bytes);
  const std::int64_t parts = n_parts(layout_, spec.n_columns);
  if (parts > 1) {
    if (Teams::fit(spec.n_columns, spec.element_bytes, layout_)) {
      exchange_ = DeviceBuffer<char>(Teams::exchange_bytes());
    }
    part_sums_ = DeviceBuffer<double>(checked::mul(spec.held_rows, parts));
  }
  y_ = DeviceBuffer<double>(n_session_rows());
  host_y_ = PinnedBuffer<double>(n_session_rows());
  grow(1);
  if (spec.shift == nullptr) return;
  shift_ = DeviceBuffer<double>(padded_);
  upload_x(spec.shift, 1);
  copy(shift_.data(), x_.data(), padded_, cudaMemcpyDeviceToDevice, compute_.get());
  compute_.wait();
}

// A pass that failed leaves work under way, which must end before its memory is freed. A lost GPU has none.
GramSession::~GramSession() {
  for (const stope::cuda::Stream* stream : {&copy_in_, &compute_}) cudaStreamSynchronize(stream->get());
}

// Makes room for the sums of n_vectors vectors. Nothing may be under way that uses the present ones.
void GramSession::grow(std::int64_t n_vectors) {
  if (x_.size() >= n_vectors * padded_) return;
  graph_ = {};  // they hold the old addresses
  bare_graph_ = {};
  x_ = {};
  sums_ = {};
  x_ = DeviceBuffer<double>(checked::mul(n_vectors, padded_));
  sums_ = DeviceBuffer<double>(checked::mul(n_vectors, sums_of_vector()));
  host_x_ = PinnedBuffer<double>(n_vectors * padded_);
  host_sums_ = PinnedBuffer<double>(checked::mul(n_vectors, n_blocks() * sum_columns_));
  if (halves_[0].size() == 0) {
    const std::int64_t first = (n_session_groups() + 1) / 2;
    halves_[0] = DeviceBuffer<double>(first * sum_columns_);
    halves_[1] = DeviceBuffer<double>(((first + 1) / 2) * sum_columns_);
  }
}

// Copies vectors into places of whole leaves, with zeros at their ends.
void GramSession::upload_x(const double* x, std::int64_t n_vectors) {
  for (std::int64_t v = 0; v < n_vectors; ++v) {
    double* const to = host_x_.data() + v * padded_;
    std::copy_n(x + v * spec_.n_columns, spec_.n_columns, to);
    std::fill(to + spec_.n_columns, to + padded_, 0.0);
  }
  copy(x_.data(), host_x_.data(), n_vectors * padded_, cudaMemcpyHostToDevice, compute_.get());
}

void GramSession::load(int buffer, int slot, const void* rows, std::int64_t at, std::int64_t n) {
  Rows& to = rows_[static_cast<std::size_t>(buffer)];
  to.used.hold(copy_in_);  // earlier run() calls may still read the present rows
  const std::int64_t row_bytes = spec_.row_stride * spec_.element_bytes;
  check(cudaMemcpyAsync(to.values.data() + at * row_bytes, rows, static_cast<std::size_t>(n * row_bytes),
                        cudaMemcpyHostToDevice, copy_in_.get()),
        "copying rows");
  copied_[slot].record(copy_in_);
  to.filled.record(copy_in_);
}

void GramSession::begin(const cuda_abi::Job& job) {
  compute_.wait();  // a pass that was given up may still use the vectors
  mode_ = job.mode;
  n_vectors_ = job.n_vectors;
  grow(n_vectors_);
  if (job.x != nullptr) upload_x(job.x, n_vectors_);
  if (job.y == nullptr) return;
  std::copy_n(job.y, n_session_rows(), host_y_.data());
  copy(y_.data(), host_y_.data(), n_session_rows(), cudaMemcpyHostToDevice, compute_.get());
}

RowsJob GramSession::job(int buffer, std::int64_t first, std::int64_t n, std::int64_t vector) const {
  return {.rows = rows_[static_cast<std::size_t>(buffer)].values.data(),
          .row_stride = spec_.row_stride,
          .first = first,
          .n = n,
          .n_columns = spec_.n_columns,
          .groups = GroupRows::of(spec_.n_rows, n_groups_),
          .first_group = spec_.first_group,
          .first_y = first_row_,
          .shift = shift_.data(),
          .x = x_.data() + vector * padded_,
          .y = y_.data(),
          .sums = sums_.data() + vector * sums_of_vector()};
}

void GramSession::run(int buffer, std::int64_t first, std::int64_t n) {
  Rows& rows = rows_[static_cast<std::size_t>(buffer)];
  rows.filled.hold(compute_);
  for (std::int64_t v = 0; v < n_vectors_; ++v) {
    const RowsJob work = job(buffer, first, n, v);
    switch (mode_) {
      case Mode::multiply:
        launch_multiply_rows(work, spec_.element_bytes, layout_, part_sums_.data(), compute_.get());
        break;
      case Mode::transposed: launch_transposed_rows(work, spec_.element_bytes, layout_, compute_.get()); break;
      case Mode::gram: gram(work); break;
    }
  }
  rows.used.record(compute_);
}

void GramSession::gram(const RowsJob& job) {
  if (n_parts(layout_, spec_.n_columns) == 1) {
    launch_gram_rows(job, spec_.element_bytes, layout_, compute_.get());
  } else if (exchange_.size() > 0) {
    Teams::launch(job, spec_.element_bytes, layout_, exchange_.data(), compute_.get());
  } else {
    gram_in_panels(job);
  }
}

// For rows too long for all SMs together. Reads rows twice, the second time from the L2 cache where one row fits it.
void GramSession::gram_in_panels(const RowsJob& job) {
  const std::int64_t row_bytes = spec_.row_stride * spec_.element_bytes;
  const std::int64_t panel = std::max<std::int64_t>(1, kPanelBytes / row_bytes);
  for (std::int64_t begin = 0; begin < job.n; begin += panel) {
    RowsJob part = job;
    part.rows = static_cast<const char*>(job.rows) + begin * row_bytes;
    part.first = job.first + begin;
    part.n = std::min(panel, job.n - begin);
    launch_multiply_rows(part, spec_.element_bytes, layout_, part_sums_.data(), compute_.get());
    launch_transposed_rows(part, spec_.element_bytes, layout_, compute_.get());
  }
}

// Adds the sums of groups to those of the session's blocks, and returns where these lie.
const double* GramSession::add_groups(std::int64_t vector) {
  const double* from = sums_.data() + vector * sums_of_vector();
  std::int64_t n = n_session_groups(), left = spec_.block_groups;
  for (int turn = 0; left > 1 && n > 1; turn ^= 1) {
    const int factor = static_cast<int>(std::min<std::int64_t>(left, kMostFactor));
    double* const to = halves_[turn].data();
    launch_add_groups(from, n, sum_columns_, factor, layout_, to, compute_.get());
    from = to;
    n = (n + factor - 1) / factor;
    left /= factor;
  }
  return from;
}

void GramSession::download_sums(std::int64_t n_vectors) {
  const std::int64_t size = n_blocks() * sum_columns_;
  for (std::int64_t v = 0; v < n_vectors; ++v) {
    copy(host_sums_.data() + v * size, add_groups(v), size, cudaMemcpyDeviceToHost, compute_.get());
  }
}

// Copies the sums to the caller's places of whole leaves.
void GramSession::hand_out_sums(std::int64_t n_vectors, double* sums) const {
  for (std::int64_t block = 0; block < n_vectors * n_blocks(); ++block, sums += padded_) {
    std::copy_n(host_sums_.data() + block * sum_columns_, sum_columns_, sums);
    std::fill(sums + sum_columns_, sums + padded_, 0.0);
  }
}

void GramSession::finish(double* y, double* sums) {
  if (mode_ == Mode::multiply) {
    copy(host_y_.data(), y_.data(), n_session_rows(), cudaMemcpyDeviceToHost, compute_.get());
    compute_.wait();
    std::copy_n(host_y_.data(), n_session_rows(), y);
    return;
  }
  download_sums(n_vectors_);
  compute_.wait();
  hand_out_sums(n_vectors_, sums);
}

// Returns one pass as a graph, which the first call records. For a small matrix the launches take longer than the work.
cudaGraphExec_t GramSession::recorded(Copies copies) {
  Graph& made = copies == Copies::with ? graph_ : bare_graph_;
  if (made != nullptr) return made.get();
  check(cudaStreamBeginCapture(compute_.get(), cudaStreamCaptureModeThreadLocal), "recording a graph");
  cudaGraph_t graph = nullptr;
  try {
    if (copies == Copies::with) copy(x_.data(), host_x_.data(), padded_, cudaMemcpyHostToDevice, compute_.get());
    gram(job(0, first_row_, n_session_rows(), 0));
    if (copies == Copies::with) {
      download_sums(1);
    } else {
      add_groups(0);
    }
  } catch (...) {
    cudaStreamEndCapture(compute_.get(), &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(compute_.get(), &graph), "recording a graph");
  cudaGraphExec_t instance = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&instance, graph, 0);
  cudaGraphDestroy(graph);
  check(error, "making a graph");
  made.reset(instance);
  return instance;
}

float GramSession::measure(int repeats) {
  const bool one_block = n_parts(layout_, spec_.n_columns) == 1;
  stope::cuda::Clock start, end;
  compute_.wait();
  rows_[0].filled.wait();
  if (one_block) recorded(Copies::without);
  start.record(compute_);
  for (int i = 0; i < repeats; ++i) {
    if (one_block) {
      check(cudaGraphLaunch(recorded(Copies::without), compute_.get()), "launching a graph");
    } else {
      gram(job(0, first_row_, n_session_rows(), 0));
      add_groups(0);
    }
  }
  end.record(compute_);
  end.wait();
  return end.since(start) / static_cast<float>(repeats);
}

void GramSession::replay(const double* x, double* sums) {
  if (n_parts(layout_, spec_.n_columns) > 1) {  // several launches, or a cooperative one: no graph
    begin({Mode::gram, 1, x, nullptr});
    run(0, first_row_, n_session_rows());
    return finish(nullptr, sums);
  }
  compute_.wait();
  rows_[0].filled.wait();
  std::copy_n(x, spec_.n_columns, host_x_.data());
  std::fill(host_x_.data() + spec_.n_columns, host_x_.data() + padded_, 0.0);
  check(cudaGraphLaunch(recorded(Copies::with), compute_.get()), "launching a graph");
  compute_.wait();
  hand_out_sums(1, sums);
}

}  // namespace stope::gram::cuda
