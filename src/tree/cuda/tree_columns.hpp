// What the kernels know of columns and rows besides their order.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "tree/cuda/grower.hpp"

namespace stope::tree::cuda {

/// Queues a copy to a part of `to`. `from` is pageable memory, which may be changed on return.
template <class T>
void upload(T* to, const T* from, std::int64_t n, const stope::cuda::Stream& stream) {
  stope::cuda::check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyHostToDevice, stream.get()),
      "copying a tree to the GPU");
}
template <class T>
void download(T* to, const T* from, std::int64_t n, const stope::cuda::Stream& stream) {
  stope::cuda::check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost, stream.get()),
      "copying a tree from the GPU");
}

class TreeColumns {
 public:
  /// Copies the classes at once.
  TreeColumns(const cuda_abi::Problem& problem, const stope::cuda::Stream& stream)
      : attributes_(problem.n_columns),
        columns_(problem.n_attributes),
        symbolic_(problem.n_columns),
        classes_(problem.n_rows) {
    upload(classes_.data(), problem.classes, problem.n_rows, stream);
    stream.wait();
  }

  void set(const std::vector<ColumnKind>& kinds, const stope::cuda::Stream& stream) {
    std::vector<std::int32_t> attributes(kinds.size()), columns(static_cast<std::size_t>(columns_.size()), 0);
    std::vector<std::uint8_t> symbolic(kinds.size());
    for (std::size_t c = 0; c < kinds.size(); ++c) {
      attributes[c] = kinds[c].attribute;
      columns[static_cast<std::size_t>(kinds[c].attribute)] = static_cast<std::int32_t>(c);
      symbolic[c] = kinds[c].symbolic ? 1 : 0;
    }
    upload(attributes_.data(), attributes.data(), attributes_.size(), stream);
    upload(columns_.data(), columns.data(), columns_.size(), stream);
    upload(symbolic_.data(), symbolic.data(), symbolic_.size(), stream);
    stream.wait();
  }

  const std::int32_t* attributes() const { return attributes_.data(); }  ///< attribute of each column
  const std::int32_t* columns() const { return columns_.data(); }        ///< column of each attribute
  const std::uint8_t* symbolic() const { return symbolic_.data(); }      ///< for each column, whether it holds codes
  const std::uint8_t* classes() const { return classes_.data(); }        ///< class of each row

 private:
  stope::cuda::DeviceBuffer<std::int32_t> attributes_, columns_;
  stope::cuda::DeviceBuffer<std::uint8_t> symbolic_, classes_;
};

}  // namespace stope::tree::cuda
