// The tensor filter where the training table does not fit a GPU, or not the host. The table goes to the GPUs part by
// part, and the answers of the parts are merged by (distance, row). While a GPU searches one part, the next is copied
// to it.
#include "knn/gpu/tensor/parts.hpp"

#include <algorithm>
#include <deque>
#include <future>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/gpu/filter_pipeline.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/gpu/spare_threads.hpp"
#include "knn/gpu/tensor/resident_table.hpp"
#include "knn/gpu/tensor/tensor_filter.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

// Pads a list that is not full. It comes after any row, whatever the row's distance.
constexpr double kNoDistance = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kNoRow = std::numeric_limits<std::int64_t>::max();
constexpr double kAnyDistance = std::numeric_limits<double>::infinity();

// Lists of the queries of a block, k each, sorted. uncertified[i]: query i has no answer. The memory is not
// initialised.
struct Answers {
  double* distances;
  std::int64_t* rows;
  std::vector<std::int32_t> uncertified;

  // The lists of a first part need no merging. A query without an answer has no rows in its list.
  void put(std::int64_t query, std::int64_t k, const double* new_distances, const std::int32_t* new_rows,
           std::int64_t first_row) const {
    std::copy_n(new_distances, k, distances + query * k);
    std::transform(new_rows, new_rows + k, rows + query * k, [&](std::int32_t row) { return first_row + row; });
  }
  void clear(std::int64_t query, std::int64_t n_queries, std::int64_t k) const {
    std::fill_n(distances + query * k, n_queries * k, kNoDistance);
    std::fill_n(rows + query * k, n_queries * k, kNoRow);
  }

  template <class Row>
  void merge(std::int64_t query, std::int64_t k, const double* new_distances, const Row* new_rows,
             std::int64_t first_row, std::vector<Neighbor>& merged) const {
    double* const old_distances = distances + query * k;
    std::int64_t* const old_rows = rows + query * k;
    if (new_distances[0] > old_distances[k - 1]) return;  // true for most parts' lists
    merged.clear();
    for (std::int64_t old = 0, fresh = 0; old + fresh < k;) {
      const Neighbor a{old_distances[old], old_rows[old]};
      const Neighbor b{new_distances[fresh], first_row + new_rows[fresh]};
      const bool first = closer(a, b);
      merged.push_back(first ? a : b);
      (first ? old : fresh) += 1;
    }
    for (std::int64_t i = 0; i < k; ++i) {
      old_distances[i] = merged[static_cast<std::size_t>(i)].distance;
      old_rows[i] = merged[static_cast<std::size_t>(i)].row;
    }
  }
};

/// Every n-th part on one GPU, two of them at once. It is kept from search to search, with the parts that it holds.
class GpuParts {
 public:
  GpuParts(int gpu, const Fitted& fitted, const TensorFilterSpec& spec, std::int64_t first_part, std::int64_t step,
           std::int64_t memory_limit)
      : fitted_(fitted), part_rows_(spec.spec.n_rows), loader_(gpu, fitted, memory_limit) {
    const std::int64_t n_parts = checked::ceil_div(fitted.n_rows(), part_rows_);
    for (std::int64_t part = first_part; part < n_parts; part += step) order_.push_back(part);
    if (!order_.empty()) filter_ = std::make_unique<TensorFilter>(gpu, spec);
  }

  /// Call it before a search for k neighbours with this many threads. Begins to load the first part.
  void begin(std::int64_t k, int threads, const RunOptions& run) {
    k_ = k;
    run_ = &run;
    // Both pools work at once: more threads than cores would wait for each other.
    pool_ = threads_.borrow(std::max(1, threads / 2));
    loader_pool_ = threads_.borrow(std::clamp(threads / 2 - 1, 1, kLoaderThreads));
    work_ = {};
    const std::int64_t forced = environment::count(environment::Variable::blocks_under_way);
    under_way_ = static_cast<std::size_t>(forced > 0 ? std::min(forced, kUnderWay) : kUnderWay);
    if (order_.empty() || held_[0] == order_[0] || held_[1] == order_[0]) return;
    load_next(0, order_[0]);
    give_room();
  }

