// What the fake plug-in has counted (fake_plugin.cpp), for tests that compare two moments.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

namespace stope {

/// The bytes that a real plug-in would have copied since this was made.
class CountedBytes {
 public:
  CountedBytes()
      : plugin_(dlopen(STOPE_FAKE_PLUGIN, RTLD_NOW)),
        to_host_before_(counter("stope_fake_to_host")),
        to_gpu_before_(counter("stope_fake_to_gpu")) {}
  ~CountedBytes() { dlclose(plugin_); }
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;

  std::int64_t to_host() const { return counter("stope_fake_to_host") - to_host_before_; }
  std::int64_t to_gpu() const { return counter("stope_fake_to_gpu") - to_gpu_before_; }

 private:
  std::int64_t counter(const char* name) const {
    return *static_cast<const std::atomic<std::int64_t>*>(dlsym(plugin_, name));
  }

  void* plugin_;
  std::int64_t to_host_before_, to_gpu_before_;
};

}  // namespace stope
