// The plug-in's table for the gram operator. No exception leaves it.
#include "device/cuda/handle.hpp"
#include "gram/cuda/session.hpp"

namespace stope::gram::cuda_abi {

struct Session : stope::cuda::Handle<cuda::GramSession> {
  using Handle::Handle;
};

}  // namespace stope::gram::cuda_abi

namespace stope::gram::cuda {
namespace {

using cuda_abi::Failure;
using cuda_abi::Session;
using stope::cuda::destroy_handle;
using stope::cuda::in_session;
using stope::cuda::make_handle;

int create(std::int32_t gpu, const cuda_abi::Spec* spec, Session** session, Failure* failure) {
  return make_handle(session, failure, gpu, *spec);
}
int load(Session* session, std::int32_t buffer, std::int32_t slot, const void* rows, std::int64_t at, std::int64_t n,
         Failure* failure) {
  return in_session(session, failure, [&](GramSession& it) { it.load(buffer, slot, rows, at, n); });
}
int wait(Session* session, std::int32_t slot, Failure* failure) {
  return in_session(session, failure, [&](GramSession& it) { it.wait(slot); });
}
int begin(Session* session, const cuda_abi::Job* job, Failure* failure) {
  return in_session(session, failure, [&](GramSession& it) { it.begin(*job); });
}
int run(Session* session, std::int32_t buffer, std::int64_t first, std::int64_t n, Failure* failure) {
  return in_session(session, failure, [&](GramSession& it) { it.run(buffer, first, n); });
}
int finish(Session* session, double* y, double* sums, Failure* failure) {
  return in_session(session, failure, [&](GramSession& it) { it.finish(y, sums); });
}
int replay(Session* session, const double* x, double* sums, Failure* failure) {
  return in_session(session, failure, [&](GramSession& it) { it.replay(x, sums); });
}
int measure(Session* session, std::int32_t repeats, float* milliseconds, Failure* failure) {
  return in_session(session, failure, [&](GramSession& it) { *milliseconds = it.measure(repeats); });
}

}  // namespace

extern const cuda_abi::Functions kFunctions;
const cuda_abi::Functions kFunctions = {.create = &create,
                                        .destroy = &destroy_handle<Session>,
                                        .load = &load,
                                        .wait = &wait,
                                        .begin = &begin,
                                        .run = &run,
                                        .finish = &finish,
                                        .replay = &replay,
                                        .measure = &measure};

}  // namespace stope::gram::cuda
