// The loop over the pairs of a tile, generated for each measure. This is where a formula becomes a measure of stope, so
// the compiler checks here what the rest of stope relies on.
#pragma once

#include <algorithm>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "base/checked.hpp"
#include "knn/measure/kernel.hpp"
#include "knn/measure/measures.hpp"
#include "knn/measure/terms.hpp"

namespace stope::knn {

/// Whether a measure says what a number adds to its sum where all attributes are numeric and weigh 1, and no value is
/// missing. The result has the same bits: a factor of 1 and a choice that is always the same change none.
template <class M>
concept HasPlainTerm =
    Accumulating<M> && std::is_same_v<typename M::State, PresentSum> && requires { M::plain_term(1.0, 1.0); };

template <class M>
class TypedKernel final : public MeasureKernel {
 public:
  TypedKernel(M measure, const std::vector<Attribute>& attributes, std::vector<double> storage = {})
      : measure_(measure),
        attributes_(attributes),
        storage_(std::move(storage)),
        plain_(std::all_of(attributes.begin(), attributes.end(), [](const Attribute& attribute) {
          return !attribute.nominal && !attribute.missing && attribute.weight == 1.0;
        })) {}

  void evaluate(const Tile& tile, Quantity quantity, PairOrder order) const override {
    if (quantity == Quantity::distance) {
      order == PairOrder::train_first ? run<Quantity::distance, PairOrder::train_first>(tile)
                                      : run<Quantity::distance, PairOrder::query_first>(tile);
    } else {
      order == PairOrder::train_first ? run<Quantity::similarity, PairOrder::train_first>(tile)
                                      : run<Quantity::similarity, PairOrder::query_first>(tile);
    }
  }

  void evaluate_rows(const double* train, const std::int64_t* rows, std::int64_t n, const double* query,
                     double* out) const override {
    if constexpr (HasPlainTerm<M>) {
      if (plain_) return evaluate_plain_rows(train, rows, n, query, out);
    }
    const std::int64_t width = n_features();
    for (std::int64_t i = 0; i < n; i += kSideBySide) {
      if constexpr (Accumulating<M>) {
        // The last group repeats its last row: one pair at a time would take as long as four.
        const double* pairs[kSideBySide];
        for (std::int64_t pair = 0; pair < kSideBySide; ++pair) {
          pairs[pair] = train + rows[std::min(i + pair, n - 1)] * width;
        }
        if (i + kSideBySide <= n) {
          accumulate<kSideBySide, Quantity::distance, PairOrder::train_first>(query, pairs, out + i);
        } else {
          double results[kSideBySide];
          accumulate<kSideBySide, Quantity::distance, PairOrder::train_first>(query, pairs, results);
          for (std::int64_t pair = 0; i + pair < n; ++pair) out[i + pair] = results[pair];
        }
      } else {
        for (std::int64_t j = i; j < std::min(i + kSideBySide, n); ++j) {
          run<Quantity::distance, PairOrder::train_first>({train + rows[j] * width, 1, query, 1, out + j, 1});
        }
      }
    }
  }

  bool sums_plain_squares() const override {
    if constexpr (HasPlainTerm<M> && kHasFilter<M>) return M::kFilter.term == Term::square && plain_;
    return false;
  }

  void finish_sums([[maybe_unused]] const double* sums, [[maybe_unused]] std::int64_t n,
                   [[maybe_unused]] double* out) const override {
    if constexpr (HasPlainTerm<M>) {
      const auto width = static_cast<double>(n_features());
      for (std::int64_t i = 0; i < n; ++i) {
        out[i] = result_of_state<Quantity::distance>(measure_, PresentSum{sums[i], width});
      }
    }
  }

  const FilterForm* filter_form() const override {
    if constexpr (kHasFilter<M>) {
      static_assert(has_scan(M::kFilter), "no scan computes this kFilter: see ScanSum in form.hpp");
      static_assert(has_bound(M::kFilter), "no bound is argued for this kFilter: see has_bound in form.hpp");
      static_assert(
          !requires { M::scratch_doubles(std::int64_t{}); } && !requires(M m) { m.inverse; },
          "a measure with kFilter has no work space and no matrix: the filters' kernels pass none");
      return &M::kFilter;
    }
    return nullptr;
  }

  const PlainForm* plain_form() const override {
    if constexpr (requires { M::kPlain; }) {
      static_assert(
          Accumulating<M> && !requires(const M& m, const typename M::State& s) { m.similarity(s); },
          "the similarity of a PlainForm is the negated distance");
      if (plain_) return &M::kPlain;
    }
    return nullptr;
  }

  std::int64_t terms_per_pair() const override {
    if constexpr (requires { M::terms(n_features()); }) return M::terms(n_features());
    return n_features();
  }

  bool uses_logarithms() const override {
    if constexpr (requires { M::kUsesLogarithms; }) return M::kUsesLogarithms;
    return false;
  }

  MeasureBytes bytes() const override {
    static_assert(std::is_trivially_copyable_v<M>);
    static_assert(is_in<M>(kAllMeasures), "GPUs have no kernel for this measure: add it to a list in measures.hpp");
    return {typeid(M).name(), &measure_, sizeof(M), storage_.data(), static_cast<std::int64_t>(storage_.size())};
  }

