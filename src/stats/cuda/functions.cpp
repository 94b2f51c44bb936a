// The plug-in's side of stats/cuda_abi.hpp: exceptions end here.
#include <memory>

#include "stats/cuda/session.hpp"
#include "stats/cuda_abi.hpp"

namespace stope::stats::cuda_abi {
struct Session {
  Session(int gpu, std::int64_t piece_bytes, std::int64_t n_columns) : pass(gpu, piece_bytes, n_columns) {}
  cuda::PassSession pass;
};
}  // namespace stope::stats::cuda_abi

namespace stope::stats::cuda {
namespace {

using cuda_abi::Failure;
using cuda_abi::Session;
using stope::cuda::CurrentGpu;
using stope::cuda::guarded;

int create(std::int32_t gpu, std::int64_t piece_bytes, std::int64_t n_columns, Session** session, Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);
    *session = std::make_unique<Session>(gpu, piece_bytes, n_columns).release();
  });
}

void destroy(Session* session) {
  const std::unique_ptr<Session> owner(session);
}

int submit(Session* session, int slot, const cuda_abi::Values* values, Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(session->pass.gpu());
    session->pass.submit(slot, *values);
  });
}

int collect(Session* session, int slot, void* parts, Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(session->pass.gpu());
    session->pass.collect(slot, parts);
  });
}

int describe(std::int32_t gpu, void* stream, const cuda_abi::Values* values, void* parts, float* milliseconds,
             Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);
    *milliseconds = describe_on_gpu(*values, static_cast<cudaStream_t>(stream), parts);
  });
}

}  // namespace

extern const cuda_abi::Functions kFunctions;
const cuda_abi::Functions kFunctions = {
    .create = &create,
    .destroy = &destroy,
    .submit = &submit,
    .collect = &collect,
    .describe = &describe,
};

}  // namespace stope::stats::cuda
