#include "knn/engine/direct_scan.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "base/progress.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kRowsPerTask = std::int64_t{1} << 14;
constexpr std::int64_t kRowsAtOnce = 256;   // their distances stay in the nearest cache
constexpr std::int64_t kRowsTogether = 16;  // looked at one by one only if one of them is near enough
constexpr std::int64_t kMostColumns = 8;    // with sums of squares
constexpr std::int64_t kMostQueries = 16;   // with them; more share tiles of distances
constexpr std::int64_t kMostByFormula = 3;  // without: more are faster side by side (PlainPairs)
static_assert(kRowsAtOnce % kRowsTogether == 0);

// Adds up in the order of the columns, as the formula does (MeasureKernel::sums_plain_squares). A width that the
// compiler knows leaves no loop over the columns, and several rows go through the CPU at once.
template <std::size_t kWidth>
void squares_of_rows(const double* rows, std::int64_t n, const double* query, double* sums) {
  for (std::int64_t i = 0; i < n; ++i, rows += kWidth) {
    double sum = 0.0;
    for (std::size_t c = 0; c < kWidth; ++c) {
      const double difference = rows[c] - query[c];
      sum += difference * difference;
    }
    sums[i] = sum;
  }
}

template <std::size_t... kWidths>
constexpr auto squares_by_width(std::index_sequence<kWidths...>) {
  return std::array{squares_of_rows<kWidths + 1>...};
}
constexpr auto kSquares = squares_by_width(std::make_index_sequence<kMostColumns>());

}  // namespace

DirectScan::DirectScan(const Fitted& fitted, ThreadPool& pool, const CancelToken& cancel)
    : fitted_(fitted), pool_(pool), cancel_(cancel) {
  const FilterForm* const form = fitted.kernel().filter_form();
  if (form == nullptr || fitted.width() > kMostColumns || !fitted.kernel().sums_plain_squares()) return;
  if (form->term != Term::square || (form->finish != Finish::root && form->finish != Finish::identity)) return;
  squares_ = kSquares[static_cast<std::size_t>(fitted.width() - 1)];
  root_ = form->finish == Finish::root;
}

bool DirectScan::takes(const Selection& selection, std::int64_t n_queries) const {
  return selection.kind != Selection::Kind::rapidminer_heap &&
         n_queries <= (squares_ != nullptr ? kMostQueries : kMostByFormula);
}

PartEnd DirectScan::search(const TrainPart& part, const QueryBlock& block, const Selection& selection, Lists& lists) {
  const auto n = static_cast<std::size_t>(block.n);
  collectors_.resize(static_cast<std::size_t>(pool_.size()) * n);
  for (Collector& collector : collectors_) collector.reset(selection);
  for (std::size_t i = 0; i < n; ++i) collectors_[i].restore(lists, i);
  std::atomic<bool> too_long = false;
  const PhaseSpan span = PhaseSpan::share(0, 1, 1);
  pool_.parallel_for(checked::ceil_div(part.n, kRowsPerTask), cancel_, [&](std::int64_t task, int worker) {
    if (too_long.load(std::memory_order_relaxed)) return;
    Collector* const own = collectors_.data() + static_cast<std::size_t>(worker) * n;
    const std::int64_t begin = task * kRowsPerTask;
    scan(part, block, selection, begin, std::min(begin + kRowsPerTask, part.n), own);
    if (std::any_of(own, own + n, [](const Collector& collector) { return collector.too_long(); })) {
      too_long.store(true, std::memory_order_relaxed);
    }
  });
  if (too_long) return PartEnd::list_too_long;
  // Neighbours are ordered by distance and row alone: it does not matter which worker has met which rows.
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t other = i + n; other < collectors_.size(); other += n) {
      for (const Neighbor& candidate : collectors_[other].take(0)) collectors_[i].offer(candidate);
    }
    if (collectors_[i].too_long()) return PartEnd::list_too_long;
    lists.put(i, collectors_[i].take(0));
  }
  return PartEnd::complete;
}

void DirectScan::scan(const TrainPart& part, const QueryBlock& block, const Selection& selection, std::int64_t begin,
                      std::int64_t end, Collector* collectors) const {
  const std::int64_t width = fitted_.width();
  double values[kRowsAtOnce];
  for (std::int64_t first = begin; first < end; first += kRowsAtOnce) {
    const double* const rows = part.rows + first * width;
    const std::int64_t n = std::min(kRowsAtOnce, end - first);
    for (std::int64_t i = 0; i < block.n; ++i) {
      const double* const query = block.rows + i * width;
      if (squares_ != nullptr) {
        squares_(rows, n, query, values);
      } else {
        fitted_.kernel().evaluate({rows, n, query, 1, values, n}, Quantity::distance, PairOrder::train_first);
      }
      const auto offer = [&](std::int64_t j) {
        const std::int64_t row = part.first + first + j;
        if (selection.excludes(block, i, row)) return;
        collectors[i].offer({distance(rows + j * width, query, values[j]), row});
      };
      offer_near(values, n, collectors[i], offer);
    }
  }
}

// Calls offer(row) for the rows whose values are not beyond what the collector wants: also where a value is NaN, or the
// collector takes everything.
template <class Offer>
void DirectScan::offer_near(double* values, std::int64_t n, const Collector& collector, const Offer& offer) const {
  const std::int64_t filled = checked::ceil_div(n, kRowsTogether) * kRowsTogether;
  std::fill(values + n, values + filled, std::numeric_limits<double>::infinity());
  const auto most = [&] {
    return squares_ != nullptr ? most_sum(collector.threshold(), root_) : collector.threshold();
  };
  double cut = most();
  for (std::int64_t group = 0; group < n; group += kRowsTogether) {
    bool near = false;
    for (std::int64_t j = group; j < group + kRowsTogether; ++j) near |= !(values[j] > cut);
    if (!near) continue;
    for (std::int64_t j = group; j < std::min(group + kRowsTogether, n); ++j) {
      if (!(values[j] > cut)) offer(j);
    }
    cut = most();
  }
}

// The distance of a row whose value is known: the distance itself, or its sum of squares. A sum that is NaN says
// nothing: the query may lack a value, and infinities may cancel.
double DirectScan::distance(const double* row, const double* query, double value) const {
  if (squares_ == nullptr) return value;
  double distance = 0.0;
  if (value == value) {
    fitted_.kernel().finish_sums(&value, 1, &distance);
  } else {
    fitted_.kernel().evaluate({row, 1, query, 1, &distance, 1}, Quantity::distance, PairOrder::train_first);
  }
  return distance;
}

}  // namespace stope::knn
