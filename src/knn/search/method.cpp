#include "knn/search/method.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/filter/near_order.hpp"
#include "knn/gpu/differences/difference_filter.hpp"
#include "knn/gpu/tensor/tensor_filter.hpp"
#include "knn/search/order_cost.hpp"

namespace stope::knn {
namespace {

// Crossovers, measured by bench/knn_crossovers.py (bench/results/knn_crossovers_*.json). Queries are counted over the
// life of a fitted table, since images and choices are kept. A single query is worth no images; many queries are.
constexpr std::int64_t kLeastQueries = 8;  // a table's images cost as much as a few queries without them
constexpr std::int64_t kLeastPairs = std::int64_t{1} << 18;  // fewer are done before a filter's threads have begun
constexpr std::int64_t kLeastRowsPerNeighbor = 16;  // with fewer, a filter keeps so many rows that it saves nothing
constexpr std::int64_t kLeastTermsForSample = std::int64_t{1} << 28;  // fewer are scanned as fast as a sample
constexpr std::int64_t kLeastTermsForOrder = 2048;  // of each row: an order costs as much as comparing so many terms;
                                                    // over few columns order_cost() says more
constexpr std::int64_t kMostColumnsForDifferences = 3;         // so few columns cost little compared with the work on
                                                               // the sums
constexpr double kBytesMayKeep = 0.5, kProductsMayKeep = 0.1;  // rows of the sample per column
constexpr double kNibblesMayKeep = 1.0, kNibblesMayKeepForBytes = 0.3;  // the same, instead of floats and of bytes
constexpr double kMostKept = 0.03;  // of a sample's rows: where there are many columns, a row's distance costs as much
                                    // as scanning so many
constexpr std::int64_t kMostColumnsForBlocks = 64;
constexpr double kMostVisited = 0.6;       // if boxes leave a larger share of the blocks, they are not worth a look
constexpr double kMostVisitedAlone = 0.3;  // with a smaller share, every query finds its own blocks faster
// On GPUs, measured on an H100 (bench/results/knn_gpu_nvidia-h100-80gb-hbm3_2026-11-26.json). A query in the whole
// table visits rows for the share of blocks that a sample leaves, and more where the share is large. 1M uniform rows, k
// = 10: 154 rows with 3 columns (2 % of the sample), 605 with 5 (6 %), 1,260 with 6 (11 %), 3,785 with 8 (19 %). A
// visited row takes as long as 150 to 170 rows of a scan. Boxes around a million rows take as long as a scan of 2^34
// pairs. Longer lists take the host longer than the search takes the GPU, and the tensor filter hands them on faster.
constexpr double kVisitedPerShare = 20.0, kScannedPerVisited = 250.0;
constexpr std::int64_t kMostColumnsForBoxesOnGpu = 8, kLeastPairsForBoxesOnGpu = std::int64_t{1} << 34;
constexpr std::int64_t kMostNeighborsForBoxesOnGpu = 32;
// A sample says how many rows the nearest one needs, not how many a radius needs. In so few columns a ball with 128
// rows is still small. It was not measured.
constexpr std::int64_t kMostColumnsForBoxesWithin = 4;
constexpr std::int64_t kMostColumnsForDifferencesAlone = 6;  // what kMostColumnsForDifferences is, for such a query

// Predicts from a sample of the training rows how well filters would do. The whole table is denser: its neighbours are
// nearer and its boxes smaller. The sample's nearest row stands for the table's k nearest.
class Sample {
 public:
  Sample(const Fitted& fitted, const ImageMap& map)
      : map_(map),
        form_(map.form()),
        n_columns_(map.n_columns()),
        n_(std::min(std::clamp<std::int64_t>(kSampleValues / map.n_columns(), 512, 4096), fitted.n_rows())) {
    const std::vector<double> rows = fitted.sample(n_);
    n_ = static_cast<std::int64_t>(rows.size()) / fitted.width();
    images_.resize(static_cast<std::size_t>(n_ * n_columns_));
    for (std::int64_t i = 0; i < n_; ++i) map.map(rows.data() + i * fitted.width(), images_.data() + i * n_columns_);
    // The sample's first rows at these strides stand for queries.
    for (std::int64_t q = 0; q < kQueries; ++q) {
      const std::int64_t row = q * (n_ / kQueries);
      queries_.insert(queries_.end(), image(row), image(row) + n_columns_);
      if (map.query_map() == nullptr) continue;
      map.query_map()->map(rows.data() + row * fitted.width(), queries_.data() + q * n_columns_);
    }
    std::vector<float> columns(images_.size());
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t c = 0; c < n_columns_; ++c) columns[static_cast<std::size_t>(c * n_ + i)] = image(i)[c];
    }
    sums_.resize(static_cast<std::size_t>(kQueries * n_));
    for (std::int64_t q = 0; q < kQueries; ++q) {
      add_up(query(q), columns.data(), n_, sums_.data() + q * n_);
      nearest_.push_back(nearest(q));
    }
  }

