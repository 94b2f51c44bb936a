#include "knn/engine/plan.hpp"

namespace stope::knn {

SearchReport report_of(const Plan& plan) {
  SearchReport report;
  report.backend = plan.backend.name;
  report.reason = plan.backend.reason;
  report.device_reason = plan.backend.device_reason;
  report.method = properties(plan.method.engine).method;
  if (plan.method.order == BlockOrder::near) report.method += ", blocks";
  if (plan.method.order == BlockOrder::near && plan.method.visit == Visit::queries) report.method += ", boxes";
  report.method_reason = plan.method.reason;
  report.tile_queries = plan.tile_queries;
  report.tile_rows = plan.tile_rows;
  report.part_rows = plan.part_rows;
  report.memory_budget = plan.memory_budget;
  report.memory_planned = plan.memory_planned;
  report.threads = plan.threads;
  return report;
}

}  // namespace stope::knn
