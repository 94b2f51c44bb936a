#include "device/auto_gpu.hpp"

#include <algorithm>
#include <cmath>

#include "device/cuda_plugin.hpp"

namespace stope::device {
namespace {

constexpr const char* kAuto = "auto: ";

// "under 1 ms", "3 ms", "12 s".
std::string time_text(double seconds) {
  const double milliseconds = 1e3 * seconds;
  if (milliseconds < 1.0) return "under 1 ms";
  const auto rounded = std::llround(milliseconds);
  return rounded < 10'000 ? std::to_string(rounded) + " ms" : std::to_string(rounded / 1000) + " s";
}

// time_text() as the first words of a sentence: "about 3 ms".
std::string about(double seconds) {
  return (seconds < 1e-3 ? "" : "about ") + time_text(seconds);
}

}  // namespace

std::string Decision::reason() const {
  const std::string cpu = about(offer.on_cpu) + " on the CPU";
  const std::string both = cpu + ", " + time_text(offer.on_gpu) + " on the GPU";
  switch (outcome) {
    case Outcome::not_for_gpus: return kAuto + std::string(why);
    case Outcome::too_short:
      return kAuto + cpu + "; a GPU's driver alone takes " + time_text(kDriverSeconds) + " to start" +
             (offer.on_cpu > kDriverSeconds ? ", too close to tell" : "");
    case Outcome::cuda_off: return kAuto + std::string("CUDA is off: ") + std::string(why);
    case Outcome::cpu_pays: return kAuto + both + (offer.on_gpu < offer.on_cpu ? ", too close to tell" : "");
    case Outcome::gpu_pays: return kAuto + both;
  }
  return {};
}

std::string Decision::gpu_name() const {
  return gpu->name + ", " + gpu->arch;
}

std::vector<int> Decision::gpus() const {
  return gpu == nullptr ? std::vector<int>() : std::vector<int>{gpu->index};
}

Decision decide(const Offer& offer, const std::function<Offer(const GpuInfo&)>& on) {
  return decide(offer, on, cuda_was_used(), cuda);
}

Decision decide(const Offer& offer, const std::function<Offer(const GpuInfo&)>& on, bool started,
                const std::function<const Cuda&()>& look) {
  const auto with_start = [&](Offer of) {
    if (!started) of.on_gpu += kDriverSeconds;
    return of;
  };
  if (!started && !gpu_pays({offer.on_cpu, 0.0}, started)) return {Decision::Outcome::too_short, with_start(offer)};
  if (!gpu_pays(offer, started)) return {Decision::Outcome::cpu_pays, with_start(offer)};
  const Cuda& cuda = look();
  const auto gpu = std::find_if(cuda.gpus.begin(), cuda.gpus.end(), [](const GpuInfo& one) { return one.available; });
  if (cuda.functions == nullptr || gpu == cuda.gpus.end()) {
    return {Decision::Outcome::cuda_off, with_start(offer), cuda.reason};
  }
  const Offer of_gpu = on ? on(*gpu) : offer;
  if (!gpu_pays(of_gpu, started)) return {Decision::Outcome::cpu_pays, with_start(of_gpu)};
  return {Decision::Outcome::gpu_pays, with_start(of_gpu), {}, &*gpu};
}

Decision decide_for_cpu(std::string_view why) {
  return {.outcome = Decision::Outcome::not_for_gpus, .why = why};
}

BackendChoice choice_of(const Decision& decision, BackendChoice cpu) {
  BackendChoice choice = std::move(cpu);
  if (decision.gpu != nullptr) {
    choice = {Backend::cuda, "cuda", decision.gpu_name()};
    choice.gpus = decision.gpus();
    choice.automatic = true;
  }
  choice.device_reason = decision.reason();
  return choice;
}

std::string auto_reason(const RunOptions& run, std::string_view why) {
  return is_automatic(run) ? kAuto + std::string(why) : std::string();
}

std::int64_t usable_gpu_memory(int gpu, const RunOptions& run) {
  std::int64_t free = 0;
  checked_call([&](cuda_abi::Failure* failure) { return plugin().free_memory(gpu, &free, failure); });
  return run.memory_limit > 0 ? std::min(run.memory_limit, free) : free;
}

std::string give_up_gpu(const Error& error, bool named) {
  const bool is_of_gpu = error.code() == ErrorCode::device_lost || error.code() == ErrorCode::device_unavailable ||
                         error.code() == ErrorCode::out_of_memory;
  if (named || !is_of_gpu) throw;
  return std::string(kAuto) + "the GPU was given up: " + error.what();
}

}  // namespace stope::device
