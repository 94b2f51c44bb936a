// The decision of --device auto, and its reason in each outcome.
#include "device/auto_gpu.hpp"

#include <gtest/gtest.h>

#include "device/cuda_plugin.hpp"
#include "expect_error.hpp"

namespace stope::device {
namespace {

using Outcome = Decision::Outcome;

/// A machine with two GPUs, only the second of which can be used, and how often it was looked at.
struct Machine {
  Machine() {
    cuda.functions = &functions;
    cuda.gpus.resize(2);
    GpuInfo& gpu = cuda.gpus[1];
    gpu.index = 1;
    gpu.name = "New Card";
    gpu.arch = "sm_90";
    gpu.available = true;
  }
  Decision decide(const Offer& offer, bool started, const std::function<Offer(const GpuInfo&)>& on = {}) {
    return device::decide(offer, on, started, [&]() -> const Cuda& {
      ++n_looks;
      return cuda;
    });
  }
  cuda_abi::Functions functions{};
  Cuda cuda;
  int n_looks = 0;
};

TEST(AutoGpu, AShortJobDoesNotLookForGpus) {
  Machine machine;
  for (const double seconds : {0.0, 0.0005, 0.003, 0.26}) {
    const Decision decision = machine.decide({seconds, 0.0}, false);
    EXPECT_EQ(decision.outcome, Outcome::too_short) << seconds;
    EXPECT_TRUE(decision.gpus().empty());
  }
  EXPECT_EQ(machine.n_looks, 0);
  EXPECT_EQ(machine.decide({0.003, 0.0}, false).reason(),
            "auto: about 3 ms on the CPU; a GPU's driver alone takes 210 ms to start");
  EXPECT_EQ(machine.decide({0.0005, 0.0}, false).reason(),
            "auto: under 1 ms on the CPU; a GPU's driver alone takes 210 ms to start");
  EXPECT_EQ(machine.decide({0.239, 0.0}, false).reason(),
            "auto: about 239 ms on the CPU; a GPU's driver alone takes 210 ms to start, too close to tell");
}

TEST(AutoGpu, WhatNoGpuDoesFasterDoesNotLookForGpus) {
  Machine machine;
  const Decision decision = machine.decide({3.0, 4.0}, false);
  EXPECT_EQ(decision.outcome, Outcome::cpu_pays);
  EXPECT_EQ(decision.reason(), "auto: about 3000 ms on the CPU, 4210 ms on the GPU");
  EXPECT_EQ(machine.decide({0.003, 0.04}, true).reason(), "auto: about 3 ms on the CPU, 40 ms on the GPU");
  EXPECT_EQ(machine.n_looks, 0);
}

TEST(AutoGpu, WithoutCudaItSaysWhy) {
  Machine machine;
  machine.cuda.functions = nullptr;
  machine.cuda.reason = "there is no NVIDIA driver";
  const Decision decision = machine.decide({30.0, 0.1}, false);
  EXPECT_EQ(decision.outcome, Outcome::cuda_off);
  EXPECT_EQ(decision.reason(), "auto: CUDA is off: there is no NVIDIA driver");
  EXPECT_EQ(machine.n_looks, 1);
}

TEST(AutoGpu, AFasterGpuIsTaken) {
  Machine machine;
  const Decision decision = machine.decide({20.0, 0.1}, false);
  EXPECT_EQ(decision.outcome, Outcome::gpu_pays);
  EXPECT_EQ(decision.reason(), "auto: about 20 s on the CPU, 310 ms on the GPU");
  EXPECT_EQ(decision.gpus(), std::vector<int>{1});
  EXPECT_EQ(decision.gpu_name(), "New Card, sm_90");
  const BackendChoice choice = choice_of(decision, {Backend::avx2, "avx2", "filters"});
  EXPECT_EQ(choice.name, "cuda");
  EXPECT_EQ(choice.reason, "New Card, sm_90");
  EXPECT_EQ(choice.device_reason, decision.reason());
  EXPECT_TRUE(choice.automatic);
}

TEST(AutoGpu, TheGpuThatIsThereHasTheLastWord) {
  Machine machine;
  const auto slow = [](const GpuInfo& gpu) -> Offer { return {1.0, gpu.index == 1 ? 0.7 : 0.0}; };
  const Decision decision = machine.decide({1.0, 0.0}, false, slow);
  EXPECT_EQ(decision.outcome, Outcome::cpu_pays);
  EXPECT_EQ(decision.reason(), "auto: about 1000 ms on the CPU, 910 ms on the GPU, too close to tell");
  const BackendChoice choice = choice_of(decision, {Backend::avx2, "avx2", "filters"});
  EXPECT_EQ(choice.name, "avx2");
  EXPECT_EQ(choice.reason, "filters");
  EXPECT_EQ(choice.device_reason, decision.reason());
  EXPECT_EQ(machine.decide({1.0, 0.0}, true, slow).outcome, Outcome::gpu_pays);
}

TEST(AutoGpu, JobsThatGpusDoNotDoSayWhatIsMissing) {
  const Decision decision = decide_for_cpu("GPUs take up to 256 classes");
  EXPECT_EQ(decision.outcome, Outcome::not_for_gpus);
  EXPECT_EQ(decision.gpu, nullptr);
  EXPECT_EQ(decision.reason(), "auto: GPUs take up to 256 classes");
}

TEST(AutoGpu, AGpuThatFailedIsGivenUpUnlessItWasNamed) {
  try {
    throw Error(ErrorCode::device_lost, "lost");
  } catch (const Error& error) {
    EXPECT_EQ(give_up_gpu(error, false), "auto: the GPU was given up: lost");
    expect_error(ErrorCode::device_lost, "lost", [&] { give_up_gpu(error, true); });
  }
}

TEST(AutoGpu, ANamedDeviceHasNoReason) {
  RunOptions run;
  EXPECT_EQ(auto_reason(run, "why"), "auto: why");
  run.device = "cpu";
  EXPECT_EQ(auto_reason(run, "why"), "");
}

}  // namespace
}  // namespace stope::device
