// Splits a distance into terms, one an attribute: what each attribute contributes to how far two rows are apart.
//
// Most measures finish a sum over the attributes, and the terms are those of the sum. Four others have terms that are
// not in their formula, but add up exactly: half the squared difference of two rows of length 1 is 1 minus their
// cosine, and the same holds for Pearson's r after centring; a quadratic form has one term a row of its matrix; the
// haversine adds a part of the latitudes and one of the longitudes. A similarity, a kernel and time warping have no
// such terms.
#pragma once

#include <cstdint>

#include "knn/measure/measures.hpp"

namespace stope::knn {

/// What the terms add up to, as a formula of the distance; null for a measure that has no terms.
template <class M>
inline constexpr const char* kWhole = nullptr;

inline constexpr const char* kDistance = "distance";
inline constexpr const char* kSquare = "distance^2";

template <>
inline constexpr const char* kWhole<MixedEuclidean> = kSquare;
template <>
inline constexpr const char* kWhole<Gower> = kDistance;
template <>
inline constexpr const char* kWhole<Heom> = kSquare;
template <>
inline constexpr const char* kWhole<Hamming> = kDistance;
template <>
inline constexpr const char* kWhole<Euclidean> = kSquare;
template <>
inline constexpr const char* kWhole<SquaredEuclidean> = kDistance;
template <>
inline constexpr const char* kWhole<NanEuclidean> = kSquare;
template <>
inline constexpr const char* kWhole<Manhattan> = kDistance;
template <>
inline constexpr const char* kWhole<Chebyshev> = kDistance;
template <>
inline constexpr const char* kWhole<Minkowski> = "distance^p";
template <>
inline constexpr const char* kWhole<Canberra> = kDistance;
template <>
inline constexpr const char* kWhole<RapidMinerCanberra> = kDistance;
template <>
inline constexpr const char* kWhole<BrayCurtis> = kDistance;
template <>
inline constexpr const char* kWhole<Cosine> = kDistance;
template <>
inline constexpr const char* kWhole<CosineAngle> = "1 - cos(distance)";
template <>
inline constexpr const char* kWhole<Correlation> = kDistance;
template <>
inline constexpr const char* kWhole<CorrelationSimilarity> = "1 + distance";
template <>
inline constexpr const char* kWhole<Jaccard> = kDistance;
template <>
inline constexpr const char* kWhole<Dice> = kDistance;
template <>
inline constexpr const char* kWhole<Haversine> = "sin(distance / 2)^2";
template <>
inline constexpr const char* kWhole<Mahalanobis> = kSquare;
template <>
inline constexpr const char* kWhole<GeneralizedI> = kDistance;
template <>
inline constexpr const char* kWhole<KullbackLeibler> = kDistance;
template <>
inline constexpr const char* kWhole<ItakuraSaito> = kDistance;
template <>
inline constexpr const char* kWhole<LogarithmicLoss> = kDistance;
template <>
inline constexpr const char* kWhole<LogisticLoss> = kDistance;
template <>
inline constexpr const char* kWhole<SquaredLoss> = kDistance;
template <>
inline constexpr const char* kWhole<NominalDistance> = kDistance;

/// What one attribute has put into a state that was empty before.
template <class State>
double numerator_of(const State& state) {
  if constexpr (requires { state.log_sum; }) {
    return state.log_sum - state.difference;
  } else if constexpr (requires { state.difference; }) {
    return state.difference;
  } else if constexpr (requires { state.unequal; }) {
    return state.unequal;
  } else if constexpr (requires { state.max; }) {
    return state.max;
  } else {
    return state.sum;
  }
}

/// What the measure divides its sum by, from the state of all attributes; 1 where it divides by nothing.
template <class M>
double divisor_of(const M& measure, const typename M::State& all) {
  double divisor = 1.0;
  if constexpr (requires { measure.total_weight; }) {
    divisor = all.weight / measure.total_weight;
  } else if constexpr (requires { all.weight; }) {
    divisor = all.weight;
  } else if constexpr (requires { all.total; }) {
    divisor = all.total;
  } else if constexpr (std::is_same_v<M, Jaccard>) {
    divisor = all.both + all.unequal;
  } else if constexpr (std::is_same_v<M, Dice>) {
    divisor = 2.0 * all.both + all.unequal;
  }
  return divisor == 0.0 ? 1.0 : divisor;  // then every numerator is 0 as well
}

/// The terms of a measure that finishes a sum.
template <class M>
void split_distance(const M& measure, const RowPair& pair, double* terms) {
  typename M::State all;
  for (std::int64_t i = 0; i < pair.n; ++i) {
    typename M::State alone;
    measure.add(alone, pair.x[i], pair.y[i], pair.attributes[i]);
    measure.add(all, pair.x[i], pair.y[i], pair.attributes[i]);
    terms[i] = numerator_of(alone);
  }
  const double divisor = divisor_of(measure, all);
  for (std::int64_t i = 0; i < pair.n; ++i) terms[i] /= divisor;
}

/// The largest term is the distance; the others have no part in it. The first of equal ones counts.
inline void split_distance(const Chebyshev& measure, const RowPair& pair, double* terms) {
  std::int64_t largest = 0;
  for (std::int64_t i = 0; i < pair.n; ++i) {
    Chebyshev::State alone;
    measure.add(alone, pair.x[i], pair.y[i], pair.attributes[i]);
    terms[i] = alone.max;
    if (terms[i] > terms[largest]) largest = i;
  }
  for (std::int64_t i = 0; i < pair.n; ++i) terms[i] = i == largest ? terms[i] : 0.0;
}

/// Half the squared difference of the rows after each is divided by its length. An attribute that is missing in either
/// row has no term, as in the measure. A row of length 0 has no direction: all terms are 0.
inline void split_unit_rows(const RowPair& pair, double x_mean, double y_mean, double* terms) {
  double xx = 0.0, yy = 0.0;
  for (std::int64_t i = 0; i < pair.n; ++i) {
    if (either_missing(pair.x[i], pair.y[i])) continue;
    const double x = pair.x[i] - x_mean, y = pair.y[i] - y_mean;
    xx += pair.attributes[i].weight * (x * x);
    yy += pair.attributes[i].weight * (y * y);
  }
  const bool defined = xx > 0.0 && yy > 0.0;
  for (std::int64_t i = 0; i < pair.n; ++i) {
    terms[i] = 0.0;
    if (!defined || either_missing(pair.x[i], pair.y[i])) continue;
    const double difference = (pair.x[i] - x_mean) / square_root(xx) - (pair.y[i] - y_mean) / square_root(yy);
    terms[i] = 0.5 * (pair.attributes[i].weight * (difference * difference));
  }
}

inline void split_distance(const Cosine& /*measure*/, const RowPair& pair, double* terms) {
  split_unit_rows(pair, 0.0, 0.0, terms);
}
inline void split_distance(const CosineAngle& /*measure*/, const RowPair& pair, double* terms) {
  split_unit_rows(pair, 0.0, 0.0, terms);
}

inline void split_centred(const RowPair& pair, double* terms) {
  double weight = 0.0, x = 0.0, y = 0.0;
  for (std::int64_t i = 0; i < pair.n; ++i) {
    const double w = pair.attributes[i].weight;
    weight += w;
    x += w * pair.x[i];
    y += w * pair.y[i];
  }
  split_unit_rows(pair, x / weight, y / weight, terms);
}
inline void split_distance(const Correlation& /*measure*/, const RowPair& pair, double* terms) {
  split_centred(pair, terms);
}
inline void split_distance(const CorrelationSimilarity& /*measure*/, const RowPair& pair, double* terms) {
  split_centred(pair, terms);
}

/// Attributes that vary together can have terms below 0.
inline void split_distance(const Mahalanobis& measure, const RowPair& pair, double* terms) {
  for (std::int64_t i = 0; i < pair.n; ++i) {
    double product = 0.0;
    for (std::int64_t j = 0; j < pair.n; ++j) product += measure.inverse[i * pair.n + j] * (pair.x[j] - pair.y[j]);
    terms[i] = (pair.x[i] - pair.y[i]) * product;
  }
}

/// The part of the latitudes, then that of the longitudes on these latitudes.
inline void split_distance(const Haversine& /*measure*/, const RowPair& pair, double* terms) {
  const double sin_lat = math::sin(0.5 * (pair.x[0] - pair.y[0]));
  const double sin_lon = math::sin(0.5 * (pair.x[1] - pair.y[1]));
  terms[0] = sin_lat * sin_lat;
  terms[1] = math::cos(pair.x[0]) * math::cos(pair.y[0]) * (sin_lon * sin_lon);
}

}  // namespace stope::knn
