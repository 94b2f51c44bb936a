// Weights of classes in votes: what KnnOptions says, as one number a class.
#pragma once

#include <vector>

#include "stope/knn.hpp"

namespace stope::knn {

/// The weight of a row of each class, in the order of the label's values; empty where all weigh 1. Throws
/// invalid_argument for a class that the label does not have, a weight that is negative, infinite or NaN, two weights
/// of one class, a label of numbers, and RapidMiner's rules, under which no row has a weight.
std::vector<double> class_weights_of(const Column& label, const KnnOptions& options);

}  // namespace stope::knn
