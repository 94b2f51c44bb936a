// The options that the k-NN commands share (cli/arguments/knn_arguments.hpp).
#include "arguments/knn_arguments.hpp"

#include "arguments/feature_weights.hpp"
#include "arguments/option.hpp"
#include "stope/error.hpp"
#include "stope/warning.hpp"

namespace stope::cli {

void KnnArguments::add_to(CLI::App& app) {
  add_distance_to(app);
  OptionGroup(app, "Distance")
      .choice("--compat", compat,
              "Whose rules decide ties, votes and missing values: stope's or those of RapidMiner 5.3");
}

void KnnArguments::add_distance_to(CLI::App& app) {
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
  group.choice("--normalize", normalize, "Normalise numeric features first, fitted to the training table");
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
  options["metric"] = metric;
  Json params = Json::object();
  for (const auto& [key, value] : this->options().metric.params) params[key] = value;
  options["metric_params"] = params;
  options["feature_weights"] = feature_weights.empty() ? Json(nullptr) : Json(feature_weights);
  options["normalize"] = to_string(normalize);
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