  /// Call it after the search, however that ended. Nothing is under way afterwards.
  void end() {
    if (next_.valid()) next_.wait();
    next_ = {};
    threads_.give_back(std::move(pool_));
    threads_.give_back(std::move(loader_pool_));
    run_ = nullptr;
  }

  bool empty() const { return order_.empty(); }

  /// Fills the lists of a block from the rows of this GPU's parts. Returns the need that the images of a part do not
  /// meet.
  std::optional<ImageNeed> search(const QueryBlock& block, const Selection& selection, const QueryEncoder& encode,
                                  Answers& answers) {
    if (order_.empty()) return {};
    const Settled settled{*this};
    make_room(block.n);
    radius_ = kAnyDistance;
    if (selection.kind == Selection::Kind::radius) {
      radius_ = filter_radius(selection);
      std::fill_n(within_.data(), block.n, radius_);
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (next_.valid()) next_.get();
      const int buffer = find(order_[i]);
      if (filter_->in_bytes() && !filter_->useful(buffer)) return ImageNeed::halves;
      const int other = buffer ^ 1;
      if (i + 1 < order_.size() && held_[other] != order_[i + 1]) load_next(other, order_[i + 1]);
      // Once no batch searches the part before, its place is free for the part after.
      const auto after_batch = [&] {
        if (!is_searched(other)) give_room();
      };
      search_part(buffer, i == 0, block, selection, encode, answers, after_batch);
    }
    while (!pending_.empty()) finish_first();
    // The order turns around: the last part of one block is the first of the next, and need not be copied again.
    std::reverse(order_.begin(), order_.end());
    return {};
  }

  const FilterWork& work() const { return work_; }

 private:
  // One is searched, the rows of the next come, and the answers of a third are copied back and merged. The GPU would
  // wait for the host with fewer.
  static constexpr std::int64_t kUnderWay = cuda_abi::kTensorSlots;

  // A batch writes to the answers of the search that queued it. So the search waits for it, also after an error.
  struct Settled {
    GpuParts& parts;
    ~Settled() { parts.settle(); }
  };
  void settle() {
    for (const Pending& batch : pending_) filter_->settle(*batch.flight);
    pending_.clear();
    give_room();
  }

  // The rows of a block are encoded once for all parts.
  void make_room(std::int64_t n_queries) {
    const int gpu = filter_->gpu();
    const std::int64_t values = checked::mul(n_queries, fitted_.width());
    if (rows_.size() < values) {
      rows_ = {};
      rows_ = device::Pinned<double>(gpu, values);
    }
    if (within_.size() < n_queries) {
      within_ = {};
      within_ = device::Pinned<double>(gpu, n_queries);
    }
  }

  int find(std::int64_t part) const {
    for (const int buffer : {0, 1}) {
      if (held_[buffer] == part) return buffer;
    }
    throw Error(ErrorCode::internal, "a part that was not loaded");
  }

  // Loads a part in a thread of its own. The buffer's part before may be searched until give_room().
  void load_next(int buffer, std::int64_t part) {
    held_[buffer] = -1;
    room_.emplace();
    next_ = std::async(std::launch::async, [this, buffer, part, room = room_->get_future().share()] {
      const std::int64_t first = part * part_rows_, n = std::min(part_rows_, fitted_.n_rows() - first);
      loader_.load(*filter_, buffer, first, n, *loader_pool_, run_->cancel, [&] { room.wait(); });
      held_[buffer] = part;
    });
  }
  void give_room() {
    if (room_) room_->set_value();
    room_.reset();
  }

  template <class AfterBatch>
  void search_part(int buffer, bool fresh, const QueryBlock& block, const Selection& selection,
                   const QueryEncoder& encode, Answers& answers, const AfterBatch& after_batch) {
    const std::int64_t first_row = held_[buffer] * part_rows_;
    // From this query on, the query itself is a row of the part or of a later one.
    const std::int64_t first_self = std::max<std::int64_t>(0, first_row - selection.first_query - block.first);
    std::int64_t n = 0;
    for (std::int64_t begin = 0; begin < block.n; begin += n) {
      run_->cancel.check();
      n = std::min(filter_->most_queries(), block.n - begin);
      std::int64_t self = -1;
      if (selection.exclude_self) {
        if (begin < first_self) n = std::min(n, first_self - begin);
        if (begin >= first_self) self = selection.own_row(block.first + begin) - first_row;
      }
      double* const rows = rows_.data() + begin * fitted_.width();
      if (fresh) encode(block.first + begin, n, rows, *pool_);
      while (is_pending(begin, n)) finish_first();  // the part before says what is within reach
      cuda_abi::TensorQuery query{rows, n, k_, self};
      query.buffer = buffer;
      query.within = fresh && radius_ == kAnyDistance ? nullptr : within_.data() + begin;
      submit(query, fresh, begin, first_row, answers);
      after_batch();
    }
  }

