// Models of the C ABI: fitting, applying and asking them.
#include "capi/model.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "capi/guarded.hpp"
#include "capi/options.hpp"
#include "capi/run.hpp"
#include "capi/table.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"

namespace stope::capi {

Table HeldModel::features() const {
  Table table = predictor.model().columns;
  std::erase_if(table.columns, [](const Column& column) { return column.role != Role::regular; });
  return table;
}

}  // namespace stope::capi

using namespace stope::capi;

stope_code stope_fit(const char* kind, const stope_table* train, const stope_options* options, stope_run* run,
                     stope_model** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const std::string name = required(kind, "kind");
    const auto table = at<HeldTable>(train);
    const stope::NamedOptions set = options_of(options);
    const JobRun job(run);
    *out = give_model(stope::fit_model(name, table->table, set, job.options()));
  });
}

stope_code stope_apply(const stope_model* model, const stope_table* rows, const stope_options* options, stope_run* run,
                       stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const auto held = at<HeldModel>(model);
    const auto table = at<HeldTable>(rows);
    const auto set = options_of(options);
    const JobRun job(run);
    *out = give_table(stope::apply_model(held->predictor, table->table, set, job.options()));
  });
}

const char* stope_model_info(const stope_model* model) {
  const auto held = find<HeldModel>(model);
  return held == nullptr ? nullptr : held->info.get([&] { return stope::model_info(held->predictor); });
}

stope_code stope_model_table(const stope_model* model, const char* name, stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const auto held = at<HeldModel>(model);
    *out = give_table(stope::model_table(held->predictor, required(name, "name")));
  });
}

const char* stope_model_text(const stope_model* model, const char* format) {
  try {
    const auto held = find<HeldModel>(model);
    if (held == nullptr || format == nullptr) return nullptr;
    const auto* const tree = std::get_if<stope::DecisionTree>(&stope::last_step(held->predictor.model()).fitted);
    if (tree == nullptr) return nullptr;
    const auto wanted = stope::tree_format(format);
    return held->texts.at(static_cast<std::size_t>(wanted)).get([&] { return stope::format_tree(*tree, wanted); });
  } catch (...) {
    return nullptr;
  }
}

void stope_model_free(stope_model* model) {
  remove_handle(model, stope::capi::Kind::model);
}
