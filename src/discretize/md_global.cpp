// The global method (discretize/md_global.hpp).
//
// The cuts chosen so far divide the rows into blocks. Only pairs within a block are not separated yet. A row of class k
// in block b that moves from right to left gains (n_b - n_bk) - 2 (L_b - L_bk) pairs, as in score.hpp with the counts
// of its block. As blocks are divided, a cut separates fewer and fewer pairs. So the worth of an attribute's best cut
// when it was last computed bounds its present worth. Attributes are tried in the order of these bounds; those that
// cannot win are not tried.
#include "discretize/md_global.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "discretize/cuda_global.hpp"
#include "discretize/group_sorter.hpp"
#include "discretize/sorted_rows.hpp"
#include "discretize/value_order.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope::discretize {
namespace {

// Marks the last row of a value, unless that is the highest value.
constexpr std::uint32_t kLastOfValue = std::uint32_t{1} << 31;
constexpr std::uint32_t kRow = kLastOfValue - 1;

// Blocks of rows. A cell is the rows of one class in a block.
struct Blocks {
  std::vector<std::int32_t> block_of, cell_of;        // for each row
  std::vector<std::int64_t> block_total, cell_total;  // rows, or weights
  std::vector<char> open;                             // for each row: its block holds several classes
};

// Bytes of these, and of their Halves, if every row is a block. Totals are vectors that grow.
constexpr std::int64_t kBlockBytesPerRow = 75;

// Bytes per row that one thread holds: it sorts, then counts.
constexpr std::int64_t kThreadBytesPerRow = std::max<std::int64_t>(kSorterBytesPerRow, 2 * sizeof(std::int64_t));

// The parts of blocks, or cells, that are divided. They are numbered as their first rows come.
class Halves {
 public:
  /// Takes the totals of the whole ones, and makes them those of the halves.
  explicit Halves(std::vector<std::int64_t>& totals) : numbers_(2 * totals.size(), -1), totals_(totals) {
    totals_.clear();
  }

  /// Adds a row of the block `of`, which becomes its half's number. Returns whether that half is new.
  bool add(std::int32_t& of, bool is_right, std::int64_t weight) {
    std::int32_t& number = numbers_[2 * static_cast<std::size_t>(of) + (is_right ? 1 : 0)];
    const bool is_new = number < 0;
    if (is_new) {
      number = static_cast<std::int32_t>(totals_.size());
      totals_.push_back(0);
    }
    totals_[static_cast<std::size_t>(number)] += weight;
    of = number;
    return is_new;
  }

 private:
  std::vector<std::int32_t> numbers_;
  std::vector<std::int64_t>& totals_;
};

// One thread's counters.
struct Counters {
  std::vector<std::int64_t> in_block, in_cell;
};

struct Choice {
  Int128 pairs = 0;
  std::int64_t attribute = -1;
  std::int64_t row = -1;  // a row of the highest value on the left, or of the symbolic value
};

bool beats(const Choice& a, const Choice& b) {
  return a.pairs > b.pairs || (a.pairs == b.pairs && a.attribute < b.attribute);
}

class GlobalSearch {
 public:
  GlobalSearch(const DecisionProblem& problem, const RunOptions& run, const std::vector<int>& gpus)
      : problem_(problem), run_(run), pool_(threads_within(checked::mul(problem.n_rows, kThreadBytesPerRow), run)) {
    if (problem.n_rows >= static_cast<std::int64_t>(kLastOfValue)) {
      throw Error(ErrorCode::unsupported, "the global method takes at most 2147483647 rows");
    }
    if (!gpus.empty()) {
      on_gpus_ = std::make_unique<GlobalColumns>(problem, gpus, run);
      wanted_ = on_gpus_->symbolic();
      of_gpus_.resize(static_cast<std::size_t>(problem.n_rows));
      if (problem.weighted) others_.resize(of_gpus_.size());
    } else {
      wanted_.resize(problem.attributes.size());
      std::iota(wanted_.begin(), wanted_.end(), std::int64_t{0});
    }
    require_memory("the orders of all columns and the blocks of rows, for the global method, need",
                   checked::mul(problem.n_rows, checked::add(checked::mul(std::ssize(wanted_), sizeof(std::uint32_t)),
                                                             kBlockBytesPerRow)),
                   run);
    orders_.resize(problem.attributes.size());
    scratch_.resize(static_cast<std::size_t>(pool_.size()));
    counters_.resize(scratch_.size());
    const Storage storage = storage_within(checked::mul(problem.n_rows, kThreadBytesPerRow), memory_budget(run));
    for (SortScratch& scratch : scratch_) scratch.storage = storage;
    const PhaseProgress phase(run, "sort", 0);
    pool_.parallel_for(std::ssize(wanted_), run.cancel, [&](std::int64_t i, int worker) {
      const auto a = static_cast<std::size_t>(wanted_[static_cast<std::size_t>(i)]);
      make_order(problem_.attributes[a], orders_[a], scratch_[static_cast<std::size_t>(worker)]);
    });
    scratch_.clear();
    divide([](std::int64_t) { return false; });
    const auto all = static_cast<Int128>(problem.total) * problem.total;
    bounds_.assign(problem.attributes.size(), all);
  }