  /// Returns how many rows of the sample a filter keeps, on average per query. The filter tells distances apart if they
  /// differ by `residual` or more, and sums if they differ by `error` or more.
  double kept(double residual, double error) const {
    std::int64_t kept = 0;
    for (std::int64_t q = 0; q < kQueries; ++q) {
      const double nearest = nearest_[static_cast<std::size_t>(q)];
      const double root = form_.term == Term::square ? std::sqrt(nearest) + residual : nearest + residual;
      const double reach = form_.term == Term::square ? root * root : root;
      const auto begin = sums_.begin() + q * n_;
      kept += std::count_if(begin, begin + n_, [&](float sum) { return static_cast<double>(sum) <= reach + error; });
    }
    return static_cast<double>(kept) / kQueries;
  }

  /// Whether it keeps at most `rows_per_column` rows of the sample per column.
  bool is_sharp(double residual, double error, double rows_per_column) const {
    const double most =
        std::min(rows_per_column * static_cast<double>(n_columns_), kMostKept * static_cast<double>(n_));
    return kept(residual, error) <= most;
  }

  /// Whether products of floats, the sharpest there are, leave half of the sample or less.
  bool tells_products_apart() const {
    const auto columns = static_cast<double>(n_columns_);
    const double error = (columns + 8.0) * 0x1p-22 * std::sqrt(columns) * largest();
    return kept(0.0, error) <= 0.5 * static_cast<double>(n_);
  }

  std::int64_t n_rows() const { return n_; }

  /// Returns the largest |value| among the numbers.
  double largest() const {
    float largest = 0.0F;
    for (std::int64_t i = 0; i < n_; ++i) {
      for (const float* value = image(i); value != image(i) + map_.n_numeric(); ++value) {
        if (*value == *value) largest = std::max(largest, std::fabs(*value));
      }
    }
    return static_cast<double>(largest);
  }

  /// Returns the share of blocks that the boxes around them do not rule out, on average per query.
  double visited(const CancelToken& cancel) const {
    ThreadPool pool(1);
    const std::vector<std::int64_t> order =
        near_order_by_number(images_.data(), n_, n_columns_, kScanBlockRows, pool, cancel);
    std::int64_t visited = 0, blocks = 0;
    std::vector<float> low, high, inside;
    for (std::int64_t block = 0; block < n_; block += kScanBlockRows, ++blocks) {
      low.assign(static_cast<std::size_t>(n_columns_), kNoLimit);
      high.assign(static_cast<std::size_t>(n_columns_), -kNoLimit);
      for (std::int64_t i = block; i < std::min(block + kScanBlockRows, n_); ++i) {
        const float* row = image(order[static_cast<std::size_t>(i)]);
        for (std::size_t c = 0; c < low.size(); ++c) {
          low[c] = row[c] == row[c] ? std::min(low[c], row[c]) : -kNoLimit;
          high[c] = row[c] == row[c] ? std::max(high[c], row[c]) : kNoLimit;
        }
      }
      for (std::int64_t q = 0; q < kQueries; ++q) {
        inside.assign(query(q), query(q) + n_columns_);  // the point of the box nearest to the query
        for (std::size_t c = 0; c < low.size(); ++c) inside[c] = std::max(low[c], std::min(high[c], inside[c]));
        float sum = 0.0F;
        add_up(query(q), inside.data(), 1, &sum);
        visited += static_cast<double>(sum) <= nearest_[static_cast<std::size_t>(q)] ? 1 : 0;
      }
    }
    return static_cast<double>(visited) / static_cast<double>(blocks * kQueries);
  }

 private:
  static constexpr std::int64_t kQueries = 32;
  static constexpr std::int64_t kSampleValues = std::int64_t{1} << 19;  // more would cost as much as a small search

  const float* image(std::int64_t i) const { return images_.data() + i * n_columns_; }
  const float* query(std::int64_t q) const { return queries_.data() + q * n_columns_; }

