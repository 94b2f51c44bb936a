// The plug-in's side of discretize/cuda_abi.hpp. No exception leaves it.
#include "device/cuda/handle.hpp"
#include "discretize/cuda/session.hpp"

namespace stope::discretize::cuda_abi {
struct Session : stope::cuda::Handle<cuda::CutSession> {
  using Handle::Handle;
};
}  // namespace stope::discretize::cuda_abi

namespace stope::discretize::cuda {
namespace {

using cuda_abi::Failure;
using cuda_abi::Session;
using stope::cuda::destroy_handle;
using stope::cuda::in_session;
using stope::cuda::make_handle;

int create(std::int32_t gpu, const cuda_abi::Decisions* decisions, std::int64_t most_columns, Session** session,
           Failure* failure) {
  return make_handle(session, failure, gpu, *decisions, most_columns);
}

void* columns(Session* session, int slot) {
  return session->session.columns(slot);
}

int submit(Session* session, int slot, std::int64_t n_columns, Failure* failure) {
  return in_session(session, failure, [&](CutSession& cuts) { cuts.submit(slot, n_columns); });
}

int collect(Session* session, int slot, cuda_abi::Cut* cuts, double* gpu_seconds, Failure* failure) {
  return in_session(session, failure, [&](CutSession& sorted) { *gpu_seconds = sorted.collect(slot, cuts); });
}

int cut_sorted(Session* session, std::int32_t* n_cuts, const cuda_abi::SetCut** cuts, std::int64_t* n,
               double* gpu_seconds, Failure* failure) {
  return in_session(session, failure, [&](CutSession& sorted) { *gpu_seconds = sorted.cut_sorted(n_cuts, cuts, n); });
}

int next_cut(Session* session, const cuda_abi::RowBlocks* blocks, cuda_abi::GlobalBest* best, double* gpu_seconds,
             Failure* failure) {
  return in_session(session, failure, [&](CutSession& sorted) { *gpu_seconds = sorted.next_cut(*blocks, best); });
}

int weighted_cuts(Session* session, cuda_abi::WeightedCut* cuts, double* gpu_seconds, Failure* failure) {
  return in_session(session, failure, [&](CutSession& sorted) { *gpu_seconds = sorted.weighted_cuts(cuts); });
}

int highest(Session* session, std::int32_t* to, Failure* failure) {
  return in_session(session, failure, [&](const CutSession& cuts) { cuts.highest(to); });
}

}  // namespace

extern const cuda_abi::Functions kFunctions;
const cuda_abi::Functions kFunctions = {
    .create = &create,
    .destroy = &destroy_handle<Session>,
    .columns = &columns,
    .submit = &submit,
    .collect = &collect,
    .highest = &highest,
    .cut_sorted = &cut_sorted,
    .next_cut = &next_cut,
    .weighted_cuts = &weighted_cuts,
};

}  // namespace stope::discretize::cuda
