// Reports the back end of a job, for --explain and --json.
#pragma once

#include "report/json.hpp"
#include "report/session.hpp"
#include "stope/backend_report.hpp"

namespace stope::cli {

/// The first members of "plan": backend, reason and device_reason.
Json backend_json(const BackendReport& report);

/// The lines of the back end and, under --device auto, of the choice of the device.
void say_backend(Session& session, const BackendReport& report);

}  // namespace stope::cli
