// Every job of the public API on one small table, for tests that break the table or the memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fault/guest_jobs.hpp"
#include "fault/job.hpp"
#include "stope/stope.hpp"

namespace stope::every_job {

/// Runs of one or several threads.
class Jobs {
 public:
  explicit Jobs(RunOptions run) : run_(std::move(run)) {}

  std::vector<Job> all() const {
    std::vector<Job> jobs;
    for (const auto& some :
         {neighbours(), votes(), statistics(), cuts_and_trees(), numbers(), files(), guest_jobs(run_)}) {
      jobs.insert(jobs.end(), some.begin(), some.end());
    }
    return jobs;
  }

 private:
  using Blocks = std::function<void(const PairwiseBlock&)>;
  static void no_block(const PairwiseBlock&) {}

  std::vector<Job> neighbours() const {
    const RunOptions run = run_;
    const Table good = good_table();
    const KnnIndex index = KnnIndex::fit(good, {}, run);
    KnnOptions rapidminer;
    rapidminer.compat = Compat::rapidminer;
    const KnnIndex heaps = KnnIndex::fit(good, rapidminer, run);
    const std::vector<std::string> features = {"c", "d"};
    return {
        {"KnnIndex::fit", features, [=](const Table& table) -> Call { return [=] { KnnIndex::fit(table, {}, run); }; }},
        {"kneighbors", features,
         [=](const Table& table) -> Call { return [=] { index.kneighbors(table, {.n_neighbors = 3}, run); }; }},
        {"kneighbors into a sink", features,
         [=](const Table& table) -> Call {
           return [=] { index.kneighbors(table, {.n_neighbors = 3}, run, [](const Neighbors&) {}); };
         }},
        {"kneighbors without a group",
         {"c", "d", "g"},
         [=](const Table& table) -> Call {
           return [=] { index.kneighbors(table, {.n_neighbors = 3, .exclude_group = "g"}, run); };
         }},
        {"kneighbors in heaps", features,
         [=](const Table& table) -> Call { return [=] { heaps.kneighbors(table, {.n_neighbors = 3}, run); }; }},
        {"a group of the training table",
         {"c", "d", "g"},
         [=](const Table& table) -> Call {
           return
               [=] { KnnIndex::fit(table, {}, run).kneighbors(good, {.n_neighbors = 3, .exclude_group = "g"}, run); };
         }},
        {"radius_neighbors", features,
         [=](const Table& table) -> Call {
           return [=] { index.radius_neighbors(table, 2.0, {}, run, [](const Neighbors&) {}); };
         }},
        {"pairwise_distances, the request", features,
         [=](const Table& table) -> Call { return [=] { pairwise_distances(table, good, {}, run, no_block); }; }},
        {"pairwise_distances, the reference", features,
         [=](const Table& table) -> Call { return [=] { pairwise_distances(good, table, {}, run, no_block); }; }},
        {"cross_distances, the request", features,
         [=](const Table& table) -> Call {
           return [=] { cross_distances(table, good, {.knn = {}, .n_neighbors = 2}, run); };
         }},
        {"cross_distances of RapidMiner, the reference", features,
         [=](const Table& table) -> Call { return [=] { cross_distances(good, table, {.knn = rapidminer}, run); }; }},
        {"cross_distances of RapidMiner, the request", features,
         [=](const Table& table) -> Call { return [=] { cross_distances(table, good, {.knn = rapidminer}, run); }; }}};
  }

  std::vector<Job> votes() const {
    const RunOptions run = run_;
    const Table good = good_table();
    const KnnIndex index = KnnIndex::fit(good, {}, run);
    const KnnClassifier classifier = KnnClassifier::fit(good, {}, run);
    const KnnRegressor regressor = KnnRegressor::fit(for_regression(good), {}, run);
    const VoteOptions vote{.n_neighbors = 3, .weights = VoteWeights::distance};
    return {{"KnnClassifier::fit",
             {"c", "d", "y"},
             [=](const Table& table) -> Call { return [=] { KnnClassifier::fit(table, {}, run); }; }},
            {"KnnClassifier::fit on an index",
             {"y"},
             [=](const Table& table) -> Call { return [=] { KnnClassifier::fit(index, table.columns[4]); }; },
             Reads::label},
            {"score_against",
             {"y"},
             [=](const Table& table) -> Call {
               const Classification predicted{{"b", "a"}, std::vector<std::int32_t>(12, 1), {}};
               return [=] { score_against(table.columns[4], predicted, run); };
             },
             Reads::label},
            {"KnnClassifier::predict",
             {"c", "d"},
             [=](const Table& table) -> Call { return [=] { classifier.predict(table, vote, run); }; }},
            {"KnnClassifier::predict into a sink",
             {"c", "d"},
             [=](const Table& table) -> Call {
               return [=] { classifier.predict(table, vote, run, [](std::int64_t, const Classification&) {}); };
             }},
            {"KnnRegressor::fit",
             {"c", "d"},
             [=](const Table& table) -> Call {
               return [=, mine = for_regression(table)] { KnnRegressor::fit(mine, {}, run); };
             }},
            {"KnnRegressor::predict",
             {"c", "d"},
             [=](const Table& table) -> Call { return [=] { regressor.predict(table, vote, run); }; }},
            {"KnnRegressor::predict into a sink", {"c", "d"}, [=](const Table& table) -> Call {
               return [=] { regressor.predict(table, vote, run, [](std::int64_t, std::span<const double>) {}); };
             }}};
  }

