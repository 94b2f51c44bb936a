// correlation(): products of all columns at once, and pairs that these would get wrong one by one
// (stope/correlation.hpp).
#include "stope/correlation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/checked.hpp"
#include "base/choices.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "base/huge_pages.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "base/row_sums.hpp"
#include "gram/cross_product.hpp"
#include "gram/numeric_columns.hpp"
#include "gram/pair_correlation.hpp"
#include "stope/error.hpp"
#include "table/check_table.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace gram {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
// A pair's sum of squares is that about the whole column's mean less a correction for the pair's own mean. Where the
// correction leaves less than this share, three digits may be lost, and the pair is summed up by itself.
constexpr double kLeastShare = 1.0 / 1024.0;

bool has_infinite(const Column& column) {
  constexpr std::int64_t kBlock = 4096;
  return std::visit(
      [](const auto& values) {
        for (std::int64_t begin = 0; begin < values.size(); begin += kBlock) {
          bool any = false;  // looked at once a block, so that compilers put the comparisons into vectors
          for (std::int64_t row = begin; row < std::min(begin + kBlock, values.size()); ++row) {
            any |= std::fabs(static_cast<double>(values[row])) > std::numeric_limits<double>::max();
          }
          if (any) return true;
        }
        return false;
      },
      column.data);
}

// A matrix of columns, from what `write` writes for some of them side by side: out[(row - begin) * kTile + column].
template <class Write>
class Panel : public PanelSource {
 public:
  Panel(std::int64_t width, Write write) : width_(width), write_(std::move(write)) {}
  std::int64_t width() const override { return width_; }
  void pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const override {
    const std::int64_t n = std::min(kTile, width_ - tile * kTile);
    if (n < kTile) std::fill(out, out + (end - begin) * kTile, 0.0);
    write_(Part{tile * kTile, n, begin, end}, out);
  }

 private:
  std::int64_t width_;
  Write write_;
};

// Pearson's correlations of columns without infinite values, centred and divided by their lengths.
class Products {
 public:
  Products(const Table& table, const std::vector<std::int64_t>& columns, ThreadPool& pool, const RunOptions& run)
      : pool_(pool),
        run_(run),
        n_(table.n_rows),
        p_(std::ssize(columns)),
        matrix_(table, columns, MissingValues::mean, {}, NumericColumns::Summaries::yes, pool, run.cancel) {
    for (std::int64_t j = 0; j < p_; ++j) {
      const ColumnSummary& summary = this->summary(j);
      const double factor = 1.0 / summary.length;  // 0 for a spread whose inverse overflows, as for none
      matrix_.factor[static_cast<std::size_t>(j)] = summary.length > 0.0 && std::isfinite(factor) ? factor : 0.0;
      place_.push_back(summary.n_present == n_ ? -1 : std::ssize(partial_));
      if (summary.n_present < n_) partial_.push_back(j);
    }
  }

  /// Bytes that are held for these numbers of columns besides the result.
  static std::int64_t bytes(std::int64_t n, std::int64_t p, std::int64_t q, int threads) {
    const std::int64_t sums = checked::add(checked::mul(2 * p + 1, q), checked::mul(q, q));
    return checked::add(checked::mul(8, sums), cross_product_bytes(p + 1, p + 1, n, threads));
  }
  std::int64_t n_partial() const { return std::ssize(partial_); }

  /// Hands the correlation and the number of rows of every pair i <= j to `store`, from several threads. Where all
  /// values are present, it hands whole rows to `store_row` instead: row i, its correlations with columns i, i + 1, ...
  template <class Store, class StoreRow>
  void run(double* products, const Store& store, const StoreRow& store_row) {
    sum_up(products);
    PhaseProgress progress(run_, "pairs", p_);
    if (partial_.empty()) return run_complete(products, store_row, progress);
    pool_.parallel_for(
        p_, run_.cancel,
        [&](std::int64_t i, int) {
          store(i, i, PairCorrelation{factor(i) == 0.0 ? kNone : 1.0, summary(i).n_present});
          for (std::int64_t j = i + 1; j < p_; ++j) store(i, j, pair(products[i * (p_ + 1) + j], i, j));
          progress.add(1);
        },
        &progress);
  }

