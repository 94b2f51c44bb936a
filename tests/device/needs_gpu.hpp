// Tests that run on the GPUs of this machine; they say that they were skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "stope/device.hpp"

namespace stope {

/// Why tests have no GPU; empty where they have one.
inline std::string why_no_gpu() {
  for (const BackendInfo& info : device_info().backends) {
    if (info.name == "cuda") return info.available ? "" : "no GPU: " + info.reason;
  }
  return "no GPU";
}

/// A fixture that adds to SetUp() calls this one first and asks IsSkipped().
template <class Base>
class NeedsGpuAs : public Base {
 protected:
  /// Returns the device of n sessions, dealt out to the machine's GPUs.
  static std::string sessions(int n) {
    int n_gpus = 0;
    for (const GpuInfo& gpu : device_info().gpus) n_gpus += gpu.available ? 1 : 0;
    std::string device = "cuda:";
    for (int i = 0; i < n; ++i) device += (i > 0 ? "," : "") + std::to_string(i % n_gpus);
    return device;
  }
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  }
};

using NeedsGpu = NeedsGpuAs<testing::Test>;

}  // namespace stope
