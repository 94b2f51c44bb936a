// Pairwise distances and Cross Distances (stope/knn.hpp).
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "base/huge_pages.hpp"
#include "base/memory.hpp"
#include "base/name_index.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "base/sink.hpp"
#include "knn/lists/neighbor_list.hpp"
#include "knn/search/make_engine.hpp"
#include "knn/search/make_plan.hpp"
#include "stope/error.hpp"
#include "stope/knn_pairwise.hpp"
#include "table/check_table.hpp"
#include "table/encode.hpp"

namespace stope {
namespace {

using knn::Neighbor;

// For RapidMiner's nominal similarities under Cross Distances "false" is the first value of the request's mapping. So a
// binominal attribute of the reference is recoded to that mapping; one whose values differ counts as polynominal.
Table with_binominals_of(const Table& request, const Table& reference) {
  Table table = reference;
  NameIndex places(request.columns.size());
  places.add_all(request.columns, [](const Column& column) -> std::string_view { return column.name; });
  for (Column& column : table.columns) {
    if (column.role != Role::regular || column.type != ValueType::binominal) continue;
    const std::int64_t index = places.find(column.name);
    if (index < 0) continue;  // reported when the columns are matched
    const Column& theirs = request.columns[static_cast<std::size_t>(index)];
    const std::vector<std::int32_t> codes = map_values(column.values, theirs.values, kUnseenCode);
    const bool same_values = theirs.type == ValueType::binominal && column.values.size() == theirs.values.size() &&
                             std::find(codes.begin(), codes.end(), kUnseenCode) == codes.end();
    if (!same_values) {
      column.type = ValueType::polynominal;
      continue;
    }
    check_codes(column);
    Buffer<std::int32_t> recoded(column.size(), column.codes().storage());
    for (std::int64_t row = 0; row < column.size(); ++row) {
      const std::int32_t code = column.codes()[row];
      recoded[row] = code < 0 ? code : codes[static_cast<std::size_t>(code)];
    }
    column.data = std::move(recoded);
    column.values = theirs.values;
  }
  return table;
}

// Walks over the request rows block by block. The reference table is fitted like the training table of a search.
class RequestBlocks {
 public:
  /// `fitted` is the reference table if it was fitted already, else null.
  RequestBlocks(const Table& request, const Table& reference, const PairwiseOptions& options, const RunOptions& run,
                const knn::Fitted* fitted = nullptr)
      : run_(run),
        raw_codes_(find_raw_codes(options.knn)),
        own_(fitted != nullptr
                 ? nullptr
                 : std::make_unique<const knn::Fitted>(options.knn.compat == Compat::rapidminer && !raw_codes_
                                                           ? with_binominals_of(request, reference)
                                                           : reference,
                                                       options.knn, run)),
        fitted_(fitted != nullptr ? *fitted : *own_),
        n_requests_(request.n_rows) {
    columns_ = match_columns(fitted_.features(), request, Compat::none,
                             raw_codes_ ? ValueMapping::raw_codes : ValueMapping::by_name);
    // A block holds distances and, where asked for, similarities of whole reference rows, and lists of k.
    const std::int64_t values = checked::mul(fitted_.n_rows(), options.similarities ? 2 : 1);
    const std::int64_t listed = std::min(options.n_neighbors, fitted_.n_rows());
    const device::BackendChoice backend = knn::backend_for(fitted_, run);
    const knn::Engine engine = knn::reference_engine(backend.backend == device::Backend::cuda);
    plan_ = knn::make_plan({request.n_rows, fitted_.n_rows(), fitted_.width(),
                            checked::add(checked::mul(values, sizeof(double)), checked::mul(listed, sizeof(Neighbor))),
                            fitted_.kernel().scratch_bytes(), fitted_.bytes(), fitted_.resident()},
                           backend, {.engine = engine, .reason = "every pair is wanted"}, run);
    matrix_ = knn::make_matrix(fitted_, plan_, run);
    parts_ = std::make_unique<knn::TrainParts>(fitted_, plan_.part_rows);
    pool_ = std::make_unique<ThreadPool>(plan_.threads);
    encoded_ = Buffer<double>(checked::mul(plan_.tile_queries, fitted_.width()));
  }

