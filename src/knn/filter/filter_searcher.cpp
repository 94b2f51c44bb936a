#include "knn/filter/filter_searcher.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "device/instances.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/filter/near_order.hpp"
#include "knn/filter/tile_search.hpp"

namespace stope::knn {
namespace {

class FilterSearcher final : public Searcher {
 public:
  FilterSearcher(const Fitted& fitted, const Plan& plan, ThreadPool& pool, const RunOptions& run,
                 const FilterForm& form, ScanFunction (*scan_of)(const FilterForm&, ScanKind), BoxFunctions boxes,
                 ValueFunctions values, const EncodeKernels& encode, const SplitKernels& splits)
      : fitted_(fitted),
        plan_(plan),
        run_(run),
        scans_(scans_of(form, scan_of)),
        boxes_(boxes),
        values_(values),
        mapper_(fitted.filters().map(fitted, form), encode),
        query_mapper_(query_map(mapper_), encode),
        splits_(splits),
        pool_(pool) {}

  ~FilterSearcher() override {
    if (!keeps_space() || work_spaces_.empty() || work_spaces_.front() == nullptr) return;
    if (!work_spaces_.front()->serves(values_, 1)) return;
    work_spaces_.front()->forget_counts();
    fitted_.filters().keep_space(std::move(work_spaces_.front()));
  }
  FilterSearcher(const FilterSearcher&) = delete;
  FilterSearcher& operator=(const FilterSearcher&) = delete;

  PartEnd search(const TrainPart& part, const QueryBlock& block, const Selection& selection, Lists& lists) override {
    const RowImages queries = make_row_images(query_mapper_, block.rows, block.n, fitted_.width(), pool_, run_.cancel);
    take_part(part, selection, block.n, queries.missing);
    tile_queries_ = tile_queries(block.n);
    if (tile_queries_ > room_) retire_work_spaces(tile_queries_);
    const std::vector<std::int64_t> order = query_order(queries, block.n);
    with_values_ = values_fit() && !queries.missing && index_.values != nullptr;
    const std::int64_t n_tiles = checked::ceil_div(block.n, tile_queries_);
    const std::int64_t n_segments = segments(n_tiles, selection);
    const std::int64_t n_blocks = index_.images->n_blocks;
    const bool share = n_segments > 1 && selection.kind == Selection::Kind::nearest;
    std::vector<std::atomic<double>> thresholds(share ? static_cast<std::size_t>(block.n) : 0);
    for (std::atomic<double>& threshold : thresholds) threshold = std::numeric_limits<double>::infinity();
    const TileContext context{.fitted = fitted_,
                              .index = index_,
                              .part = part,
                              .scans = scans_.data(),
                              .boxes = boxes_,
                              .values = values_,
                              .with_values = with_values_,
                              .visit = plan_.method.visit,
                              .block = block,
                              .queries = queries,
                              .selection = selection,
                              .lists = lists,
                              .cancel = run_.cancel,
                              .thresholds = share ? thresholds.data() : nullptr};
    const std::size_t n_lists = selection.n_lists();
    // The first segment reads `lists`. No segment may see another segment's lists, so several have lists of their own.
    Lists of_segments(n_segments > 1 ? lists.size() * static_cast<std::size_t>(n_segments) : 0);
    Lists& found = n_segments > 1 ? of_segments : lists;
    std::atomic<bool> too_long = false;
    const PhaseSpan span = PhaseSpan::share(0, 1, 1);
    pool_.parallel_for(n_tiles * n_segments, run_.cancel, [&](std::int64_t task, int worker) {
      if (too_long.load(std::memory_order_relaxed)) return;
      const std::int64_t tile = task / n_segments, segment = task % n_segments;
      const std::int64_t first = tile * tile_queries_, n = std::min(tile_queries_, block.n - first);
      TileSearch& search = work_space(worker);
      const PartEnd end = search.run(context, order.data() + first, n, n_blocks * segment / n_segments,
                                     n_blocks * (segment + 1) / n_segments);
      if (end == PartEnd::list_too_long) return too_long.store(true, std::memory_order_relaxed);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::size_t at = static_cast<std::size_t>(segment) * lists.size() +
                               static_cast<std::size_t>(order[static_cast<std::size_t>(first + i)]) * n_lists;
        for (std::size_t list = 0; list < n_lists; ++list) {
          found.put(at + list, search.collectors()[static_cast<std::size_t>(i)].take(list));
        }
      }
    });
    if (too_long) return PartEnd::list_too_long;
    return n_segments > 1 ? merge(selection, found, lists) : PartEnd::complete;
  }

  void report(SearchReport& report) const override {
    if (index_.kind == ScanKind::products) report.method += ", products";
    if (in_bytes(index_.kind)) report.method += index_.kind == ScanKind::nibble_products ? ", nibbles" : ", bytes";
    FilterCounts counts = counts_;
    for (const std::unique_ptr<TileSearch>& space : work_spaces_) {
      if (space != nullptr) counts.add(space->counts());
    }
    report.scanned = counts.scanned;
    report.skipped = counts.skipped;
    report.listed = counts.listed;
    report.evaluated = counts.evaluated;
    report.opened = counts.opened;
  }

