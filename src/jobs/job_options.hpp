// The options of every job. Each structure names its options once, in visit(): that is what a call reads
// and what describe_options() tells. Defaults are the core's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jobs/options.hpp"
#include "stope/arrow.hpp"
#include "stope/eval.hpp"
#include "stope/find_cuts.hpp"
#include "stope/io.hpp"
#include "stope/knn_pairwise.hpp"
#include "stope/lsq.hpp"
#include "stope/neighbors_model.hpp"
#include "stope/pca.hpp"
#include "stope/stats.hpp"

namespace stope::jobs {

void visit_seed(Visitor& visitor, std::uint64_t& seed, const char* help);

/// What a run sets for each of its jobs.
struct RunSettings {
  std::int64_t threads = 0;
  std::string memory_limit = "0";
  std::string device = "auto";
  void visit(Visitor& visitor);
};

struct ArrowJob {
  ArrowOptions arrow;
  void visit(Visitor& visitor);
};

struct ReadJob {
  ReadOptions read;
  void visit(Visitor& visitor);
};

/// The part of k-NN that has to do with distances.
struct DistanceOptions {
  KnnOptions knn;
  NormalizeOptions normalize;
  void visit(Visitor& visitor);
};

/// Weights of classes, of k-NN and of trees.
struct ClassWeightOptions {
  std::map<std::string, std::string> by_name;
  bool balanced = false;
  void visit(Visitor& visitor);
  template <class Options>
  void set(Options& options) const {
    options.balanced = balanced;
    options.class_weights = weights();
  }

 private:
  std::vector<std::pair<std::string, double>> weights() const;
};

/// "neighbors", "classify", "regress".
struct KnnJob {
  DistanceOptions distance;
  ClassWeightOptions class_weights;
  VoteOptions vote;
  std::vector<double> ranges;
  void visit(Visitor& visitor);
  /// The options for a training table: the ranges get its features' names.
  KnnOptions options(const Table& train) const;
};

struct PairwiseMatrixJob {
  DistanceOptions distance;
  bool similarities = false;
  void visit(Visitor& visitor);
};

struct PairwiseJob {
  PairwiseMatrixJob matrix;
  PairwiseOptions pairwise;
  void visit(Visitor& visitor);
};

struct StatsJob {
  bool extremes = false, distinct = false;
  std::string by;
  void visit(Visitor& visitor);
  StatsOptions options() const;
};

struct HistogramJob {
  std::int64_t bins = 20;
  void visit(Visitor& visitor);
};

struct NoOptions {
  void visit(Visitor& visitor);
};

struct BestCutsJob {
  BestCutOptions cuts;
  void visit(Visitor& visitor);
};

struct FindCutsJob {
  DiscretizeOptions cuts;
  void visit(Visitor& visitor);
};

/// A model of cuts: how they are found, and how tables are coded with them.
struct CutsJob {
  FindCutsJob find;
  CodeStyle style = ApplyOptions{}.style;
  void visit(Visitor& visitor);
};

struct PcaJob {
  PcaOptions pca;
  void visit(Visitor& visitor);
};

struct LsqJob {
  LsqOptions lsq;
  void visit(Visitor& visitor);
};

struct TreeJob {
  TreeFitOptions fit;
  ClassWeightOptions class_weights;
  void visit(Visitor& visitor);
  TreeFitOptions options() const;
};

/// The tree's own options, without the seed.
void visit_tree(Visitor& visitor, TreeFitOptions& fit);

/// "evaluate", "confusion". The model says which options there are.
struct EvaluateJob {
  std::string model = "knn";
  EvaluateOptions evaluate;
  DistanceOptions distance;
  std::vector<double> ks = {5.0};
  Names metrics, normalizations;
  TreeFitOptions tree;
  LsqOptions lsq;
  std::string missing = "error";
  ClassWeightOptions class_weights;
  void visit(Visitor& visitor);
  EvaluateOptions knn_options() const;
  std::vector<std::string> all_metrics() const;
  std::vector<NormalizeOptions> all_normalizations() const;
  TreeEvaluationOptions tree_options() const;
  LsqEvaluationOptions lsq_options() const;
};

struct NormalizeJob {
  NormalizeOptions normalize{.method = Normalization::z};
  void visit(Visitor& visitor);
};

struct ApplyJob {
  bool proba = false;
  bool explain = false;
  std::int64_t explain_attributes = 5;
  std::optional<std::int64_t> n_neighbors;
  std::string weights;
  void visit(Visitor& visitor);
};

struct NeighborsJob {
  SearchOptions search;
  void visit(Visitor& visitor);
};

}  // namespace stope::jobs
