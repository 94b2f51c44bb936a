// For tests whose GPUs are those of the fake plug-in (fake_plugin.cpp): a fixture inherits from this and testing::Test.
#pragma once

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
  }
  WithFakePlugin(const WithFakePlugin&) = delete;
  WithFakePlugin& operator=(const WithFakePlugin&) = delete;
};

}  // namespace stope
