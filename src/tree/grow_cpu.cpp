// Growing on the CPU, level by level. Every attribute is sorted once, and its order is partitioned stably from level to
// level. A task is an attribute: it moves the rows to the children, then scans every open node.
#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "discretize/value_order.hpp"
#include "stope/buffer.hpp"
#include "table/column_memory.hpp"
#include "tree/grow.hpp"
#include "tree/node_list.hpp"
#include "tree/orders.hpp"
#include "tree/split_scan.hpp"

namespace stope::tree {
namespace {

using discretize::Attribute;
using discretize::DecisionProblem;

// A node whose rows lie at [begin, begin + n) of every attribute's order.
struct OpenNode {
  std::int64_t node = 0;  // number in the list
  std::int64_t begin = 0, n = 0;
  bool keep_left = false, keep_right = false;  // which of its children are open, once it is split
};

// Moves an attribute's rows from the nodes of a level to their children on the next. Their rows lie in the order of the
// nodes, left before right. Only rows that pass through `scratch` move to the right in memory.
void partition(RankedRow* rows, const std::vector<OpenNode>& level, const std::vector<std::uint8_t>& goes_right,
               RankedRow* scratch) {
  RankedRow* out = rows;
  for (const OpenNode& open : level) {
    if (!open.keep_left && !open.keep_right) continue;
    const RankedRow* const from = rows + open.begin;
    std::int64_t n_left = 0, n_right = 0;
    for (std::int64_t i = 0; i < open.n; ++i) {
      const RankedRow row = from[i];  // read first: out[n_left] may be the same place
      const std::int64_t right = goes_right[row_of(row)];
      scratch[n_right] = row;
      n_right += right;
      out[n_left] = row;
      n_left += 1 - right;
    }
    if (open.keep_left) out += n_left;
    if (open.keep_right) out = std::copy_n(scratch, n_right, out);
  }
}

template <class Value>
struct BestSplit {
  NodeSplit<Value> split;
  std::int32_t attribute = -1;

  // Attributes may come in any order.
  void offer(const NodeSplit<Value>& other, std::int32_t from) {
    if (!(other.value > 0)) return;
    if (other.value > split.value || (other.value == split.value && from < attribute)) {
      split = other;
      attribute = from;
    }
  }
};

template <class Scan>
class Growth {
 public:
  using Value = typename Scan::Value;

  Growth(const DecisionProblem& problem, const GrowOptions& options, const RunOptions& run, const Scan& scan = {})
      : problem_(problem),
        options_(options),
        run_(run),
        pool_(threads_within(bytes_of_thread(problem.n_rows), run)),
        orders_(problem, pool_, run),
        goes_right_(static_cast<std::size_t>(problem.n_rows), 0),
        scans_(static_cast<std::size_t>(pool_.size()), scan),
        scratch_(scans_.size()),
        best_(scans_.size()),
        list_(problem.n_classes(), run) {}

  Grown grow() {
    const std::int64_t root = list_.add({.n_rows = problem_.n_rows}, problem_.class_totals);
    std::vector<OpenNode> before, level;
    if (list_.may_split(root, options_)) level.push_back({root, 0, problem_.n_rows});
    while (!level.empty()) {
      scan(before, level);
      std::vector<OpenNode> next = split(level);
      before = std::move(level);
      level = std::move(next);
      report(level);
    }
    Grown grown = list_.preorder();
    grown.report.threads = pool_.size();
    return grown;
  }

 private:
  RowLabels labels() const { return {problem_.class_of.data(), problem_.weighted ? problem_.weights.data() : nullptr}; }

  Storage storage_of_scratch() const { return storage_within(bytes_of_thread(problem_.n_rows), memory_budget(run_)); }

  NodeTotals totals(std::int64_t node) const {
    const std::int64_t* const counts = list_.counts(node);
    const std::int64_t n_classes = problem_.n_classes();
    return {counts, n_classes, std::accumulate(counts, counts + n_classes, std::int64_t{0}), list_.node(node).n_rows,
            std::count_if(counts, counts + n_classes, [](std::int64_t n) { return n > 0; })};
  }

  // For every attribute: moves its rows to the nodes of `level`, and finds the best split that it offers each of them.
  void scan(const std::vector<OpenNode>& before, const std::vector<OpenNode>& level) {
    for (auto& best : best_) best.assign(level.size(), {});
    std::vector<NodeTotals> nodes;
    nodes.reserve(level.size());
    std::int64_t n_rows = 0;
    for (const OpenNode& open : level) {
      run_.cancel.check();
      nodes.push_back(totals(open.node));
      n_rows += open.n;
    }
    const std::string name = "level " + std::to_string(n_levels_++);
    const std::int64_t work = checked::mul(problem_.n_attributes(), n_rows);
    tell_progress(run_, name, 0, work);  // a first attribute may take long
    PhaseProgress phase(run_, name, work);
    const auto scan_attribute = [&](std::int64_t a, int worker) {
      TaskProgress task(phase, run_.cancel, n_rows);
      const auto w = static_cast<std::size_t>(worker);
      RankedRow* const rows = orders_.of(a);
      if (!before.empty()) {
        if (scratch_[w].empty()) scratch_[w] = Buffer<RankedRow>(problem_.n_rows, storage_of_scratch());
        partition(rows, before, goes_right_, scratch_[w].data());
      }
      const bool symbolic = problem_.attributes[static_cast<std::size_t>(a)].symbolic;
      for (std::size_t i = 0; i < level.size(); ++i) {
        const std::int64_t begin = level[i].begin;
        const auto tell = [&](std::int64_t n_scanned) { task.at(begin + n_scanned, n_rows); };
        tell(0);
        const auto found =
            best_split(scans_[w], symbolic, nodes[i], rows + begin, labels(), options_.min_samples_leaf, tell);
        best_[w][i].offer(found, static_cast<std::int32_t>(a));
      }
      task.finish();
    };
    pool_.parallel_for(problem_.n_attributes(), run_.cancel, scan_attribute, &phase);
  }

