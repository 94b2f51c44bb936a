// Model files as front ends see them (stope/model.hpp).
#include "stope/model.hpp"

#include "io/bytes.hpp"
#include "model/container.hpp"
#include "model/kinds.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr std::string_view kColumns = "columns";  // the table every model file has

void put(const NeighborsModel& fitted, model::Content& content) {
  put_neighbors(fitted, content);
}
void put(const Pca& fitted, model::Content& content) {
  put_pca(fitted, content);
}
void put(const LinearModel& fitted, model::Content& content) {
  put_lsq(fitted, content);
}
void put(const DecisionTree& fitted, model::Content& content) {
  put_tree(fitted, content);
}
void put(const CutsModel& fitted, model::Content& content) {
  put_cuts(fitted, content);
}

model::Content load(const std::string& path, const RunOptions& run, std::int64_t& bytes) {
  const io::Bytes file = io::load_bytes(path, run);
  bytes = static_cast<std::int64_t>(file.view.size());
  return model::read_content(file, run);
}

}  // namespace

std::string_view Model::kind() const {
  if (const auto* neighbors = std::get_if<NeighborsModel>(&fitted)) {
    return neighbors->classifies() ? "k-NN classifier" : neighbors->regresses() ? "k-NN regressor" : "k-NN index";
  }
  if (std::holds_alternative<DecisionTree>(fitted)) return "decision tree";
  if (std::holds_alternative<CutsModel>(fitted)) return "cuts";
  return std::holds_alternative<Pca>(fitted) ? "principal components" : "least squares";
}

Model model::model_of(const Content& content) {
  Model model;
  model.columns = content.table(kColumns);
  if (model.columns.n_rows != 0) content.fail("the model's columns have rows");
  if (content.kind == kNeighbors) {
    model.fitted = get_neighbors(content);
  } else if (content.kind == kPca) {
    model.fitted = get_pca(content);
  } else if (content.kind == kLeastSquares) {
    model.fitted = get_lsq(content);
  } else if (content.kind == kTree) {
    model.fitted = get_tree(content);
  } else if (content.kind == kCuts) {
    model.fitted = get_cuts(content);
  } else {
    content.fail("a model of the kind '" + content.kind + "', which this program does not know");
  }
  return model;
}

Table outline(const Table& table) {
  Table columns = table.take({});
  columns.source.clear();
  return columns;
}

void write_model(OutputFile& file, const Model& model) {
  model::Content content;
  content.tables.push_back({std::string(kColumns), model.columns});
  std::visit([&](const auto& fitted) { put(fitted, content); }, model.fitted);
  model::write_content(content, [&file](std::string_view bytes) { file.write(bytes); });
}

Model read_model(const std::string& path, const RunOptions& run) {
  std::int64_t bytes = 0;
  return model::model_of(load(path, run, bytes));
}

ModelSummary summarize_model(const std::string& path, const RunOptions& run) {
  ModelSummary summary;
  const model::Content content = load(path, run, summary.bytes);
  summary.kind = content.kind;
  summary.version = model::kVersion;
  summary.options = content.options;
  summary.columns = content.table(kColumns);
  for (const model::NamedTable& named : content.tables) {
    if (named.name == kColumns) continue;
    const auto n_columns = static_cast<std::int64_t>(named.table.columns.size());
    summary.tables.push_back({named.name, named.table.n_rows, n_columns});
  }
  return summary;
}

bool is_model_file(const std::string& path, const RunOptions& run) {
  if (path == "-") return false;
  if (format_of(path) != Format::automatic && (path.ends_with(".gz") || path.ends_with(".zst"))) return false;
  return model::looks_like_model(io::load_bytes(path, run).view);
}

}  // namespace stope