  std::vector<Job> statistics() const {
    const RunOptions run = run_;
    const std::vector<std::string> every = {"c", "d", "y", "g"};
    const NormalizeOptions z{.method = Normalization::z};
    const Normalizer normalizer = Normalizer::fit(good_table(), z, run);
    return {
        {"describe", every, [=](const Table& table) -> Call { return [=] { describe(table, {}, run); }; }},
        {"describe with second passes", every,
         [=](const Table& table) -> Call {
           return [=] { describe(table, {.distinct = StatsOptions::Distinct::count, .histogram_bins = 4}, run); };
         }},
        {"describe with quantiles", every,
         [=](const Table& table) -> Call {
           return [=, options = StatsOptions{.quantiles = {0.25, 0.5}}] { describe(table, options, run); };
         }},
        {"correlation", {}, [=](const Table& table) -> Call { return [=] { correlation(table, {}, run); }; }},
        {"correlation of ranks",
         {},
         [=](const Table& table) -> Call { return [=] { correlation(table, {CorrelationMethod::spearman}, run); }; }},
        {"describe by class", every,
         [=](const Table& table) -> Call { return [=] { describe(table, {.by = "c"}, run); }; }},
        {"Normalizer::fit", {}, [=](const Table& table) -> Call { return [=] { Normalizer::fit(table, z, run); }; }},
        {"Normalizer::fit, interquartile",
         {},
         [=](const Table& table) -> Call {
           return [=] { Normalizer::fit(table, {.method = Normalization::interquartile}, run); };
         }},
        {"Normalizer::apply", {}, [=](const Table& table) -> Call { return [=] { normalizer.apply(table, run); }; }},
        {"Table::validate", every, [=](const Table& table) -> Call { return [=] { table.validate(); }; }},
        {"Table::take", {}, [=](const Table& table) -> Call {
           return [table, rows = std::vector<std::int64_t>{0, 3, 5}] { table.take(rows); };
         }}};
  }

  std::vector<Job> cuts_and_trees() const {
    const RunOptions run = run_;
    const Table good = good_table();
    const std::vector<std::string> labelled = {"c", "d", "y"}, features = {"c", "d"};
    const CutSet cuts = {{"x", false, {2.5, 6.5}, {}}, {"c", true, {}, {"red"}}};
    const DecisionTree tree = DecisionTree::fit(good, {}, run);
    Table values = good;
    for (const std::size_t number : {0U, 1U, 3U}) values.columns[number].role = Role::ignore;
    const DecisionTree by_value = DecisionTree::fit(values, {}, run);  // it tests c
    const Model scale{outline(good), Normalizer::fit(good, {.method = Normalization::z}, run)};
    const Table scaled = Predictor(scale, run).transform(good, run);
    const Model last{outline(scaled), DecisionTree::fit(scaled, {}, run)};
    const Predictor chain(make_chain({scale, last}), run);
    const EvaluateOptions folds{.knn = {}, .normalize = {}, .n_folds = 3, .ks = {1, 3}};
    EvaluateOptions everything = folds;
    everything.n_repeats = 2;
    everything.knn.balanced = true;
    everything.confidences = Confidences::all;
    everything.predictions = Predictions::kept;
    const std::vector<std::string> measures = {"gower", "heom"};
    const std::vector<NormalizeOptions> both = {{}, {.method = Normalization::z}};
    std::vector<Job> jobs = {
        {"best_cuts", labelled,
         [=](const Table& table) -> Call { return [=] { best_cuts(table, {.n_permutations = 3}, run); }; }},
        {"apply_cuts", {"c"}, [=](const Table& table) -> Call { return [=] { apply_cuts(table, cuts, {}, run); }; }},
        {"DecisionTree::fit", labelled,
         [=](const Table& table) -> Call { return [=] { DecisionTree::fit(table, {}, run); }; }},
        {"DecisionTree::predict", {}, [=](const Table& table) -> Call { return [=] { tree.predict(table, run); }; }},
        {"DecisionTree::predict by a value",
         {"c"},
         [=](const Table& table) -> Call { return [=] { by_value.predict(table, run); }; }},
        {"DecisionTree::apply", {}, [=](const Table& table) -> Call { return [=] { tree.apply(table, run); }; }},
        {"a chain", {}, [=](const Table& table) -> Call { return [=] { chain.classify(table, run); }; }},
        {"make_chain",
         {},
         [=](const Table&) -> Call {
           return [steps = std::vector<Model>{scale, last}]() mutable { make_chain(std::move(steps)); };
         },
         Reads::nothing},
        {"DecisionTree::prune_reduced_error",
         {"y"},
         [=](const Table& table) -> Call {
           return [run, table, pruned = tree]() mutable { pruned.prune_reduced_error(table, run); };
         }},
        {"fit_tree", labelled,
         [=](const Table& table) -> Call { return [=] { fit_tree(table, {.tree = {}, .prune_holdout = 0.3}, run); }; }},
        {"evaluate", labelled, [=](const Table& table) -> Call { return [=] { evaluate(table, folds, run); }; }},
        {"evaluate_grid", labelled,
         [=](const Table& table) -> Call { return [=] { evaluate_grid(table, everything, measures, both, run); }; }},
        {"evaluate_tree", labelled,
         [=](const Table& table) -> Call { return [=] { evaluate_tree(table, {.fit = {}, .n_folds = 3}, run); }; }},
        {"DecisionTree::to_tables and back",
         {},
         [=](const Table&) -> Call { return [=] { DecisionTree::from_tables(tree.to_tables(), tree.options()); }; },
         Reads::nothing},
        {"format_tree and rules",
         {},
         [=](const Table&) -> Call {
           return [=] {
             tree.rules();
             tree.cuts();
             format_tree(tree, TreeFormat::json);
           };
         },
         Reads::nothing}};
    using enum DiscretizeMethod;
    for (const DiscretizeMethod method : {md_global, mdlp, chimerge, equal_width, equal_frequency}) {
      const bool unlabelled = method == equal_width || method == equal_frequency;
      jobs.push_back({"find_cuts, " + std::string(to_string(method)), unlabelled ? features : labelled,
                      [=](const Table& table) -> Call {
                        return [=] { find_cuts(table, {.method = method, .n_bins = 3}, run); };
                      }});
    }
    return jobs;
  }