 private:
  const ColumnSummary& summary(std::int64_t j) const { return matrix_.summaries()[static_cast<std::size_t>(j)]; }
  std::int64_t place(std::int64_t j) const { return place_[static_cast<std::size_t>(j)]; }

  void sum_up(double* products) {
    PhaseProgress progress(run_, "correlation", (partial_.empty() ? 1 : 4) * n_);
    // A last column of ones: its products are the sums of the others.
    const std::int64_t width = p_ + 1;
    const auto write = [&](const Part& part, double* out) {
      const std::int64_t n = std::min(part.n, p_ - part.first);
      matrix_.write_rows({part.first, n, part.begin, part.end}, out, kTile);
      if (n == part.n) return;
      for (std::int64_t row = 0; row < part.end - part.begin; ++row) out[row * kTile + n] = 1.0;
    };
    const Panel values(width, write);
    cross_product(values, values, n_, pool_, run_.cancel, products, &progress);
    sums_.resize(static_cast<std::size_t>(p_));
    for (std::int64_t j = 0; j < p_; ++j) sums_[static_cast<std::size_t>(j)] = products[j * width + p_];
    squares_.resize(static_cast<std::size_t>(p_));
    for (std::int64_t j = 0; j < p_; ++j) squares_[static_cast<std::size_t>(j)] = products[j * width + j];
    if (partial_.empty()) return;
    const std::int64_t q = n_partial();
    const auto presence = [&](const Part& part, double* out) {
      for (std::int64_t i = 0; i < part.n; ++i, ++out) {
        const Column& column = matrix_.column(partial_[static_cast<std::size_t>(part.first + i)]);
        for (std::int64_t row = part.begin; row < part.end; ++row) {
          out[(row - part.begin) * kTile] = column.missing(row) ? 0.0 : 1.0;
        }
      }
    };
    const auto squares = [&](const Part& part, double* out) {
      matrix_.write_rows(part, out, kTile);
      for (std::int64_t i = 0; i < (part.end - part.begin) * kTile; ++i) out[i] *= out[i];
    };
    const Panel present(q, presence);
    const Panel squared(p_, squares);
    const auto summed = [&](const PanelSource& a) {
      Buffer<double> sums(checked::mul(a.width(), q));
      cross_product(a, present, n_, pool_, run_.cancel, sums.data(), &progress);
      return sums;
    };
    partial_sums_ = summed(values);
    partial_squares_ = summed(squared);
    partial_counts_ = summed(present);
  }

  // The rows in which both columns have a value: sums of one column's values and squares there.
  double sum_of(std::int64_t i, std::int64_t j) const {
    return place(j) < 0 ? sums_[static_cast<std::size_t>(i)] : partial_sums_[i * n_partial() + place(j)];
  }
  double squares_of(std::int64_t i, std::int64_t j) const {
    return place(j) < 0 ? squares_[static_cast<std::size_t>(i)] : partial_squares_[i * n_partial() + place(j)];
  }
  std::int64_t count_of(std::int64_t i, std::int64_t j) const {
    if (place(i) < 0) return summary(j).n_present;
    if (place(j) < 0) return summary(i).n_present;
    return static_cast<std::int64_t>(partial_counts_[place(i) * n_partial() + place(j)]);
  }

  // Every column has one sum, one sum of squares and one spread, whatever its partner. The arithmetic is that of
  // pair().
  template <class StoreRow>
  void run_complete(double* products, const StoreRow& store_row, PhaseProgress& progress) {
    const auto n = static_cast<double>(n_);
    std::vector<double> roots(static_cast<std::size_t>(p_));  // NaN: no correlation by products
    for (std::size_t j = 0; j < roots.size(); ++j) {
      const double spread = squares_[j] - sums_[j] * sums_[j] / n;
      roots[j] = n_ >= 2 && spread > squares_[j] * kLeastShare ? std::sqrt(spread) : kNone;
    }
    pool_.parallel_for(
        p_, run_.cancel,
        [&](std::int64_t i, int) {
          double* const row = products + i * (p_ + 1);
          const double sum = sums_[static_cast<std::size_t>(i)], root = roots[static_cast<std::size_t>(i)];
          row[i] = factor(i) == 0.0 ? kNone : 1.0;
          for (std::int64_t j = i + 1; j < p_; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const double value = (row[j] - sum * sums_[at] / n) / root / roots[at];
            row[j] = value < -1.0 ? -1.0 : value > 1.0 ? 1.0 : value;
          }
          for (std::int64_t j = i + 1; j < p_; ++j) {
            const bool by_products = root == root && roots[static_cast<std::size_t>(j)] > 0.0;
            if (!by_products) row[j] = alone(i, j).value;
          }
          store_row(i, row + i);
          progress.add(1);
        },
        &progress);
  }