  // Splits the nodes for which it is worth it. Returns the children that may be split again; their rows are where
  // partition() will put them.
  std::vector<OpenNode> split(std::vector<OpenNode>& level) {
    std::vector<BestSplit<Value>> winners(level.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
      for (const auto& best : best_) winners[i].offer(best[i].split, best[i].attribute);
    }
    std::vector<std::vector<std::int64_t>> right_counts(level.size());
    pool_.parallel_for(static_cast<std::int64_t>(level.size()), run_.cancel, [&](std::int64_t i, int) {
      const auto at = static_cast<std::size_t>(i);
      if (worth_it(winners[at])) right_counts[at] = send(level[at], winners[at]);
    });
    std::vector<OpenNode> next;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < level.size(); ++i) {
      OpenNode& open = level[i];
      if (right_counts[i].empty()) continue;
      run_.cancel.check();
      describe(open.node, winners[i], orders_.of(winners[i].attribute) + open.begin);
      const auto [left, right] = list_.split(open.node, n_right(open, winners[i]), right_counts[i]);
      open.keep_left = list_.may_split(left, options_);
      open.keep_right = list_.may_split(right, options_);
      for (const auto& [child, kept] : {std::pair{left, open.keep_left}, std::pair{right, open.keep_right}}) {
        if (!kept) continue;
        next.push_back({child, begin, list_.node(child).n_rows});
        begin += next.back().n;
      }
    }
    return next;
  }

  double score_of(Value value) const {
    if constexpr (std::is_same_v<Value, double>) return value;
    return static_cast<double>(value) * (problem_.weighted ? discretize::kWeightUnit * discretize::kWeightUnit : 1.0);
  }

  bool worth_it(const BestSplit<Value>& winner) const {
    return winner.attribute >= 0 && score_of(winner.split.value) >= options_.min_score;
  }

  bool symbolic(const BestSplit<Value>& winner) const {
    return problem_.attributes[static_cast<std::size_t>(winner.attribute)].symbolic;
  }

  std::int64_t n_right(const OpenNode& open, const BestSplit<Value>& winner) const {
    const std::int64_t n = winner.split.end - winner.split.begin;
    return symbolic(winner) ? n : open.n - n;
  }

  // Notes where each row goes and returns the class counts of the right child.
  std::vector<std::int64_t> send(const OpenNode& open, const BestSplit<Value>& winner) {
    const RankedRow* const rows = orders_.of(winner.attribute) + open.begin;
    const bool inside_goes_right = symbolic(winner);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(problem_.n_classes()), 0);
    for (std::int64_t i = 0; i < open.n; ++i) {
      const std::uint32_t row = row_of(rows[i]);
      const bool inside = i >= winner.split.begin && i < winner.split.end;
      const bool right = inside == inside_goes_right;
      goes_right_[row] = right ? 1 : 0;
      if (right) counts[static_cast<std::size_t>(problem_.class_of[row])] += problem_.weight(row);
    }
    return counts;
  }

  void describe(std::int64_t node, const BestSplit<Value>& winner, const RankedRow* rows) {
    GrownNode& here = list_.node(node);
    here.attribute = winner.attribute;
    if constexpr (!std::is_same_v<Value, double>) here.w = winner.split.value;
    here.score = score_of(winner.split.value);
    const Attribute& attribute = problem_.attributes[static_cast<std::size_t>(winner.attribute)];
    if (attribute.symbolic) {
      here.value = static_cast<std::int32_t>(rank_of(rows[winner.split.begin]));
      return;
    }
    attribute.with_numbers([&](const auto* x) {
      const auto a = static_cast<double>(x[row_of(rows[winner.split.end - 1])]);
      const auto b = static_cast<double>(x[row_of(rows[winner.split.end])]);
      here.cut = discretize::cut_between(a, b);
    });
  }

  void report(const std::vector<OpenNode>& level) const {
    std::int64_t open = 0;
    for (const OpenNode& node : level) open += node.n;
    tell_progress(run_, "rows in leaves", problem_.n_rows - open, problem_.n_rows);
  }

  const DecisionProblem& problem_;
  const GrowOptions& options_;
  const RunOptions& run_;
  ThreadPool pool_;
  Orders orders_;
  std::vector<std::uint8_t> goes_right_;
  std::int64_t n_levels_ = 0;  // scanned
  std::vector<Scan> scans_;    // one per worker, as the two below
  std::vector<Buffer<RankedRow>> scratch_;
  std::vector<std::vector<BestSplit<Value>>> best_;
  NodeList list_;
};

}  // namespace

Grown grow_cpu(const DecisionProblem& problem, const GrowOptions& options, const RunOptions& run) {
  switch (options.criterion) {
    case Criterion::gini: return Growth<GiniScan>(problem, options, run).grow();
    case Criterion::entropy: {
      const discretize::InformationTable information(problem.weighted ? 0 : problem.n_rows);
      return Growth<EntropyScan>(problem, options, run, EntropyScan(information)).grow();
    }
    case Criterion::discernibility: break;
  }
  if (problem.weighted) return Growth<PairScan<discretize::Int128>>(problem, options, run).grow();
  return Growth<PairScan<std::int64_t>>(problem, options, run).grow();
}

}  // namespace stope::tree
