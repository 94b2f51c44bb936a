#include "predict/steps.hpp"

#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/memory.hpp"
#include "base/name_index.hpp"
#include "stope/error.hpp"

namespace stope::predict {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

const void* data_of(const Column& column) {
  return std::visit([](const auto& values) -> const void* { return values.data(); }, column.data);
}

std::int64_t memory_of(const Column& column) {
  return std::visit(
      [](const auto& values) {
        return values.storage() == Storage::file ? std::int64_t{0}
                                                 : values.size() * static_cast<std::int64_t>(sizeof *values.data());
      },
      column.data);
}

// Bytes of the columns that a step has made. Others are shared with the caller's table, which the caller counts.
std::int64_t fresh_bytes(const Table& made, const std::unordered_set<const void*>& given) {
  std::int64_t bytes = 0;
  for (const Column& column : made.columns) {
    if (!given.contains(data_of(column))) bytes += memory_of(column) + kColumnBytes;
  }
  return bytes;
}

void require_step_of_table(const ChainModel& chain, std::size_t i) {
  const Model& step = chain.steps[i];
  if (!gives_table(step)) {
    refuse(name_of_step(chain, i) + " gives no table: only the last step of a chain may predict");
  }
  const auto* const cuts = std::get_if<CutsModel>(&step.fitted);
  if (cuts == nullptr) return;
  if (cuts->coding.missing == MissingPolicy::drop) {
    refuse(name_of_step(chain, i) +
           " leaves rows with missing values out, so predictions would not belong to the rows");
  }
  if (cuts->coding.missing == MissingPolicy::fill) {
    refuse(name_of_step(chain, i) +
           " fills gaps from the rows that it is given, so a row's prediction would depend on " + "the other rows");
  }
}

}  // namespace

bool gives_table(const Model& model) {
  const Model& last = last_step(model);
  return std::holds_alternative<Pca>(last.fitted) || std::holds_alternative<CutsModel>(last.fitted) ||
         std::holds_alternative<Normalizer>(last.fitted) || std::holds_alternative<Imputer>(last.fitted);
}

Table transform(const Model& model, const Table& table, const RunOptions& run) {
  if (const auto* const pca = std::get_if<Pca>(&model.fitted)) return pca->transform(table, run);
  if (const auto* const cuts = std::get_if<CutsModel>(&model.fitted)) {
    return apply_cuts(table, cuts->cuts, cuts->coding, run);
  }
  if (const auto* const imputer = std::get_if<Imputer>(&model.fitted)) return imputer->apply(table, run);
  return std::get<Normalizer>(model.fitted).apply(table, run);
}

std::string name_of_step(const ChainModel& chain, std::size_t i) {
  return "step " + std::to_string(i + 1) + " (" + std::string(chain.steps[i].kind()) + ")";
}

void require_steps(const ChainModel& chain) {
  const std::size_t n = chain.steps.size();
  if (n < 2) refuse("a chain of " + std::to_string(n) + " steps: two or more are needed");
  if (n > ChainModel::kMostSteps) {
    refuse("a chain of " + std::to_string(n) + " steps: at most " + std::to_string(ChainModel::kMostSteps) +
           " are possible");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (std::holds_alternative<ChainModel>(chain.steps[i].fitted)) {
      refuse("step " + std::to_string(i + 1) + " is a chain itself: make_chain() puts its steps there");
    }
    if (i + 1 < n) require_step_of_table(chain, i);
  }
}

Table as_taken(const Model& step, Table table) {
  const std::vector<Column>& columns = step.columns.columns;
  NameIndex places(columns.size());
  places.add_all(columns, [](const Column& column) -> std::string_view { return column.name; });
  const auto is_plain = [](Role role) { return role == Role::regular || role == Role::ignore; };
  for (Column& column : table.columns) {
    const std::int64_t found = places.find(column.name);
    if (found < 0) continue;
    const Role role = columns[static_cast<std::size_t>(found)].role;
    if (is_plain(column.role) && is_plain(role)) column.role = role;
  }
  return table;
}

Prepared through(const ChainModel& chain, const Table& table, const RunOptions& run) {
  Prepared prepared{table, run};
  std::unordered_set<const void*> given;
  for (const Column& column : table.columns) given.insert(data_of(column));
  for (std::size_t i = 0; i + 1 < chain.steps.size(); ++i) {
    run.cancel.check();
    prepared.table = transform(chain.steps[i], as_taken(chain.steps[i], std::move(prepared.table)), prepared.run);
    if (run.memory_limit == 0) continue;  // the measured available memory already excludes them
    const std::int64_t held = fresh_bytes(prepared.table, given);
    if (held >= run.memory_limit) {
      refuse_memory_from("the columns that " + name_of_step(chain, i) + " has made take", held, run.memory_limit,
                         {table.source});
    }
    prepared.run.memory_limit = run.memory_limit - held;
  }
  prepared.table = as_taken(chain.steps.back(), std::move(prepared.table));
  return prepared;
}

}  // namespace stope::predict
