#include "knn/cuda/tensor/images/plain_columns.hpp"

#include <algorithm>
#include <vector>

#include "knn/cuda/copies.hpp"

namespace stope::knn::cuda {
namespace {

using cuda_abi::ImageColumn;
using cuda_abi::ImagePart;

bool is_plain(ImagePart part) {
  return part == ImagePart::zero || part == ImagePart::constant || part == ImagePart::number;
}

bool is_plain(const cuda_abi::TensorSpec& spec) {
  // It does not matter here whether two rows need an attribute that both have: a row without one has no bound.
  return spec.unit_rows == 0 && std::all_of(spec.columns, spec.columns + spec.n_columns, [](const ImageColumn& column) {
           return column.masked == 0 && is_plain(column.query) && is_plain(column.train);
         });
}

}  // namespace

PlainColumns::PlainColumns(const cuda_abi::TensorSpec& spec, Side side, const stope::cuda::Stream& stream) {
  if (!is_plain(spec)) return;
  std::vector<PlainColumn> columns(static_cast<std::size_t>(spec.image_width), {0.0, 0.0});
  std::vector<int> sources(columns.size(), -1);
  for (std::size_t c = 0; c < static_cast<std::size_t>(spec.n_columns); ++c) {
    const ImageColumn& column = spec.columns[c];
    const ImagePart part = side == Side::train ? column.train : column.query;
    if (part == ImagePart::number) {
      columns[c] = {column.centre, column.scale};
      sources[c] = column.source;
    } else if (part == ImagePart::constant) {
      columns[c].scale = static_cast<double>(side == Side::train ? column.train_factor : column.query_factor);
    }
  }
  columns_ = stope::cuda::DeviceBuffer<PlainColumn>(spec.image_width);
  sources_ = stope::cuda::DeviceBuffer<int>(spec.image_width);
  copy_in(columns_.data(), columns.data(), columns_.size(), stream);
  copy_in(sources_.data(), sources.data(), sources_.size(), stream);
  stream.wait();
}

}  // namespace stope::knn::cuda