  // Computes the sums over all attributes between a query and n images that lie column by column. A missing attribute
  // adds the average of the others' terms.
  void add_up(const float* query, const float* columns, std::int64_t n, float* sums) const {
    std::vector<float> weights(static_cast<std::size_t>(n), 0.0F);
    std::fill(sums, sums + n, 0.0F);
    float total = 0.0F;
    for (std::int64_t c = 0; c < n_columns_; ++c) {
      const float q = query[c], weight = map_.weight()[c], mismatch = map_.mismatch()[c];
      const float* column = columns + c * n;
      const bool numeric = c < map_.n_numeric(), squares = form_.term == Term::square;
      total += weight;
      if (form_.term == Term::product) {
        for (std::int64_t i = 0; i < n; ++i) sums[i] -= q * column[i] == q * column[i] ? q * column[i] : 0.0F;
        continue;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        const float difference = std::fabs(q - column[i]);
        const float term = numeric ? (squares ? difference * difference : difference) : mismatch;
        const float added = difference > 0.0F ? term : 0.0F;  // nothing where either is missing
        sums[i] = form_.term == Term::maximum ? std::max(sums[i], added) : sums[i] + added;
        weights[static_cast<std::size_t>(i)] += difference >= 0.0F ? weight : 0.0F;
      }
    }
    if (form_.divisor != Divisor::present_weight) return;
    for (std::int64_t i = 0; i < n; ++i) {
      const float weight = weights[static_cast<std::size_t>(i)];
      if (weight > 0.0F) sums[i] *= total / weight;
    }
  }

  // Returns the smallest sum between a query and another row of the sample.
  double nearest(std::int64_t q) const {
    std::vector<float> sums(sums_.begin() + q * n_, sums_.begin() + (q + 1) * n_);
    std::nth_element(sums.begin(), sums.begin() + 1, sums.end());
    return static_cast<double>(sums[1]);
  }

  const ImageMap& map_;
  const FilterForm& form_;
  std::int64_t n_columns_, n_;
  std::vector<float> images_, queries_, sums_;
  std::vector<double> nearest_;
};

// Products cost a quarter (in bytes: a sixteenth) of differences but bound less sharply, and each row kept in excess
// costs a distance. The allowances are where the two costs meet.
ScanKind choose_kind(const ImageMap& map, const Sample& sample, const device::BackendChoice& backend) {
  const auto columns = static_cast<double>(map.n_columns());
  if (map.n_columns() <= kMostColumnsForDifferences) return ScanKind::differences;
  const double largest = sample.largest();
  if (fits(map, ScanKind::byte_differences) && backend.backend != device::Backend::scalar) {
    // Rounding moves a number by a quarter of a step on average, on either side.
    const double residual = 0.5 * static_cast<double>(map.n_numeric()) * largest / 127.0;
    return sample.is_sharp(residual, 0.0, kBytesMayKeep) ? ScanKind::byte_differences : ScanKind::differences;
  }
  const double bytes_residual = 2.0 * std::sqrt(columns / 12.0) * largest / 127.0;
  if (!fits(map, ScanKind::products)) {  // squares divided by what both rows have
    const bool bytes = backend.backend == device::Backend::avx512vnni && fits(map, ScanKind::byte_products_present) &&
                       sample.is_sharp(bytes_residual, 0.0, kBytesMayKeep);
    return bytes ? ScanKind::byte_products_present : ScanKind::differences;
  }
  if (backend.backend != device::Backend::scalar) {
    // Without VNNI a query has steps that are up to twice as coarse.
    const double coarser = backend.backend == device::Backend::avx512vnni ? 1.0 : 1.25;
    if (sample.is_sharp(coarser * bytes_residual, 0.0, kBytesMayKeep)) return ScanKind::byte_products;
  }
  const double error = 2.0 * (columns + 8.0) * 0x1p-23 * 2.0 * columns * largest * largest;
  if (map.form().term == Term::product) return ScanKind::products;
  return sample.is_sharp(0.0, error, kProductsMayKeep) ? ScanKind::products : ScanKind::differences;
}

