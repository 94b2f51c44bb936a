// Maps rows to images as ImageMap does, in the vectors of an instruction set where they have the form's steps.
#pragma once

#include <memory>
#include <vector>

#include "knn/filter/encode/encode.hpp"
#include "knn/filter/image_map.hpp"

namespace stope::knn {

class RowMapper {
 public:
  RowMapper(std::shared_ptr<const ImageMap> map, const EncodeKernels& kernels);

  /// Writes the image of a row, n_columns floats, and returns its residual, as ImageMap::map does.
  double map(const double* row, float* image) const;

  /// Whether map_columns() can do it: rows are numbers, and nothing else.
  bool maps_columns() const { return few_sum_ != ResidualSum::none; }
  /// Does so for n rows, at most kRowsTogether: writes images[c * kRowsTogether + row], and residuals.
  void map_columns(const double* rows, std::int64_t n, float* images, double* residuals) const;
  static constexpr std::int64_t kRowsTogether = 256;

  const EncodeKernels& kernels() const { return kernels_; }
  const ImageMap& image_map() const { return *map_; }
  const std::shared_ptr<const ImageMap>& shared_map() const { return map_; }

 private:
  double map_numbers(const double* row, float* image) const;

  std::shared_ptr<const ImageMap> map_;
  const EncodeKernels& kernels_;
  std::vector<double> centres_, scales_;
  std::vector<std::int64_t> sources_;  // of the numbers; empty: they are a row's first ones
  ResidualSum sum_ = ResidualSum::none;
  ResidualSum few_sum_ = ResidualSum::none;
};

}  // namespace stope::knn
