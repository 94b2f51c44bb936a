#include "knn/engine/pairs/plain_pairs.hpp"

#include <algorithm>
#include <vector>

#include "device/instances.hpp"
#include "stope/buffer.hpp"

namespace stope::knn {
namespace {

bool all_finite(const double* row, std::int64_t width) {
  double check = 0.0;  // v - v is 0 for a finite number, else NaN
  for (std::int64_t c = 0; c < width; ++c) check += row[c] - row[c];
  return check == 0.0;
}

}  // namespace

void PlainPairs::evaluate(const Tile& tile, Quantity quantity, PairOrder order) const {
  constexpr std::int64_t kLeastQueries = 4;  // fewer are done before the rows are transposed
  if (tile.n_queries < kLeastQueries) return kernel_.evaluate(tile, quantity, order);
  struct Run {
    std::int64_t begin, end;
  };
  std::vector<Run> finite;  // queries; the formula takes the others
  for (std::int64_t i = 0; i < tile.n_queries; ++i) {
    const double* const query = tile.queries + i * width_;
    if (!all_finite(query, width_)) {
      kernel_.evaluate({tile.train, tile.n_train, query, 1, tile.out + i * tile.ld, tile.ld}, quantity, order);
    } else if (!finite.empty() && finite.back().end == i) {
      ++finite.back().end;
    } else {
      finite.push_back({i, i + 1});
    }
  }
  Buffer<double> by_column(pairs_.n_rows * width_);
  for (std::int64_t j = 0; j < tile.n_train; j += pairs_.n_rows) {
    const std::int64_t n = std::min(pairs_.n_rows, tile.n_train - j);
    pairs_.transpose(tile.train + j * width_, n, width_, by_column.data());
    for (const Run& run : finite) {
      pairs_.compute(form_, {by_column.data(), n, width_},
                     {tile.queries + run.begin * width_, run.end - run.begin, tile.out + run.begin * tile.ld + j,
                      tile.ld, quantity == Quantity::similarity});
    }
  }
}

std::unique_ptr<const PlainPairs> make_plain_pairs(const Fitted& fitted, device::Backend backend) {
  constexpr std::int64_t kMostColumns = 4096;  // a group of 32 rows takes a megabyte
  constexpr device::Instances kKernels = {&scalar::kPairKernels, &avx2::kPairKernels, &avx512::kPairKernels};
  const PlainForm* const form = fitted.kernel().plain_form();
  if (form == nullptr || fitted.width() == 0 || fitted.width() > kMostColumns) return nullptr;
  return std::make_unique<const PlainPairs>(fitted.kernel(), *form, *kKernels.of(backend), fitted.width());
}

}  // namespace stope::knn
