// A session of the gram operator on one GPU (gram/cuda_abi.hpp): its rows, its sums, its streams.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "gram/cuda/rows.hpp"

namespace stope::gram::cuda {

class GramSession {
 public:
  /// Its GPU must be current whenever a member is called, the constructor included.
  GramSession(int gpu, const cuda_abi::Spec& spec);
  ~GramSession();
  GramSession(const GramSession&) = delete;
  GramSession& operator=(const GramSession&) = delete;

  int gpu() const { return gpu_; }
  void load(int buffer, int slot, const void* rows, std::int64_t at, std::int64_t n);
  void wait(int slot) { copied_[slot].wait(); }
  void begin(const cuda_abi::Job& job);
  void run(int buffer, std::int64_t first, std::int64_t n);
  void finish(double* y, double* sums);
  void replay(const double* x, double* sums);
  float measure(int repeats);

 private:
  struct Rows {
    stope::cuda::DeviceBuffer<char> values;
    stope::cuda::Event filled, used;
  };

  std::int64_t n_session_groups() const { return spec_.end_group - spec_.first_group; }
  std::int64_t n_session_rows() const { return end_row_ - first_row_; }
  std::int64_t n_blocks() const { return (n_session_groups() + spec_.block_groups - 1) / spec_.block_groups; }
  std::int64_t sums_of_vector() const { return n_session_groups() * sum_columns_; }
  RowsJob job(int buffer, std::int64_t first, std::int64_t n, std::int64_t vector) const;
  void grow(std::int64_t n_vectors);
  void upload_x(const double* x, std::int64_t n_vectors);
  void gram(const RowsJob& job);
  void gram_in_panels(const RowsJob& job);
  const double* add_groups(std::int64_t vector);
  void download_sums(std::int64_t n_vectors);
  void hand_out_sums(std::int64_t n_vectors, double* sums) const;
  enum class Copies { with, without };
  cudaGraphExec_t recorded(Copies copies);

  struct DestroyGraph {
    void operator()(cudaGraphExec_t graph) const noexcept { cudaGraphExecDestroy(graph); }
  };
  using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

  int gpu_;
  cuda_abi::Spec spec_;
  Layout layout_;
  std::int64_t padded_, sum_columns_, n_groups_, first_row_, end_row_;
  cuda_abi::Mode mode_ = cuda_abi::Mode::gram;
  std::int64_t n_vectors_ = 0;
  std::vector<Rows> rows_;
  stope::cuda::DeviceBuffer<double> shift_, x_, y_, sums_, part_sums_;
  stope::cuda::DeviceBuffer<double> halves_[2];  // sums of groups, while they are added to those of blocks
  stope::cuda::DeviceBuffer<char> exchange_;
  stope::cuda::PinnedBuffer<double> host_x_, host_y_, host_sums_;
  stope::cuda::Event copied_[cuda_abi::kSlots];
  stope::cuda::Stream compute_, copy_in_;
  Graph graph_, bare_graph_;  // last: destroyed first, while their memory still exists
};

}  // namespace stope::gram::cuda
