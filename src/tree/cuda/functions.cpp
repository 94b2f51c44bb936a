// The plug-in's side of tree/cuda_abi.hpp. No exception leaves it.
#include <iterator>
#include <span>

#include "device/cuda/handle.hpp"
#include "tree/cuda/session.hpp"

namespace stope::tree::cuda_abi {
struct Session : stope::cuda::Handle<cuda::TreeSession> {
  using Handle::Handle;
};
}  // namespace stope::tree::cuda_abi

namespace stope::tree::cuda {
namespace {

using cuda_abi::Failure;
using cuda_abi::Session;
using stope::cuda::destroy_handle;
using stope::cuda::in_session;
using stope::cuda::make_handle;

int create(std::int32_t gpu, const cuda_abi::Problem* problem, std::int64_t piece_bytes, std::int64_t batch_bytes,
           Session** session, Failure* failure) {
  return make_handle(session, failure, gpu, *problem, piece_bytes, batch_bytes);
}

int columns(Session* session, int slot, void** memory, Failure* failure) {
  return in_session(session, failure, [&](TreeSession& tree) { *memory = tree.columns(slot); });
}

int submit(Session* session, int slot, cuda_abi::Type type, const std::int64_t* attributes, std::int64_t n_columns,
           Failure* failure) {
  return in_session(session, failure, [&](TreeSession& tree) { tree.submit(slot, type, attributes, n_columns); });
}

int grow(Session* session, std::int64_t* open_rows, Failure* failure) {
  return in_session(session, failure, [&](TreeSession& tree) { *open_rows = tree.begun().grow(); });
}

int look(Session* session, const cuda_abi::Split** best, std::int64_t* n, Failure* failure) {
  return in_session(session, failure, [&](TreeSession& tree) {
    const std::span<const cuda_abi::Split> found = tree.begun().look();
    *best = found.data();
    *n = std::ssize(found);
  });
}

int mark(Session* session, const std::uint8_t* is_mine, const std::uint32_t** sides, const std::uint32_t** right_counts,
         Failure* failure) {
  return in_session(session, failure, [&](TreeSession& tree) { tree.begun().mark(is_mine, sides, right_counts); });
}

int move(Session* session, const cuda_abi::Split* splits, const std::uint32_t* right_counts, const std::uint32_t* sides,
         std::int64_t* open_rows, Failure* failure) {
  return in_session(session, failure,
                    [&](TreeSession& tree) { *open_rows = tree.begun().move(splits, right_counts, sides); });
}

int splits(Session* session, cuda_abi::Splits* splits, Failure* failure) {
  return in_session(session, failure, [&](TreeSession& tree) { *splits = tree.splits(); });
}

}  // namespace

extern const cuda_abi::Functions kFunctions;
const cuda_abi::Functions kFunctions = {
    .create = &create,
    .destroy = &destroy_handle<Session>,
    .columns = &columns,
    .submit = &submit,
    .grow = &grow,
    .look = &look,
    .mark = &mark,
    .move = &move,
    .splits = &splits,
};

}  // namespace stope::tree::cuda