// Says whether nibbles are sharp enough to be scanned instead of products. They read an eighth of what floats take, or
// half of what bytes take, and list more rows.
bool nibbles_pay(const ImageMap& map, const Sample& sample, const device::BackendChoice& backend, ScanKind kind) {
  const bool products = kind == ScanKind::products || kind == ScanKind::byte_products;
  if (!products || backend.backend == device::Backend::scalar) return false;
  const auto columns = static_cast<double>(map.n_columns());
  // A row lies half a step from its image in every column at most, and a quarter more than on average.
  const double residual = 1.25 * std::sqrt(columns / 12.0) * sample.largest() / 8.0;
  const double most = kind == ScanKind::products ? kNibblesMayKeep : kNibblesMayKeepForBytes;
  return sample.is_sharp(residual, 0.0, most);
}

Method sampled_method(const Fitted& fitted, const ImageMap& map, const device::BackendChoice& backend, bool in_order,
                      const RunOptions& run) {
  const Sample sample(fitted, map);
  Method method;
  if (map.form().term == Term::product && !sample.tells_products_apart()) {
    method.reason = "the bound rules out too little of a sample";
    return method;
  }
  method.engine = Engine::cpu_filter;
  method.kind = choose_kind(map, sample, backend);
  if (in_order) {
    method.reason = "RapidMiner's heap takes the rows in order";
  } else if (boxes_bound(map.form()) && map.n_columns() <= kMostColumnsForBlocks) {
    const double visited = sample.visited(run.cancel);
    if (visited < kMostVisited) method.order = BlockOrder::near;
    if (visited < kMostVisitedAlone) method.visit = Visit::queries;
    const bool few_columns = map.n_columns() <= kMostColumnsForDifferencesAlone;
    if (visited < kMostVisitedAlone && few_columns) method.kind = ScanKind::differences;
    method.reason = "boxes around blocks leave " + std::to_string(static_cast<int>(visited * 100.0)) +
                    " % of a sample" + (visited < kMostVisited ? "" : ": not used");
  }
  method.lone_kind = method.kind;
  if (method.order == BlockOrder::table && nibbles_pay(map, sample, backend, method.kind)) {
    method.lone_kind = ScanKind::nibble_products;
    // Bytes bound more sharply, and VNNI compares them as fast with many queries.
    if (method.kind != ScanKind::byte_products) method.kind = method.lone_kind;
  }
  return method;
}

// Says whether too many columns have more values than buckets: mismatches between values of one bucket go unseen.
bool buckets_blur(const Fitted& fitted, const ImageMap& map) {
  constexpr double kMostBuckets = 16.0;
  const RowForm form = map.row_form();
  const auto n = std::count_if(form.equality, form.equality + form.n_equality, [&](std::int64_t source) {
    const Attribute& attribute = fitted.attributes()[static_cast<std::size_t>(source)];
    return !attribute.nominal || attribute.n_values > kMostBuckets;
  });
  return n > map.n_columns() / 8;
}

// Chooses the images of the difference filter. It takes bytes, at four terms an instruction, if a sample shows that
// they are sharp enough. `forced` is a word of STOPE_SCAN, or empty.
ScanKind kind_on_gpu(const Fitted& fitted, const ImageMap& map, std::int64_t n_queries, std::string_view forced) {
  if (!fits(map, ScanKind::byte_differences) || forced == "differences") return ScanKind::differences;
  if (forced == "bytes") return ScanKind::byte_differences;
  if (buckets_blur(fitted, map)) return ScanKind::differences;
  if (n_queries < kLeastTermsForSample / fitted.n_rows() / map.n_columns()) return ScanKind::differences;
  const auto choose = [&] {
    Method method;
    device::BackendChoice any;
    any.backend = device::Backend::avx512;  // any that compares bytes
    method.kind = choose_kind(map, Sample(fitted, map), any);
    return method;
  };
  return fitted.history().choice(device::Backend::cuda, SearchHistory::Question::any_order, choose).kind;
}

// Says how many rows a query through boxes looks at. In a larger table blocks are as much smaller as there are more of
// them, so the number hardly depends on its size.
double rows_through_boxes(const Fitted& fitted, const ImageMap& map, const RunOptions& run) {
  const Sample sample(fitted, map);
  const double share = sample.visited(run.cancel);
  return share * static_cast<double>(sample.n_rows()) * (1.0 + kVisitedPerShare * share);
}

