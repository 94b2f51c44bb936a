// Cuts as content: one row per cut, and how tables are coded.
#include <cmath>
#include <limits>
#include <unordered_set>

#include "model/kinds.hpp"
#include "stope/error.hpp"

namespace stope::model {
namespace {

const std::vector<std::string_view> kStyles = {"codes", "labels"};
const std::vector<std::string_view> kPolicies = {"error", "value", "drop"};

const Column& column(const Content& content, const Table& table, std::string_view name, bool nominal) {
  const std::int64_t at = table.find(name);
  if (at < 0 || table.columns[static_cast<std::size_t>(at)].nominal() != nominal) {
    content.fail("the table of cuts lacks the column '" + std::string(name) + "'");
  }
  return table.columns[static_cast<std::size_t>(at)];
}

// Adds a cut to the others of its attribute. Throws unless numbers ascend and each value stands once.
void add_cut(const Content& content, AttributeCuts& to, const std::string* value, double number) {
  const std::string where = "the cuts of '" + to.name + "'";
  if ((value != nullptr) != to.symbolic) content.fail(where + " are numbers and values");
  if (to.symbolic) {
    to.values.push_back(*value);
    return;
  }
  if (std::isnan(number) || (!to.numbers.empty() && !(number > to.numbers.back()))) {
    content.fail(where + " do not ascend");
  }
  to.numbers.push_back(number);
}

void check(const Content& content, const CutSet& cuts) {
  std::unordered_set<std::string_view> names;
  for (const AttributeCuts& one : cuts) {
    if (!names.insert(one.name).second) content.fail("'" + one.name + "' has cuts in two places");
    std::unordered_set<std::string_view> values;
    for (const std::string& value : one.values) {
      if (!values.insert(value).second) content.fail("the cuts of '" + one.name + "' name '" + value + "' twice");
    }
  }
}

}  // namespace

void put_cuts(const CutsModel& model, Content& content) {
  content.kind = kCuts;
  content.set("style", std::string(kStyles[model.coding.style == CodeStyle::labels ? 1 : 0]));
  const auto policy = static_cast<std::size_t>(model.coding.missing);
  if (policy >= kPolicies.size())
    throw Error(ErrorCode::invalid_argument, "cuts that fill missing values cannot be saved");
  content.set("missing", std::string(kPolicies[policy]));
  std::vector<std::string> names, values;
  std::vector<std::int32_t> name_codes, value_codes;
  std::vector<double> numbers;
  for (const AttributeCuts& one : model.cuts) {
    for (std::int64_t i = 0; i < one.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      name_codes.push_back(static_cast<std::int32_t>(names.size()));
      numbers.push_back(one.symbolic ? std::numeric_limits<double>::quiet_NaN() : one.numbers[at]);
      value_codes.push_back(one.symbolic ? static_cast<std::int32_t>(values.size()) : kMissingCode);
      if (one.symbolic) values.push_back(one.values[at]);
    }
    names.push_back(one.name);
  }
  Table table;
  table.n_rows = static_cast<std::int64_t>(numbers.size());
  table.columns = {make_nominal("name", name_codes, names), make_numeric("number", numbers),
                   make_nominal("value", value_codes, values)};
  content.tables.push_back({"cuts", std::move(table)});
}

CutsModel get_cuts(const Content& content) {
  CutsModel model;
  model.coding.style = content.choice("style", kStyles) == 1 ? CodeStyle::labels : CodeStyle::codes;
  model.coding.missing = static_cast<MissingPolicy>(content.choice("missing", kPolicies));
  const Table& table = content.table("cuts");
  const Column& names = column(content, table, "name", true);
  const Column& numbers = column(content, table, "number", false);
  const Column& values = column(content, table, "value", true);
  std::int32_t before = kMissingCode;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::int32_t name = names.codes()[row];
    if (name < 0) content.fail("a cut of no attribute");
    const bool symbolic = !values.missing(row);
    if (name != before) model.cuts.push_back({names.values[static_cast<std::size_t>(name)], symbolic, {}, {}});
    before = name;
    const std::string* const value = symbolic ? &values.values[static_cast<std::size_t>(values.codes()[row])] : nullptr;
    add_cut(content, model.cuts.back(), value, numbers.at(row));
  }
  check(content, model.cuts);
  return model;
}

}  // namespace stope::model
