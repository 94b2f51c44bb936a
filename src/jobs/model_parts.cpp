// What is in a model: a description as JSON, and its parts as tables.
#include <string>
#include <utility>
#include <vector>

#include "jobs/json.hpp"
#include "model/kinds.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"
#include "stope/nearest_name.hpp"

namespace stope::jobs {
namespace {

const char* gives_text(Predictor::Gives gives) {
  switch (gives) {
    case Predictor::Gives::classes: return "classes";
    case Predictor::Gives::numbers: return "numbers";
    case Predictor::Gives::neighbors: return "neighbors";
    case Predictor::Gives::table: break;
  }
  return "table";
}

}  // namespace

Json columns_json(const Table& table) {
  Json columns = Json::array();
  for (const Column& column : table.columns) {
    Json one = {{"name", column.name}, {"type", to_string(column.type)}, {"role", to_string(column.role)}};
    if (column.nominal()) one["values"] = std::vector<std::string>(column.values.begin(), column.values.end());
    columns.push_back(std::move(one));
  }
  return columns;
}

}  // namespace stope::jobs

std::string stope::model_info(const Predictor& model) {
  const model::Content content = stope::model::content_of(model.model());
  jobs::Json info = {{"kind", content.kind}, {"gives", jobs::gives_text(model.gives())}};
  info["classes"] = std::vector<std::string>(model.classes().begin(), model.classes().end());
  info["options"] = jobs::Json::object();
  for (const auto& [name, value] : content.options) info["options"][name] = value;
  info["columns"] = jobs::columns_json(model.model().columns);
  info["tables"] = jobs::Json::array();
  for (const model::NamedTable& one : content.tables) info["tables"].push_back(one.name);
  return jobs::json_text(info);
}

stope::Table stope::model_table(const Predictor& model, const std::string& name) {
  model::Content content = model::content_of(model.model());
  std::vector<std::string> names;
  for (model::NamedTable& one : content.tables) {
    if (one.name == name) return std::move(one.table);
    names.push_back(one.name);
  }
  throw Error(ErrorCode::invalid_argument, "the model has no table '" + name + "'" + did_you_mean(name, names),
              {.option = "name"});
}
