// Tests that run on the GPUs of this machine; they say that they were skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "stope/device.hpp"

namespace stope {

class NeedsGpu : public testing::Test {
 protected:
  /// The device of so many sessions, dealt out to the machine's GPUs.
  static std::string sessions(int n) {
    int n_gpus = 0;
    for (const GpuInfo& gpu : device_info().gpus) n_gpus += gpu.available ? 1 : 0;
    std::string device = "cuda:";
    for (int i = 0; i < n; ++i) device += (i > 0 ? "," : "") + std::to_string(i % n_gpus);
    return device;
  }
  void SetUp() override {
    for (const BackendInfo& info : device_info().backends) {
      if (info.name == "cuda" && info.available) return;
    }
    GTEST_SKIP() << "no GPU";
  }
};

}  // namespace stope
