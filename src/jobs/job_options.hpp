// The options of every job. Each structure names its options once, in visit(): that is what a call reads
// and what describe_options() tells. Defaults are the core's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jobs/options.hpp"
#include "stope/arrow.hpp"
#include "stope/correlation.hpp"
#include "stope/eval.hpp"
#include "stope/find_cuts.hpp"
#include "stope/impute.hpp"
#include "stope/io.hpp"
#include "stope/knn_pairwise.hpp"
#include "stope/lsq.hpp"
#include "stope/neighbors_model.hpp"
#include "stope/pca.hpp"
#include "stope/stats.hpp"

namespace stope::jobs {

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

/// "neighbors", "classify", "regress".
struct KnnJob {
  DistanceOptions distance;
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
  std::vector<double> quantiles;
  std::string by;
  void visit(Visitor& visitor);
  StatsOptions options() const;
};

struct CorrelationJob {
  CorrelationOptions correlation;
  void visit(Visitor& visitor);
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

struct EvaluateJob {
  DistanceOptions distance;
  EvaluateOptions evaluate;
  std::vector<double> ks = {5.0};
  void visit(Visitor& visitor);
  EvaluateOptions options() const;
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
  std::map<std::string, std::string> class_weights;
  void visit(Visitor& visitor);
  TreeFitOptions options() const;
};

struct NormalizeJob {
  NormalizeOptions normalize{.method = Normalization::z};
  void visit(Visitor& visitor);
};

struct ImputeJob {
  ImputeOptions impute;
  void visit(Visitor& visitor);
};

struct ApplyJob {
  bool proba = false;
  std::optional<std::int64_t> n_neighbors;
  std::string weights;
  void visit(Visitor& visitor);
};

struct NeighborsJob {
  SearchOptions search;
  void visit(Visitor& visitor);
};

}  // namespace stope::jobs
