// Tests that run on the GPUs of this machine; they say that they were skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include "stope/device.hpp"

namespace stope {

class NeedsGpu : public testing::Test {
 protected:
  void SetUp() override {
    for (const BackendInfo& info : device_info().backends) {
      if (info.name == "cuda" && info.available) return;
    }
    GTEST_SKIP() << "no GPU";
  }
};

}  // namespace stope