  // A pair that is summed up by itself, or has no correlation.
  PairCorrelation alone(std::int64_t i, std::int64_t j) const {
    if (n_ < 2 || factor(i) == 0.0 || factor(j) == 0.0) return {kNone, n_};
    return correlate_values(matrix_.column(i), matrix_.column(j));
  }

  PairCorrelation pair(double product, std::int64_t i, std::int64_t j) const {
    const std::int64_t count = count_of(i, j);
    if (count < 2 || factor(i) == 0.0 || factor(j) == 0.0) return {kNone, count};
    const auto n = static_cast<double>(count);
    const double sx = sum_of(i, j), sy = sum_of(j, i), qx = squares_of(i, j), qy = squares_of(j, i);
    const double xx = qx - sx * sx / n, yy = qy - sy * sy / n;
    if (!(xx > qx * kLeastShare) || !(yy > qy * kLeastShare)) {
      return correlate_values(matrix_.column(i), matrix_.column(j));
    }
    return {std::clamp((product - sx * sy / n) / std::sqrt(xx) / std::sqrt(yy), -1.0, 1.0), count};
  }
  double factor(std::int64_t j) const { return matrix_.factor[static_cast<std::size_t>(j)]; }

  ThreadPool& pool_;
  const RunOptions& run_;
  std::int64_t n_, p_;
  NumericColumns matrix_;
  std::vector<std::int64_t> partial_;  // columns with missing values
  std::vector<std::int64_t> place_;    // of a column in that list; -1: all values are present
  std::vector<double> sums_, squares_;
  Buffer<double> partial_sums_, partial_squares_, partial_counts_;
};

// The job: which columns, and where its results go.
class Job {
 public:
  Job(const Table& table, const CorrelationOptions& options, const RunOptions& run)
      : table_(table), options_(options), run_(run), pool_(run.threads) {
    check_shape(table);
    check_names(table);
    for (std::int64_t c = 0; c < std::ssize(table.columns); ++c) {
      const Column& column = table.columns[static_cast<std::size_t>(c)];
      if (column.nominal() || (column.role != Role::regular && column.role != Role::label)) continue;
      if (column.role == Role::label) result_.target = std::ssize(columns_);
      columns_.push_back(c);
      result_.names.push_back(column.name);
    }
    if (columns_.empty()) {
      throw Error(ErrorCode::invalid_data, "no numeric columns, and so no correlations", {table.source});
    }
  }

  Correlation run() {
    const auto start = std::chrono::steady_clock::now();
    const RunningJob running(run_);
    const std::int64_t p = std::ssize(columns_), cells = checked::mul(p, p);
    find_finite();
    const std::int64_t finite = std::ssize(finite_);
    require_memory("the correlations of " + counted(p, "column") + " need",
                   checked::add(checked::mul(cells, 24), Products::bytes(table_.n_rows, finite, 0, pool_.size())), run_,
                   {.file = table_.source});
    result_.values = Buffer<double>(cells);
    result_.counts = Buffer<std::int64_t>(cells);
    prefer_huge_pages(result_.values.data(), static_cast<std::size_t>(cells) * sizeof(double));
    prefer_huge_pages(result_.counts.data(), static_cast<std::size_t>(cells) * sizeof(std::int64_t));
    if (finite < p) std::fill(result_.values.begin(), result_.values.end(), kNone);  // every other cell is set
    count_infinite();
    if (finite > 0) options_.method == CorrelationMethod::pearson ? pearson() : spearman();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(result_);
  }

 private:
  const Column& column(std::int64_t i) const {
    return table_.columns[static_cast<std::size_t>(columns_[static_cast<std::size_t>(i)])];
  }