// Searches through boxes where it pays, or where STOPE_VISIT says so.
std::optional<Method> choose_box_search(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                        const device::BackendChoice& backend, const RunOptions& run) {
  const FilterForm* form = fitted.kernel().filter_form();
  const std::string_view scan = environment::word(environment::Variable::scan);
  const std::string_view visit = environment::word(environment::Variable::visit);
  const bool forced = visit == "queries";
  const bool heap = selection.kind == Selection::Kind::rapidminer_heap;
  if (heap || form == nullptr || !has_box_search(*form) || !fitted.resident() ||
      !difference_filter_takes(fitted, selection) || (!forced && (!visit.empty() || !scan.empty()))) {
    return {};
  }
  const std::int64_t n = fitted.n_rows();
  const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *form);
  if (!map->bounds()) return {};
  Method method;
  method.engine = Engine::box_search;
  method.reason = "boxes over boxes, on the GPU";
  if (!forced) {
    const std::int64_t queries = fitted.history().add_queries(n_queries);
    const bool within = selection.kind == Selection::Kind::radius;
    const bool too_long = !within && selection.ks.front() > kMostNeighborsForBoxesOnGpu;
    if (map->n_columns() > (within ? kMostColumnsForBoxesWithin : kMostColumnsForBoxesOnGpu) || too_long ||
        queries < kLeastPairsForBoxesOnGpu / n) {
      return {};
    }
    const auto choose = [&] {
      Method chosen = method;
      const bool pays = kScannedPerVisited * rows_through_boxes(fitted, *map, run) < static_cast<double>(n);
      if (!pays) chosen.engine = Engine::gpu_reference;
      return chosen;
    };
    method = fitted.history().choice(device::Backend::cuda, SearchHistory::Question::boxes_on_gpu, choose);
    if (method.engine != Engine::box_search) return {};
  }
  if (!difference_filter_problem(fitted, selection, n_queries, DifferenceForm::boxes, backend, run).empty()) return {};
  return method;
}

// Takes boxes where they pay, else the tensor filter if it can, otherwise the difference filter, otherwise the
// reference.
Method method_on_gpu(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                     const device::BackendChoice& backend, const RunOptions& run) {
  const std::string_view scan = environment::word(environment::Variable::scan);
  if (std::optional<Method> boxes = choose_box_search(fitted, selection, n_queries, backend, run)) return *boxes;
  Method method;
  if (scan.empty() || scan == "products") {
    method = choose_tensor_method(fitted, selection, n_queries, backend, run);
    if (method.engine != Engine::gpu_reference) return method;
  }
  const FilterForm* form = fitted.kernel().filter_form();
  if (form != nullptr && has_gpu_filter(*form) && fitted.resident()) {
    const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *form);
    method.kind = map->bounds() ? kind_on_gpu(fitted, *map, n_queries, scan) : ScanKind::differences;
  }
  const DifferenceForm images =
      method.kind == ScanKind::byte_differences ? DifferenceForm::bytes : DifferenceForm::floats;
  const std::string problem = difference_filter_problem(fitted, selection, n_queries, images, backend, run);
  method.engine = problem.empty() ? Engine::difference_filter : Engine::gpu_reference;
  method.reason = problem.empty() ? (method.kind == ScanKind::differences ? "sums in floats, on the GPU"
                                                                          : "sums in bytes, on the GPU")
                                  : "every distance by the formula, on the GPU: " + problem;
  return method;
}

// Whether an order of near rows pays, and why. Queries are counted over the life of a fitted table.
class OrderChoice {
 public:
  OrderChoice(const Fitted& fitted, const FilterForm& form, bool in_order, std::int64_t n_queries, std::int64_t queries,
              device::Backend backend)
      : fitted_(fitted), few_columns_(fitted.width() <= kMostColumnsForOrderCost && boxes_bound(form) && !in_order) {
    if (!few_columns_) {
      const std::int64_t least = kLeastTermsForOrder / fitted.width();
      pays_ = queries >= least;
      pays_alone_ = n_queries >= least;
      return;
    }
    const bool has_images = fitted.history().work(BlockOrder::table).compared >= 0.0;
    const OrderCost cost = order_cost(fitted.n_rows(), fitted.width(), n_queries, has_images, backend);
    scan_ = cost.scan;
    pays_alone_ = scan_ >= cost.order + cost.through;
    is_there_ = fitted.filters().has_order();
    const double before = fitted.resident() ? fitted.history().add_scan(0.0) : 0.0;
    pays_ = scan_ > cost.through && (is_there_ || before + scan_ >= cost.order + cost.through);
  }

