// Best cuts as the fake plug-in finds them: it sorts each column, and scores every cut from class counts, under every
// permutation anew. It cuts a column by MDLP as soon as it is there. For md-global it keeps the order of each column.
#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "device/fake_plugin.hpp"
#include "device/fake_worth.hpp"
#include "discretize/cuda_abi.hpp"
#include "discretize/mdlp_price.hpp"
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
  std::vector<std::int64_t> weights;       ///< of each row; empty: 1 each
  std::vector<WeightedCut> weighted_cuts;  ///< of the columns since they were asked for
  std::vector<std::int32_t> n_set_cuts;    ///< of the columns since they were asked for
  std::vector<SetCut> set_cuts, handed_out;
  struct Order {
    std::vector<std::size_t> rows;
    std::vector<bool> differs;  ///< whether the next row in order has another value
  };
  std::vector<Order> orders;  ///< of each column, for md-global
};
}  // namespace stope::discretize::cuda_abi

namespace stope::fake {
namespace {

using discretize::cuda_abi::BlockRow;
using discretize::cuda_abi::Cut;
using discretize::cuda_abi::Decisions;
using discretize::cuda_abi::GlobalBest;
using discretize::cuda_abi::kUndecided;
using discretize::cuda_abi::RowBlocks;
using discretize::cuda_abi::Score;
using discretize::cuda_abi::Session;
using discretize::cuda_abi::SetCut;
using discretize::cuda_abi::Type;
using discretize::cuda_abi::Wanted;
using discretize::cuda_abi::WeightedCut;
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

/// This plug-in leaves numbers next to zero to the CPU.
template <class T>
bool is_left_open(const Session& session, const T* x) {
  return std::any_of(x, x + session.decisions.n_rows, [](T v) { return v != T{} && v < T(1e-30) && v > T(-1e-30); });
}

template <class T>
std::vector<std::size_t> rows_in_order(const Session& session, const T* x) {
  std::vector<std::size_t> rows(static_cast<std::size_t>(session.decisions.n_rows));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  std::sort(rows.begin(), rows.end(),
            [&](auto a, auto b) { return discretize::below(static_cast<double>(x[a]), static_cast<double>(x[b])); });
  return rows;
}

std::int64_t weight_of(const Session& session, std::size_t row) {
  return session.weights.empty() ? 1 : session.weights[row];
}

discretize::PricedPart priced(const std::vector<std::int64_t>& counts) {
  std::int64_t n = 0, n_present = 0;
  for (const std::int64_t count : counts) {
    n += count;
    n_present += count > 0 ? 1 : 0;
  }
  const double entropy = discretize::total_entropy(counts.data(), std::ssize(counts)) / static_cast<double>(n);
  return {static_cast<double>(n_present), entropy};
}

/// Cuts the rows [begin, end) in order as long as that pays. `found` gets the number of rows in front of each cut.
template <class T>
void cut_by_mdlp(const Session& session, const T* x, const std::vector<std::size_t>& rows, std::size_t begin,
                 std::size_t end, std::vector<std::size_t>& found) {
  std::vector<std::int64_t> both(session.totals.size()), left(both), best_left;
  for (std::size_t i = begin; i < end; ++i) both[session.classes[rows[i]]] += weight_of(session, rows[i]);
  std::int64_t best = 0;
  std::size_t best_at = 0;
  for (std::size_t i = begin; i + 1 < end; ++i) {
    left[session.classes[rows[i]]] += weight_of(session, rows[i]);
    if (!discretize::below(static_cast<double>(x[rows[i]]), static_cast<double>(x[rows[i + 1]]))) continue;
    const std::int64_t gain = worth_of(session.decisions.score, left, both);
    if (gain <= best) continue;
    best = gain;
    best_at = i + 1;
    best_left = left;
  }
  if (best == 0) return;
  std::vector<std::int64_t> right(both);
  for (std::size_t k = 0; k < both.size(); ++k) right[k] -= best_left[k];
  const double weight = static_cast<double>(std::accumulate(both.begin(), both.end(), std::int64_t{0})) *
                        (session.weights.empty() ? 1.0 : discretize::kWeightUnit);
  if (!discretize::cut_pays(std::bit_cast<double>(best), priced(both), priced(best_left), priced(right),
                            static_cast<std::int64_t>(end - begin), weight)) {
    return;
  }
  found.push_back(best_at);
  cut_by_mdlp(session, x, rows, begin, best_at, found);
  cut_by_mdlp(session, x, rows, best_at, end, found);
}

template <class T>
void add_set_of(Session& session, const T* x) {
  const auto column = static_cast<std::int32_t>(session.n_set_cuts.size());
  session.set_cuts.push_back({0, 0, -1});  // nobody wrote this one
  if (is_left_open(session, x)) {
    session.n_set_cuts.push_back(static_cast<std::int32_t>(kUndecided));
    return;
  }
  const std::vector<std::size_t> rows = rows_in_order(session, x);
  std::size_t n_missing = 0;
  while (n_missing < rows.size() && x[rows[n_missing]] != x[rows[n_missing]]) ++n_missing;
  std::vector<std::size_t> found;
  cut_by_mdlp(session, x, rows, n_missing, rows.size(), found);
  session.n_set_cuts.push_back(static_cast<std::int32_t>(found.size()));
  for (const std::size_t at : found) {
    session.set_cuts.push_back(
        {static_cast<std::uint32_t>(rows[at - 1]), static_cast<std::uint32_t>(rows[at]), column});
  }
}

/// The best cut with weights. Nothing is left open.
template <class T>
void add_weighted_cut_of(Session& session, const T* x) {
  const std::vector<std::size_t> rows = rows_in_order(session, x);
  std::vector<std::int64_t> left(session.totals.size());
  discretize::Int128 best = 0;
  WeightedCut cut{};
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    left[session.classes[rows[i]]] += weight_of(session, rows[i]);
    if (!discretize::below(static_cast<double>(x[rows[i]]), static_cast<double>(x[rows[i + 1]]))) continue;
    const discretize::Int128 worth =
        session.decisions.score == Score::pairs
            ? discretize::discernibility<discretize::Int128>(left.data(), session.totals.data(), std::ssize(left))
            : worth_of(session.decisions.score, left, session.totals);
    if (worth <= best) continue;
    best = worth;
    cut = {static_cast<std::uint64_t>(worth), static_cast<std::uint64_t>(worth >> 64),
           static_cast<std::uint32_t>(rows[i]), static_cast<std::uint32_t>(rows[i + 1])};
  }
  session.weighted_cuts.push_back(cut);
}

template <class T>
void keep_order_of(Session& session, const T* x) {
  Session::Order order{rows_in_order(session, x), {}};
  for (std::size_t i = 0; i < order.rows.size(); ++i) {
    order.differs.push_back(i + 1 < order.rows.size() && discretize::below(static_cast<double>(x[order.rows[i]]),
                                                                           static_cast<double>(x[order.rows[i + 1]])));
  }
  session.orders.push_back(std::move(order));
}

template <class T>
Cut best_of(Session& session, const T* x) {
  if (is_left_open(session, x)) return {kUndecided, 0.0, 0.0};
  const auto n = static_cast<std::size_t>(session.decisions.n_rows);
  const std::vector<std::size_t> rows = rows_in_order(session, x);
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
  if (decisions->weights != nullptr) made->weights.assign(decisions->weights, decisions->weights + decisions->n_rows);
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
  const auto work_on = [&](const auto* x) {
    for (std::int64_t c = 0; c < n_columns; ++c, x += session->decisions.n_rows) {
      if (session->decisions.wanted == Wanted::mdlp) {
        add_set_of(*session, x);
      } else if (session->decisions.wanted == Wanted::global) {
        keep_order_of(*session, x);
      } else if (session->decisions.wanted == Wanted::weighted_cut) {
        add_weighted_cut_of(*session, x);
      } else {
        session->cuts[slot].push_back(best_of(*session, x));
      }
    }
  };
  const char* const values = session->values[slot].data();
  if (session->decisions.type == Type::float32) {
    work_on(reinterpret_cast<const float*>(values));
  } else {
    work_on(reinterpret_cast<const double*>(values));
  }
  const std::int64_t n_sorted =
      std::ssize(session->n_set_cuts) + std::ssize(session->orders) + std::ssize(session->weighted_cuts);
  if (n_sorted <= session->decisions.most_sorted) return 0;
  return fail(failure, ErrorCode::internal, "more columns than the session sorts");
}

int collect(Session* session, int slot, Cut* cuts, double* gpu_seconds, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  std::copy(session->cuts[slot].begin(), session->cuts[slot].end(), cuts);
  *gpu_seconds = 1e-3;
  return 0;
}

int cut_sorted(Session* session, std::int32_t* n_cuts, const SetCut** cuts, std::int64_t* n, double* gpu_seconds,
               Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  std::copy(session->n_set_cuts.begin(), session->n_set_cuts.end(), n_cuts);
  session->n_set_cuts.clear();
  session->handed_out = std::move(session->set_cuts);
  session->set_cuts.clear();
  *cuts = session->handed_out.data();
  *n = std::ssize(session->handed_out);
  *gpu_seconds = 1e-3;
  return 0;
}

/// Counts the pairs that a cut separates from the rows of each block on its left.
int next_cut(Session* session, const RowBlocks* blocks, GlobalBest* best, double* gpu_seconds, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  *best = {};
  *gpu_seconds = 1e-3;
  discretize::Int128 most = 0;
  for (std::size_t column = 0; column < session->orders.size(); ++column) {
    const Session::Order& order = session->orders[column];
    std::vector<std::int64_t> in_block(static_cast<std::size_t>(blocks->n_blocks)),
        in_cell(static_cast<std::size_t>(blocks->n_cells));
    discretize::Int128 pairs = 0;
    for (std::size_t i = 0; i < order.rows.size(); ++i) {
      const std::size_t number = order.rows[i];
      const BlockRow& row = blocks->rows[number];
      const std::int64_t weight = weight_of(*session, number);
      const std::int64_t others = blocks->others == nullptr ? row.others : blocks->others[number];
      pairs += static_cast<discretize::Int128>(weight) *
               (others - 2 * static_cast<discretize::Int128>(in_block[row.block] - in_cell[row.cell]));
      in_block[row.block] += weight;
      in_cell[row.cell] += weight;
      if (!order.differs[i] || pairs <= most) continue;
      most = pairs;
      *best = {static_cast<std::uint64_t>(pairs), static_cast<std::uint64_t>(pairs >> 64),
               static_cast<std::int64_t>(column), static_cast<std::int64_t>(number)};
    }
  }
  return 0;
}

int weighted_cuts(Session* session, WeightedCut* cuts, double* gpu_seconds, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  std::copy(session->weighted_cuts.begin(), session->weighted_cuts.end(), cuts);
  session->weighted_cuts.clear();
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
      .cut_sorted = &cut_sorted,
      .next_cut = &next_cut,
      .weighted_cuts = &weighted_cuts,
  };
  return functions;
}

}  // namespace stope::fake