  void find_finite() {
    std::vector<char> infinite(columns_.size());
    pool_.parallel_for(std::ssize(columns_), run_.cancel,
                       [&](std::int64_t i, int) { infinite[static_cast<std::size_t>(i)] = has_infinite(column(i)); });
    for (std::int64_t i = 0; i < std::ssize(columns_); ++i) {
      (infinite[static_cast<std::size_t>(i)] != 0 ? infinite_ : finite_).push_back(i);
    }
  }

  // Pairs with an infinite value have no correlation, but rows.
  void count_infinite() {
    const std::int64_t p = std::ssize(columns_);
    pool_.parallel_for(std::ssize(infinite_), run_.cancel, [&](std::int64_t k, int) {
      const std::int64_t i = infinite_[static_cast<std::size_t>(k)];
      for (std::int64_t j = 0; j < p; ++j) {
        const bool theirs = std::binary_search(infinite_.begin(), infinite_.end(), j) && j > i;
        if (theirs) continue;  // the pair is counted once
        std::int64_t count = 0;
        for (std::int64_t row = 0; row < table_.n_rows; ++row) {
          count += !column(i).missing(row) && !column(j).missing(row) ? 1 : 0;
        }
        set(i, j, {kNone, count});
      }
    });
  }

  void set(std::int64_t i, std::int64_t j, const PairCorrelation& pair) {
    const std::int64_t p = std::ssize(columns_);
    result_.values[i * p + j] = result_.values[j * p + i] = pair.value;
    result_.counts[i * p + j] = result_.counts[j * p + i] = pair.count;
  }

  // Correlates these columns of a table. Column i stands at places[i] of the result.
  void correlate(const Table& table, const std::vector<std::int64_t>& columns,
                 const std::vector<std::int64_t>& places) {
    if (columns.empty()) return;
    Products products(table, columns, pool_, run_);
    const std::int64_t p = std::ssize(columns), q = products.n_partial();
    if (q > 0) {
      const std::int64_t bytes =
          checked::add(checked::mul(checked::mul(p, p), 24), Products::bytes(table.n_rows, p, q, pool_.size()));
      require_memory("the correlations of " + counted(p, "column") + ", of which " + std::to_string(q) +
                         " have missing values, need",
                     bytes, run_, {.file = table.source});
    }
    Buffer<double> sums(checked::mul(p + 1, p + 1));
    prefer_huge_pages(sums.data(), static_cast<std::size_t>(sums.size()) * sizeof(double));
    const auto place = [&](std::int64_t i) { return places[static_cast<std::size_t>(i)]; };
    products.run(
        sums.data(),
        [&](std::int64_t i, std::int64_t j, const PairCorrelation& pair) { set(place(i), place(j), pair); },
        [&](std::int64_t i, const double* values) {
          const std::int64_t all = std::ssize(columns_);
          double* const row = result_.values.data() + place(i) * all;
          std::int64_t* const counts = result_.counts.data() + place(i) * all;
          for (std::int64_t j = i; j < p; ++j) {
            row[place(j)] = values[j - i];
            counts[place(j)] = table.n_rows;
          }
        });
    if (q == 0) mirror(places);
  }

