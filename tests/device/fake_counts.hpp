// What the fake plug-in has counted (fake_plugin.cpp), for tests that compare two moments.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

namespace stope {

/// How far one of its counters has gone since this was made.
class FakeCount {
 public:
  explicit FakeCount(const char* name)
      : plugin_(dlopen(STOPE_FAKE_PLUGIN, RTLD_NOW)),
        counter_(static_cast<const std::atomic<std::int64_t>*>(dlsym(plugin_, name))),
        before_(*counter_) {}
  ~FakeCount() { dlclose(plugin_); }
  FakeCount(const FakeCount&) = delete;
  FakeCount& operator=(const FakeCount&) = delete;

  std::int64_t since() const { return *counter_ - before_; }

 private:
  void* plugin_;
  const std::atomic<std::int64_t>* counter_;
  std::int64_t before_;
};

/// The bytes that a real plug-in would have copied since this was made.
class CountedBytes {
 public:
  std::int64_t to_host() const { return to_host_.since(); }
  std::int64_t to_gpu() const { return to_gpu_.since(); }

 private:
  FakeCount to_host_{"stope_fake_to_host"}, to_gpu_{"stope_fake_to_gpu"};
};

}  // namespace stope
