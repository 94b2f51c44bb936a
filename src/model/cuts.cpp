// Cuts as content: one row per cut, and how tables are coded.
#include <cmath>
#include <limits>
#include <unordered_set>

#include "model/kinds.hpp"
#include "stope/error.hpp"

namespace stope::model {
namespace {

// Adds a cut to the others of its attribute. Throws unless numbers ascend and each value stands once.
void add_cut(const Content& content, AttributeCuts& to, const std::string* value, double number) {
  const auto fail = [&](const char* what) { content.fail("the cuts of '" + to.name + "' " + what); };
  if ((value != nullptr) != to.symbolic) fail("are numbers and values");
  if (to.symbolic) {
    to.values.push_back(*value);
    return;
  }
  if (std::isnan(number) || (!to.numbers.empty() && !(number > to.numbers.back()))) {
    fail("do not ascend");
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
  content.set("style", model.coding.style);
  content.set("missing", model.coding.missing);
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
  model.coding.style = content.choice<CodeStyle>("style");
  model.coding.missing = content.choice<MissingPolicy>("missing");
  const Column& names = content.column("cuts", "name", true);
  const Column& numbers = content.column("cuts", "number", false);
  const Column& values = content.column("cuts", "value", true);
  // A value that came again and again would be copied as often: memory that the file has no bytes for.
  std::vector<bool> named(names.values.size()), valued(values.values.size());
  const auto once = [&](std::vector<bool>& seen, const Column& column, std::int64_t row) -> const std::string& {
    const auto code = static_cast<std::size_t>(column.codes()[row]);
    if (seen[code]) {
      content.fail("row " + std::to_string(row) + " of the cuts has the " + column.name + " of an earlier cut");
    }
    seen[code] = true;
    return column.values[code];
  };
  std::int32_t before = kMissingCode;
  for (std::int64_t row = 0; row < names.size(); ++row) {
    const std::int32_t name = names.codes()[row];
    if (name < 0) content.fail("a cut of no attribute");
    const bool symbolic = !values.missing(row);
    if (name != before) model.cuts.push_back({once(named, names, row), symbolic, {}, {}});
    before = name;
    const std::string* const value = symbolic ? &once(valued, values, row) : nullptr;
    add_cut(content, model.cuts.back(), value, numbers.at(row));
  }
  check(content, model.cuts);
  return model;
}

}  // namespace stope::model
