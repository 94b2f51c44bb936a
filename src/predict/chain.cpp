// make_chain(): which models fit behind each other, and which columns the chain takes (stope/chain.hpp).
#include "stope/chain.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/guarded.hpp"
#include "predict/steps.hpp"
#include "stope/error.hpp"
#include "stope/predictor.hpp"

namespace stope {
namespace {

using predict::name_of_step;

[[noreturn]] void refuse(const std::string& what, const std::string& column) {
  throw Error(ErrorCode::invalid_argument, what, {.feature = column});
}

// Moves the models' steps into one chain.
ChainModel flattened(std::vector<Model> models) {
  ChainModel chain;
  for (Model& model : models) {
    if (auto* const inner = std::get_if<ChainModel>(&model.fitted)) {
      predict::require_steps(*inner);
      std::move(inner->steps.begin(), inner->steps.end(), std::back_inserter(chain.steps));
    } else {
      chain.steps.push_back(std::move(model));
    }
  }
  predict::require_steps(chain);
  return chain;
}

// Whether the step gives other values for a column of that name than it takes.
bool changes(const Model& step, const std::string& name) {
  const auto is_it = [&](const auto& one) { return one.name == name; };
  if (const auto* const normalizer = std::get_if<Normalizer>(&step.fitted)) {
    return std::any_of(normalizer->columns().begin(), normalizer->columns().end(), is_it);
  }
  if (const auto* const imputer = std::get_if<Imputer>(&step.fitted)) {
    return std::find(imputer->columns().begin(), imputer->columns().end(), name) != imputer->columns().end();
  }
  if (const auto* const cuts = std::get_if<CutsModel>(&step.fitted)) {
    return std::any_of(cuts->cuts.begin(), cuts->cuts.end(), is_it);
  }
  if (const auto* const pca = std::get_if<Pca>(&step.fitted)) {
    const auto& names = pca->feature_names();
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  return false;
}

// Places of columns by their names: tables have 100,000 of them. The names are those of the table.
using Places = std::unordered_map<std::string_view, std::size_t>;

Places places_of(const Table& table) {
  Places places;
  places.reserve(table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) places.emplace(table.columns[i].name, i);
  return places;
}

const char* name_of(Role role) {
  return role == Role::label ? "label" : role == Role::id ? "id" : "weight";
}

// Puts the last step's label, id and weight among the columns that go into the first step.
void take_roles_of_last(const ChainModel& chain, Table& columns) {
  const Table& last = chain.steps.back().columns;
  for (const Role role : {Role::label, Role::id, Role::weight}) {
    if (last.find(role) < 0) continue;
    const Column& special = last.columns[static_cast<std::size_t>(last.find(role))];
    for (std::size_t i = 0; i + 1 < chain.steps.size(); ++i) {
      if (!changes(chain.steps[i], special.name)) continue;
      refuse(name_of_step(chain, i) + " changes '" + special.name + "', which is the " + name_of(special.role) +
                 " of the last step: fit " + name_of_step(chain, i) + " to a table in which it is no feature",
             special.name);
    }
    for (Column& column : columns.columns) {
      if (column.role == special.role && column.name != special.name) column.role = Role::ignore;
    }
    const std::int64_t at = columns.find(special.name);
    if (at < 0) {
      columns.columns.push_back(special);
    } else {
      columns.columns[static_cast<std::size_t>(at)] = special;
    }
  }
}

// What the first step ignores is read as the step reads it that takes it as a feature.
void take_features_of_all(const ChainModel& chain, Table& columns) {
  const Table names = columns;  // a column that is replaced takes its name with it
  const Places places = places_of(names);
  for (const Model& step : chain.steps) {
    for (const Column& wanted : step.columns.columns) {
      const auto found = wanted.role == Role::regular ? places.find(wanted.name) : places.end();
      if (found == places.end()) continue;
      Column& column = columns.columns[found->second];
      if (column.role == Role::ignore) column = wanted;
    }
  }
}

// Throws unless the features to which the step was fitted are among the columns.
void require_features(const ChainModel& chain, std::size_t i, const Table& given) {
  const std::string before = name_of_step(chain, i - 1);
  const Places places = places_of(given);
  for (const Column& wanted : chain.steps[i].columns.columns) {
    if (wanted.role != Role::regular) continue;
    const auto found = places.find(wanted.name);
    if (found == places.end()) {
      refuse(name_of_step(chain, i) + " needs the column '" + wanted.name + "', which " + before + " does not give",
             wanted.name);
    }
    const bool nominal = given.columns[found->second].nominal();
    if (nominal == wanted.nominal()) continue;
    refuse(name_of_step(chain, i) + " needs the column '" + wanted.name + "' as " +
               (wanted.nominal() ? "nominal values" : "numbers") + ", and " + before + " gives " +
               (nominal ? "nominal values" : "numbers"),
           wanted.name);
  }
}

// A table of one row with these columns. Steps take zeros and first values whatever they do with missing ones.
Table row_of(const Table& columns) {
  Table row;
  row.n_rows = 1;
  row.columns.reserve(columns.columns.size());
  for (const Column& column : columns.columns) {
    Column one = column;
    if (column.nominal()) {
      if (one.values.empty()) one.values = std::vector<std::string>{"a value"};
      Buffer<std::int32_t> code(1);
      code[0] = 0;
      one.data = std::move(code);
    } else {
      Buffer<double> zero(1);
      zero[0] = 0.0;
      one.data = std::move(zero);
    }
    row.columns.push_back(std::move(one));
  }
  return row;
}

// One row passes the steps, so that each is seen to find its columns.
void require_columns(const ChainModel& chain, const Table& columns) {
  RunOptions quick;
  quick.threads = 1;
  quick.device = "cpu";
  Table given = row_of(columns);
  for (std::size_t i = 0; i + 1 < chain.steps.size(); ++i) {
    if (i > 0) require_features(chain, i, given);
    try {
      given = predict::transform(chain.steps[i], predict::as_taken(chain.steps[i], std::move(given)), quick);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::out_of_memory) throw;
      refuse(name_of_step(chain, i) + " cannot take its columns: " + error.message(), error.feature());
    }
  }
  require_features(chain, chain.steps.size() - 1, given);
}

}  // namespace

void predict::require_chain(const ChainModel& chain, const Table& columns) {
  require_steps(chain);
  require_columns(chain, columns);
}

const Model& last_step(const Model& model) try {
  const auto* const chain = std::get_if<ChainModel>(&model.fitted);
  if (chain != nullptr && chain->steps.empty()) throw Error(ErrorCode::invalid_argument, "a chain without steps");
  const Model* const last = chain == nullptr ? &model : &chain->steps.back();
  return *last;
} catch (...) {
  rethrow_as_error();
}

Model make_chain(std::vector<Model> models) try {
  if (models.size() < 2) {
    throw Error(ErrorCode::invalid_argument,
                "a chain of " + std::to_string(models.size()) + " models: two or more are needed");
  }
  Model joined;
  joined.columns = models.front().columns;
  ChainModel chain = flattened(std::move(models));
  take_features_of_all(chain, joined.columns);
  take_roles_of_last(chain, joined.columns);
  require_columns(chain, joined.columns);
  joined.fitted = std::move(chain);
  return joined;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
