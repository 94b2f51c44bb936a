// The plug-in's side of discretize/cuda_abi.hpp: exceptions end here.
#include <memory>

#include "discretize/cuda/session.hpp"

namespace stope::discretize::cuda_abi {
struct Session {
  Session(int gpu, const Decisions& decisions, std::int64_t most_columns) : cuts(gpu, decisions, most_columns) {}
  cuda::CutSession cuts;
};
}  // namespace stope::discretize::cuda_abi

namespace stope::discretize::cuda {
namespace {

using cuda_abi::Failure;
using cuda_abi::Session;
using stope::cuda::CurrentGpu;
using stope::cuda::guarded;

int create(std::int32_t gpu, const cuda_abi::Decisions* decisions, std::int64_t most_columns, Session** session,
           Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);
    *session = std::make_unique<Session>(gpu, *decisions, most_columns).release();
  });
}

void destroy(Session* session) {
  const std::unique_ptr<Session> owner(session);
}

void* columns(Session* session, int slot) {
  return session->cuts.columns(slot);
}

int submit(Session* session, int slot, std::int64_t n_columns, Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(session->cuts.gpu());
    session->cuts.submit(slot, n_columns);
  });
}

int collect(Session* session, int slot, cuda_abi::Cut* cuts, double* gpu_seconds, Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(session->cuts.gpu());
    *gpu_seconds = session->cuts.collect(slot, cuts);
  });
}

}  // namespace

extern const cuda_abi::Functions kFunctions;
const cuda_abi::Functions kFunctions = {
    .create = &create,
    .destroy = &destroy,
    .columns = &columns,
    .submit = &submit,
    .collect = &collect,
};

}  // namespace stope::discretize::cuda
