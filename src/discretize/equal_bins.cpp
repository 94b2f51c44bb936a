// Bins of equal width and of equal frequency. Neither looks at the classes.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "base/checked.hpp"
#include "discretize/interval_method.hpp"
#include "discretize/value_order.hpp"
#include "stope/error.hpp"

namespace stope::discretize {
namespace {

constexpr std::int64_t kMostBins = 65536;  // the same limit as for the histograms of statistics

void check_bins(std::int64_t n_bins) {
  if (n_bins >= 1 && n_bins <= kMostBins) return;
  throw Error(ErrorCode::invalid_argument,
              "the number of bins is " + std::to_string(n_bins) + ": it must be from 1 to " + std::to_string(kMostBins),
              {.option = "n_bins"});
}

// Cuts at low + i (high - low) / bins between the smallest and the largest finite value.
class EqualWidth final : public IntervalMethod {
 public:
  explicit EqualWidth(std::int64_t n_bins) : n_bins_(n_bins) { check_bins(n_bins); }

  std::int64_t bytes(std::int64_t /*n_rows*/) const override { return 0; }

  std::vector<double> cuts(const SortedValues& column, TaskProgress& /*progress*/) const override {
    const auto finite = [](double x) { return std::isfinite(x); };
    const std::span<const double> values(column.values.data(), static_cast<std::size_t>(column.size()));
    const auto first = std::find_if(values.begin(), values.end(), finite);
    if (first == values.end()) return {};
    const double low = *first, high = *std::find_if(values.rbegin(), values.rend(), finite);
    const auto bins = static_cast<double>(n_bins_);
    std::vector<double> found;
    for (std::int64_t i = 1; i < n_bins_; ++i) {
      const auto step = static_cast<double>(i);
      const double exact = std::isfinite(high - low) ? low + step * ((high - low) / bins)
                                                     : low * (1.0 - step / bins) + high * (step / bins);
      const double cut = exact + 0.0;
      if (cut > (found.empty() ? low : found.back()) && cut <= high) found.push_back(cut);
      if (cut >= high) break;
    }
    return found;
  }

 private:
  std::int64_t n_bins_;
};

// Cuts at the boundaries between distinct values that are nearest to i n / bins; if two are equally near, at the lower.
class EqualFrequency final : public IntervalMethod {
 public:
  explicit EqualFrequency(std::int64_t n_bins) : n_bins_(n_bins) { check_bins(n_bins); }

  std::int64_t bytes(std::int64_t n_rows) const override { return checked::mul(n_rows, sizeof(std::int64_t)); }

  std::vector<double> cuts(const SortedValues& column, TaskProgress& /*progress*/) const override {
    const std::int64_t n = column.size();
    std::vector<std::int64_t> boundaries;  // rows before each of them
    boundaries.reserve(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i + 1 < n; ++i) {
      if (column.differs(i)) boundaries.push_back(i + 1);
    }
    std::vector<double> found;
    std::int64_t last = 0;
    for (std::int64_t i = 1; i < n_bins_ && !boundaries.empty(); ++i) {
      const std::int64_t wanted = i * n;  // times n_bins
      const auto above = std::lower_bound(boundaries.begin(), boundaries.end(), wanted,
                                          [&](std::int64_t rows, std::int64_t w) { return rows * n_bins_ < w; });
      auto nearest = above;
      if (above == boundaries.end() ||
          (above != boundaries.begin() && wanted - *(above - 1) * n_bins_ <= *above * n_bins_ - wanted)) {
        nearest = above - 1;
      }
      if (*nearest == last) continue;
      last = *nearest;
      found.push_back(cut_between(column.at(last - 1), column.at(last)));
    }
    return found;
  }

 private:
  std::int64_t n_bins_;
};

}  // namespace

std::unique_ptr<IntervalMethod> make_equal_width(std::int64_t n_bins) {
  return std::make_unique<EqualWidth>(n_bins);
}
std::unique_ptr<IntervalMethod> make_equal_frequency(std::int64_t n_bins) {
  return std::make_unique<EqualFrequency>(n_bins);
}

}  // namespace stope::discretize
