// Options behind a handle.
#pragma once

#include <mutex>
#include <string_view>

#include "capi/handles.hpp"
#include "jobs/options.hpp"
#include "stope/jobs.hpp"

namespace stope::capi {

/// The mutex makes a caller's mistake harmless: options belong to one thread at a time.
struct HeldOptions {
  std::mutex mutex;
  NamedOptions options;
};
template <>
struct KindOf<HeldOptions> {
  static constexpr Kind value = Kind::options;
};

/// A copy of the options of a handle; none for a null pointer.
NamedOptions options_of(const stope_options* handle);

/// A job's options as the caller has set them.
template <class Job>
Job read_options(const stope_options* handle, std::string_view job) {
  return jobs::read_options<Job>(options_of(handle), job);
}

}  // namespace stope::capi
