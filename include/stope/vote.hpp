// Votes: how a list of neighbours becomes a class or a number. KnnClassifier and KnnRegressor (stope/knn.hpp) vote on
// the lists of their own searches; the functions here vote on lists that the caller has.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stope/compat.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

struct Neighbors;  // stope/knn.hpp

/// How neighbours vote. `uniform`: each has one vote. `distance`: each weighs 1/d, and neighbours at distance zero
/// share all the weight; a negative distance is an error. Under Compat::rapidminer this is RapidMiner's weighted vote.
enum class VoteWeights { uniform, distance };
VoteWeights vote_weights(std::string_view name);  ///< throws invalid_argument for any other name
std::string_view to_string(VoteWeights weights) noexcept;

/// Whether a confidence of every class is wanted beside the predicted class. That takes rows x classes numbers.
enum class Confidences { all, none };

struct VoteOptions {
  std::int64_t n_neighbors = 5;
  VoteWeights weights = VoteWeights::uniform;
  bool exclude_self = false;
  std::string exclude_group = {};
  Confidences confidences = Confidences::all;
};

/// Predicted classes. Ties go to the first class in the order of the label's values.
struct Classification {
  Values classes;
  std::vector<std::int32_t> codes;  ///< one per row: an index into `classes`, or kMissingCode
  std::vector<double> confidences;  ///< rows x classes, row-major; empty under Confidences::none
};

/// Receives the predictions of consecutive rows from row `first_row` on, in row order.
using ClassificationSink = std::function<void(std::int64_t first_row, const Classification& block)>;
using RegressionSink = std::function<void(std::int64_t first_row, std::span<const double> block)>;

/// What training rows vote with: element i is row i's. All of it is read before the call returns.
struct Voters {
  std::span<const std::int32_t> codes = {};     ///< classes, for vote_classes
  std::span<const double> targets = {};         ///< numbers, for vote_means
  std::span<const double> sample_weights = {};  ///< finite, >= 0; empty = all 1; ignored under Compat::rapidminer
};

/// How lists of neighbours vote.
struct ListVoteOptions {
  /// Only the first n of each list vote; 0 = all. So one list of the largest k serves every smaller k. Under
  /// Compat::rapidminer this is the k of the search, and no list may be longer.
  std::int64_t n_neighbors = 0;
  VoteWeights weights = VoteWeights::uniform;
  Compat compat = Compat::none;
  /// One weight per entry of the lists, finite and >= 0, in place of what `weights` would give: where a front end lets
  /// the user compute weights. Empty = as `weights` says. Not under Compat::rapidminer.
  std::span<const double> list_weights = {};
};

/// Votes for a class with every list of `lists`: row i of the result is list i's. The bits are those of
/// KnnClassifier::predict where the lists are those of its search. Lists of KnnIndex::radius_neighbors do as well, and
/// several labels can be voted from one search. A list without neighbours, or whose neighbours all weigh nothing, gives
/// kMissingCode and NaN confidences; under Compat::rapidminer, which adds up to nothing, a list without neighbours
/// gives the first class and confidences of 0. Throws invalid_argument for lists that are no lists (offsets, rows
/// outside the voters), a listed row whose code is missing (Compat::rapidminer: it votes for the first class) or no
/// class, and for bad weights; out_of_memory if the confidences pass the run's memory limit. O(entries + lists x
/// classes).
Classification vote_classes(const Neighbors& lists, const Values& classes, const Voters& voters,
                            const ListVoteOptions& vote = {}, const RunOptions& run = {});

/// Takes the weighted mean of every list's targets, with the bits of KnnRegressor::predict. A list without neighbours,
/// or whose neighbours all weigh nothing, gives NaN; under Compat::rapidminer a list without neighbours gives 0. A
/// listed row whose target is NaN is an error, but makes the mean NaN under Compat::rapidminer. Throws what
/// vote_classes throws.
std::vector<double> vote_means(const Neighbors& lists, const Voters& voters, const ListVoteOptions& vote = {},
                               const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