  std::int64_t n_reference() const { return fitted_.n_rows(); }
  Buffer<double> make_values() const { return Buffer<double>(checked::mul(plan_.tile_queries, n_reference())); }

  /// Calls visit(first request, number of requests) after encoding them; fill() then computes their rows.
  template <class Visit>
  SearchReport for_each(const Visit& visit) {
    const RunningJob running(run_);
    const auto start = std::chrono::steady_clock::now();
    PhaseProgress progress(run_, "pairwise", n_requests_);
    for (std::int64_t first = 0; first < n_requests_; first += plan_.tile_queries) {
      run_.cancel.check();
      block_ = {first, std::min(plan_.tile_queries, n_requests_ - first), encoded_.data(), nullptr};
      encode_rows(columns_, first, first + block_.n, encoded_.data());
      const PhaseSpan span(progress, first, first + block_.n);
      visit(first, block_.n);
      progress.reach(first + block_.n);
    }
    SearchReport report = knn::report_of(plan_);
    matrix_->report(report);
    report.tile_rows = n_reference();
    report.pairs = checked::mul(n_requests_, n_reference());
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    hand_report(run_, "pairwise", report);
    return report;
  }

  void fill(knn::Quantity quantity, double* values) {
    for (std::int64_t i = 0; i < parts_->count(); ++i) {
      const knn::TrainPart part = parts_->part(i, *pool_, run_.cancel);
      const PhaseSpan span = PhaseSpan::share(i, parts_->count(), 1);
      matrix_->compute(part, block_, quantity, knn::PairOrder::query_first, values + part.first, n_reference());
    }
  }

 private:
  static bool find_raw_codes(const KnnOptions& options) {
    return options.compat == Compat::rapidminer && knn::find_measure(options.metric).raw_codes;
  }

  const RunOptions& run_;
  bool raw_codes_;
  std::unique_ptr<const knn::Fitted> own_;
  const knn::Fitted& fitted_;
  std::int64_t n_requests_;
  std::vector<MatchedColumn> columns_;
  knn::Plan plan_;
  std::unique_ptr<knn::DistanceMatrix> matrix_;
  std::unique_ptr<knn::TrainParts> parts_;
  std::unique_ptr<ThreadPool> pool_;
  Buffer<double> encoded_;
  knn::QueryBlock block_;
};

knn::Quantity quantity_of(const PairwiseOptions& options) {
  return options.similarities ? knn::Quantity::similarity : knn::Quantity::distance;
}

void check_k(const PairwiseOptions& options, std::int64_t n_reference) {
  const bool too_many = options.n_neighbors > n_reference && options.knn.compat == Compat::none;
  if (options.n_neighbors < 0 || too_many) {
    throw Error(ErrorCode::invalid_argument,
                "k = " + std::to_string(options.n_neighbors) +
                    (too_many ? " is more than the " + counted(n_reference, "reference row") + " to choose from"
                              : std::string(" is less than 1")),
                {.option = "n_neighbors"});
  }
}

// Throws out_of_memory where the table of pairs does not fit: it is held whole, and RapidMiner's sort needs a copy.
void check_memory(const PairwiseOptions& options, std::int64_t n_requests, std::int64_t n_reference,
                  const RunOptions& run) {
  const std::int64_t kept = options.n_neighbors > 0 ? std::min(options.n_neighbors, n_reference) : n_reference;
  const std::int64_t copies = options.knn.compat == Compat::rapidminer ? 2 : 1;
  const std::int64_t bytes = checked::mul(checked::mul(n_requests, kept), checked::mul(copies, sizeof(CrossDistance)));
  require_memory("a table of " + std::to_string(n_requests) + " x " + std::to_string(kept) + " distances needs", bytes,
                 run);
}

// Selects the pairs of one request under stope's rules: the k nearest or farthest by (distance, row), NaN last, or all
// in order.
class DefaultSelection {
 public:
  DefaultSelection(const PairwiseOptions& options, std::int64_t n_reference)
      : farthest_(options.search_for == SearchFor::farthest), k_(options.n_neighbors), n_(n_reference) {}

