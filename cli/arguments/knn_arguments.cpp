// The options that the k-NN commands share (cli/arguments/knn_arguments.hpp).
#include "arguments/knn_arguments.hpp"

#include "arguments/feature_weights.hpp"
#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "stope/error.hpp"
#include "stope/warning.hpp"

namespace stope::cli {

namespace {

constexpr const char* kMetricHelp =
    "Name of the measure, stope's or RapidMiner's, also with its family as in Nominal.DiceSimilarity; "
    "'stope help metrics' lists them";
constexpr const char* kNormalizeHelp = "Normalise numeric features first, fitted to the training table";

// --normalize with several methods between commas.
void add_normalizations(OptionGroup& group, KnnArguments& arguments) {
  const std::vector<std::string> names = names_of<Normalization>();
  std::string choices;
  for (const std::string& name : names) choices += (choices.empty() ? "" : "|") + name;
  group.parsed(
      "--normalize", choices, std::string(kNormalizeHelp) + "; several between commas are compared [none]",
      [&arguments, names](const std::string& word) {
        arguments.normalizations.clear();
        for (const std::string& item : split_list(word, "--normalize")) {
          arguments.normalizations.push_back(static_cast<Normalization>(require_choice(item, names, "--normalize")));
        }
        arguments.normalize = arguments.normalizations.front();
      });
}

}  // namespace

void KnnArguments::add_to(CLI::App& app, Measures measures) {
  add_distance_to(app, measures);
  OptionGroup(app, "Distance")
      .choice("--compat", compat,
              "Whose rules decide ties, votes and missing values: stope's or those of RapidMiner 5.3");
}

void KnnArguments::add_distance_to(CLI::App& app, Measures measures) {
  OptionGroup group(app, "Distance");
  if (measures == Measures::one) {
    group.text("--metric", metric, "METRIC", std::string(kMetricHelp) + " [" + metric + "]");
  } else {
    group.parsed("--metric", "METRIC,...", std::string(kMetricHelp) + "; several are compared [" + metric + "]",
                 [this](const std::string& word) {
                   metrics = split_list(word, "--metric");
                   metric = metrics.front();
                 });
  }
  group.repeated("--metric-param", metric_params, "KEY=VALUE",
                 "A parameter of the measure, e.g. p=3 or kernel_gamma=0.5; repeatable");
  group.text("--feature-weights", feature_weights, "FILE|W1,W2,...",
             "Weights of the features: numbers in their order, or a file with one row of them (a header may name "
             "them) or with lines name,weight (features not named weigh 1)");
  if (measures == Measures::one) {
    group.choice("--normalize", normalize, kNormalizeHelp);
  } else {
    add_normalizations(group, *this);
  }
}

void KnnArguments::add_class_weights(CLI::App& app) {
  OptionGroup group(app, "Prediction");
  class_weights.add_to(
      group, "Weights of classes in votes, which multiply those of rows; balanced: all classes weigh the same");
}

std::vector<std::string> KnnArguments::all_metrics() const {
  return metrics.empty() ? std::vector<std::string>{metric} : metrics;
}

std::vector<NormalizeOptions> KnnArguments::all_normalizations() const {
  if (normalizations.empty()) return {normalization()};
  std::vector<NormalizeOptions> all;
  all.reserve(normalizations.size());
  for (const Normalization method : normalizations) {
    all.push_back(normalization());
    all.back().method = method;
  }
  return all;
}

NormalizeOptions KnnArguments::normalization() const {
  NormalizeOptions options;
  options.method = normalize;
  options.compat = compat;
  return options;
}

KnnOptions KnnArguments::options() const {
  KnnOptions options;
  options.compat = compat;
  options.metric.name = metric;
  for (const std::string& name : all_metrics()) find_metric(name);
  class_weights.set(options);
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
  return weights_of(feature_weights, table, run);
}

NeighborsModel KnnArguments::prepare(Session& session, Table& train, Table* other, const VoteOptions& vote) const {
  KnnOptions options = this->options();
  options.feature_weights = weights(train, session.run());
  const auto make = [&] { return make_neighbors_model(train, options, normalization(), vote, session.run()); };
  if (normalize == Normalization::none) return make();
  session.ignore_warning(warning::kRangesApart);  // the user has looked to it
  return session.timed("normalize", [&] {
    NeighborsModel model = make();
    train = model.train;
    session.hold({&train});
    if (other == nullptr) return model;
    *other = model.normalizer.apply(*other, session.run());
    session.hold({&train, other});
    return model;
  });
}

void KnnArguments::note(Session& session, Json options, const SearchReport& report) const {
  options["metric"] = metrics.size() > 1 ? Json(metrics) : Json(metric);
  Json params = Json::object();
  for (const auto& [key, value] : this->options().metric.params) params[key] = value;
  options["metric_params"] = params;
  options["feature_weights"] = feature_weights.empty() ? Json(nullptr) : Json(feature_weights);
  options["normalize"] = to_string(normalize);
  if (normalizations.size() > 1) {
    options["normalize"] = Json::array();
    for (const Normalization method : normalizations) options["normalize"].push_back(to_string(method));
  }
  if (class_weights.given()) options["class_weight"] = class_weights.json();
  options["compat"] = to_string(compat);
  session.json()["options"] = std::move(options);
  session.note_plan(report);
}

void require_rows(const Table& table, const std::string& path) {
  if (table.n_rows == 0) throw Error(ErrorCode::invalid_data, path + ": the table has no rows");
}

const Column* column_of(const Table& table, Role role) {
  const std::int64_t index = table.find(role);
  return index < 0 ? nullptr : &table.columns[static_cast<std::size_t>(index)];
}

}  // namespace stope::cli
