// A fitted model behind a handle.
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "capi/handles.hpp"
#include "capi/once.hpp"
#include "stope/predictor.hpp"
#include "stope/tree_format.hpp"

namespace stope::capi {

struct HeldModel {
  explicit HeldModel(Predictor given) : predictor(std::move(given)) {}

  /// The columns that the model reads, without rows.
  Table features() const;

  const Predictor predictor;
  OnceText info;                  // JSON
  std::array<OnceText, 5> texts;  // one a TreeFormat
};
template <>
struct KindOf<HeldModel> {
  static constexpr Kind value = Kind::model;
};

inline stope_model* give_model(Predictor predictor) {
  return give<stope_model>(std::make_shared<HeldModel>(std::move(predictor)));
}

}  // namespace stope::capi