  void submit(const cuda_abi::TensorQuery& query, bool fresh, std::int64_t begin, std::int64_t first_row,
              Answers& answers) {
    if (!filter_->useful(query.buffer)) {
      std::fill_n(answers.uncertified.begin() + begin, query.n, 1);
      if (fresh) answers.clear(begin, query.n, k_);
      std::fill_n(within_.data() + begin, query.n, 0.0);
      return;
    }
    auto flight = filter_->submit(query, [this, fresh, begin, n = query.n, first_row, &answers](
                                             const cuda_abi::FilterAnswer& answer, ThreadPool*) {
      take(answer, fresh, begin, n, first_row, answers);
    });
    pending_.push_back({begin, query.n, query.buffer, std::move(flight)});
    if (pending_.size() == under_way_) finish_first();
  }

  bool is_pending(std::int64_t begin, std::int64_t n) const {
    return std::any_of(pending_.begin(), pending_.end(),
                       [&](const Pending& batch) { return batch.begin < begin + n && begin < batch.begin + batch.n; });
  }

  bool is_searched(int buffer) const {
    return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& batch) { return batch.buffer == buffer; });
  }

  void finish_first() {
    const std::shared_ptr<BatchInFlight> flight = std::move(pending_.front().flight);
    pending_.pop_front();
    filter_->finish(*flight, *pool_);
  }

  void take(const cuda_abi::FilterAnswer& answer, bool fresh, std::int64_t begin, std::int64_t n,
            std::int64_t first_row, Answers& answers) {
    constexpr std::int64_t kPerTask = 1024;
    pool_->parallel_for(checked::ceil_div(n, kPerTask), run_->cancel, [&](std::int64_t task, int) {
      std::vector<Neighbor> merged;
      for (std::int64_t i = task * kPerTask; i < std::min(n, (task + 1) * kPerTask); ++i) {
        const std::int64_t query = begin + i;
        std::int32_t& uncertified = answers.uncertified[static_cast<std::size_t>(query)];
        if (answer.uncertified[i] != 0) {
          uncertified = 1;
          if (fresh) answers.clear(query, 1, k_);
        } else if (fresh) {
          answers.put(query, k_, answer.distances + i * k_, answer.rows + i * k_, first_row);
        } else {
          answers.merge(query, k_, answer.distances + i * k_, answer.rows + i * k_, first_row, merged);
        }
        // Later parts need not search a query that the reference answers. A cosine distance may be a rounding below 0.
        const double farthest = std::max(0.0, answers.distances[query * k_ + k_ - 1]);
        within_.data()[query] = uncertified != 0 ? 0.0 : std::min(radius_, farthest);
      }
    });
    work_.add(answer);
  }

  // Queries [begin, begin + n) of a block that are under way.
  struct Pending {
    std::int64_t begin, n;
    int buffer;
    std::shared_ptr<BatchInFlight> flight;
  };

  const Fitted& fitted_;
  std::int64_t part_rows_;
  RowLoader loader_;
  std::vector<std::int64_t> order_;
  std::unique_ptr<TensorFilter> filter_;
  SpareThreads threads_;
  std::int64_t held_[kHeldParts] = {-1, -1};  // the part in each of its buffers
  // The queries of the block, and the distances of their farthest neighbours so far.
  device::Pinned<double> rows_, within_;
  // State of one search.
  std::int64_t k_ = 0;
  const RunOptions* run_ = nullptr;
  double radius_ = kAnyDistance;  // of the block
  std::unique_ptr<ThreadPool> pool_, loader_pool_;
  std::deque<Pending> pending_;  // in the order in which they were queued
  std::size_t under_way_ = 1;    // most of them
  FilterWork work_;
  std::future<void> next_;                  // the part being loaded
  std::optional<std::promise<void>> room_;  // that it waits for
};

}  // namespace

