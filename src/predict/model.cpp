// Fitted models by name, and the columns to which they were fitted (stope/predictor.hpp).
#include "stope/predictor.hpp"

#include "base/guarded.hpp"

namespace stope {

std::string_view Model::kind() const {
  if (const auto* neighbors = std::get_if<NeighborsModel>(&fitted)) {
    return neighbors->classifies() ? "k-NN classifier" : neighbors->regresses() ? "k-NN regressor" : "k-NN index";
  }
  if (std::holds_alternative<DecisionTree>(fitted)) return "decision tree";
  if (std::holds_alternative<CutsModel>(fitted)) return "cuts";
  if (std::holds_alternative<Normalizer>(fitted)) return "normalisation";
  if (std::holds_alternative<ChainModel>(fitted)) return "chain";
  if (std::holds_alternative<Imputer>(fitted)) return "imputation";
  return std::holds_alternative<Pca>(fitted) ? "principal components" : "least squares";
}

Table outline(const Table& table) try {
  Table columns = table.take({});
  columns.source.clear();
  return columns;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
