// The fake plug-in's gram operator: the reference's loops on rows that were "copied to the GPU". It tests the core's
// work with parts, slots, blocks and several GPUs without a GPU.
#include <algorithm>
#include <cstring>
#include <vector>

#include "device/fake_plugin.hpp"
#include "gram/cuda_abi.hpp"
#include "gram/kernels.hpp"
#include "gram/shape.hpp"
#include "stope/error.hpp"

namespace stope::gram::cuda_abi {

struct Session {
  Spec spec{};
  std::int64_t groups = 0, padded = 0;
  std::vector<std::vector<char>> buffers;
  std::vector<double> shift, x, y, sums;
  Job job{};
  std::int64_t next_row = 0;  // rows come in order
  fake::Alive alive{};

  std::int64_t begin_of(std::int64_t group) const { return group_begin(group, spec.n_rows, groups); }
  std::int64_t n_own() const { return spec.end_group - spec.first_group; }
};

}  // namespace stope::gram::cuda_abi

namespace stope::gram {
namespace {

using cuda_abi::Failure;
using cuda_abi::Job;
using cuda_abi::Mode;
using cuda_abi::Session;
using cuda_abi::Spec;
using fake::fail;
using fake::the_host;

int lost_or_fine(Failure* failure) {
  return the_host->device_fails() ? fail(failure, ErrorCode::device_lost, "the fake GPU was lost") : 0;
}

int create(std::int32_t, const Spec* spec, Session** session, Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "no memory on the fake GPU");
  auto* made = new Session;
  made->spec = *spec;
  made->groups = n_groups(spec->n_rows, spec->n_columns);
  made->padded = padded_columns(spec->n_columns);
  // Memory is full of arbitrary values, as on a GPU.
  made->buffers.assign(
      static_cast<std::size_t>(spec->n_buffers),
      std::vector<char>(static_cast<std::size_t>(spec->held_rows * spec->row_stride * spec->element_bytes),
                        static_cast<char>(0x7f)));
  if (spec->shift != nullptr) {
    made->shift.assign(spec->shift, spec->shift + spec->n_columns);
    made->shift.resize(static_cast<std::size_t>(made->padded), 0.0);
  }
  *session = made;
  return 0;
}
void destroy(Session* session) {
  delete session;
}

int load(Session* session, std::int32_t buffer, std::int32_t, const void* rows, std::int64_t at, std::int64_t n,
         Failure* failure) {
  const std::int64_t row_bytes = session->spec.row_stride * session->spec.element_bytes;
  if (at < 0 || n < 1 || at + n > session->spec.held_rows) return fail(failure, ErrorCode::internal, "rows beyond");
  const auto* const bytes = static_cast<const char*>(rows);
  const std::int64_t width = session->spec.n_columns * session->spec.element_bytes;
  for (std::int64_t row = 0; row < n; ++row) {
    const bool zeros = std::all_of(bytes + row * row_bytes + width, bytes + (row + 1) * row_bytes,
                                   [](char byte) { return byte == 0; });
    if (!zeros) return fail(failure, ErrorCode::internal, "no zeros behind the last column");
  }
  std::memcpy(session->buffers.at(static_cast<std::size_t>(buffer)).data() + at * row_bytes, rows,
              static_cast<std::size_t>(n * row_bytes));
  return lost_or_fine(failure);
}
int wait(Session*, std::int32_t, Failure* failure) {
  return lost_or_fine(failure);
}

int begin(Session* session, const Job* job, Failure* failure) {
  const Spec& spec = session->spec;
  session->job = *job;
  session->next_row = session->begin_of(spec.first_group);
  const std::int64_t n_rows = session->begin_of(spec.end_group) - session->next_row;
  session->x.assign(static_cast<std::size_t>(session->padded), 0.0);
  if (job->x != nullptr) std::copy_n(job->x, spec.n_columns, session->x.data());
  session->y.assign(static_cast<std::size_t>(n_rows), 0.0);
  if (job->y != nullptr) std::copy_n(job->y, n_rows, session->y.data());
  session->sums.assign(static_cast<std::size_t>(session->n_own() * session->padded), 0.0);
  return lost_or_fine(failure);
}

int run(Session* session, std::int32_t buffer, std::int64_t first, std::int64_t n, Failure* failure) {
  const Spec& spec = session->spec;
  if (first != session->next_row || n > spec.held_rows) return fail(failure, ErrorCode::internal, "not in order");
  session->next_row += n;
  const char* rows = session->buffers.at(static_cast<std::size_t>(buffer)).data();
  const Kernels& kernels = reference::kKernels;
  std::vector<double> leaves(static_cast<std::size_t>(n_leaves(spec.n_columns)));
  for (std::int64_t i = 0; i < n; ++i) {
    const Slab slab{rows + i * spec.row_stride * spec.element_bytes, spec.row_stride, 1, spec.n_columns,
                    session->shift.empty() ? nullptr : session->shift.data()};
    double& y = session->y[static_cast<std::size_t>(first + i - session->begin_of(spec.first_group))];
    if (session->job.mode != Mode::transposed) {
      (spec.element_bytes == 4 ? kernels.of_float.dot : kernels.of_double.dot)(slab, session->x.data(), leaves.data());
      y = tree_sum(leaves.data(), n_leaves(spec.n_columns)) + 0.0;
    }
    if (session->job.mode == Mode::multiply) continue;
    const std::int64_t group = GroupRows::of(spec.n_rows, session->groups).group_of(first + i) - spec.first_group;
    (spec.element_bytes == 4 ? kernels.of_float.add : kernels.of_double.add)(
        slab, &y, session->sums.data() + group * session->padded);
  }
  return lost_or_fine(failure);
}

int finish(Session* session, double* y, double* sums, Failure* failure) {
  const Spec& spec = session->spec;
  if (session->next_row != session->begin_of(spec.end_group)) {
    return fail(failure, ErrorCode::internal, "rows are missing");
  }
  if (session->job.mode == Mode::multiply) {
    std::copy(session->y.begin(), session->y.end(), y);
    return lost_or_fine(failure);
  }
  std::vector<double> values;
  for (std::int64_t block = 0; block * spec.block_groups < session->n_own(); ++block) {
    const std::int64_t end = std::min(session->n_own(), (block + 1) * spec.block_groups);
    for (std::int64_t c = 0; c < session->padded; ++c) {
      values.clear();
      for (std::int64_t g = block * spec.block_groups; g < end; ++g) {
        values.push_back(session->sums[static_cast<std::size_t>(g * session->padded + c)]);
      }
      *sums++ = tree_sum(values.data(), static_cast<std::int64_t>(values.size()));
    }
  }
  return lost_or_fine(failure);
}

int replay(Session* session, const double* x, double* sums, Failure* failure) {
  const Job job{Mode::gram, 1, x, nullptr};
  const std::int64_t first = session->begin_of(session->spec.first_group);
  if (begin(session, &job, failure) != 0) return 1;
  if (run(session, 0, first, session->begin_of(session->spec.end_group) - first, failure) != 0) return 1;
  return finish(session, nullptr, sums, failure);
}

int measure(Session*, std::int32_t, float* milliseconds, Failure* failure) {
  *milliseconds = 0.0F;
  return lost_or_fine(failure);
}

}  // namespace

}  // namespace stope::gram

namespace stope::fake {

const gram::cuda_abi::Functions& gram_functions() {
  static const gram::cuda_abi::Functions functions = {
      .create = &gram::create,
      .destroy = &gram::destroy,
      .load = &gram::load,
      .wait = &gram::wait,
      .begin = &gram::begin,
      .run = &gram::run,
      .finish = &gram::finish,
      .replay = &gram::replay,
      .measure = &gram::measure,
  };
  return functions;
}

}  // namespace stope::fake