  const std::vector<Neighbor>& select(const double* distances) {
    if (k_ == 0) {  // all
      chosen_.clear();
      for (std::int64_t row = 0; row < n_; ++row) chosen_.push_back({distances[row], row});
      return chosen_;
    }
    // The farthest by (distance descending, row) are the nearest of the negated distances; NaN stays last.
    list_.reset(k_);
    for (std::int64_t row = 0; row < n_; ++row) list_.offer({farthest_ ? -distances[row] : distances[row], row});
    return list_.sorted();
  }

 private:
  bool farthest_;
  std::int64_t k_, n_;
  knn::NearestList list_;
  std::vector<Neighbor> chosen_;
};

// Sorts a table as RapidMiner does, which is stable.
void sort_as_rapidminer(SearchFor search_for, std::vector<CrossDistance>& table) {
  const bool falling = search_for == SearchFor::farthest;
  std::stable_sort(table.begin(), table.end(), [falling](const CrossDistance& a, const CrossDistance& b) {
    return falling ? knn::java_greater(a.distance, b.distance) : knn::java_greater(b.distance, a.distance);
  });
}

// RapidMiner's Cross Distances keeps its heap by the reported value, then sorts the whole table.
std::vector<CrossDistance> rapidminer_cross_distances(RequestBlocks& blocks, const PairwiseOptions& options,
                                                      SearchReport& report) {
  const std::int64_t n = blocks.n_reference();
  const double sign = options.search_for == SearchFor::farthest ? -1.0 : 1.0;
  std::vector<CrossDistance> table;
  knn::RapidMinerHeap heap;
  Buffer<double> values = blocks.make_values();
  report = blocks.for_each([&](std::int64_t first, std::int64_t count) {
    blocks.fill(quantity_of(options), values.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const double* row = values.data() + i * n;
      if (options.n_neighbors == 0) {
        for (std::int64_t j = 0; j < n; ++j) table.push_back({first + i, j, row[j]});
        continue;
      }
      heap.reset(options.n_neighbors);
      for (std::int64_t j = 0; j < n; ++j) heap.offer({row[j] * sign, j});
      for (const Neighbor& c : heap.array()) table.push_back({first + i, c.row, row[c.row]});
    }
  });
  sort_as_rapidminer(options.search_for, table);
  return table;
}

// The similarities of single pairs.
class PairSimilarities {
 public:
  PairSimilarities(const knn::Fitted& fitted, const Table& request)
      : fitted_(fitted),
        columns_(match_columns(fitted.features(), request, Compat::none)),
        row_(static_cast<std::size_t>(fitted.width())) {}

  double of(std::int64_t request, std::int64_t document) {
    if (request != request_) encode_rows(columns_, request, request + 1, row_.data());
    request_ = request;
    double similarity = 0.0;
    const double* const train = fitted_.rows() + document * fitted_.width();
    fitted_.kernel().evaluate({train, 1, row_.data(), 1, &similarity, 1}, knn::Quantity::similarity,
                              knn::PairOrder::query_first);
    return similarity;
  }

