// What jobs ask before they take a GPU, above all one that nobody named (--device auto), and when it fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stope/error.hpp"
#include "stope/run.hpp"

namespace stope::device {

/// A GPU must be this much faster: estimates are rough, and a processor that is there disturbs no one.
inline constexpr double kGpuMargin = 1.25;

/// Seconds that the driver takes to start in a process that has not used a GPU. Measured: bench/prior_works.py --work
/// 002 prints it as start (--constants).
inline constexpr double kDriverSeconds = 0.21;

/// The GPU for a job that takes the processor and a GPU so many seconds, the driver's start left out. None: the device
/// was named, there is no GPU, or it does not pay.
std::vector<int> gpus_that_pay(const RunOptions& run, double on_processor, double on_gpu);

/// Bytes of a GPU's memory that a job may take: what is free there, and no more than the run's limit.
std::int64_t usable_gpu_memory(int gpu, const RunOptions& run);

/// In the handler of an error of a job on a GPU. Returns why the processor does the job instead; throws the error on if
/// the GPU was named, or the error is not that a GPU failed or has no room.
std::string give_up_gpu(const Error& error, bool named);

}  // namespace stope::device
