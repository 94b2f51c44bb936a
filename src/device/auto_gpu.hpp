// Whether a GPU pays: the one decision of all jobs under --device auto, and its sentence for --explain. Also the memory
// that a job may take on its GPU, and what it does if the GPU fails. The choice changes no result.
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

/// A GPU must be this much faster: estimates are rough, and using the CPU disturbs nobody else.
inline constexpr double kGpuMargin = 1.25;

/// Seconds that the driver takes to start in a process that has not used a GPU. Measured: bench/prior_works.py --work
/// 002 prints it as start (--constants).
inline constexpr double kDriverSeconds = 0.21;

/// The seconds that a job takes, by its own measured costs. on_gpu leaves out the start of the driver.
struct Offer {
  double on_cpu = 0.0;
  double on_gpu = 0.0;
};

/// Whether the GPU is enough faster to pay. The driver's start counts unless it has `started` before.
constexpr bool gpu_pays(const Offer& offer, bool started) {
  return kGpuMargin * (offer.on_gpu + (started ? 0.0 : kDriverSeconds)) < offer.on_cpu;
}

/// The GPU for a job, or none, and why. The sentence is made only when it is asked for: a gram operator decides before
/// every product.
struct Decision {
  enum class Outcome {
    not_for_gpus,  ///< `why`: what GPUs lack for the job
    too_short,     ///< the driver's start alone takes too long
    cuda_off,      ///< `why`: what is wrong with CUDA
    cpu_pays,      ///< both were estimated
    gpu_pays,      ///< both were estimated
  };
  Outcome outcome = Outcome::too_short;
  Offer offer = {};              ///< includes the driver's start
  std::string_view why = {};     ///< lives as long as the program
  const GpuInfo* gpu = nullptr;  ///< null: the CPU

  /// "auto: about 3 ms on the CPU, 40 ms on the GPU", and so on.
  std::string reason() const;
  /// The GPU's name, as in BackendChoice::reason; only if there is a GPU.
  std::string gpu_name() const;
  /// The number of the GPU; empty for the CPU.
  std::vector<int> gpus() const;
};

/// The decision under auto. `offer.on_gpu` is the least that any GPU takes; `on`, if it is given, estimates a GPU that
/// was found. Looking for GPUs starts the driver, so it comes last.
Decision decide(const Offer& offer, const std::function<Offer(const GpuInfo&)>& on = {});

/// As above, for a machine that the caller describes: whether its driver has started, and a function that looks for
/// GPUs.
Decision decide(const Offer& offer, const std::function<Offer(const GpuInfo&)>& on, bool started,
                const std::function<const Cuda&()>& look);

/// The decision for a job that GPUs do not do. `why` must live as long as the program.
Decision decide_for_cpu(std::string_view why);

/// The back end of a decision: its GPU, or `cpu` with the reason added.
BackendChoice choice_of(const Decision& decision, BackendChoice cpu);

/// A reason for --explain: "auto: ..." if the job could choose the device, else nothing.
std::string auto_reason(const RunOptions& run, std::string_view why);

/// The bytes of a GPU's memory that a job may take: the free ones, but no more than the run's limit.
std::int64_t usable_gpu_memory(int gpu, const RunOptions& run);

/// To be called in the handler of an error of a job on a GPU. Returns why the CPU does the job instead, for --explain.
/// Rethrows the error if the GPU was named, and any error but that a GPU failed or has no room.
std::string give_up_gpu(const Error& error, bool named);

}  // namespace stope::device
