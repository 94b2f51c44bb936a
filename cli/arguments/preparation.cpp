#include "arguments/preparation.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "arguments/option.hpp"
#include "stope/error.hpp"
#include "stope/model.hpp"

namespace stope::cli {
namespace {

// Whether the table has the very values of the column.
bool is_kept(const Column& column, const Table& table) {
  const std::int64_t at = table.find(column.name);
  if (at < 0) return false;
  const auto data_of = [](const Column& one) {
    return std::visit([](const auto& values) -> const void* { return values.data(); }, one.data);
  };
  return data_of(column) == data_of(table.columns[static_cast<std::size_t>(at)]);
}

}  // namespace

void Preparation::add_to(CLI::App& app, Saves saves) {
  const std::string help =
      saves == Saves::chain
          ? "Put the table, and a second one, through this saved model first; what is fitted is saved "
            "behind it, as one chain"
          : "Put the table through this saved model first, once, before the rows are split";
  OptionGroup(app, "Preparation").text("--after", path_, "FILE", help);
}

void Preparation::load(Session& session) {
  if (predictor_) return;
  Model model = session.timed("read", [&] { return read_model(path_, session.run()); });
  const std::string kind(last_step(model).kind());
  predictor_.emplace(std::move(model), session.run());
  if (predictor_->gives() == Predictor::Gives::table) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--after: {} ({}) gives no table that a model could be fitted to", path_, kind));
}

bool Preparation::adjust(const Table& table, ReadOptions& how) const {
  if (!predictor_) return false;
  bool any = false;
  const auto say = [&any](std::string& option, const std::string& name) {
    option = name;
    any = true;
  };
  std::unordered_map<std::string_view, const Column*> by_name;
  by_name.reserve(table.columns.size());
  for (const Column& column : table.columns) by_name.emplace(column.name, &column);
  for (const Column& wanted : predictor_->model().columns.columns) {
    const auto found = by_name.find(wanted.name);
    if (found == by_name.end()) continue;
    const Column& column = *found->second;
    if (column.role != Role::regular) continue;  // the options have decided
    if (wanted.role == Role::label && table.find(Role::label) < 0) {
      say(how.target, wanted.name);
    } else if (wanted.role == Role::id && table.find(Role::id) < 0) {
      say(how.id, wanted.name);
    } else if (wanted.role == Role::weight && table.find(Role::weight) < 0) {
      say(how.sample_weight, wanted.name);
    } else if (wanted.role == Role::ignore) {
      how.ignore.push_back(wanted.name);
      any = true;
    }
    const bool date = wanted.type == ValueType::date;
    if (wanted.role == Role::ignore ||
        (wanted.nominal() == column.nominal() && date == (column.type == ValueType::date)))
      continue;
    (wanted.nominal() ? how.nominal : date ? how.date : how.numeric).push_back(wanted.name);
    any = true;
  }
  return any;
}

Table Preparation::applied(const Table& table, Session& session) {
  Table prepared = session.timed("prepare", [&] { return predictor_->transform(table, session.run()); });
  if (!before_.columns.empty()) return prepared;
  before_ = outline(table);
  for (const Column& special : table.columns) {
    if (special.role == Role::regular || special.role == Role::ignore || is_kept(special, prepared)) continue;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--after: {} changes the column '{}', which is the {} here: fit it to a table without it, or "
                    "with it as the {}",
                    path_, special.name, to_string(special.role), to_string(special.role)),
        {.option = "after", .feature = special.name});
  }
  return prepared;
}

void Preparation::warn_of_scores(Session& session) const {
  if (!wanted()) return;
  session.warn(fmt::format(
      "--after {}: it was fitted once, before the rows were split; where it has seen these rows, the scores "
      "are too good (those of a table that it has not seen are not)",
      path_));
}

Model Preparation::joined(Model fitted) const {
  if (!predictor_) return fitted;
  Model first = predictor_->model();
  first.columns = before_;
  return make_chain({std::move(first), std::move(fitted)});
}

}  // namespace stope::cli
