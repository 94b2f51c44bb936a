// Best cuts as the fake plug-in finds them: it sorts each column, and scores every cut from class counts, under every
// permutation anew.
#include <algorithm>
#include <memory>
#include <vector>

#include "device/fake_plugin.hpp"
#include "device/fake_worth.hpp"
#include "discretize/cuda_abi.hpp"
#include "discretize/value_order.hpp"

namespace stope::discretize::cuda_abi {
struct Session {
  Decisions decisions{};
  std::vector<std::uint8_t> classes;
  std::vector<std::int64_t> totals;
  std::vector<std::uint8_t> permuted;
  std::vector<std::int32_t> highest;
  std::vector<char> values[kSlots];
  std::vector<Cut> cuts[kSlots];
  fake::Alive alive{};
};
}  // namespace stope::discretize::cuda_abi

namespace stope::fake {
namespace {

using discretize::cuda_abi::Cut;
using discretize::cuda_abi::Decisions;
using discretize::cuda_abi::Session;
using discretize::cuda_abi::Type;
using stope::cuda_abi::Failure;

template <class T>
Cut best_under(const Session& session, const T* x, const std::vector<std::size_t>& rows, const std::uint8_t* classes) {
  std::vector<std::int64_t> left(session.totals.size());
  Cut best{};
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    ++left[classes[rows[i]]];
    const double low = static_cast<double>(x[rows[i]]), high = static_cast<double>(x[rows[i + 1]]);
    if (!discretize::below(low, high)) continue;
    const std::int64_t w = worth_of(session.decisions.score, left, session.totals);
    if (w > best.w) best = {w, low, high};
  }
  return best;
}

template <class T>
Cut best_of(Session& session, const T* x) {
  const auto n = static_cast<std::size_t>(session.decisions.n_rows);
  // This plug-in leaves numbers next to zero to the CPU.
  if (std::any_of(x, x + n, [](T v) { return v != T{} && v < T(1e-30) && v > T(-1e-30); })) {
    return {discretize::cuda_abi::kUndecided, 0.0, 0.0};
  }
  std::vector<std::size_t> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = i;
  std::sort(rows.begin(), rows.end(),
            [&](auto a, auto b) { return discretize::below(static_cast<double>(x[a]), static_cast<double>(x[b])); });
  Cut best = best_under(session, x, rows, session.classes.data());
  for (std::size_t j = 0; j < session.highest.size(); ++j) {
    const std::int64_t w = best_under(session, x, rows, session.permuted.data() + j * n).w;
    best.as_good += w >= best.w ? 1 : 0;
    session.highest[j] = std::max(session.highest[j], static_cast<std::int32_t>(w));
  }
  return best;
}

int create(std::int32_t, const Decisions* decisions, std::int64_t most_columns, Session** session, Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "no memory for columns");
  auto made = std::make_unique<Session>();
  made->decisions = *decisions;
  made->classes.assign(decisions->classes, decisions->classes + decisions->n_rows);
  made->totals.assign(decisions->totals, decisions->totals + decisions->n_classes);
  made->permuted.assign(decisions->permuted, decisions->permuted + decisions->n_permutations * decisions->n_rows);
  made->highest.resize(static_cast<std::size_t>(decisions->n_permutations));
  const std::int64_t bytes = decisions->n_rows * most_columns * (decisions->type == Type::float32 ? 4 : 8);
  for (auto& values : made->values) values.resize(static_cast<std::size_t>(bytes));
  *session = made.release();
  return 0;
}

void destroy(Session* session) {
  const std::unique_ptr<Session> owner(session);
}

void* columns(Session* session, int slot) {
  return session->values[slot].data();
}

int submit(Session* session, int slot, std::int64_t n_columns, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  session->cuts[slot].clear();
  const char* at = session->values[slot].data();
  for (std::int64_t c = 0; c < n_columns; ++c) {
    if (session->decisions.type == Type::float32) {
      session->cuts[slot].push_back(best_of(*session, reinterpret_cast<const float*>(at)));
      at += session->decisions.n_rows * 4;
    } else {
      session->cuts[slot].push_back(best_of(*session, reinterpret_cast<const double*>(at)));
      at += session->decisions.n_rows * 8;
    }
  }
  return 0;
}

int collect(Session* session, int slot, Cut* cuts, double* gpu_seconds, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  std::copy(session->cuts[slot].begin(), session->cuts[slot].end(), cuts);
  *gpu_seconds = 1e-3;
  return 0;
}

int highest(Session* session, std::int32_t* to, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  std::copy(session->highest.begin(), session->highest.end(), to);
  return 0;
}

}  // namespace

const discretize::cuda_abi::Functions& discretize_functions() {
  static const discretize::cuda_abi::Functions functions = {
      .create = &create,
      .destroy = &destroy,
      .columns = &columns,
      .submit = &submit,
      .collect = &collect,
      .highest = &highest,
  };
  return functions;
}

}  // namespace stope::fake
