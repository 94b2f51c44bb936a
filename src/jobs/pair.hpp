// Two tables whose rows are compared.
#pragma once

#include "jobs/job_options.hpp"
#include "stope/knn.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::jobs {

/// Both tables as the measure takes them.
struct Pair {
  Table request, reference;
  KnnOptions knn;
};

/// The reference is searched, so normalisation is fitted to it.
Pair normalized(const Table& request, const Table& reference, const DistanceOptions& distance, const RunOptions& run);

}  // namespace stope::jobs