  /// Whether few queries wait for an order, and compare every row until then: images in the table's order cost as much
  /// as some of these searches.
  bool waits() const { return few_columns_ && !pays_; }
  /// Over few columns, whether it pays: the table may be searched through boxes whatever the other limits say.
  bool pays_early() const { return few_columns_ && pays_; }
  bool pays() const { return pays_; }
  /// Whether it pays only because it is there, or because earlier searches have cost as much and later ones use it.
  bool for_later() const { return pays_ && !pays_alone_; }
  bool is_there() const { return is_there_; }
  /// Remembers that a search goes without one.
  void remember_scan() const { fitted_.history().add_scan(scan_); }

 private:
  const Fitted& fitted_;
  bool few_columns_, pays_ = false, pays_alone_ = false, is_there_ = false;
  double scan_ = 0.0;
};

}  // namespace

Method choose_method(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                     const device::BackendChoice& backend, const RunOptions& run) {
  const FilterForm* form = fitted.kernel().filter_form();
  Method method;
  const auto reference = [&](std::string reason) {
    method.reason = std::move(reason);
    return method;
  };
  const bool formula = environment::word(environment::Variable::scan) == "formula";
  if (backend.backend == device::Backend::reference || formula) {
    method.engine = reference_engine(backend.backend == device::Backend::cuda);
    return reference("every distance by the formula");
  }
  if (backend.backend == device::Backend::cuda) return method_on_gpu(fitted, selection, n_queries, backend, run);
  if (form == nullptr) return reference("no filter bounds " + std::string(fitted.measure().info.name));
  const std::int64_t n = fitted.n_rows();
  // Nothing is kept for tables that come in parts.
  const std::int64_t queries = fitted.resident() ? fitted.history().add_queries(n_queries) : n_queries;
  const std::int64_t k = selection.ks.empty() ? 0 : *std::max_element(selection.ks.begin(), selection.ks.end());
  const bool in_order = selection.kind == Selection::Kind::rapidminer_heap;
  const OrderChoice near(fitted, *form, in_order, n_queries, queries, backend.backend);
  if (!backend.forced) {
    const bool too_few = queries < std::max(kLeastQueries, kLeastPairs / n);
    if ((too_few && !near.pays_early()) || (n_queries < kLeastQueries && near.waits())) {
      near.remember_scan();
      return reference(too_few ? "too few queries for a filter to pay"
                               : "too few queries so far for an order of near rows to pay");
    }
    if (k > n / kLeastRowsPerNeighbor) return reference("k is too large a share of the rows for a filter to pay");
  }
  const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *form);
  if (!map->bounds()) return reference("the attribute weights leave the range in which the filter's bound holds");
  method.engine = Engine::cpu_filter;
  const std::string_view order = environment::word(environment::Variable::block_order);
  const std::string_view scan = environment::word(environment::Variable::scan);
  const std::string_view visit = environment::word(environment::Variable::visit);
  if (visit == "queries") method.visit = Visit::queries;
  if (order == "near" && !in_order) method.order = BlockOrder::near;
  if (scan == "products") method.kind = ScanKind::products;
  if (scan == "nibbles") method.kind = ScanKind::nibble_products;
  if (scan == "bytes") {
    method.kind = !in_squares(form->term)          ? ScanKind::byte_differences
                  : form->divisor == Divisor::none ? ScanKind::byte_products
                                                   : ScanKind::byte_products_present;
  }
  const auto with_values = [&](Method chosen) {
    chosen.values = chosen.order == BlockOrder::near && chosen.visit == Visit::queries &&
                    chosen.kind == ScanKind::differences && scan.empty();
    return chosen;
  };
  if (!order.empty() || !scan.empty()) return with_values(method);
  if (!near.pays_early() && queries < kLeastTermsForSample / n / map->n_columns()) {
    near.remember_scan();
    method.reason = "too few queries for a look at a sample";
    return method;
  }
  const auto question = in_order ? SearchHistory::Question::rows_in_order : SearchHistory::Question::any_order;
  method = fitted.history().choice(backend.backend, question,
                                   [&] { return sampled_method(fitted, *map, backend, in_order, run); });
  if (method.order == BlockOrder::near && !near.pays()) {
    near.remember_scan();
    method = {.engine = Engine::cpu_filter,
              .kind = method.kind,
              .reason = "too few queries for an order of near rows to pay"};
  } else if (method.order == BlockOrder::near && near.for_later()) {
    method.for_later = true;
    if (!near.is_there()) method.reason += "; earlier searches have cost as much as an order of near rows";
  }
  if (!visit.empty()) method.visit = visit == "queries" ? Visit::queries : Visit::tiles;
  if (n_queries == 1) method.kind = method.lone_kind;
  return with_values(method);
}

}  // namespace stope::knn
