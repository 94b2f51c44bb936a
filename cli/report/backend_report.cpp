#include "report/backend_report.hpp"

#include <fmt/format.h>

namespace stope::cli {

Json backend_json(const BackendReport& report) {
  return {{"backend", report.backend}, {"reason", report.reason}, {"device_reason", report.device_reason}};
}

void say_backend(Session& session, const BackendReport& report) {
  if (!report.backend.empty()) {
    session.say(fmt::format("backend   {}{}\n", report.backend,
                            report.reason.empty() ? "" : " (" + one_line(report.reason) + ")"));
  }
  if (!report.device_reason.empty()) session.say(fmt::format("device    {}\n", one_line(report.device_reason)));
}

}  // namespace stope::cli
