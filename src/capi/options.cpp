// Options of the C ABI: texts and numbers by name, which a job reads.
#include "capi/options.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/guarded.hpp"
#include "stope/error.hpp"

namespace stope::capi {

NamedOptions options_of(const stope_options* handle) {
  if (handle == nullptr) return {};
  const auto held = at<HeldOptions>(handle);
  const std::lock_guard lock(held->mutex);
  return held->options;
}

}  // namespace stope::capi

using namespace stope::capi;

stope_code stope_options_new(stope_options** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    *out = give<stope_options>(std::make_shared<HeldOptions>());
  });
}

stope_code stope_options_set(stope_options* options, const char* name, const char* value, stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<HeldOptions>(options);
    const std::string key = required(name, "name");
    const std::lock_guard lock(held->mutex);
    held->options.numbers.erase(key);
    if (value == nullptr) {
      held->options.texts.erase(key);
    } else {
      held->options.texts[key] = value;
    }
  });
}

stope_code stope_options_set_doubles(stope_options* options, const char* name, const double* values, int64_t n,
                                     stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<HeldOptions>(options);
    const std::string key = required(name, "name");
    if (n < 0) {
      throw stope::Error(stope::ErrorCode::invalid_argument, "n is " + std::to_string(n), {.option = "n"});
    }
    if (n > 0) required(values, "values");
    std::vector<double> numbers(values, values + n);
    const std::lock_guard lock(held->mutex);
    held->options.texts.erase(key);
    held->options.numbers[key] = std::move(numbers);
  });
}

void stope_options_free(stope_options* options) {
  remove_handle(options, Kind::options);
}

const char* stope_describe_options(const char* job) {
  if (job == nullptr) return nullptr;
  try {
    const std::string_view json = stope::describe_options(job);
    return json.empty() ? nullptr : json.data();  // it ends with NUL, and lives as long as the process
  } catch (...) {
    return nullptr;
  }
}
