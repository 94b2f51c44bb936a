#include "knn/gpu/tensor/cluster_centres.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kSample = 4096;
constexpr std::int64_t kProbes = 32;  // rows whose nearest neighbour in the sample is looked for
// A row's nearest neighbour in the sample is this much nearer than any other row, or there are no clusters.
constexpr float kLargestQuotient = 0.35F;
constexpr std::int64_t kFewestCentres = 16, kMostCentres = 4095;
constexpr std::int64_t kForcedCentres = 256;
constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kRowsPerTask = 256;

// Rows as floats around their mean, weighted, each padded with zeros to whole lanes.
class Sample {
 public:
  explicit Sample(const Fitted& fitted)
      : rows_(fitted.sample(kSample)),
        n_(static_cast<std::int64_t>(rows_.size()) / fitted.width()),
        pitch_(checked::ceil_div(fitted.width(), kLanes) * kLanes),
        values_(static_cast<std::size_t>(checked::mul(n_, pitch_))) {
    const auto width = static_cast<std::size_t>(fitted.width());
    std::vector<double> means(width), scales(width);
    for (std::size_t i = 0; i < rows_.size(); i += width) {
      for (std::size_t c = 0; c < width; ++c) means[c] += rows_[i + c];
    }
    for (std::size_t c = 0; c < width; ++c) {
      means[c] /= static_cast<double>(n_);
      scales[c] = std::sqrt(fitted.attributes()[c].weight);
    }
    float* to = values_.data();
    for (std::size_t i = 0; i < rows_.size(); i += width, to += pitch_) {
      for (std::size_t c = 0; c < width; ++c) to[c] = static_cast<float>((rows_[i + c] - means[c]) * scales[c]);
    }
  }

  std::int64_t n() const { return n_; }
  const double* row(std::int64_t i) const { return rows_.data() + i * width(); }
  std::int64_t width() const { return static_cast<std::int64_t>(rows_.size()) / n_; }

  float square(std::int64_t i, std::int64_t j) const {
    const float *x = values_.data() + i * pitch_, *y = values_.data() + j * pitch_;
    float sums[kLanes] = {};
    for (std::int64_t c = 0; c < pitch_; c += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const float difference = x[c + lane] - y[c + lane];
        sums[lane] += difference * difference;
      }
    }
    float sum = 0.0F;
    for (const float of_lane : sums) sum += of_lane;
    return sum;
  }

 private:
  std::vector<double> rows_;
  std::int64_t n_, pitch_;
  std::vector<float> values_;
};

float median(std::vector<float>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Spacing {
  float nearest, usual;  // middle squares of distances: from a row to the nearest in the sample, and to any
};

Spacing spacing_of(const Sample& sample, ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t n_probes = std::min(kProbes, sample.n());
  std::vector<float> nearest(static_cast<std::size_t>(n_probes)), usual(nearest.size());
  if (sample.n() < 2) return {0.0F, 0.0F};
  pool.parallel_for(n_probes, cancel, [&](std::int64_t probe, int) {
    const std::int64_t row = probe * sample.n() / n_probes;
    std::vector<float> squares;
    for (std::int64_t other = 0; other < sample.n(); ++other) {
      if (other != row) squares.push_back(sample.square(row, other));
    }
    nearest[static_cast<std::size_t>(probe)] = *std::min_element(squares.begin(), squares.end());
    usual[static_cast<std::size_t>(probe)] = median(squares);
  });
  return {median(nearest), median(usual)};
}

// Rows of the sample, in its order, that are farther than the root of `square` from all that were taken before.
// Returns one more than `most` where there are too many.
std::vector<std::int64_t> rows_apart(const Sample& sample, float square, std::int64_t most, ThreadPool& pool,
                                     const CancelToken& cancel) {
  std::vector<std::int64_t> taken;
  const auto near_one = [&](std::int64_t row, std::size_t first) {
    return std::any_of(taken.begin() + static_cast<std::ptrdiff_t>(first), taken.end(),
                       [&](std::int64_t other) { return sample.square(row, other) <= square; });
  };
  for (std::int64_t begin = 0; begin < sample.n(); begin += kRowsPerTask) {
    const std::int64_t n = std::min(kRowsPerTask, sample.n() - begin);
    const std::size_t before = taken.size();
    std::vector<char> near(static_cast<std::size_t>(n));
    constexpr std::int64_t kPerTask = 16;
    pool.parallel_for(checked::ceil_div(n, kPerTask), cancel, [&](std::int64_t task, int) {
      for (std::int64_t i = task * kPerTask; i < std::min(n, (task + 1) * kPerTask); ++i) {
        near[static_cast<std::size_t>(i)] = near_one(begin + i, 0) ? 1 : 0;
      }
    });
    for (std::int64_t i = 0; i < n; ++i) {
      if (near[static_cast<std::size_t>(i)] == 0 && !near_one(begin + i, before)) taken.push_back(begin + i);
    }
    if (static_cast<std::int64_t>(taken.size()) > most) break;
  }
  return taken;
}

}  // namespace

ClusterCentres find_centres(const Fitted& fitted, bool forced, ThreadPool& pool, const CancelToken& cancel) {
  ClusterCentres centres;
  if (fitted.width() == 0 || fitted.n_rows() == 0) return centres;
  const Sample sample(fitted);
  std::vector<std::int64_t> taken;
  const Spacing spacing = spacing_of(sample, pool, cancel);
  // Rows of one cluster are farther from each other than the nearest ones, but not twice as far. False for NaN. Where
  // most rows have an equal one in the sample, nothing is known of distances.
  if (spacing.nearest > 0.0F && spacing.nearest <= kLargestQuotient * kLargestQuotient * spacing.usual) {
    const std::int64_t most = std::min(kMostCentres, sample.n() / 2);
    taken = rows_apart(sample, 4.0F * spacing.nearest, most, pool, cancel);
    const auto n = static_cast<std::int64_t>(taken.size());
    centres.most_radius = 2.0 * std::sqrt(static_cast<double>(spacing.nearest));
    if (n < kFewestCentres || n > most) taken.clear();
  }
  if (taken.empty() && forced) {
    const std::int64_t n = std::min(kForcedCentres, sample.n());
    for (std::int64_t i = 0; i < n; ++i) taken.push_back(i * sample.n() / n);
    centres.most_radius = std::numeric_limits<double>::infinity();
  }
  centres.n = static_cast<std::int64_t>(taken.size());
  for (const std::int64_t i : taken)
    centres.rows.insert(centres.rows.end(), sample.row(i), sample.row(i) + sample.width());
  return centres;
}

}  // namespace stope::knn
