// Models of the C ABI as bytes and files.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "capi/array.hpp"
#include "capi/guarded.hpp"
#include "capi/model.hpp"
#include "capi/run.hpp"
#include "stope/error.hpp"
#include "stope/model.hpp"

using namespace stope::capi;
using stope::Error;
using stope::ErrorCode;

stope_code stope_model_bytes(const stope_model* model, int64_t* n, stope_error* error) {
  return guarded(error, [&] {
    *required(n, "n") = 0;
    const auto held = at<HeldModel>(model);
    std::int64_t bytes = 0;
    stope::write_model([&](std::string_view part) { bytes += std::ssize(part); }, held->predictor.model());
    *n = bytes;
  });
}

stope_code stope_model_store(const stope_model* model, void* to, int64_t n, stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<HeldModel>(model);
    auto* at = static_cast<char*>(required(to, "to"));
    std::int64_t left = n;
    stope::write_model(
        [&](std::string_view part) {
          left -= std::ssize(part);
          if (left < 0) {
            throw Error(ErrorCode::invalid_argument,
                        "the model has more than " + std::to_string(n) + " bytes; stope_model_bytes() says how many",
                        {.option = "n"});
          }
          std::memcpy(at, part.data(), part.size());
          at += part.size();
        },
        held->predictor.model());
    if (left == 0) return;
    throw Error(ErrorCode::invalid_argument,
                "the model has " + std::to_string(n - left) + " bytes, not " + std::to_string(n), {.option = "n"});
  });
}

stope_code stope_model_load(const void* bytes, int64_t n, void (*release)(void*), void* context, stope_run* run,
                            stope_model** out, stope_error* error) {
  return guarded(error, [&] {
    const auto owner = owner_of(release, context);
    begin_out(out);
    if (n < 0) throw Error(ErrorCode::invalid_argument, "n is " + std::to_string(n), {.option = "n"});
    const std::string_view view(static_cast<const char*>(required(bytes, "bytes")), static_cast<std::size_t>(n));
    const JobRun job(run);
    const auto tables = owner == nullptr ? stope::Tables::copied : stope::Tables::shared;
    *out = give_model(stope::Predictor(stope::read_model({view, owner}, job.options(), tables), job.options()));
  });
}

stope_code stope_model_read(const char* path, int32_t map, stope_run* run, stope_model** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const std::string file = required(path, "path");
    const JobRun job(run);
    const auto tables = map == 0 ? stope::Tables::copied : stope::Tables::shared;
    *out = give_model(stope::Predictor(stope::read_model(file, job.options(), tables), job.options()));
  });
}

stope_code stope_model_write(const stope_model* model, const char* path, stope_run* run, stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<HeldModel>(model);
    const JobRun job(run);
    stope::OutputFile file(required(path, "path"), job.options().cancel);
    stope::write_model(file, held->predictor.model());
    file.commit();
  });
}

stope_code stope_model_release_devices(const stope_model* model, stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<HeldModel>(model);
    if (std::holds_alternative<stope::NeighborsModel>(stope::last_step(held->predictor.model()).fitted)) {
      held->predictor.index().release_devices();
    }
  });
}