/// Parts on the GPUs, and what they were made for.
struct PartsHeld {
  std::vector<int> gpus;
  std::int64_t part_rows = 0, most_neighbors = 0, most_queries = 0;
  bool takes_missing = false, in_bytes = false;
  std::vector<std::unique_ptr<GpuParts>> parts;  // per GPU

  bool fits(const device::BackendChoice& backend, std::int64_t k, std::int64_t n_queries) const {
    const std::int64_t forced_rows = environment::count(environment::Variable::device_rows);
    return gpus == backend.gpus && most_neighbors >= k && most_queries >= std::min(n_queries, most_filter_queries(k)) &&
           (forced_rows == 0 || part_rows <= forced_rows);
  }
};

namespace {

class PartsPipeline final : public GpuFilterPipeline {
 public:
  PartsPipeline(const Fitted& fitted, const Plan& plan, const Selection& selection, std::int64_t n_queries,
                const RunOptions& run)
      : GpuFilterPipeline(fitted, plan, n_queries, run, 1, tensor_places(fitted, selection),
                          tensor_lists_vary(selection)),
        gpus_(static_cast<int>(plan.backend.gpus.size())) {
    fitted.check_rows(plan.threads, run.cancel);
    held_ = fitted.gpu_filters().take_parts();
    if (held_ != nullptr && !held_->fits(plan.backend, k_, n_queries)) held_ = nullptr;
    if (held_ == nullptr) held_ = make_parts(n_queries);
    const auto n_gpus = static_cast<int>(plan.backend.gpus.size());
    for (const std::unique_ptr<GpuParts>& parts : held_->parts)
      parts->begin(k_, std::max(1, plan.threads / n_gpus), run);
  }
  // Parts left by a search that did not end are not worth keeping.
  ~PartsPipeline() override {
    for (const std::unique_ptr<GpuParts>& parts : held_->parts) parts->end();
    if (finished_) fitted_.gpu_filters().keep_parts(std::move(held_));
  }
  PartsPipeline(const PartsPipeline&) = delete;
  PartsPipeline& operator=(const PartsPipeline&) = delete;

  std::optional<ImageNeed> finish(int which, Neighbors& out) override {
    const std::optional<ImageNeed> need = GpuFilterPipeline::finish(which, out);
    finished_ = !need.has_value();
    return need;
  }

 private:
  // The rows of a block are encoded with the first part of each GPU. Here only a few are, for a look at them.
  std::optional<ImageNeed> start(std::size_t which) override {
    finished_ = false;
    if (held_->takes_missing) return {};
    const Block& block = blocks_[which];
    const std::int64_t n = std::min(block.queries.n, kGapSample);
    Buffer<double> rows(checked::mul(n, fitted_.width()));
    ThreadPool pool(1);
    (*block.encode)(block.queries.first, n, rows.data(), pool);
    return unmet_need(fitted_, held_->in_bytes, rows.data(), n, n_queries_);
  }

  // Lists never stay on the GPUs.
  std::optional<ImageNeed> collect(std::size_t which, Neighbors* out) override {
    Block& block = blocks_[which];
    const std::int64_t n = block.queries.n;
    std::vector<Answers> answers;  // per GPU; the first GPU's are the result
    std::vector<Buffer<double>> distances;
    std::vector<Buffer<std::int64_t>> rows;
    for (const std::unique_ptr<GpuParts>& parts : held_->parts) {
      if (parts->empty()) break;  // all later GPUs have no parts either
      const bool in_place = answers.empty() && !vary_;
      const std::int64_t size = in_place ? 0 : checked::mul(n, k_);
      distances.emplace_back(size);
      rows.emplace_back(size);
      answers.push_back({in_place ? out->distances.data() : distances.back().data(),
                         in_place ? out->indices.data() : rows.back().data(),
                         std::vector<std::int32_t>(static_cast<std::size_t>(n))});
    }
    std::vector<std::optional<ImageNeed>> needs(answers.size());
    gpus_.parallel_for(static_cast<std::int64_t>(answers.size()), run_.cancel, [&](std::int64_t gpu, int) {
      const auto at = static_cast<std::size_t>(gpu);
      needs[at] = held_->parts[at]->search(block.queries, *block.selection, *block.encode, answers[at]);
    });
    for (const std::optional<ImageNeed>& need : needs) {
      if (need) return need;
    }
    for (std::size_t gpu = 1; gpu < answers.size(); ++gpu) merge(n, answers[gpu], answers.front());
    // A query that one part could not answer is searched in the whole table.
    block.uncertified = std::move(answers.front().uncertified);
    if (vary_) {
      block.found.take(0, n, k_, answers.front().distances, answers.front().rows, block.uncertified.data(),
                       &finish_threads(), run_.cancel);
    }
    return {};
  }

