// Trees as the fake plug-in grows them: it sorts every node's rows by every attribute, and scores every split from
// class counts. A call of grow() makes one level.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "device/fake_plugin.hpp"
#include "device/fake_worth.hpp"
#include "discretize/score.hpp"
#include "discretize/value_order.hpp"
#include "tree/cuda_abi.hpp"

namespace stope::tree::cuda_abi {
struct Session {
  Problem problem{};
  std::vector<std::uint8_t> classes;
  std::vector<char> values[kSlots];
  std::map<std::int32_t, std::vector<double>> columns;  // by attribute
  std::map<std::int32_t, bool> symbolic;
  std::vector<std::vector<std::int64_t>> level;  // rows of open nodes
  std::int64_t depth = 0;
  std::vector<Split> best;  // per node of the level
  std::vector<std::uint32_t> sides, level_counts;
  std::vector<Split> splits;
  std::vector<std::uint32_t> right_counts;
  fake::Alive alive{};
};
}  // namespace stope::tree::cuda_abi

namespace stope::fake {
namespace {

using stope::cuda_abi::Failure;
using tree::cuda_abi::Problem;
using tree::cuda_abi::Session;
using tree::cuda_abi::Split;
using tree::cuda_abi::Splits;
using tree::cuda_abi::Type;

using Rows = std::vector<std::int64_t>;

std::vector<std::int64_t> counts_of(const Session& session, const Rows& rows) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(session.problem.n_classes));
  for (const std::int64_t row : rows) ++counts[session.classes[static_cast<std::size_t>(row)]];
  return counts;
}

void offer(const Session& session, const std::vector<std::int64_t>& both, const Rows& right, Split split, Split& best) {
  const auto n = static_cast<std::int64_t>(both.size());
  const std::int64_t n_rows = std::accumulate(both.begin(), both.end(), std::int64_t{0});
  split.n_right = static_cast<std::int64_t>(right.size());
  const std::int64_t least = session.problem.min_samples_leaf;
  if (split.n_right < least || n_rows - split.n_right < least) return;
  const std::vector<std::int64_t> counts = counts_of(session, right);
  split.w = worth_of(session.problem.score, counts, both);
  // A gain of sides in the same proportions is only rounding.
  const bool is_gain = session.problem.score != tree::cuda_abi::Score::pairs;
  if (is_gain && discretize::same_proportions(counts.data(), split.n_right, both.data(), n_rows, n)) return;
  if (split.w >= session.problem.min_w && split.w > best.w) best = split;
}

Split best_of(const Session& session, const Rows& node) {
  const std::vector<std::int64_t> both = counts_of(session, node);
  Split best{0, 0, 0, 0, -1, 0};
  for (const auto& [attribute, values] : session.columns) {
    const auto value = [&x = values](std::int64_t row) { return x[static_cast<std::size_t>(row)]; };
    Rows rows = node;
    std::sort(rows.begin(), rows.end(), [&](auto a, auto b) { return discretize::below(value(a), value(b)); });
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      while (end < rows.size() && !discretize::below(value(rows[begin]), value(rows[end]))) ++end;
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = rows.begin() + static_cast<std::ptrdiff_t>(end);
      if (session.symbolic.at(attribute)) {
        offer(session, both, Rows(first, last), {0, 0, rows[begin], rows[begin], attribute, 0}, best);
      } else if (end < rows.size()) {
        offer(session, both, Rows(last, rows.end()), {0, 0, rows[begin], rows[end], attribute, 0}, best);
      }
    }
  }
  return best;
}

bool goes_right(const Session& session, const Split& split, std::int64_t row) {
  const std::vector<double>& x = session.columns.at(split.attribute);
  const auto at = [&](std::int64_t r) { return x[static_cast<std::size_t>(r)]; };
  if (session.symbolic.at(split.attribute)) return at(row) == at(split.low);
  return !discretize::below(at(row), at(split.high));
}

bool might_be_split(const Session& session, const Rows& node) {
  const std::vector<std::int64_t> counts = counts_of(session, node);
  const auto n_present = std::count_if(counts.begin(), counts.end(), [](auto n) { return n > 0; });
  return session.depth < session.problem.max_depth && n_present > 1 &&
         static_cast<std::int64_t>(node.size()) / 2 >= session.problem.min_samples_leaf;
}

bool bit(const std::vector<std::uint32_t>& sides, std::int64_t row) {
  return (sides[static_cast<std::size_t>(row / 32)] >> row % 32 & 1) != 0;
}

void find_best(Session& session) {
  session.best.clear();
  for (const Rows& node : session.level) session.best.push_back(best_of(session, node));
}

void mark_rows(Session& session, const std::uint8_t* is_mine) {
  session.sides.assign(static_cast<std::size_t>((session.problem.n_rows + 31) / 32), 0);
  session.level_counts.clear();
  for (std::size_t node = 0; node < session.level.size(); ++node) {
    Rows right;
    for (const std::int64_t row : session.level[node]) {
      if (is_mine[node] == 0 || session.best[node].attribute < 0) break;
      if (!goes_right(session, session.best[node], row)) continue;
      session.sides[static_cast<std::size_t>(row / 32)] |= std::uint32_t{1} << row % 32;
      right.push_back(row);
    }
    for (const std::int64_t n : counts_of(session, right)) {
      session.level_counts.push_back(static_cast<std::uint32_t>(n));
    }
  }
}

