// Ctrl-C and SIGTERM: the first asks the job to stop, the second ends the process.
#pragma once

#include "stope/run.hpp"

namespace stope::cli {

/// From now on the first SIGINT or SIGTERM triggers `cancel`; a second signal has its usual effect. A closed pipe
/// becomes an error of the write (stope::BrokenPipe), not a signal that would leave temporary files behind.
void stop_on_interrupt(const CancelToken& cancel);

}  // namespace stope::cli
