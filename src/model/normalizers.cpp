// A normalisation as content, by itself or as part of a k-NN model: its options, and one row per fitted column.
#include <limits>

#include "model/kinds.hpp"
#include "stope/error.hpp"

namespace stope::model {
namespace {

constexpr std::string_view kTable = "normalization";

// One row per fitted column. An absent constant is NaN.
Table table_of(const Normalizer& normalizer) {
  std::vector<std::string> names;
  std::vector<std::int32_t> codes;
  std::vector<double> shift, scale, factor, offset, constant;
  for (const ColumnTransform& transform : normalizer.columns()) {
    codes.push_back(static_cast<std::int32_t>(names.size()));
    names.push_back(transform.name);
    shift.push_back(transform.shift);
    scale.push_back(transform.scale);
    factor.push_back(transform.factor);
    offset.push_back(transform.offset);
    constant.push_back(transform.constant.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  Table table;
  table.n_rows = static_cast<std::int64_t>(names.size());
  table.columns = {make_nominal("name", codes, names), make_numeric("shift", shift),
                   make_numeric("scale", scale),       make_numeric("factor", factor),
                   make_numeric("offset", offset),     make_numeric("constant", constant)};
  return table;
}

std::vector<ColumnTransform> transforms_of(const Content& content) {
  const Column& names = content.names(kTable, "name");
  const Column& shift = content.column(kTable, "shift", false);
  const Column& scale = content.column(kTable, "scale", false);
  const Column& factor = content.column(kTable, "factor", false);
  const Column& offset = content.column(kTable, "offset", false);
  const Column& constant = content.column(kTable, "constant", false);
  std::vector<ColumnTransform> transforms;
  for (std::int64_t row = 0; row < names.size(); ++row) {
    ColumnTransform transform{names.values[static_cast<std::size_t>(names.codes()[row])],
                              shift.at(row),
                              scale.at(row),
                              factor.at(row),
                              offset.at(row),
                              {}};
    if (!constant.missing(row)) transform.constant = constant.at(row);
    transforms.push_back(std::move(transform));
  }
  return transforms;
}

}  // namespace

void add_normalization(const Normalizer& normalizer, Content& content) {
  const NormalizeOptions& options = normalizer.options();
  const std::string compat(to_string(options.compat));
  if (content.find("compat") == nullptr) content.set("compat", compat);
  if (content.text("compat") != compat) content.set("normalize.compat", compat);
  content.set("normalize", std::string(to_string(options.method)));
  if (options.method == Normalization::range) {
    content.set("normalize.min", options.min);
    content.set("normalize.max", options.max);
  }
  content.tables.push_back({std::string(kTable), table_of(normalizer)});
}

Normalizer normalization_of(const Content& content) {
  NormalizeOptions options;
  const char* const compat = content.find("normalize.compat") == nullptr ? "compat" : "normalize.compat";
  options.compat = content.choice<Compat>(compat);
  options.method = content.choice<Normalization>("normalize");
  if (content.find("normalize.min") != nullptr) options.min = content.real("normalize.min");
  if (content.find("normalize.max") != nullptr) options.max = content.real("normalize.max");
  return Normalizer::of(options, transforms_of(content));
}

void put_normalizer(const Normalizer& model, Content& content) {
  content.kind = kNormalization;
  add_normalization(model, content);
}

Normalizer get_normalizer(const Content& content) {
  return normalization_of(content);
}

}  // namespace stope::model
