// Whether a GPU pays: the one decision of all jobs under --device auto, and its sentence for --explain. Also what jobs
// ask of a GPU they were given, and what they do when it fails. The choice changes no result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "device/backend.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/run.hpp"

namespace stope::device {

struct Cuda;

/// A GPU must be this much faster: estimates are rough, and a CPU that is there disturbs no one.
inline constexpr double kGpuMargin = 1.25;

/// Seconds that the driver takes to start in a process that has not used a GPU. Measured: bench/prior_works.py --work
/// 002 prints it as start (--constants).
inline constexpr double kDriverSeconds = 0.21;

/// What a job takes, in seconds, by its own measured costs. The GPU's leave out the start of the driver.
struct Offer {
  double on_cpu = 0.0;
  double on_gpu = 0.0;
};

/// Whether the GPU is so much faster that it pays, its driver's start included unless it `started` before.
constexpr bool gpu_pays(const Offer& offer, bool started) {
  return kGpuMargin * (offer.on_gpu + (started ? 0.0 : kDriverSeconds)) < offer.on_cpu;
}

/// The GPU for a job, or none, and why. The sentence is made when it is asked for: a gram operator decides before every
/// product.
struct Decision {
  enum class Outcome {
    not_for_gpus,  ///< `why`: what GPUs lack for the job
    too_short,     ///< the driver's start alone takes too long
    cuda_off,      ///< `why`: what is wrong with CUDA
    cpu_pays,      ///< both were estimated
    gpu_pays,      ///< both were estimated
  };
  Outcome outcome = Outcome::too_short;
  Offer offer = {};              ///< the driver's start included
  std::string_view why = {};     ///< lives as long as the program
  const GpuInfo* gpu = nullptr;  ///< null: the CPU

  /// "auto: about 3 ms on the CPU, 40 ms on the GPU", and so on.
  std::string reason() const;
  /// What it runs on, as BackendChoice::reason; with a GPU only.
  std::string gpu_name() const;
  /// The number of the GPU; empty: the CPU.
  std::vector<int> gpus() const;
};

/// The decision under auto. `offer.on_gpu` is what any GPU takes at the least; `on`, where it is given, says more once
/// there is a GPU to ask about. A look at what GPUs there are starts the driver, so it comes last.
Decision decide(const Offer& offer, const std::function<Offer(const GpuInfo&)>& on = {});

/// The same on a machine that the caller describes: whether its driver has started, and a look at its GPUs.
Decision decide(const Offer& offer, const std::function<Offer(const GpuInfo&)>& on, bool started,
                const std::function<const Cuda&()>& look);

/// The decision for a job that GPUs do not do. `why` must live as long as the program.
Decision decide_for_cpu(std::string_view why);

/// The back end of what was decided: a GPU, or `cpu` with the reason added.
BackendChoice choice_of(const Decision& decision, BackendChoice cpu);

/// A reason for --explain: "auto: ..." where the device was for the job to choose, else nothing.
std::string auto_reason(const RunOptions& run, std::string_view why);

/// Bytes of a GPU's memory that a job may take: what is free there, and no more than the run's limit.
std::int64_t usable_gpu_memory(int gpu, const RunOptions& run);

/// In the handler of an error of a job on a GPU. Returns why the CPU does the job instead, for --explain. Throws the
/// error on if the GPU was named, or the error is not that a GPU failed or has no room.
std::string give_up_gpu(const Error& error, bool named);

}  // namespace stope::device
