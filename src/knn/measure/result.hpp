// Turns either form of a measure (knn/measure/measure.hpp) into a distance or a similarity, for host and device.
#pragma once

#include <concepts>

#include "knn/measure/measure.hpp"

namespace stope::knn {

/// What a tile computes: the distance, or the similarity that Cross Distances reports on request.
enum class Quantity { distance, similarity };

template <class M>
concept Accumulating = requires(const M& m, typename M::State& s, const Attribute& a) {
  m.add(s, 1.0, 1.0, a);
  { m.finish(s) } -> std::same_as<double>;
};

/// Returns the result of an accumulating measure, once every attribute was added. A measure without a similarity of its
/// own has the negated distance.
template <Quantity quantity, class M, class State>
STOPE_HD double result_of_state(const M& measure, const State& state) {
  if constexpr (quantity == Quantity::distance) {
    return measure.finish(state);
  } else if constexpr (requires { measure.similarity(state); }) {
    return measure.similarity(state);
  } else {
    return -measure.finish(state);
  }
}

/// Returns the result of a whole-row measure.
template <Quantity quantity, class M>
STOPE_HD double result_of_rows(const M& measure, const RowPair& pair) {
  if constexpr (quantity == Quantity::distance) {
    return measure(pair);
  } else if constexpr (requires { measure.similarity(pair); }) {
    return measure.similarity(pair);
  } else if constexpr (requires { M::similarity_of(1.0); }) {
    return M::similarity_of(measure(pair));
  } else {
    return -measure(pair);
  }
}

}  // namespace stope::knn