 private:
  const knn::Fitted& fitted_;
  std::vector<MatchedColumn> columns_;
  std::vector<double> row_;  // of the request
  std::int64_t request_ = -1;
};

// Whether a search may find the pairs. Under RapidMiner's rules a search matches nominal values in another way than
// Cross Distances does, and the heap of similarities is another one than that of distances.
bool may_search(const Table& reference, const PairwiseOptions& options) {
  if (options.n_neighbors <= 0 || options.search_for != SearchFor::nearest) return false;
  if (options.knn.compat == Compat::none) return true;
  const std::vector<FeatureSpec> features = features_of(reference);
  return !options.similarities &&
         std::none_of(features.begin(), features.end(), [](const FeatureSpec& f) { return is_nominal(f.type); });
}

// A search finds the nearest of every request, and a search can use a filter. Measures that have a filter keep every
// bit when their arguments change places, so it does not matter which row the search puts first.
std::vector<CrossDistance> nearest_pairs(const KnnIndex& index, const Table& request, const PairwiseOptions& options,
                                         const RunOptions& run, SearchReport& report) {
  std::vector<CrossDistance> table;
  std::optional<PairSimilarities> similarities;
  if (options.similarities) similarities.emplace(index.fitted(), request);
  report = index.kneighbors(request, {.n_neighbors = options.n_neighbors}, run, [&](const Neighbors& block) {
    for (std::int64_t i = 0; i < block.n_queries(); ++i) {
      for (auto j = static_cast<std::size_t>(block.offsets[static_cast<std::size_t>(i)]);
           j < static_cast<std::size_t>(block.offsets[static_cast<std::size_t>(i) + 1]); ++j) {
        const std::int64_t number = block.first_query + i, document = block.indices[j];
        table.push_back({number, document, similarities ? similarities->of(number, document) : block.distances[j]});
      }
    }
  });
  if (options.knn.compat == Compat::rapidminer) sort_as_rapidminer(options.search_for, table);
  return table;
}

}  // namespace

SearchReport pairwise_distances(const Table& request, const Table& reference, const PairwiseOptions& options,
                                const RunOptions& run, const std::function<void(const PairwiseBlock&)>& sink) try {
  require_sink(sink);
  check_shape(request);
  check_shape(reference);
  RequestBlocks blocks(request, reference, options, run);
  Buffer<double> values = blocks.make_values();
  return blocks.for_each([&](std::int64_t first, std::int64_t count) {
    blocks.fill(quantity_of(options), values.data());
    sink({first, count, blocks.n_reference(), values.data()});
  });
} catch (...) {
  rethrow_as_error();
}

SearchReport pairwise_distances(const Table& request, const Table& reference, const PairwiseOptions& options,
                                const RunOptions& run, std::span<double> matrix) try {
  check_shape(request);
  check_shape(reference);
  const std::int64_t n = reference.n_rows;
  if (const std::int64_t size = checked::mul(request.n_rows, n); size != static_cast<std::int64_t>(matrix.size())) {
    throw Error(ErrorCode::invalid_argument, "the matrix has " +
                                                 counted(static_cast<std::int64_t>(matrix.size()), "value") +
                                                 ", but there are " + counted(size, "pair"));
  }
  prefer_huge_pages(matrix.data(), matrix.size_bytes());
  RequestBlocks blocks(request, reference, options, run);
  return blocks.for_each([&](std::int64_t first, std::int64_t /*count*/) {
    blocks.fill(quantity_of(options), matrix.data() + first * n);
  });
} catch (...) {
  rethrow_as_error();
}

std::vector<CrossDistance> cross_distances(const Table& request, const Table& reference, const PairwiseOptions& options,
                                           const RunOptions& run, SearchReport* report) try {
  check_shape(request);
  check_shape(reference);
  if (options.n_neighbors < 0) check_k(options, 0);
  std::optional<KnnIndex> fitted;
  if (may_search(reference, options)) {
    const KnnIndex& index = fitted.emplace(KnnIndex::fit(reference, options.knn, run));
    const bool has_rows = !options.similarities || index.fitted().resident();
    if (index.fitted().kernel().filter_form() != nullptr && has_rows) {
      check_k(options, index.n_samples());
      check_memory(options, request.n_rows, index.n_samples(), run);
      SearchReport unused;
      return nearest_pairs(index, request, options, run, report != nullptr ? *report : unused);
    }
  }
  RequestBlocks blocks(request, reference, options, run, fitted.has_value() ? &fitted->fitted() : nullptr);
  const std::int64_t n = blocks.n_reference();
  check_k(options, n);
  check_memory(options, request.n_rows, n, run);
  SearchReport done;
  std::vector<CrossDistance> table;
  if (options.knn.compat == Compat::rapidminer) {
    table = rapidminer_cross_distances(blocks, options, done);
  } else {
    DefaultSelection selection(options, n);
    Buffer<double> distances = blocks.make_values();
    Buffer<double> similarities = options.similarities ? blocks.make_values() : distances;
    done = blocks.for_each([&](std::int64_t first, std::int64_t count) {
      blocks.fill(knn::Quantity::distance, distances.data());
      if (options.similarities) blocks.fill(knn::Quantity::similarity, similarities.data());
      for (std::int64_t i = 0; i < count; ++i) {
        for (const Neighbor& c : selection.select(distances.data() + i * n)) {
          table.push_back({first + i, c.row, similarities[i * n + c.row]});
        }
      }
    });
  }
  if (report != nullptr) *report = std::move(done);
  return table;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
