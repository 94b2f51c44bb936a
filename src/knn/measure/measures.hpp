// Lists every measure once; kernels for GPUs are compiled from these lists. A measure in no list does not compile
// (typed_kernel.hpp), so none is left without a kernel.
//
// Each list has a source file of its own, pair_kernels_*.cu, so that they compile in parallel: put a new measure where
// its neighbours are. A measure's kFilter decides whether it also gets the filters' kernels.
#pragma once

#include <type_traits>

#include "knn/measure/form.hpp"
#include "knn/measure/formulas/boolean.hpp"
#include "knn/measure/formulas/braycurtis.hpp"
#include "knn/measure/formulas/canberra.hpp"
#include "knn/measure/formulas/chebyshev.hpp"
#include "knn/measure/formulas/correlation.hpp"
#include "knn/measure/formulas/cosine.hpp"
#include "knn/measure/formulas/divergences.hpp"
#include "knn/measure/formulas/dtw.hpp"
#include "knn/measure/formulas/euclidean.hpp"
#include "knn/measure/formulas/gower.hpp"
#include "knn/measure/formulas/haversine.hpp"
#include "knn/measure/formulas/heom.hpp"
#include "knn/measure/formulas/kernel_euclidean.hpp"
#include "knn/measure/formulas/mahalanobis.hpp"
#include "knn/measure/formulas/manhattan.hpp"
#include "knn/measure/formulas/minkowski.hpp"
#include "knn/measure/formulas/mixed_euclidean.hpp"
#include "knn/measure/formulas/nan_euclidean.hpp"
#include "knn/measure/formulas/nominal.hpp"
#include "knn/measure/formulas/products.hpp"
#include "knn/measure/formulas/sqeuclidean.hpp"

namespace stope::knn {

template <class... M>
struct MeasureList {};

template <class... A, class... B>
constexpr MeasureList<A..., B...> operator+(MeasureList<A...> /*a*/, MeasureList<B...> /*b*/) {
  return {};
}

/// Accumulating measures that add differences.
inline constexpr MeasureList<MixedEuclidean, Gower, Heom, Euclidean, SquaredEuclidean, NanEuclidean, Manhattan,
                             Chebyshev, Canberra, RapidMinerCanberra, BrayCurtis, SquaredLoss>
    kSumMeasures;

/// Accumulating measures that count agreements or add products.
inline constexpr MeasureList<Hamming, Jaccard, Dice, DiceSimilarity, JaccardSimilarity, OverlapSimilarity, InnerProduct,
                             MaxProduct, NominalDistance, NominalDice, NominalJaccard, Kulczynski, RogersTanimoto,
                             RussellRao, SimpleMatching>
    kProductMeasures;

/// Accumulating measures that need elementary functions (base/exact_math.hpp).
inline constexpr MeasureList<Cosine, CosineAngle, Minkowski, GeneralizedI, KullbackLeibler, ItakuraSaito,
                             LogarithmicLoss, LogisticLoss>
    kMathMeasures;

/// Measures that take two whole rows.
inline constexpr MeasureList<Correlation, CorrelationSimilarity, Haversine, KernelEuclidean, Mahalanobis,
                             DynamicTimeWarping>
    kRowMeasures;

inline constexpr auto kAllMeasures = kSumMeasures + kProductMeasures + kMathMeasures + kRowMeasures;

template <class M, class... Listed>
constexpr bool is_in(MeasureList<Listed...> /*list*/) {
  return (std::is_same_v<M, Listed> || ...);
}

template <class M>
inline constexpr bool kHasFilter = requires { M::kFilter; };

/// Whether the tensor filter has kernels for the measure. SquaredLoss takes one column, for which matrix units do not
/// pay, so the difference filter has it.
template <class M>
constexpr bool has_tensor_kernels() {
  if constexpr (kHasFilter<M>) return has_tensor_scan(M::kFilter) && !std::is_same_v<M, SquaredLoss>;
  return false;
}

/// Whether GPUs search through boxes by the measure.
template <class M>
constexpr bool searches_boxes() {
  if constexpr (kHasFilter<M>) return has_box_search(M::kFilter);
  return false;
}

/// Whether GPUs have a filter for the measure.
template <class M>
constexpr bool filtered_on_gpus() {
  if constexpr (kHasFilter<M>) return has_gpu_filter(M::kFilter);
  return false;
}

/// The measures of a list that GPUs have a filter for.
template <class... M>
constexpr auto filtered(MeasureList<M...> /*list*/) {
  return (MeasureList<>{} + ... + std::conditional_t<filtered_on_gpus<M>(), MeasureList<M>, MeasureList<>>{});
}

/// The measures of a list that search through boxes.
template <class... M>
constexpr auto boxed(MeasureList<M...> /*list*/) {
  return (MeasureList<>{} + ... + std::conditional_t<searches_boxes<M>(), MeasureList<M>, MeasureList<>>{});
}

/// The measures of a list that the tensor filter searches.
template <class... M>
constexpr auto on_matrix_units(MeasureList<M...> /*list*/) {
  return (MeasureList<>{} + ... + std::conditional_t<has_tensor_kernels<M>(), MeasureList<M>, MeasureList<>>{});
}

}  // namespace stope::knn
