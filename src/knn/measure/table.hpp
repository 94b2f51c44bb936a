// The table of measures, with one row each (table.cpp). CONTRIBUTING.md, "Adding a measure", says what else a measure
// needs.
#pragma once

#include <memory>

#include "knn/measure/kernel.hpp"
#include "stope/metric.hpp"

namespace stope::knn {

/// What a training value must satisfy before a measure accepts it (RapidMiner checks it in both modes of stope).
enum class Domain { any, positive, unit_open };

struct MeasureRow {
  MetricInfo info;
  Domain domain = Domain::any;
  int n_attributes = 0;  ///< exactly this many; 0: any number
  bool takes_weights = true;
  bool needs_all_rows = false;  ///< its parameters depend on all training rows: parts of a table do not merge
  bool raw_codes = false;       ///< RapidMiner's Cross Distances compares the codes of two different mappings
  std::unique_ptr<MeasureKernel> (*make)(const MeasureContext&) = nullptr;
};

/// Returns the row that a metric's name stands for. Throws as find_metric does, and for a parameter that the measure
/// lacks.
const MeasureRow& find_measure(const Metric& metric);

}  // namespace stope::knn
