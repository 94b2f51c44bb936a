#include "knn/vote/held_voters.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/number_text.hpp"
#include "knn/vote/class_weights.hpp"
#include "stope/error.hpp"
#include "table/row_weight.hpp"

namespace stope::knn {
namespace {

[[noreturn]] void refuse_label(const Column& label, std::int64_t row, const std::string& problem,
                               const std::string& source) {
  throw Error(ErrorCode::invalid_data,
              "column '" + label.name + "', row " + std::to_string(row) + ": the label is " + problem,
              {.file = source, .feature = label.name, .row = row});
}

constexpr const char* kMissingLabel = "missing; remove such rows";

void check_sample_weight(double weight, std::int64_t row, const std::string& source, const std::string& column) {
  if (weight >= 0.0 && !std::isinf(weight)) return;
  if (!column.empty()) require_row_weight(weight, source, column, row);
  throw Error(ErrorCode::invalid_argument,
              "the sample weight of training row " + std::to_string(row) + " is " +
                  (std::isnan(weight) ? "missing" : number_text(weight)) + "; weights are finite and >= 0",
              {.file = source, .option = "sample_weights", .row = row});
}

void hold_classes(const Column& label, Compat compat, const std::string& source, HeldVoters& held) {
  held.n_classes = label.values.size();
  held.codes = Buffer<std::int32_t>(held.n_rows);
  for (std::int64_t row = 0; row < held.n_rows; ++row) {
    const std::int32_t code = label.codes()[row];
    if (code == kMissingCode && compat == Compat::none) refuse_label(label, row, kMissingLabel, source);
    if (code < kMissingCode || code >= held.n_classes) {
      refuse_label(label, row, "code " + std::to_string(code) + " of " + std::to_string(held.n_classes) + " values",
                   source);
    }
    held.codes[row] = code;
  }
}

void hold_targets(const Column& label, Compat compat, const std::string& source, HeldVoters& held) {
  held.targets = Buffer<double>(held.n_rows);
  for (std::int64_t row = 0; row < held.n_rows; ++row) {
    const double value = label.at(row);
    if (std::isnan(value) && compat == Compat::none) refuse_label(label, row, kMissingLabel, source);
    held.targets[row] = value;
  }
}

void hold_sample_weights(std::span<const double> sample_weights, const std::string& source, const std::string& column,
                         HeldVoters& held) {
  if (static_cast<std::int64_t>(sample_weights.size()) != held.n_rows) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(sample_weights.size()) + " sample weights for " + std::to_string(held.n_rows) + " rows",
                {.file = source, .option = "sample_weights"});
  }
  held.sample_weights = Buffer<double>(held.n_rows);
  for (std::int64_t row = 0; row < held.n_rows; ++row) {
    const double weight = sample_weights[static_cast<std::size_t>(row)];
    check_sample_weight(weight, row, source, column);
    held.sample_weights[row] = weight;
  }
}

// Multiplies the weights of rows, which are 1 where there are none.
void weigh_classes(const std::vector<double>& of_class, HeldVoters& held) {
  if (held.sample_weights.empty()) {
    held.sample_weights = Buffer<double>(held.n_rows);
    std::fill_n(held.sample_weights.data(), held.n_rows, 1.0);
  }
  for (std::int64_t row = 0; row < held.n_rows; ++row) {
    double& weight = held.sample_weights[row];
    weight *= of_class[static_cast<std::size_t>(held.codes[row])];
    if (!std::isinf(weight)) continue;
    throw Error(ErrorCode::invalid_argument,
                "the weight of training row " + std::to_string(row) + " times that of its class is infinite",
                {.option = "class_weights", .row = row});
  }
}

}  // namespace

std::shared_ptr<const HeldVoters> hold_voters(const Column& label, std::span<const double> sample_weights,
                                              const KnnOptions& options, const std::string& source,
                                              const std::string& column) {
  auto held = std::make_shared<HeldVoters>();
  if (label.nominal() != std::holds_alternative<Buffer<std::int32_t>>(label.data)) {
    throw Error(ErrorCode::invalid_argument, "the label '" + label.name + "': its type does not fit its storage");
  }
  const Compat compat = options.compat;
  held->n_rows = label.size();
  label.nominal() ? hold_classes(label, compat, source, *held) : hold_targets(label, compat, source, *held);
  const std::vector<double> of_class = class_weights_of(label, options);
  if (compat == Compat::rapidminer) return held;
  if (!sample_weights.empty()) hold_sample_weights(sample_weights, source, column, *held);
  if (!of_class.empty()) weigh_classes(of_class, *held);
  return held;
}

std::shared_ptr<const HeldVoters> hold_voters(const Table& train, const Column& label, const KnnOptions& options) {
  const std::int64_t index = train.find(Role::weight);
  if (index < 0 || options.compat == Compat::rapidminer) return hold_voters(label, {}, options, train.source);
  const Column& column = train.columns[static_cast<std::size_t>(index)];
  if (column.nominal()) {
    throw Error(ErrorCode::invalid_data, "the sample weight column '" + column.name + "' is not numeric",
                {.file = train.source, .feature = column.name});
  }
  Buffer<double> weights(column.size());
  for (std::int64_t row = 0; row < weights.size(); ++row) weights[row] = column.at(row);
  return hold_voters(label, {weights.data(), static_cast<std::size_t>(weights.size())}, options, train.source,
                     column.name);
}

}  // namespace stope::knn
