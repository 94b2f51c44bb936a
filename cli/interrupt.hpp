// Signals that end a process: the first asks the job to stop, so that it leaves no temporary file.
#pragma once

#include "stope/run.hpp"

namespace stope::cli {

/// From now on SIGINT and every other signal that asks a process to end (SIGTERM, SIGHUP, SIGQUIT, timers, ...) trigger
/// `cancel`, unless the caller has them ignored. A second SIGINT has its usual effect. A closed pipe and a file beyond
/// the size limit become errors of the write, not signals that would leave temporary files behind. A
/// mapped input that another program cuts short ends the process at once, as one that cannot be read.
void stop_on_interrupt(const CancelToken& cancel);

}  // namespace stope::cli