  // Copies what stands above the diagonal below it, by squares that the first-level cache holds.
  void mirror(const std::vector<std::int64_t>& places) {
    constexpr std::int64_t kSide = 32;
    const std::int64_t p = std::ssize(places), all = std::ssize(columns_);
    pool_.parallel_for(checked::ceil_div(p, kSide), run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t begin = task * kSide, end = std::min(begin + kSide, p);
      for (std::int64_t first = 0; first < end; first += kSide) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t row = places[static_cast<std::size_t>(i)];
          for (std::int64_t j = first; j < std::min(first + kSide, i); ++j) {
            const std::int64_t column = places[static_cast<std::size_t>(j)];
            result_.values[row * all + column] = result_.values[column * all + row];
            result_.counts[row * all + column] = result_.counts[column * all + row];
          }
        }
      }
    });
  }

  void pearson() {
    std::vector<std::int64_t> columns;
    columns.reserve(finite_.size());
    for (const std::int64_t i : finite_) columns.push_back(columns_[static_cast<std::size_t>(i)]);
    correlate(table_, columns, finite_);
  }

  // Ranks are correlated as values are. A pair that lacks rows has ranks of its own.
  void spearman() {
    const std::int64_t n = table_.n_rows, k = std::ssize(finite_);
    const std::int64_t bytes = checked::mul(checked::mul(n, k), std::int64_t{2 * sizeof(double)});
    const Storage storage = storage_within(bytes, memory_budget(run_));
    std::vector<Buffer<std::int64_t>> orders(static_cast<std::size_t>(k));
    std::vector<Buffer<double>> ranks(static_cast<std::size_t>(k));
    PhaseProgress progress(run_, "ranks", k);
    pool_.parallel_for(
        k, run_.cancel,
        [&](std::int64_t i, int) {
          const auto at = static_cast<std::size_t>(i);
          const Column& from = column(finite_[at]);
          orders[at] = rows_by_value(from, storage);
          ranks[at] = Buffer<double>(n, storage);
          rank_rows(from, orders[at], nullptr, ranks[at].data());
          progress.add(1);
        },
        &progress);
    Table ranked;
    ranked.n_rows = n;
    ranked.source = table_.source;
    std::vector<std::int64_t> complete, places;
    std::vector<char> partial(static_cast<std::size_t>(k));
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      partial[at] = std::any_of(ranks[at].begin(), ranks[at].end(), [](double v) { return v != v; }) ? 1 : 0;
      if (partial[at] != 0) continue;
      complete.push_back(std::ssize(ranked.columns));
      places.push_back(finite_[at]);
      ranked.columns.push_back(column_of(column(finite_[at]).name, ranks[at]));
    }
    correlate(ranked, complete, places);
    if (std::ssize(complete) < k) rank_partial_pairs(orders, partial);
  }

  void rank_partial_pairs(const std::vector<Buffer<std::int64_t>>& orders, const std::vector<char>& partial) {
    const std::int64_t n = table_.n_rows, k = std::ssize(finite_);
    const std::int64_t bytes = checked::mul(checked::mul(n, std::int64_t{2 * sizeof(double)}), pool_.size());
    const Storage storage = storage_within(bytes, memory_budget(run_));
    std::vector<Buffer<double>> of_x(static_cast<std::size_t>(pool_.size())), of_y(of_x);
    PhaseProgress progress(run_, "ranks of pairs", k * k);
    pool_.parallel_for(
        k * k, run_.cancel,
        [&](std::int64_t task, int worker) {
          progress.add(1);
          const auto i = static_cast<std::size_t>(task / k), j = static_cast<std::size_t>(task % k);
          if (i > j || (partial[i] == 0 && partial[j] == 0)) return;
          Buffer<double>&a = of_x[static_cast<std::size_t>(worker)], &b = of_y[static_cast<std::size_t>(worker)];
          if (a.size() < n) a = Buffer<double>(n, storage);
          if (b.size() < n) b = Buffer<double>(n, storage);
          const Column &x = column(finite_[i]), &y = column(finite_[j]);
          rank_rows(x, orders[i], &y, a.data());
          rank_rows(y, orders[j], &x, b.data());
          PairCorrelation pair = correlate_values(column_of("x", a), column_of("y", b));
          if (i == j && pair.value == pair.value) pair.value = 1.0;
          set(finite_[i], finite_[j], pair);
        },
        &progress);
  }

  const Table& table_;
  const CorrelationOptions& options_;
  const RunOptions& run_;
  ThreadPool pool_;
  std::vector<std::int64_t> columns_;            // of the table
  std::vector<std::int64_t> finite_, infinite_;  // places among these
  Correlation result_;
};

constexpr std::string_view kMethods[] = {"pearson", "spearman"};

}  // namespace
}  // namespace gram

CorrelationMethod correlation_method(std::string_view name) try {
  return choice_of<CorrelationMethod>(gram::kMethods, name, {"correlation", "method"});
} catch (...) {
  rethrow_as_error();
}

std::string_view to_string(CorrelationMethod method) noexcept {
  return name_of(gram::kMethods, method);
}

Correlation correlation(const Table& table, const CorrelationOptions& options, const RunOptions& run) try {
  return gram::Job(table, options, run).run();
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
