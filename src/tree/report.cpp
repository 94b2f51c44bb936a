// The report of a tree that was grown as JSON and text (stope/tree.hpp).
#include "base/report.hpp"
#include "base/guarded.hpp"
#include "stope/tree.hpp"

namespace stope {

std::string to_json(const TreeReport& report) try {
  return JsonObject()
      .backend(report)
      .integer("threads", report.threads)
      .number("seconds", report.seconds)
      .steps("gpu_seconds", report.gpu_seconds)
      .done();
} catch (...) {
  rethrow_as_error();
}

std::string to_text(const TreeReport& report) try { return backend_text(report); } catch (...) {
  rethrow_as_error();
}

}  // namespace stope
