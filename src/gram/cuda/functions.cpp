// The plug-in's table for the gram operator. No exception leaves it.
#include <memory>

#include "gram/cuda/session.hpp"

namespace stope::gram::cuda_abi {

struct Session {
  Session(int gpu, const Spec& spec) : session(gpu, spec) {}
  cuda::GramSession session;
};

}  // namespace stope::gram::cuda_abi

namespace stope::gram::cuda {
namespace {

using cuda_abi::Failure;
using cuda_abi::Session;
using stope::cuda::CurrentGpu;
using stope::cuda::guarded;

int create(std::int32_t gpu, const cuda_abi::Spec* spec, Session** session, Failure* failure) {
  return guarded(failure, [&] {
    const CurrentGpu current(gpu);
    *session = std::make_unique<Session>(gpu, *spec).release();
  });
}

void destroy(Session* session) {
  const std::unique_ptr<Session> owner(session);
}

template <class Work>
int with(Session* session, Failure* failure, const Work& work) {
  return guarded(failure, [&] {
    const CurrentGpu current(session->session.gpu());
    work(session->session);
  });
}

int load(Session* session, std::int32_t buffer, std::int32_t slot, const void* rows, std::int64_t at, std::int64_t n,
         Failure* failure) {
  return with(session, failure, [&](GramSession& it) { it.load(buffer, slot, rows, at, n); });
}
int wait(Session* session, std::int32_t slot, Failure* failure) {
  return with(session, failure, [&](GramSession& it) { it.wait(slot); });
}
int begin(Session* session, const cuda_abi::Job* job, Failure* failure) {
  return with(session, failure, [&](GramSession& it) { it.begin(*job); });
}
int run(Session* session, std::int32_t buffer, std::int64_t first, std::int64_t n, Failure* failure) {
  return with(session, failure, [&](GramSession& it) { it.run(buffer, first, n); });
}
int finish(Session* session, double* y, double* sums, Failure* failure) {
  return with(session, failure, [&](GramSession& it) { it.finish(y, sums); });
}
int replay(Session* session, const double* x, double* sums, Failure* failure) {
  return with(session, failure, [&](GramSession& it) { it.replay(x, sums); });
}
int measure(Session* session, std::int32_t repeats, float* milliseconds, Failure* failure) {
  return with(session, failure, [&](GramSession& it) { *milliseconds = it.measure(repeats); });
}

}  // namespace

extern const cuda_abi::Functions kFunctions;
const cuda_abi::Functions kFunctions = {.create = &create,
                                        .destroy = &destroy,
                                        .load = &load,
                                        .wait = &wait,
                                        .begin = &begin,
                                        .run = &run,
                                        .finish = &finish,
                                        .replay = &replay,
                                        .measure = &measure};

}  // namespace stope::gram::cuda
