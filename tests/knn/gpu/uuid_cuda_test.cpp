// The UUIDs of a machine's GPUs are those that nvidia-smi prints, and name the GPUs.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/needs_gpu.hpp"
#include "stope/device.hpp"

namespace stope {
namespace {

TEST(UuidCuda, NamesTheGpuThatNvidiaSmiNames) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  std::string listed;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> smi(popen("nvidia-smi -L", "r"), &pclose);
  ASSERT_NE(smi, nullptr);
  for (char text[256]; std::fgets(text, sizeof text, smi.get()) != nullptr;) listed += text;
  for (const GpuInfo& gpu : device_info().gpus) {
    ASSERT_EQ(gpu.uuid.size(), 40U) << gpu.uuid;
    EXPECT_NE(listed.find(gpu.uuid), std::string::npos) << gpu.uuid << " is not in\n" << listed;
    if (!gpu.available) continue;
    RunOptions run;
    run.device = "cuda:" + gpu.uuid;
    EXPECT_EQ(device::choose_backend(run).gpus, std::vector<int>{gpu.index});
    run.device = "cuda:" + std::to_string(gpu.index) + "," + gpu.uuid;
    EXPECT_EQ(device::choose_backend(run).gpus, (std::vector<int>{gpu.index, gpu.index}));
  }
}

}  // namespace
}  // namespace stope
