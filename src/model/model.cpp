// Model files as front ends see them (stope/model.hpp).
#include "stope/model.hpp"

#include <filesystem>
#include <iterator>
#include <utility>

#include "base/guarded.hpp"
#include "base/sink.hpp"
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

void put(const Normalizer& fitted, model::Content& content) {
  put_normalizer(fitted, content);
}
void put(const Imputer& fitted, model::Content& content) {
  put_imputer(fitted, content);
}

void put(const ChainModel& fitted, model::Content& content) {
  put_chain(fitted, content);
}

ModelSummary summary_of(model::Content content) {
  ModelSummary summary;
  summary.kind = content.kind;
  summary.columns = content.table(kColumns);
  summary.options = std::move(content.options);
  for (const model::NamedTable& named : content.tables) {
    if (named.name == kColumns) continue;
    summary.tables.push_back({named.name, named.table.n_rows, std::ssize(named.table.columns)});
  }
  return summary;
}

}  // namespace

Model model::model_of(const Content& content, const RunOptions& run) {
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
    model.fitted = get_tree(content, run);
  } else if (content.kind == kCuts) {
    model.fitted = get_cuts(content);
  } else if (content.kind == kNormalization) {
    model.fitted = get_normalizer(content);
  } else if (content.kind == kChain) {
    model.fitted = get_chain(content, model.columns, run);
  } else if (content.kind == kImpute) {
    model.fitted = get_imputer(content, run);
  } else {
    content.fail("a model of the kind '" + content.kind + "', which this program does not know");
  }
  return model;
}

model::Content model::content_of(const Model& model) {
  if (model.columns.n_rows != 0) {
    throw Error(ErrorCode::invalid_argument, "the columns of a model have rows: outline() gives them without");
  }
  Content content;
  content.tables.push_back({std::string(kColumns), model.columns});
  std::visit([&](const auto& fitted) { put(fitted, content); }, model.fitted);
  return content;
}

void write_model(const std::function<void(std::string_view)>& sink, const Model& model) try {
  require_sink(sink);
  model::write_content(model::content_of(model), sink);
} catch (...) {
  rethrow_as_error();
}

void write_model(OutputFile& file, const Model& model) try {
  write_model([&file](std::string_view bytes) { file.write(bytes); }, model);
} catch (...) {
  rethrow_as_error();
}

Model read_model(const std::string& path, const RunOptions& run, Tables tables) try {
  return model::model_of(model::read_content(io::load_bytes(path, run), run, tables), run);
} catch (...) {
  rethrow_as_error();
}

Model read_model(const ModelBytes& bytes, const RunOptions& run, Tables tables) try {
  if (tables == Tables::shared && bytes.owner == nullptr) {
    throw Error(ErrorCode::invalid_argument, "a model that shares its bytes needs an owner of them");
  }
  const auto size = static_cast<std::int64_t>(bytes.view.size());
  return model::model_of(model::read_content({bytes.view, bytes.owner, "model", size}, run, tables), run);
} catch (...) {
  rethrow_as_error();
}

ModelSummary summarize_model(const std::string& path, const RunOptions& run) try {
  const io::Bytes file = io::load_bytes(path, run);
  model::Content content = model::read_content(file, run, Tables::shared);
  std::vector<ModelSummary> steps;
  if (content.kind == model::kChain) {
    for (model::Content& step : model::steps_of(content)) steps.push_back(summary_of(std::move(step)));
    std::erase_if(content.options, [](const auto& option) { return option.first != "steps"; });
    std::erase_if(content.tables, [](const model::NamedTable& named) { return named.name != kColumns; });
  }
  ModelSummary summary = summary_of(std::move(content));
  summary.version = model::kVersion;
  summary.bytes = static_cast<std::int64_t>(file.view.size());
  summary.steps = std::move(steps);
  return summary;
} catch (...) {
  rethrow_as_error();
}

bool is_model_file(const std::string& path, const RunOptions& run) try {
  std::error_code missing;  // load_bytes says what is wrong
  const auto type = std::filesystem::status(path, missing).type();
  if (path == "-" || type == std::filesystem::file_type::fifo) return false;
  if (format_of(path) != Format::automatic && (path.ends_with(".gz") || path.ends_with(".zst"))) return false;
  return model::looks_like_model(io::load_bytes(path, run).view);
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
