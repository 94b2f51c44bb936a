// The options that the k-NN commands share (cli/arguments/knn_arguments.hpp).
#include "arguments/knn_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <variant>

#include "arguments/feature_weights.hpp"
#include "arguments/option.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::cli {
namespace {

constexpr double kRangeRatio = 100.0;  // ranges that differ by more than this bring a warning

/// Whether normalising is pointless: the units of attributes do not matter to the measure, or it prescribes them.
bool scales_itself(const MetricInfo& metric) {
  constexpr std::string_view kNames[] = {"gower", "heom", "mahalanobis", "canberra", "haversine"};
  if (metric.accepts == Accepts::nominal) return true;
  return std::find(std::begin(kNames), std::end(kNames), metric.name) != std::end(kNames);
}

/// Returns max - min of the finite values, or 0 if there are none.
double range_of(const Column& column) {
  return std::visit(
      [](const auto& values) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        for (const auto entry : values) {
          const auto value = static_cast<double>(entry);
          if (!std::isfinite(value)) continue;
          low = std::min(low, value);
          high = std::max(high, value);
        }
        return low <= high ? high - low : 0.0;
      },
      column.data);
}

}  // namespace

void KnnArguments::add_to(CLI::App& app) {
  OptionGroup group(app, "Distance");
  group.text("--metric", metric, "METRIC",
             "Name of the measure, stope's or RapidMiner's, also with its family as in Nominal.DiceSimilarity; "
             "'stope help metrics' lists them [" +
                 metric + "]");
  group.repeated("--metric-param", metric_params, "KEY=VALUE",
                 "A parameter of the measure, e.g. p=3 or kernel_gamma=0.5; repeatable");
  group.text("--feature-weights", feature_weights, "FILE|W1,W2,...",
             "Weights of the features: numbers in their order, or a file with one row of them (a header may name "
             "them) or with lines name,weight (features not named weigh 1)");
  group.choice("--normalize", normalize, {"none", "range", "z", "proportion", "interquartile"},
               "Normalise numeric features first, fitted to the training table [" + normalize + "]");
  group.choice(
      "--compat", compat, {"none", "rapidminer"},
      "Whose rules decide ties, votes and missing values: stope's or those of RapidMiner 5.3 [" + compat + "]");
}

Compat KnnArguments::compat_mode() const {
  return compat == "rapidminer" ? Compat::rapidminer : Compat::none;
}

NormalizeOptions KnnArguments::normalization() const {
  NormalizeOptions options;
  options.method = stope::normalization(normalize);
  options.compat = compat_mode();
  return options;
}

KnnOptions KnnArguments::options() const {
  KnnOptions options;
  options.compat = compat_mode();
  options.metric.name = metric;
  find_metric(metric);
  for (const std::string& param : metric_params) {
    const std::size_t equals = param.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw Error(ErrorCode::invalid_argument, "--metric-param: '" + param + "' is not KEY=VALUE");
    }
    options.metric.params[param.substr(0, equals)] = param.substr(equals + 1);
  }
  return options;
}

std::vector<double> KnnArguments::weights(const Table& table, const RunOptions& run) const {
  if (feature_weights.empty()) return {};
  return read_feature_weights(feature_weights, table, run);
}

KnnOptions KnnArguments::prepare(Session& session, Table& train, Table* other, Normalizer* fitted) const {
  KnnOptions options = this->options();
  options.feature_weights = weights(train, session.run());
  warn_of_ranges(session, *this, train);
  if (normalize == "none") return options;
  const std::vector<std::string> names = feature_names(train);
  session.timed("normalize", [&] {
    const Normalizer normalizer = Normalizer::fit(train, normalization(), session.run());
    if (fitted != nullptr) *fitted = normalizer;
    train = normalizer.apply(train, session.run());
    session.hold({&train});
    if (other == nullptr) return;
    *other = normalizer.apply(*other, session.run());
    session.hold({&train, other});
  });
  if (options.feature_weights.empty()) return options;
  // Under --compat rapidminer normalising moves columns, and each weight moves with its column.
  std::map<std::string, double> by_name;
  for (std::size_t i = 0; i < names.size(); ++i) by_name[names[i]] = options.feature_weights[i];
  options.feature_weights.clear();
  for (const std::string& name : feature_names(train)) options.feature_weights.push_back(by_name.at(name));
  return options;
}

void KnnArguments::note(Session& session, Json options, const SearchReport& report) const {
  options["metric"] = metric;
  Json params = Json::object();
  for (const auto& [key, value] : this->options().metric.params) params[key] = value;
  options["metric_params"] = params;
  options["feature_weights"] = feature_weights.empty() ? Json(nullptr) : Json(feature_weights);
  options["normalize"] = normalize;
  options["compat"] = compat;
  session.json()["options"] = std::move(options);
  session.note_plan(report);
}

void warn_of_ranges(Session& session, const KnnArguments& arguments, const Table& table) {
  if (arguments.normalize != "none" || !arguments.feature_weights.empty()) return;
  if (scales_itself(find_metric(arguments.metric))) return;
  const Column* narrow = nullptr;
  const Column* wide = nullptr;
  double low = 0, high = 0;
  for (const std::int64_t feature : table.features()) {
    const Column& column = table.columns[static_cast<std::size_t>(feature)];
    session.run().cancel.check();
    const double range = column.nominal() ? 0.0 : range_of(column);
    if (!(range > 0)) continue;  // constant: it adds nothing to any distance
    if (narrow == nullptr || range < low) narrow = &column, low = range;
    if (wide == nullptr || range > high) wide = &column, high = range;
  }
  if (narrow == nullptr || high <= low * kRangeRatio) return;
  session.warn(
      fmt::format("the range of '{}' ({:.4g}) is {:.4g} times that of '{}' ({:.4g}) and will dominate the distance: "
                  "--normalize z or range evens them out; or use --feature-weights",
                  wide->name, high, high / low, narrow->name, low));
}

void require_rows(const Table& table, const std::string& path) {
  if (table.n_rows == 0) throw Error(ErrorCode::invalid_file, path + ": the table has no rows");
}

void leave_out(Table& table, const std::string& column) {
  const std::int64_t index = column.empty() ? -1 : table.find(column);
  if (index < 0) return;
  Role& role = table.columns[static_cast<std::size_t>(index)].role;
  if (role == Role::regular) role = Role::ignore;
}

std::string column_name(const Table& table, const std::string& path, const std::string& reference,
                        const std::string& option) {
  if (table.find(reference) >= 0) return reference;
  std::size_t number = 0;
  const char* end = reference.data() + reference.size();
  const auto [rest, status] = std::from_chars(reference.data(), end, number);
  if (status == std::errc() && rest == end && number >= 1 && number <= table.columns.size()) {
    return table.columns[number - 1].name;
  }
  std::vector<std::string> names;
  names.reserve(table.columns.size());
  for (const Column& column : table.columns) names.push_back(column.name);
  throw Error(ErrorCode::invalid_file,
              path + ": no column is called '" + reference + "' (" + option + ")" + did_you_mean(reference, names));
}

const Column* column_of(const Table& table, Role role) {
  const std::int64_t index = table.find(role);
  return index < 0 ? nullptr : &table.columns[static_cast<std::size_t>(index)];
}

}  // namespace stope::cli