 private:
  static constexpr std::int64_t kMostKept = 16;  // queries that a work space has room for which later searches use

  static std::array<ScanFunction, kScanKinds> scans_of(const FilterForm& form,
                                                       ScanFunction (*scan_of)(const FilterForm&, ScanKind)) {
    std::array<ScanFunction, kScanKinds> scans{};
    for (int kind = 0; kind < kScanKinds; ++kind) {
      scans[static_cast<std::size_t>(kind)] = scan_of(form, static_cast<ScanKind>(kind));
    }
    return scans;
  }
  static std::shared_ptr<const ImageMap> query_map(const RowMapper& rows) {
    return rows.image_map().query_map() != nullptr ? rows.image_map().query_map() : rows.shared_map();
  }
  // The plan's kind of scan, or the nearest that the instruction set has.
  ScanKind kind() const {
    const ScanKind wanted = plan_.method.kind;
    if (has(wanted)) return wanted;
    if (wanted == ScanKind::byte_products && has(ScanKind::byte_pair_products)) return ScanKind::byte_pair_products;
    return whole_products(wanted) ? ScanKind::products : ScanKind::differences;
  }
  bool has(ScanKind kind) const { return scans_[static_cast<std::size_t>(kind)] != nullptr; }

  // Where blocks hold near rows, near queries share a tile: a block is then read once for all of them. Few queries are
  // far from each other, and the box around them would touch most blocks. As many share a tile as lie, on average,
  // among the rows of a few blocks. Queries that go their own way share nothing: their tiles are tasks for threads.
  std::int64_t tile_queries(std::int64_t n) const {
    constexpr std::int64_t kRowsPerTile = 10 * kScanBlockRows, kTilesPerThread = 8;
    if (!index_.images->ordered()) return std::clamp<std::int64_t>(n, 1, kScanTileQueries);
    if (plan_.method.visit == Visit::queries) {
      return std::clamp<std::int64_t>(n / (kTilesPerThread * pool_.size()), 1, kScanTileQueries);
    }
    return std::clamp<std::int64_t>(n * kRowsPerTile / index_.images->n_rows, 1, kScanTileQueries);
  }

  std::vector<std::int64_t> query_order(const RowImages& queries, std::int64_t n) {
    if (index_.images->ordered() && tile_queries_ > 1) {
      return near_order(queries.rows.data(), n, mapper_.image_map().n_columns(), tile_queries_, splits_, pool_,
                        run_.cancel);
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  // Few queries make few tiles. The training rows are then cut into segments, to give every core work. A heap must see
  // all rows in order, so it allows one segment.
  std::int64_t segments(std::int64_t n_tiles, const Selection& selection) const {
    constexpr std::int64_t kTasksPerThread = 4, kLeastBlocks = 256;
    if (selection.kind == Selection::Kind::rapidminer_heap || index_.images->ordered() || pool_.size() == 1) return 1;
    const std::int64_t wanted = checked::ceil_div(kTasksPerThread * pool_.size(), std::max<std::int64_t>(1, n_tiles));
    // Every segment fills lists of its own; with a large k they would outgrow the table.
    const std::int64_t k = selection.ks.empty() ? 1 : std::max<std::int64_t>(1, selection.ks.front());
    const std::int64_t most = std::min(index_.images->n_blocks / kLeastBlocks, index_.images->n_rows / k);
    return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, most));
  }

  PartEnd merge(const Selection& selection, const Lists& found, Lists& lists) {
    std::atomic<bool> too_long = false;
    pool_.parallel_for(static_cast<std::int64_t>(lists.size()), run_.cancel, [&](std::int64_t i, int) {
      Collector collector;
      collector.reset(selection);
      for (std::size_t at = static_cast<std::size_t>(i); at < found.size(); at += lists.size()) {
        found.for_each(at, [&](const Neighbor& candidate) { collector.offer(candidate); });
      }
      if (collector.too_long()) too_long.store(true, std::memory_order_relaxed);
      lists.put(static_cast<std::size_t>(i), collector.take(0));
    });
    return too_long ? PartEnd::list_too_long : PartEnd::complete;
  }

  // Formulas that add up squares are computed for all rows of a block at once, faster than a bound and some formulas.
  bool values_fit() const {
    const FilterForm& form = mapper_.image_map().form();
    return plan_.method.values && fitted_.kernel().sums_plain_squares() && form.term == Term::square &&
           (form.finish == Finish::root || form.finish == Finish::identity) &&
           fitted_.width() <= ValueBlocks::kMostColumns;
  }