std::int64_t next_level(Session& session, const std::vector<Split>& splits) {
  ++session.depth;
  std::vector<Rows> next;
  for (std::size_t node = 0; node < splits.size(); ++node) {
    Split split = splits[node];
    Rows sides[2];
    for (const std::int64_t row : session.level[node]) sides[bit(session.sides, row) ? 1 : 0].push_back(row);
    split.n_right = static_cast<std::int64_t>(sides[1].size());
    split.open = 0;
    for (int side = 0; side < 2; ++side) {
      if (split.attribute < 0 || !might_be_split(session, sides[side])) continue;
      split.open |= 1 << side;
      next.push_back(sides[side]);
    }
    session.splits.push_back(split);
  }
  session.right_counts.insert(session.right_counts.end(), session.level_counts.begin(), session.level_counts.end());
  session.level = std::move(next);
  std::int64_t open_rows = 0;
  for (const Rows& node : session.level) open_rows += static_cast<std::int64_t>(node.size());
  return open_rows;
}

int create(std::int32_t, const Problem* problem, std::int64_t piece_bytes, std::int64_t batch_bytes, Session** session,
           Failure* failure) {
  if (problem->n_columns == 0 || batch_bytes < piece_bytes)
    return fail(failure, ErrorCode::internal, "nothing to grow of");
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "no memory for a tree");
  auto made = std::make_unique<Session>();
  made->problem = *problem;
  made->classes.assign(problem->classes, problem->classes + problem->n_rows);
  for (auto& values : made->values) values.resize(static_cast<std::size_t>(piece_bytes));
  made->level.emplace_back(static_cast<std::size_t>(problem->n_rows));
  std::iota(made->level[0].begin(), made->level[0].end(), std::int64_t{0});
  *session = made.release();
  return 0;
}

void destroy(Session* session) {
  const std::unique_ptr<Session> owner(session);
}

int columns(Session* session, int slot, void** memory, Failure*) {
  *memory = session->values[slot].data();
  return 0;
}

template <class T>
std::vector<double> numbers(const char* from, std::size_t n) {
  std::vector<T> values(n);
  std::memcpy(values.data(), from, n * sizeof(T));
  return {values.begin(), values.end()};
}

int submit(Session* session, int slot, Type type, const std::int64_t* attributes, std::int64_t n_columns,
           Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  const auto n = static_cast<std::size_t>(session->problem.n_rows);
  const char* at = session->values[slot].data();
  for (std::int64_t c = 0; c < n_columns; ++c, at += n * (type == Type::float64 ? 8 : 4)) {
    session->symbolic[static_cast<std::int32_t>(attributes[c])] = type == Type::code;
    session->columns[static_cast<std::int32_t>(attributes[c])] = type == Type::float32   ? numbers<float>(at, n)
                                                                 : type == Type::float64 ? numbers<double>(at, n)
                                                                                         : numbers<std::int32_t>(at, n);
  }
  return 0;
}

int grow(Session* session, std::int64_t* open_rows, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  find_best(*session);
  mark_rows(*session, std::vector<std::uint8_t>(session->level.size(), 1).data());
  *open_rows = next_level(*session, session->best);
  return 0;
}

int look(Session* session, const Split** best, std::int64_t* n, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  find_best(*session);
  *best = session->best.data();
  *n = static_cast<std::int64_t>(session->best.size());
  return 0;
}

int mark(Session* session, const std::uint8_t* is_mine, const std::uint32_t** sides, const std::uint32_t** right_counts,
         Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  mark_rows(*session, is_mine);
  *sides = session->sides.data();
  *right_counts = session->level_counts.data();
  return 0;
}

int move(Session* session, const Split* splits, const std::uint32_t* right_counts, const std::uint32_t* sides,
         std::int64_t* open_rows, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "the GPU was lost");
  session->sides.assign(sides, sides + session->sides.size());
  session->level_counts.assign(right_counts, right_counts + session->level_counts.size());
  *open_rows = next_level(*session, {splits, splits + session->level.size()});
  return 0;
}

int splits(Session* session, Splits* splits, Failure*) {
  *splits = {session->splits.data(), session->right_counts.data(), static_cast<std::int64_t>(session->splits.size()),
             1e-3, 1e-3};
  return 0;
}

}  // namespace

const tree::cuda_abi::Functions& tree_functions() {
  static const tree::cuda_abi::Functions functions = {
      .create = &create,
      .destroy = &destroy,
      .columns = &columns,
      .submit = &submit,
      .grow = &grow,
      .look = &look,
      .mark = &mark,
      .move = &move,
      .splits = &splits,
  };
  return functions;
}

}  // namespace stope::fake
