#include "knn/filter/byte_grid.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>

namespace stope::knn {
namespace {

constexpr double kMostSteps = 255.0;  // steps of a column from its least to its largest value
// Up to this magnitude, sums of a centre and whole steps are still doubles, with a few bits to spare.
constexpr double kMostMagnitude = 0x1p50;
constexpr int kMostExponent = 300;

// Returns the exponent of the lowest bit of a number that is not 0.
int lowest_bit(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0) return INT_MIN;  // a subnormal
  const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  return exponent - 1075 + std::countr_zero(mantissa);
}

struct Extent {
  double first, low, high;
};

class Finder {
 public:
  Finder(const std::vector<double>& rows, const std::vector<Attribute>& attributes)
      : rows_(rows), attributes_(attributes), width_(attributes.size()), n_(rows.size() / attributes.size()) {}

  std::optional<ByteGrid> find() {
    if (n_ == 0 || !find_step() || !choose_centres()) return std::nullopt;
    return choose_factor() ? std::optional(grid_) : std::nullopt;
  }

 private:
  // Finds the coarsest step of all columns, but 1 where that will do: other rows may have values between these rows'
  // steps.
  bool find_step() {
    int exponent = INT_MAX;
    for (std::size_t c = 0; c < width_; ++c) {
      const double range = attributes_[c].range;
      Extent extent{rows_[c], rows_[c], rows_[c]};
      for (std::size_t r = 0; r < n_; ++r) {
        const double value = rows_[r * width_ + c], difference = value - extent.first;
        if (!std::isfinite(value)) return false;
        if (difference == 0.0) continue;
        exponent = std::min(exponent, lowest_bit(difference));
        if (exponent < -kMostExponent || !(range <= std::ldexp(kMostSteps, std::min(exponent, kMostExponent)))) {
          return false;
        }
        extent.low = std::min(extent.low, value);
        extent.high = std::max(extent.high, value);
      }
      extents_.push_back(extent);
    }
    const auto whole = [&](double step) {
      return std::all_of(extents_.begin(), extents_.end(),
                         [&](const Extent& e) { return std::fmod(e.first, step) == 0.0; });
    };
    const auto fits = [&](double step) {
      return std::all_of(attributes_.begin(), attributes_.end(),
                         [&](const Attribute& a) { return a.range <= kMostSteps * step; });
    };
    if (exponent > kMostExponent && exponent != INT_MAX) return false;
    if (exponent >= 0 && (exponent == INT_MAX || (whole(1.0) && fits(1.0)))) exponent = 0;
    grid_.step = std::ldexp(1.0, exponent);
    from_zero_ = whole(grid_.step);
    return fits(grid_.step);
  }

  // Chooses 0 or 128 for all columns if that will do, as it does for usual tables. Other rows are then likely on the
  // grid, too.
  bool choose_centres() {
    double low = extents_.front().low, high = extents_.front().high;
    for (const Extent& extent : extents_) {
      low = std::min(low, extent.low);
      high = std::max(high, extent.high);
    }
    if (!(std::max(-low, high) <= kMostMagnitude * grid_.step)) return false;
    low /= grid_.step;
    high /= grid_.step;
    const bool about_zero = from_zero_ && low >= -128.0 && high <= 127.0, unsigned_bytes = low >= 0.0 && high <= 255.0;
    for (const Extent& extent : extents_) {
      const double half = std::ceil((extent.high - extent.low) / grid_.step / 2.0);
      grid_.centres.push_back(about_zero                     ? 0.0
                              : from_zero_ && unsigned_bytes ? 128.0 * grid_.step
                                                             : extent.low + half * grid_.step);
    }
    return true;
  }

  // Doubled bytes have room only where rows that are not among these are hardly larger.
  bool choose_factor() {
    constexpr double kSmall = 31.0;
    double largest = 0.0, range = 0.0;
    for (std::size_t c = 0; c < width_; ++c) {
      largest = std::max({largest, (extents_[c].high - grid_.centres[c]) / grid_.step,
                          (grid_.centres[c] - extents_[c].low) / grid_.step});
      range = std::max(range, attributes_[c].range / grid_.step);
    }
    grid_.factor = largest <= kSmall && range <= 2.0 * kSmall ? 2 : 1;
    for (std::size_t r = 0; r < n_; ++r) {
      if (!grid_.has(rows_.data() + r * width_)) return false;
    }
    return true;
  }

  const std::vector<double>& rows_;
  const std::vector<Attribute>& attributes_;
  std::size_t width_, n_;
  std::vector<Extent> extents_;
  bool from_zero_ = false;
  ByteGrid grid_;
};

}  // namespace

bool ByteGrid::has(const double* row) const {
  for (std::size_t c = 0; c < centres.size(); ++c) {
    const double n = std::nearbyint((row[c] - centres[c]) / step);
    if (!(n >= least() && n <= most()) || centres[c] + n * step != row[c]) return false;
  }
  return true;
}

std::optional<ByteGrid> find_byte_grid(const std::vector<double>& rows, const std::vector<Attribute>& attributes) {
  const auto plain = [](const Attribute& a) { return !a.nominal && !a.missing && a.weight == 1.0; };
  const auto width = static_cast<std::int64_t>(attributes.size());
  if (width == 0 || width > kMostGridColumns || !std::all_of(attributes.begin(), attributes.end(), plain)) return {};
  return Finder(rows, attributes).find();
}

}  // namespace stope::knn
