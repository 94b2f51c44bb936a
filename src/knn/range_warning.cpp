#include "knn/range_warning.hpp"

#include <cmath>
#include <string>

#include "base/report.hpp"
#include "knn/ranges.hpp"
#include "stope/metric.hpp"
#include "stope/warning.hpp"

namespace stope::knn {
namespace {

constexpr double kRangeRatio = 100.0;  // ranges that differ by more than this bring a warning

}  // namespace

void warn_of_ranges(const FeatureRanges& numeric, const KnnOptions& options, const RunOptions& run) {
  if (!run.warn || !options.feature_weights.empty() || find_metric(options.metric.name).scales_itself) return;
  const FeatureRange* narrow = nullptr;
  const FeatureRange* wide = nullptr;
  double low = 0, high = 0;
  for (const FeatureRange& feature : numeric.features) {
    const double range = width_of(feature);
    if (!(range > 0) || std::isinf(range)) continue;  // a constant adds nothing to any distance
    if (narrow == nullptr || range < low) narrow = &feature, low = range;
    if (wide == nullptr || range > high) wide = &feature, high = range;
  }
  if (narrow == nullptr || high <= low * kRangeRatio) return;
  const auto four = [](double value) { return rounded_text(value, 4); };
  run.warn(warning::kRangesApart, "the range of '" + wide->name + "' (" + four(high) + ") is " + four(high / low) +
                                      " times that of '" + narrow->name + "' (" + four(low) +
                                      ") and will dominate the distance: normalise the features, or weight them");
}

}  // namespace stope::knn