  void report_filter(SearchReport& report) const override {
    report.method += held_->in_bytes ? ", byte products, in parts" : ", products, in parts";
    report.part_rows = held_->part_rows;
    FilterWork work;
    for (const std::unique_ptr<GpuParts>& parts : held_->parts) work.add(parts->work());
    work.report(cuda_abi::kImagesStep, cuda_abi::kTableImagesStep, report);
  }

  ThreadPool& finish_threads() override {
    if (threads_ == nullptr) threads_ = std::make_unique<ThreadPool>(plan_.threads);
    return *threads_;
  }

  bool may_have_more_places() const override { return more_places(k_) <= kMostFilterNeighbors; }

  std::shared_ptr<PartsHeld> make_parts(std::int64_t n_queries) const {
    const std::vector<int>& gpus = plan_.backend.gpus;
    const std::shared_ptr<const ImageMap> map = fitted_.filters().map(fitted_, *fitted_.kernel().filter_form());
    const PartSizes sizes = plan_part_sizes(fitted_, *map, k_, n_queries, plan_.backend, run_);
    if (sizes.rows == 0) throw Error(ErrorCode::out_of_memory, "no part of the table fits the GPU's memory");
    const TensorFilterSpec spec = parts_spec(fitted_, *map, k_, n_queries, sizes);
    auto held = std::make_shared<PartsHeld>();
    held->gpus = gpus;
    held->part_rows = sizes.rows;
    held->most_neighbors = spec.spec.most_neighbors;
    held->most_queries = std::max(n_queries, sizes.batch);
    held->takes_missing = spec.images.takes_missing;
    held->in_bytes = spec.images.byte_factor != 0;
    const auto n_gpus = static_cast<std::int64_t>(gpus.size());
    for (std::int64_t i = 0; i < n_gpus; ++i) {
      held->parts.push_back(
          std::make_unique<GpuParts>(gpus[static_cast<std::size_t>(i)], fitted_, spec, i, n_gpus, run_.memory_limit));
    }
    return held;
  }

  void merge(std::int64_t n, const Answers& from, Answers& to) {
    constexpr std::int64_t kPerTask = 512;
    finish_threads().parallel_for(checked::ceil_div(n, kPerTask), run_.cancel, [&](std::int64_t task, int) {
      std::vector<Neighbor> merged;
      for (std::int64_t i = task * kPerTask; i < std::min(n, (task + 1) * kPerTask); ++i) {
        to.uncertified[static_cast<std::size_t>(i)] |= from.uncertified[static_cast<std::size_t>(i)];
        to.merge(i, k_, from.distances + i * k_, from.rows + i * k_, 0, merged);
      }
    });
  }

  ThreadPool gpus_;
  std::unique_ptr<ThreadPool> threads_;  // made when they are first needed
  std::shared_ptr<PartsHeld> held_;
  bool finished_ = false;
};

}  // namespace

bool parts_are_held(const Fitted& fitted, std::int64_t k, std::int64_t n_queries,
                    const device::BackendChoice& backend) {
  std::shared_ptr<PartsHeld> held = fitted.gpu_filters().take_parts();
  if (held == nullptr || !held->fits(backend, k, n_queries)) return false;
  fitted.gpu_filters().keep_parts(std::move(held));
  return true;
}

std::unique_ptr<SearchPipeline> make_tensor_filter_parts(const Fitted& fitted, const Plan& plan,
                                                         const Selection& selection, std::int64_t n_queries,
                                                         const RunOptions& run) {
  return std::make_unique<PartsPipeline>(fitted, plan, selection, n_queries, run);
}

}  // namespace stope::knn