  // To copy a row costs as much as to read one for its distance. A query reads a few more than its neighbours.
  bool near_rows_pay(const TrainPart& part, const Selection& selection, std::int64_t n_queries) const {
    constexpr std::int64_t kMore = 6, kMostWithin = 64;
    const std::int64_t so_far = fitted_.resident() ? fitted_.history().n_queries() : n_queries;
    return std::max(so_far, n_queries) >=
           part.n / (kMore + (selection.ks.empty() ? kMostWithin : selection.ks.front()));
  }

  // The index of a whole table is kept with the table, that of a part only until the next part.
  void take_part(const TrainPart& part, const Selection& selection, std::int64_t n_queries, bool queries_lack_values) {
    const bool same = index_.images != nullptr && part.first == first_row_;
    if (same && (!queries_lack_values || queries_lacked_values_)) return;
    const WantedImages wanted{.order = plan_.method.order,
                              .kind = kind(),
                              .splits = &splits_,
                              .near_rows = near_rows_pay(part, selection, n_queries),
                              .values = values_fit() && !queries_lack_values,
                              .queries_lack_values = queries_lack_values,
                              .has_present_differences = has(ScanKind::byte_differences_present),
                              .has_present_products = has(ScanKind::byte_products_present)};
    if (!same) index_ = {};
    first_row_ = part.first;
    queries_lacked_values_ = queries_lack_values;
    const PhaseProgress phase(run_, "images", 0, n_image_tasks_);
    if (part.n == fitted_.n_rows() && fitted_.resident()) {
      index_ = fitted_.filters().whole(mapper_, fitted_, wanted, pool_, run_.cancel);
    } else {
      add_missing_images(index_, mapper_, part, fitted_.width(), wanted, pool_, run_.cancel);
    }
    n_image_tasks_ = phase.done();
    retire_work_spaces(0);  // their layout depends on the index
  }

  // Makes way for work spaces with room for that many queries.
  void retire_work_spaces(std::int64_t room) {
    for (const std::unique_ptr<TileSearch>& space : work_spaces_) {
      if (space != nullptr) counts_.add(space->counts());
    }
    work_spaces_.clear();
    work_spaces_.resize(static_cast<std::size_t>(pool_.size()));
    room_ = room;
  }

  // Whether a work space serves later searches. Where queries look at blocks of values, all are laid out alike.
  bool keeps_space() const { return with_values_ && room_ <= kMostKept; }

  TileSearch& work_space(int worker) {
    std::unique_ptr<TileSearch>& space = work_spaces_[static_cast<std::size_t>(worker)];
    if (space == nullptr && worker == 0 && keeps_space()) {
      space = fitted_.filters().take_space();
      if (space != nullptr && !space->serves(values_, room_)) space = nullptr;
    }
    if (space == nullptr) space = std::make_unique<TileSearch>(index_, values_, room_);
    return *space;
  }

  const Fitted& fitted_;
  const Plan plan_;
  const RunOptions& run_;
  const std::array<ScanFunction, kScanKinds> scans_;
  const BoxFunctions boxes_;
  const ValueFunctions values_;
  const RowMapper mapper_, query_mapper_;
  const SplitKernels& splits_;
  ThreadPool& pool_;
  FilterIndex index_;  // of the part being searched
  std::int64_t first_row_ = 0;
  bool queries_lacked_values_ = false;
  bool with_values_ = false;                              // the queries of this block look at blocks of values
  std::int64_t n_image_tasks_ = 0;                        // of earlier parts, for progress
  std::int64_t tile_queries_ = 0;                         // most queries of a tile of this block
  std::int64_t room_ = 0;                                 // most queries that a work space takes
  FilterCounts counts_;                                   // of earlier parts
  std::vector<std::unique_ptr<TileSearch>> work_spaces_;  // one per worker
};

}  // namespace

std::unique_ptr<Searcher> make_filter_searcher(const Fitted& fitted, const Plan& plan, ThreadPool& pool,
                                               const RunOptions& run) {
  const FilterForm& form = *fitted.kernel().filter_form();
  constexpr device::Instances kScans = {scalar::scan, avx2::scan, avx512::scan, avx512vnni::scan};
  constexpr device::Instances kBoxes = {scalar::box_functions, avx2::box_functions, avx512::box_functions,
                                        avx512vnni::box_functions};
  constexpr device::Instances kValues = {scalar::value_functions, avx2::value_functions, avx512::value_functions,
                                         avx512vnni::value_functions};
  constexpr device::Instances kEncoders = {&scalar::kEncodeKernels, &avx2::kEncodeKernels, &avx512::kEncodeKernels};
  constexpr device::Instances kSplits = {&scalar::kSplitKernels, &avx2::kSplitKernels, &avx512::kSplitKernels};
  const device::Backend backend = plan.backend.backend;
  return std::make_unique<FilterSearcher>(fitted, plan, pool, run, form, kScans.of(backend), kBoxes.of(backend)(form),
                                          kValues.of(backend)(), *kEncoders.of(backend), *kSplits.of(backend));
}

}  // namespace stope::knn
