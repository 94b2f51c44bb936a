// For tests whose GPUs are those of the fake plug-in (fake_plugin.cpp): a fixture inherits from this and testing::Test.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "base/fault.hpp"
#include "environment.hpp"

namespace stope {

class WithFakePlugin {
 protected:
  /// `role`: what the plug-in plays. `backend`: what every job takes, however small; none is forced by default.
  explicit WithFakePlugin(const std::string& role = "works", const std::string& backend = "") {
    setenv("STOPE_CUDA_PLUGIN", STOPE_FAKE_PLUGIN, 1);
    setenv("STOPE_FAKE", role.c_str(), 1);
    if (!backend.empty()) setenv("STOPE_BACKEND", backend.c_str(), 1);
  }
  ~WithFakePlugin() {
    unset_all({"STOPE_FAKE", "STOPE_FAKE_OWNER", "STOPE_BACKEND", "STOPE_TILE_QUERIES", "STOPE_TILE_ROWS",
               "STOPE_DEVICE_ROWS", "STOPE_PART_ROWS", "STOPE_BLOCKS_UNDER_WAY", "STOPE_VISIT"});
    fault::arm_alloc(0);
    fault::arm_device(0);
    EXPECT_EQ(alive(), 0) << "sessions, filters or voters on GPUs were not destroyed";
  }
  WithFakePlugin(const WithFakePlugin&) = delete;
  WithFakePlugin& operator=(const WithFakePlugin&) = delete;

 private:
  static int alive() {
    void* const plugin = dlopen(STOPE_FAKE_PLUGIN, RTLD_NOW | RTLD_NOLOAD);
    if (plugin == nullptr) return 0;  // the test had no use for it
    const auto* const number = static_cast<const std::atomic<int>*>(dlsym(plugin, "stope_fake_alive"));
    dlclose(plugin);
    return number == nullptr ? -1 : number->load();
  }
};

}  // namespace stope
