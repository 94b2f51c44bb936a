#include "knn/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/checked.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

// A positive whole number from the environment, or 0.
std::int64_t tile_override(const char* name) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): the library never changes the environment
  if (text == nullptr || *text == '\0') return 0;
  const char* const end = text + std::strlen(text);
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value < 1) {
    throw Error(ErrorCode::invalid_argument, std::string(name) + "='" + text + "' is no positive whole number");
  }
  return value;
}

// Queries in flight cost their encoded row, their lists and, without a filter, a row of distances; with one, an image.
std::int64_t bytes_of(const Plan& plan, const Demand& demand) {
  const bool filter = plan.method.way == Method::Way::filter;
  const std::int64_t values = checked::add(demand.width, filter ? demand.filter_columns : plan.tile_rows);
  const std::int64_t per_query = checked::add(checked::mul(values, sizeof(double)), demand.list_bytes);
  return checked::add(checked::mul(plan.tile_queries, per_query), checked::mul(plan.threads, demand.scratch_bytes));
}

}  // namespace

Plan make_plan(const Demand& demand, const device::BackendChoice& backend, const Method& method,
               const RunOptions& run) {
  // 128 x 4096 distances are 4 MB: they stay in the last-level cache between the pass that computes them and the pass
  // that selects from them, and are enough work to feed dozens of cores between two barriers.
  constexpr std::int64_t kReferenceQueries = 128;
  constexpr std::int64_t kReferenceRows = 4096;
  // A filter keeps no distances, and orders the queries it is given: the more, the nearer those that share a tile.
  constexpr std::int64_t kFilterQueries = std::int64_t{1} << 17;
  const std::int64_t most_queries = method.way == Method::Way::filter ? kFilterQueries : kReferenceQueries;

  Plan plan;
  plan.backend = backend;
  plan.method = method;
  plan.memory_budget = memory_budget(run);
  plan.threads = run.threads > 0 ? run.threads : available_threads();
  const std::int64_t forced_queries = tile_override("STOPE_TILE_QUERIES");
  const std::int64_t forced_rows = tile_override("STOPE_TILE_ROWS");
  plan.tile_queries = std::clamp<std::int64_t>(forced_queries > 0 ? forced_queries : most_queries, 1,
                                               std::max<std::int64_t>(demand.n_queries, 1));
  plan.tile_rows = std::clamp<std::int64_t>(forced_rows > 0 ? forced_rows : kReferenceRows, 1, demand.n_rows);
  // A limit covers the index as well; what is measured as available leaves it out already.
  const std::int64_t budget = plan.memory_budget - (run.memory_limit > 0 ? demand.index_bytes : 0);
  while (bytes_of(plan, demand) > budget) {
    if (plan.tile_queries > 1) {
      plan.tile_queries = (plan.tile_queries + 1) / 2;
    } else if (plan.tile_rows > 1) {
      plan.tile_rows = (plan.tile_rows + 1) / 2;
    } else if (plan.threads > 1 && demand.scratch_bytes > 0) {
      plan.threads = (plan.threads + 1) / 2;
    } else {
      throw Error(ErrorCode::out_of_memory, "one query row needs " + std::to_string(bytes_of(plan, demand)) +
                                                " bytes beside the " + std::to_string(demand.index_bytes) +
                                                " of the index, the memory limit is " +
                                                std::to_string(plan.memory_budget));
    }
  }
  plan.memory_planned = bytes_of(plan, demand);
  return plan;
}

SearchReport report_of(const Plan& plan) {
  SearchReport report;
  report.backend = plan.backend.name;
  report.reason = plan.backend.reason;
  report.method = plan.method.way == Method::Way::reference ? "reference"
                  : plan.method.order == BlockOrder::near   ? "filter, blocks"
                                                            : "filter";
  report.method_reason = plan.method.reason;
  report.tile_queries = plan.tile_queries;
  report.tile_rows = plan.tile_rows;
  report.memory_budget = plan.memory_budget;
  report.memory_planned = plan.memory_planned;
  report.threads = plan.threads;
  return report;
}

}  // namespace stope::knn