  const char* split(const double* train, const double* query, double* terms) const override {
    if constexpr (kWhole<M> != nullptr) {
      split_distance(measure_, {train, query, attributes_.data(), n_features(), nullptr}, terms);
    }
    return kWhole<M>;
  }

  std::int64_t scratch_bytes() const override {
    if constexpr (requires { M::scratch_doubles(n_features()); }) {
      return checked::mul(M::scratch_doubles(n_features()), sizeof(double));
    }
    return 0;
  }

 private:
  std::int64_t n_features() const { return static_cast<std::int64_t>(attributes_.size()); }

  template <Quantity quantity, PairOrder order>
  void run(const Tile& tile) const {
    const std::int64_t n = n_features();
    if constexpr (Accumulating<M>) {
      for (std::int64_t i = 0; i < tile.n_queries; ++i) {
        const double* query = tile.queries + i * n;
        double* out = tile.out + i * tile.ld;
        std::int64_t j = 0;
        for (; j + kSideBySide <= tile.n_train; j += kSideBySide) {
          const double* pairs[kSideBySide];
          for (std::int64_t pair = 0; pair < kSideBySide; ++pair) pairs[pair] = tile.train + (j + pair) * n;
          accumulate<kSideBySide, quantity, order>(query, pairs, out + j);
        }
        for (; j < tile.n_train; ++j) {
          const double* const pair = tile.train + j * n;
          accumulate<1, quantity, order>(query, &pair, out + j);
        }
      }
    } else {
      std::vector<double> scratch(static_cast<std::size_t>(scratch_bytes()) / sizeof(double));
      for (std::int64_t i = 0; i < tile.n_queries; ++i) {
        for (std::int64_t j = 0; j < tile.n_train; ++j) {
          const double* train = tile.train + j * n;
          const double* query = tile.queries + i * n;
          const bool train_first = order == PairOrder::train_first;
          tile.out[i * tile.ld + j] = result_of_rows<quantity>(
              measure_,
              {train_first ? train : query, train_first ? query : train, attributes_.data(), n, scratch.data()});
        }
      }
    }
  }

  // Four pairs side by side hide the latency of the additions, which must stay in order within a pair.
  static constexpr std::int64_t kSideBySide = 4;

  template <std::int64_t kPairs, Quantity quantity, PairOrder order>
  void accumulate(const double* query, const double* const* train, double* out) const {
    const std::int64_t n = n_features();
    typename M::State states[kPairs];
    for (std::int64_t a = 0; a < n; ++a) {
      const Attribute& attribute = attributes_[static_cast<std::size_t>(a)];
      for (std::int64_t pair = 0; pair < kPairs; ++pair) {
        const double t = train[pair][a];
        measure_.add(states[pair], order == PairOrder::train_first ? t : query[a],
                     order == PairOrder::train_first ? query[a] : t, attribute);
      }
    }
    for (std::int64_t pair = 0; pair < kPairs; ++pair) out[pair] = result_of_state<quantity>(measure_, states[pair]);
  }

  // Computes the same as accumulate() for eight rows side by side. The rows lie anywhere in memory: the next eight are
  // asked for meanwhile. 100,000 x 768: 1.35 -> 0.6 ns a term.
  void evaluate_plain_rows(const double* train, const std::int64_t* rows, std::int64_t n, const double* query,
                           double* out) const {
    constexpr std::int64_t kRows = 8, kLine = 8;  // rows side by side; doubles of a cache line
    const std::int64_t width = n_features();
    const auto row_at = [&](std::int64_t i) { return train + rows[std::min(i, n - 1)] * width; };
    for (std::int64_t i = 0; i < n; i += kRows) {
      const double *now[kRows], *next[kRows];
      for (std::int64_t row = 0; row < kRows; ++row) now[row] = row_at(i + row), next[row] = row_at(i + kRows + row);
      double sums[kRows] = {};
      for (std::int64_t first = 0; first < width; first += kLine) {
        for (std::int64_t row = 0; row < kRows; ++row) __builtin_prefetch(next[row] + first);
        const std::int64_t end = std::min(first + kLine, width);
        for (std::int64_t a = first; a < end; ++a) {
          for (std::int64_t row = 0; row < kRows; ++row) sums[row] += M::plain_term(now[row][a], query[a]);
        }
      }
      for (std::int64_t row = 0; row < std::min(kRows, n - i); ++row) {
        // The query may lack a value. Infinities that cancel come here as well, and get the same result again.
        if (is_missing(sums[row])) {
          accumulate<1, Quantity::distance, PairOrder::train_first>(query, now + row, out + i + row);
        } else {
          const PresentSum sum{sums[row], static_cast<double>(width)};
          out[i + row] = result_of_state<Quantity::distance>(measure_, sum);
        }
      }
    }
  }

  M measure_;
  const std::vector<Attribute>& attributes_;
  std::vector<double> storage_;  // what the measure's members point to
  bool plain_;                   // the training rows are numbers, all of weight 1 and none missing
};

template <class M>
std::unique_ptr<MeasureKernel> make_kernel(const MeasureContext& context, M measure = {}) {
  return std::make_unique<TypedKernel<M>>(measure, context.attributes);
}

}  // namespace stope::knn
