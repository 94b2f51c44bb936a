// The labels and sample weights of a fitted predictor. They are checked and copied once, shared by the predictor's
// copies and never changed: a GPU may keep its copy for as long as these live, and knows them by their address.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "knn/vote/rule.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

struct HeldVoters {
  Buffer<std::int32_t> codes;  ///< classes, or
  Buffer<double> targets;      ///< numbers
  Buffer<double> sample_weights;
  std::int64_t n_classes = 0;
  std::int64_t n_rows = 0;

  VoterView view() const { return {codes.data(), n_classes, targets.data(), sample_weights.data(), n_rows}; }
};

/// Holds a label, nominal or numeric. Throws invalid_data for a missing label, unless RapidMiner's rules hold, and for
/// a code that is no class; invalid_argument for weights that are negative, infinite or missing, or not one per row.
/// RapidMiner ignores weights of rows. The weights of classes in `options` multiply them (knn/vote/class_weights.hpp).
/// `source` is for messages, and so is the `column` of the weights, where they have one.
std::shared_ptr<const HeldVoters> hold_voters(const Column& label, std::span<const double> sample_weights,
                                              const KnnOptions& options, const std::string& source,
                                              const std::string& column = {});

/// Holds the label of a training table and its column of role weight, if there is one.
std::shared_ptr<const HeldVoters> hold_voters(const Table& train, const Column& label, const KnnOptions& options);

}  // namespace stope::knn
