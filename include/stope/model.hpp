// Model files: fitted models of every kind in one versioned, checksummed format (docs/formats/models.md).
//
//   OutputFile file("scores.stope");
//   write_model(file, {outline(table), Pca::fit(table, {.n_components = 2})});
//   file.commit();
//   const Model model = read_model("scores.stope");
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stope/cuts.hpp"
#include "stope/discretize.hpp"
#include "stope/io.hpp"
#include "stope/knn.hpp"
#include "stope/lsq.hpp"
#include "stope/normalize.hpp"
#include "stope/pca.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"
#include "stope/tree.hpp"

namespace stope {

/// k-NN as it is saved: the normalised training table, and all else that a prediction needs. It is fitted again when it
/// is used, in one pass over the table.
struct NeighborsModel {
  Table train;  ///< features, label and weights; other columns are not saved
  KnnOptions options;
  Normalizer normalizer;  ///< to be applied to other tables
  std::int64_t n_neighbors = VoteOptions{}.n_neighbors;
  VoteWeights weights = VoteWeights::uniform;

  /// Whether its label makes it a classifier or a regressor. Without a label it only finds neighbours.
  bool classifies() const;
  bool regresses() const;
};

/// Cuts, and how tables are coded with them. The means of MissingPolicy::fill are not saved: they are those of the
/// table that is coded.
struct CutsModel {
  CutSet cuts;
  ApplyOptions coding;
};

/// A fitted model, and the columns of the table to which it was fitted: names, types, roles and values, without rows.
struct Model {
  Table columns;
  std::variant<NeighborsModel, Pca, LinearModel, DecisionTree, CutsModel> fitted;

  /// "k-NN classifier", "principal components", ...
  std::string_view kind() const;
};

/// The table's columns without its rows.
Table outline(const Table& table);

/// Writes the file's bytes; the caller commits.
void write_model(OutputFile& file, const Model& model);

/// Reads a model file, plain or compressed; `path` "-" is standard input. Nothing in a file is executed, and no length
/// in it is trusted before it was compared with the bytes that are there. Throws invalid_file for a file that is no
/// model, is damaged (any changed bit, any missing byte), has a newer version or contradicts itself. Throws io, and
/// out_of_memory for a compressed file that expands past the memory budget.
Model read_model(const std::string& path, const RunOptions& run = {});

/// What is in a model file, whatever its kind.
struct ModelSummary {
  struct Part {
    std::string name;
    std::int64_t n_rows = 0;
    std::int64_t n_columns = 0;
  };
  std::string kind;
  std::uint32_t version = 0;
  std::int64_t bytes = 0;                                    ///< size of the uncompressed file
  std::vector<std::pair<std::string, std::string>> options;  ///< names and values
  std::vector<Part> tables;
  Table columns;  ///< as Model::columns
};

/// Reads and checks the whole container, but fits nothing. Errors as in read_model.
ModelSummary summarize_model(const std::string& path, const RunOptions& run = {});

/// Whether the file begins as model files do. A compressed file is opened only where its suffix names no kind of table.
/// False for "-", whose bytes can be read only once. Throws io.
bool is_model_file(const std::string& path, const RunOptions& run = {});

}  // namespace stope