  std::vector<Job> numbers() const {
    const RunOptions run = run_;
    const Table good = good_table();
    const PcaOptions components{.n_components = 1, .nominal = NominalFeatures::skip};
    const LsqOptions lines{.nominal = NominalFeatures::skip};
    const Pca pca = Pca::fit(good, components, run);
    const LinearModel line = LinearModel::fit(for_regression(good), lines, run);
    Table holes = good;
    holes.columns[0] = make_numeric("x", {0, 1, 2, 3, 4, 5, 6, std::nan(""), 8, 9, 10, 11});
    holes.columns[2] = make_nominal("c", {0, 1, 2, -1, 1, 2, 0, 1, 2, 0, 1, 2}, good.columns[2].values);
    const Imputer imputer = Imputer::fit(holes, {.n_neighbors = 2}, run);
    return {
        {"Pca::fit", {}, [=](const Table& table) -> Call { return [=] { Pca::fit(table, components, run); }; }},
        {"Pca::transform", {}, [=](const Table& table) -> Call { return [=] { pca.transform(table, run); }; }},
        {"Pca::to_table and back",
         {},
         [=](const Table&) -> Call { return [=] { Pca::from_table(pca.to_table(), components); }; },
         Reads::nothing},
        {"LinearModel::fit",
         {},
         [=](const Table& table) -> Call {
           return [=, mine = for_regression(table)] { LinearModel::fit(mine, lines, run); };
         }},
        {"Imputer::fit", {"c", "d"}, [=](const Table& table) -> Call { return [=] { Imputer::fit(table, {}, run); }; }},
        {"Imputer::apply", {"c", "d"}, [=](const Table& table) -> Call { return [=] { imputer.apply(table, run); }; }},
        {"LinearModel::predict", {}, [=](const Table& table) -> Call { return [=] { line.predict(table, run); }; }},
        {"LinearModel::to_table and back",
         {},
         [=](const Table&) -> Call { return [=] { LinearModel::from_table(line.to_table()); }; },
         Reads::nothing},
        // A good table lacks nothing: this one has values to fill in.
        {"Imputer::apply to holes",
         {},
         [=](const Table&) -> Call { return [=] { imputer.apply(holes, run); }; },
         Reads::nothing}};
  }

  std::vector<Job> files() const {
    const RunOptions run = run_;
    const std::vector<std::string> every = {"c", "d", "y", "g"};
    const auto write = [=](const std::string& format) {
      return [=](const Table& table) -> Call {
        return [=] {
          OutputFile file("/dev/null");
          write_table(file, table, {.format = format == "arff" ? Format::arff : Format::csv}, run);
          file.commit();
        };
      };
    };
    return {{"write_table, csv", every, write("csv")},
            {"write_table, arff", every, write("arff")},
            {"TablePartsWriter", every,
             [=](const Table& table) -> Call {
               return [=] {
                 OutputFile file("/dev/null");
                 TablePartsWriter writer(file, 12, {.format = Format::csv});
                 writer.append(table, run);
                 writer.finish();
                 file.commit();
               };
             }},
            {"write_model", {"c", "d", "y"}, [=](const Table& table) -> Call {
               return [model = Model{outline(table), NeighborsModel{table, {}, {}}}] {
                 OutputFile file("/dev/null");
                 write_model(file, model);
                 file.commit();
               };
             }}};
  }

  RunOptions run_;
};

}  // namespace stope::every_job