  std::vector<GlobalCut> run(std::int64_t max_cuts) {
    std::vector<GlobalCut> chosen;
    while (max_cuts == 0 || static_cast<std::int64_t>(chosen.size()) < max_cuts) {
      const Choice best = next_choice();
      if (best.pairs <= 0) break;
      chosen.push_back(cut_of(best));
      divide_by(chosen.back());
      tell_progress(run_, "cuts", static_cast<std::int64_t>(chosen.size()), 0);
    }
    return chosen;
  }

 private:
  // Makes the order of rows by value, or by code if symbolic. Rows of equal value lie together.
  void make_order(const Attribute& attribute, std::vector<std::uint32_t>& order, SortScratch& scratch) const {
    const std::int64_t n = problem_.n_rows;
    order.resize(static_cast<std::size_t>(n));
    if (attribute.symbolic) {
      std::iota(order.begin(), order.end(), 0U);
      const std::int32_t* codes = attribute.codes();
      std::stable_sort(order.begin(), order.end(), [codes](auto a, auto b) { return codes[a] < codes[b]; });
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (i + 1 == order.size() || codes[order[i] & kRow] != codes[order[i + 1]]) order[i] |= kLastOfValue;
      }
      return;
    }
    attribute.with_numbers([&](const auto* x) {
      std::vector<std::uint8_t> differs(order.size());
      sort_rows(x, n, order.data(), scratch, differs.data());
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (differs[i] != 0) order[i] |= kLastOfValue;
      }
    });
  }

  // Leaves out rows whose block has only one class. The mark of a value goes to the last of its rows that stays. If
  // none stays, no cut is lost, since a cut there is worth what the lower one is.
  void shorten(std::vector<std::uint32_t>& order) const {
    std::size_t kept = 0;
    bool in_value = false;  // a row of this value was kept
    for (const std::uint32_t entry : order) {
      const std::uint32_t row = entry & kRow;
      if (blocks_.open[row] != 0) {
        order[kept++] = entry;
        in_value = true;
      } else if ((entry & kLastOfValue) != 0 && in_value) {
        order[kept - 1] |= kLastOfValue;
      }
      if ((entry & kLastOfValue) != 0) in_value = false;
    }
    order.resize(kept);
  }

  template <class Score>
  Choice best_of(std::int64_t index, Counters& counters) {
    const Attribute& attribute = problem_.attributes[static_cast<std::size_t>(index)];
    std::vector<std::uint32_t>& order = orders_[static_cast<std::size_t>(index)];
    shorten(order);
    counters.in_block.assign(blocks_.block_total.size(), 0);
    counters.in_cell.assign(blocks_.cell_total.size(), 0);
    Choice best;
    best.attribute = index;
    Score pairs = 0, highest = 0;
    std::size_t begin = 0;  // where the symbolic value begins
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t row = order[i] & kRow;
      const auto block = static_cast<std::size_t>(blocks_.block_of[row]),
                 cell = static_cast<std::size_t>(blocks_.cell_of[row]);
      const std::int64_t weight = problem_.weight(row);
      pairs += discernibility_step<Score>(weight, blocks_.block_total[block], blocks_.cell_total[cell],
                                          counters.in_block[block], counters.in_cell[cell]);
      counters.in_block[block] += weight;
      counters.in_cell[cell] += weight;
      if ((order[i] & kLastOfValue) == 0) continue;
      if (pairs > highest) {
        highest = pairs;
        best.row = row;
      }
      if (!attribute.symbolic) continue;
      for (; begin <= i; ++begin) {  // the next value starts from nothing
        const std::uint32_t done = order[begin] & kRow;
        counters.in_block[static_cast<std::size_t>(blocks_.block_of[done])] = 0;
        counters.in_cell[static_cast<std::size_t>(blocks_.cell_of[done])] = 0;
      }
      pairs = 0;
    }
    best.pairs = highest;
    return best;
  }

  // The best cut of the attributes that GPUs have; without pairs if there is none.
  Choice choice_of_gpus() {
    if (on_gpus_ == nullptr) return {.attribute = problem_.n_attributes()};
    for (std::size_t row = 0; row < of_gpus_.size(); ++row) {
      const auto block = static_cast<std::size_t>(blocks_.block_of[row]),
                 cell = static_cast<std::size_t>(blocks_.cell_of[row]);
      const std::int64_t others = blocks_.block_total[block] - blocks_.cell_total[cell];
      of_gpus_[row] = {static_cast<std::uint16_t>(block), static_cast<std::uint16_t>(cell),
                       problem_.weighted ? 0 : static_cast<std::int32_t>(others)};
      if (problem_.weighted) others_[row] = others;
    }
    const cuda_abi::GlobalBest best =
        on_gpus_->next_cut({.rows = of_gpus_.data(),
                            .n_blocks = static_cast<std::int32_t>(blocks_.block_total.size()),
                            .n_cells = static_cast<std::int32_t>(blocks_.cell_total.size()),
                            .others = problem_.weighted ? others_.data() : nullptr});
    if (pairs_of(best) == 0) return {.attribute = problem_.n_attributes()};
    return {pairs_of(best), best.column, best.row};
  }

  Choice next_choice() {
    std::vector<std::int64_t> order = wanted_;
    const auto bound = [&](std::int64_t a) { return bounds_[static_cast<std::size_t>(a)]; };
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return bound(a) > bound(b); });
    Choice best = choice_of_gpus();
    // Few at first: most often one of the first wins. Then twice as many each time, since threads that meet after every
    // few short columns mostly wait.
    std::size_t at_once = static_cast<std::size_t>(pool_.size()) * 4;
    std::vector<Choice> found;
    for (std::size_t begin = 0; begin < order.size();) {
      std::size_t end = begin;
      while (end < order.size() && end - begin < at_once && bound(order[end]) > 0 &&
             beats({bound(order[end]), order[end], -1}, best)) {
        ++end;
      }
      if (end == begin) break;  // it cannot win; those behind it have lower bounds, or equal ones and higher columns
      found.assign(end - begin, {});
      pool_.parallel_for(static_cast<std::int64_t>(end - begin), run_.cancel, [&](std::int64_t i, int worker) {
        Counters& counters = counters_[static_cast<std::size_t>(worker)];
        const std::int64_t a = order[begin + static_cast<std::size_t>(i)];
        found[static_cast<std::size_t>(i)] =
            problem_.weighted ? best_of<Int128>(a, counters) : best_of<std::int64_t>(a, counters);
      });
      for (const Choice& one : found) {
        bounds_[static_cast<std::size_t>(one.attribute)] = one.pairs;
        if (beats(one, best)) best = one;
      }
      begin = end;
      at_once *= 2;
    }
    return best;
  }

  GlobalCut cut_of(const Choice& choice) const {
    const Attribute& attribute = problem_.attributes[static_cast<std::size_t>(choice.attribute)];
    GlobalCut cut;
    cut.attribute = choice.attribute;
    cut.pairs = choice.pairs;
    if (attribute.symbolic) {
      cut.value = attribute.codes()[choice.row];
      return cut;
    }
    // Orders hold open rows only, so the next higher value must be looked up in the whole column.
    cut.cut = attribute.with_numbers([&](const auto* x) {
      const auto key = order_key(x[choice.row]);
      auto next = ~decltype(key){0};
      for (std::int64_t row = 0; row < problem_.n_rows; ++row) {
        const auto other = order_key(x[row]);
        if (other > key && other < next) next = other;
      }
      return cut_between(static_cast<double>(x[choice.row]), value_of(next));
    });
    return cut;
  }

  void divide_by(const GlobalCut& cut) {
    const Attribute& attribute = problem_.attributes[static_cast<std::size_t>(cut.attribute)];
    if (attribute.symbolic) {
      const std::int32_t* codes = attribute.codes();
      divide([&](std::int64_t row) { return codes[row] == cut.value; });
    } else {
      attribute.with_numbers([&](const auto* x) {
        divide([&](std::int64_t row) { return goes_right(static_cast<double>(x[row]), cut.cut); });
      });
    }
  }

  // Divides every block into its rows on the left and on the right, and renumbers blocks and cells.
  template <class Right>
  void divide(const Right& right) {
    const std::int64_t n = problem_.n_rows;
    if (blocks_.block_of.empty()) {
      blocks_.block_of.assign(static_cast<std::size_t>(n), 0);
      blocks_.block_total.resize(1);
      blocks_.cell_of.assign(problem_.class_of.begin(), problem_.class_of.end());
      blocks_.cell_total.resize(static_cast<std::size_t>(problem_.n_classes()));
      blocks_.open.resize(blocks_.block_of.size());
    }
    Halves blocks(blocks_.block_total), cells(blocks_.cell_total);
    std::vector<std::int32_t> n_classes;  // classes of each block
    for (std::int64_t row = 0; row < n; ++row) {
      const auto at = static_cast<std::size_t>(row);
      const bool is_right = right(row);
      const std::int64_t weight = problem_.weight(row);
      if (blocks.add(blocks_.block_of[at], is_right, weight)) n_classes.push_back(0);
      if (cells.add(blocks_.cell_of[at], is_right, weight)) ++n_classes[static_cast<std::size_t>(blocks_.block_of[at])];
    }
    for (std::size_t row = 0; row < blocks_.open.size(); ++row) {
      blocks_.open[row] = n_classes[static_cast<std::size_t>(blocks_.block_of[row])] > 1 ? 1 : 0;
    }
  }

  const DecisionProblem& problem_;
  const RunOptions& run_;
  ThreadPool pool_;
  std::vector<SortScratch> scratch_;
  std::vector<Counters> counters_;
  std::vector<std::vector<std::uint32_t>> orders_;
  std::vector<std::int64_t> wanted_;  // the attributes that the CPU searches
  std::unique_ptr<GlobalColumns> on_gpus_;
  std::vector<cuda_abi::BlockRow> of_gpus_;
  std::vector<std::int64_t> others_;  // with weights only
  std::vector<Int128> bounds_;
  Blocks blocks_;
};

}  // namespace

std::vector<GlobalCut> global_cuts(const DecisionProblem& problem, std::int64_t max_cuts, const RunOptions& run,
                                   const std::vector<int>& gpus) {
  return GlobalSearch(problem, run, gpus).run(max_cuts);
}

}  // namespace stope::discretize
