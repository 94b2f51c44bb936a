// The rows of one GPU's groups: its session of the plug-in, and how the rows are copied to it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/pinned.hpp"
#include "gram/cuda_abi.hpp"
#include "gram/operator.hpp"

namespace stope::gram {

/// Groups [first, end) of a matrix, in blocks of `block` (a power of two); `first` is a multiple of it.
struct GroupRange {
  std::int64_t first = 0, end = 0, block = 1;
  std::int64_t n_blocks() const { return (end - first + block - 1) / block; }
};

class GpuRows {
 public:
  /// Allocates memory for all its rows, or else for two parts of them. Throws out_of_memory with the bytes if not even
  /// two rows fit the budget.
  GpuRows(int gpu, const RowSource& rows, const GroupRange& groups, const double* shift, std::int64_t most_vectors,
          const RunOptions& run);

  const GroupRange& groups() const { return groups_; }
  std::int64_t first_row() const { return first_row_; }
  std::int64_t n_rows() const { return end_row_ - first_row_; }
  bool resident() const { return spec_.n_buffers == 1; }
  /// In how many parts the rows come: 1 if they are resident.
  std::int64_t n_parts() const;

  void begin(const cuda_abi::Job& job);
  /// Copies a part's rows to the GPU unless they are there, and queues the work on them.
  void run(std::int64_t part, const RunOptions& run);
  /// Like the plug-in's finish: y of these rows, or sums [vector][block][padded column].
  void finish(double* y, double* sums);
  /// Makes a pass over resident rows as one graph. run() must have copied them.
  void replay(const double* x, double* sums);
  /// Milliseconds of a pass over resident rows, on the GPU alone, for benchmarks. run() must have been called once.
  float measure(int repeats);
  bool loaded() const { return loaded_; }
  /// Bytes that have been copied to the GPU so far.
  std::int64_t copied_bytes() const { return copied_bytes_; }

 private:
  struct Destroy {
    void operator()(cuda_abi::Session* session) const noexcept;
  };

  void create(int gpu, std::int64_t budget);
  void load(int buffer, std::int64_t first, std::int64_t n, const RunOptions& run);
  void write_rows(std::int64_t first, std::int64_t n, char* to) const;

  const RowSource& rows_;
  GroupRange groups_;
  std::int64_t first_row_, end_row_;
  cuda_abi::Spec spec_{};
  std::int64_t piece_rows_ = 1;
  device::Pinned<char> pieces_[cuda_abi::kSlots];
  std::unique_ptr<cuda_abi::Session, Destroy> session_;  // last: its copies end before the memory they read is freed
  int next_slot_ = 0;
  bool loaded_ = false;
  std::int64_t copied_bytes_ = 0;
};

}  // namespace stope::gram
