// The plug-in's side of stats/cuda_abi.hpp. No exception leaves it.
#include "device/cuda/handle.hpp"
#include "stats/cuda/session.hpp"
#include "stats/cuda_abi.hpp"

namespace stope::stats::cuda_abi {
struct Session : stope::cuda::Handle<cuda::PassSession> {
  using Handle::Handle;
};
}  // namespace stope::stats::cuda_abi

namespace stope::stats::cuda {
namespace {

using cuda_abi::Failure;
using cuda_abi::Session;
using stope::cuda::CurrentGpu;
using stope::cuda::destroy_handle;
using stope::cuda::guarded;
using stope::cuda::in_session;
using stope::cuda::make_handle;

int create(std::int32_t gpu, std::int64_t piece_bytes, std::int64_t n_columns, Session** session, Failure* failure) {
  return make_handle(session, failure, gpu, piece_bytes, n_columns);
}

int submit(Session* session, int slot, const cuda_abi::Values* values, Failure* failure) {
  return in_session(session, failure, [&](PassSession& pass) { pass.submit(slot, *values); });
}

int collect(Session* session, int slot, void* parts, Failure* failure) {
  return in_session(session, failure, [&](PassSession& pass) { pass.collect(slot, parts); });
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
    .destroy = &destroy_handle<Session>,
    .submit = &submit,
    .collect = &collect,
    .describe = &describe,
};

}  // namespace stope::stats::cuda
