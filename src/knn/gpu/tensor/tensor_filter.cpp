#include "knn/gpu/tensor/tensor_filter.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "knn/engine/search_history.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/gpu/caller_rows.hpp"
#include "knn/gpu/filter_pipeline.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/gpu/keep_or_make.hpp"
#include "knn/gpu/reference/plan.hpp"
#include "knn/gpu/tensor/image_columns.hpp"
#include "knn/gpu/tensor/parts.hpp"
#include "knn/gpu/tensor/planned_clusters.hpp"
#include "knn/gpu/tensor/resident_table.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

using cuda_abi::Failure;

// Below this many pairs, the reference on the GPU ends before images of the rows would be made.
constexpr std::int64_t kLeastPairs = std::int64_t{1} << 22;

// Says whether the GPUs can hold the whole table; throws unsupported where there are no kernels.
bool fits_the_gpus(const Fitted& fitted, const TensorFilterSpec& spec, const device::BackendChoice& backend,
                   const RunOptions& run) {
  const std::int64_t forced_rows = environment::count(environment::Variable::device_rows);
  bool fits = fitted.resident() && (forced_rows == 0 || forced_rows >= fitted.n_rows());
  for (const int gpu : backend.gpus) {
    if (fits && fitted.gpu_filters().has_tensor_filter(gpu)) continue;  // it has its memory already
    cuda_abi::FilterSize size{};
    std::int64_t free = 0;
    const cuda_abi::TensorSpec raw = spec_with(spec, fitted.rows_alone_on(gpu).get());
    checked_call([&](Failure* failure) { return cuda_functions().tensor_size(gpu, &raw, &size, failure); });
    checked_call([&](Failure* failure) { return device::plugin().free_memory(gpu, &free, failure); });
    if (!size.possible) throw Error(ErrorCode::unsupported, "no tensor filter for this measure, width or GPU");
    fits = fits && size.bytes <= gpu_budget(free, run.memory_limit);
  }
  return fits;
}

// Returns the spec of the whole table. Where it does not fit with the best number of queries at once, fewer may fit.
TensorFilterSpec spec_of_table(const Fitted& fitted, const ImageMap& map, std::int64_t n_queries, std::int64_t k,
                               const device::BackendChoice& backend, const RunOptions& run) {
  const ImageElement element = choose_image_element(fitted, map, backend);
  TensorFilterSpec spec(fitted, map, element, fitted.n_rows(), n_queries, k);
  if (n_queries <= kHalfOfBatch || fits_the_gpus(fitted, spec, backend, run)) return spec;
  return {fitted, map, element, fitted.n_rows(), kHalfOfBatch, k};
}

// Every GPU holds the whole table and takes its share of a block's queries.
class TensorFilterPipeline final : public GpuFilterPipeline {
 public:
  TensorFilterPipeline(const Fitted& fitted, const Plan& plan, const Selection& selection, std::int64_t n_queries,
                       const RunOptions& run)
      : GpuFilterPipeline(fitted, plan, n_queries, run, kBlocks, tensor_places(fitted, selection),
                          tensor_lists_vary(selection)),
        may_leave_tiles_out_(selection.kind == Selection::Kind::nearest && n_queries > cuda_abi::kFewQueries &&
                             k_ + (selection.exclude_self ? 1 : 0) <= cuda_abi::kMostClusterNeighbors) {
    const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *fitted.kernel().filter_form());
    const TensorFilterSpec spec = spec_of_table(fitted, *map, n_queries, k_, plan.backend, run);
    make_filters(*map, spec);
    lend_rows_of(filters_);
    clusters_.begin(filters_, spec, fitted, {n_queries, may_leave_tiles_out_, plan.threads}, run);
    take_voters(selection, cuda_abi::kTensorSlots, [&] {
      cuda_abi::FilterSize size{};
      checked_call([&](Failure* failure) {
        return cuda_functions().tensor_size(plan_.backend.gpus.front(), &spec.spec, &size, failure);
      });
      return FilterRoom{checked::add(size.bytes, PlannedClusters::bytes(filters_, spec)), spec.spec.most_queries};
    });
    // True if all GPUs of the run are the one with the rows and lists, however often it is named.
    const bool on_gpu = selection.in_place != nullptr && !vary_ &&
                        std::all_of(plan_.backend.gpus.begin(), plan_.backend.gpus.end(),
                                    [&](int gpu) { return gpu == selection.in_place->gpu(); });
    // Without room for what the training rows vote with, the host votes.
    if (on_gpu && selection.in_place->wants_votes() == votes_) on_gpu_ = selection.in_place;
    borrow_threads();
    if (selection.kind == Selection::Kind::radius) within_ = pinned_radius(selection, filters_.front()->gpu());
    if (on_gpu_ == nullptr) hold_rows(filters_.front()->row_memory(), filters_.front()->gpu());
  }

  // After an error or a cancellation batches are still under way, and they read and write the blocks.
  ~TensorFilterPipeline() override {
    for (const std::deque<Share>& shares : shares_) {
      for (const Share& share : shares) {
        if (share.flight != nullptr) share.filter->settle(*share.flight);
      }
    }
    release_rows(filters_.front()->row_memory());
    filters_.front()->threads().give_back(std::move(threads_));
    filters_.front()->threads().give_back(std::move(hand_threads_));
  }
  TensorFilterPipeline(const TensorFilterPipeline&) = delete;
  TensorFilterPipeline& operator=(const TensorFilterPipeline&) = delete;

  bool begins_beside() const override { return true; }
  bool keeps_lists() const override { return votes_ || on_gpu_ != nullptr; }

 private:
  // One is prepared and one handed on while the GPU searches the third.
  static constexpr std::size_t kBlocks = cuda_abi::kTensorSlots;
  // Neighbours handed on per task: waking a thread for fewer takes longer than copying them.
  static constexpr std::int64_t kHandedPerTask = std::int64_t{1} << 17;

  // Queries of a block on one GPU.
  struct Share {
    TensorFilter* filter;
    Range range;
    std::shared_ptr<BatchInFlight> flight = {};
    bool voted = false;
    Neighbors* out = nullptr;
    // The answer, if another search wanted the batch's place on the GPU before this one asked for it.
    std::vector<double> distances = {};
    std::vector<std::int32_t> rows = {};
  };

  std::optional<ImageNeed> start(std::size_t which) override {
    Block& block = blocks_[which];
    for (const std::shared_ptr<TensorFilter>& filter : filters_) {
      if (filter->in_bytes() && !filter->useful()) return ImageNeed::halves;
    }
    if (on_gpu_ == nullptr) {
      (*block.encode)(block.queries.first, block.queries.n, block.rows.data(), *threads_);
      if (const std::optional<ImageNeed> need = need_of(block.rows.data(), block.queries.n)) return need;
    }
    clusters_.review(filters_);
    deal_out(block.queries.n, shares_[which]);
    for (Share& share : shares_[which]) submit(block, share);
    return {};
  }

  // Deals batches out to the GPUs in turn, so that no GPU waits for another's.
  void deal_out(std::int64_t n_queries, std::deque<Share>& shares) const {
    shares.clear();
    const auto n_gpus = static_cast<std::int64_t>(filters_.size());
    const auto share_end = [&](std::int64_t gpu) { return n_queries * (gpu + 1) / n_gpus; };
    for (std::int64_t batch = 0, added = 1; added > 0; ++batch) {
      added = 0;
      for (std::int64_t gpu = 0; gpu < n_gpus; ++gpu) {
        TensorFilter& filter = *filters_[static_cast<std::size_t>(gpu)];
        const std::int64_t begin = share_end(gpu - 1) + batch * filter.most_queries();
        if (begin >= share_end(gpu) || !filter.useful()) continue;
        shares.push_back({&filter, {begin, std::min(filter.most_queries(), share_end(gpu) - begin)}});
        ++added;
      }
    }
  }

  std::optional<ImageNeed> collect(std::size_t which, Neighbors* out) override {
    Block& block = blocks_[which];
    for (Share& share : shares_[which]) {
      share.out = out;
      const std::shared_ptr<BatchInFlight> flight = std::exchange(share.flight, nullptr);
      share.filter->finish(*flight, *hand_threads_);
      if (out != nullptr && !share.rows.empty()) {
        hand_on(share, share.distances.data(), share.rows.data(), *hand_threads_);
      } else if (votes_ && !share.voted) {
        keep_lists(block, share.range, share.distances.data(), share.rows.data());
      }
    }
    return on_gpu_ != nullptr ? need_on_gpu(block) : std::nullopt;
  }

  bool predictions_stay() const override { return votes_ && on_gpu_ != nullptr; }

  void report_filter(SearchReport& report) const override {
    report.method += filters_.front()->in_bytes() ? ", byte products" : ", products";
    if (may_leave_tiles_out_ && filters_.front()->in_clusters()) report.method += ", clusters";
    const std::string tiles = clusters_.reason(filters_);
    if (may_leave_tiles_out_ && !tiles.empty()) report.method_reason += "; " + tiles;
    if (votes_) report.method += ", votes";
    if (on_gpu_ != nullptr) report.method += ", on the GPU";
    work_.report(cuda_abi::kImagesStep, cuda_abi::kTableImagesStep, report);
  }

  ThreadPool& finish_threads() override { return *hand_threads_; }
  bool may_have_more_places() const override { return more_places(k_) <= kMostFilterNeighbors; }

  // Returns the radius for each query of a batch, which is at most a block.
  device::Pinned<double> pinned_radius(const Selection& selection, int gpu) const {
    device::Pinned<double> radius(gpu, plan_.tile_queries);
    std::fill_n(radius.data(), plan_.tile_queries, filter_radius(selection));
    return radius;
  }

  void make_filters(const ImageMap& map, const TensorFilterSpec& spec) {
    const auto make = [&](int gpu, const TensorFilterSpec& as) {
      const std::shared_ptr<const GpuTable> lent = fitted_.rows_alone_on(gpu);
      auto filter = std::make_shared<TensorFilter>(gpu, as, lent);
      ThreadPool pool(std::min(plan_.threads, kLoaderThreads));
      if (lent != nullptr) {
        filter->take_lent_rows();
      } else {
        RowLoader(gpu, fitted_, run_.memory_limit).load(*filter, 0, 0, fitted_.n_rows(), pool, run_.cancel);
      }
      fitted_.check_rows(plan_.threads, run_.cancel);
      return filter;
    };
    const auto spec_of = [&](std::int64_t queries, std::int64_t k) {
      return queries == n_queries_ && k == k_
                 ? spec
                 : TensorFilterSpec(fitted_, map, spec.element, fitted_.n_rows(), queries, k);
    };
    filters_.resize(plan_.backend.gpus.size());
    const auto n_gpus = static_cast<std::int64_t>(filters_.size());
    ThreadPool gpus(static_cast<int>(n_gpus));
    gpus.parallel_for(n_gpus, run_.cancel, [&](std::int64_t i, int) {
      const int gpu = plan_.backend.gpus[static_cast<std::size_t>(i)];
      filters_[static_cast<std::size_t>(i)] =
          fitted_.gpu_filters().tensor_filter(gpu, [&](const std::shared_ptr<TensorFilter>& there) {
            return keep_or_make(there, n_queries_, k_, spec_of,
                                [&](const TensorFilterSpec& as) { return make(gpu, as); });
          });
    });
  }

  void borrow_threads() {
    // Waking a thread takes about as long as encoding this many values.
    constexpr std::int64_t kValuesPerThread = std::int64_t{1} << 17;
    const std::int64_t values = checked::mul(plan_.tile_queries, fitted_.width());
    // The caller's thread polls the GPU, and others hand on lists: more threads than this would wait for a core.
    const std::int64_t most_threads = std::max(1, plan_.threads * 3 / 4);
    threads_ = filters_.front()->threads().borrow(
        static_cast<int>(std::clamp<std::int64_t>(values / kValuesPerThread, 1, most_threads)));
    // Lists are handed on while the next block is encoded.
    const std::int64_t tasks = checked::ceil_div(checked::mul(plan_.tile_queries, k_), kHandedPerTask);
    hand_threads_ = filters_.front()->threads().borrow(static_cast<int>(std::min<std::int64_t>(tasks, most_threads)));
  }

  std::optional<ImageNeed> need_of(const double* rows, std::int64_t n) const {
    if (filters_.front()->takes_missing()) return {};
    return unmet_need(fitted_, filters_.front()->in_bytes(), rows, std::min(n, kGapSample), n_queries_);
  }

  // Rows on a GPU are checked only where many of them have no answer.
  std::optional<ImageNeed> need_on_gpu(const Block& block) const {
    const std::int64_t n = std::min(block.queries.n, kGapSample);
    const auto uncertified = std::count(block.uncertified.begin(), block.uncertified.end(), 1);
    if (uncertified < n / 8 || filters_.front()->takes_missing()) return {};
    Buffer<double> rows(checked::mul(n, fitted_.width()));
    (*block.encode)(block.queries.first, n, rows.data(), *hand_threads_);
    return need_of(rows.data(), n);
  }

  void submit(Block& block, Share& share) {
    run_.cancel.check();
    const std::int64_t first = block.queries.first + share.range.begin;
    const bool heap = block.selection->kind == Selection::Kind::rapidminer_heap;
    cuda_abi::TensorQuery query{nullptr, share.range.n, k_, block.selection->own_row(first), heap ? 1 : 0};
    if (within_.size() > 0) query.within = within_.data();
    const auto submit = [&] {
      share.voted = query.vote != nullptr;
      share.flight = share.filter->submit(
          query, [&](const cuda_abi::FilterAnswer& answer, ThreadPool* pool) { take(block, share, answer, pool); });
    };
    if (on_gpu_ != nullptr) {
      const cuda_abi::DeviceRows rows = on_gpu_->rows_from(first);
      query.device_rows = &rows;
      if (on_gpu_->wants_votes()) {
        const cuda_abi::DevicePredictions predictions = on_gpu_->predictions_from(first);
        query.device_predictions = &predictions;
        return submit_with_vote(block, share.filter->gpu(), query, submit);
      }
      const cuda_abi::DeviceLists lists = on_gpu_->lists_from(first);
      query.device_lists = &lists;
      return submit();
    }
    query.rows = block.queries.rows + share.range.begin * fitted_.width();
    submit_with_vote(block, share.filter->gpu(), query, submit);
  }

  // With a pool this search's own thread asks for the answer, without one another search's thread does.
  void take(Block& block, Share& share, const cuda_abi::FilterAnswer& answer, ThreadPool* pool) {
    take_answer(block, share.range, answer, share.voted && on_gpu_ == nullptr);
    if (share.voted || (on_gpu_ != nullptr && !votes_)) return;  // predictions or lists are in place
    if (vary_) {
      return block.found.take(share.range.begin, share.range.n, k_, answer.distances, answer.rows,
                              block.uncertified.data() + share.range.begin, pool, run_.cancel);
    }
    if (pool != nullptr && share.out != nullptr) {
      hand_on(share, answer.distances, answer.rows, *pool);
    } else {
      share.distances.assign(answer.distances, answer.distances + share.range.n * k_);
      share.rows.assign(answer.rows, answer.rows + share.range.n * k_);
    }
  }

  void hand_on(const Share& share, const double* distances, const std::int32_t* rows, ThreadPool& pool) const {
    const std::int64_t n = share.range.n * k_, to = share.range.begin * k_;
    pool.parallel_for(checked::ceil_div(n, kHandedPerTask), run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t begin = task * kHandedPerTask, end = std::min(n, begin + kHandedPerTask);
      std::copy(distances + begin, distances + end, share.out->distances.begin() + to + begin);
      std::copy(rows + begin, rows + end, share.out->indices.begin() + to + begin);
    });
  }

  PlannedClusters& clusters_ = fitted_.gpu_filters().clusters();
  const bool may_leave_tiles_out_;
  const InPlace* on_gpu_ = nullptr;                     // rows and lists in the caller's memory on a GPU
  device::Pinned<double> within_;                       // the radius, per query of a batch; empty: there is none
  std::vector<std::shared_ptr<TensorFilter>> filters_;  // per GPU
  std::unique_ptr<ThreadPool> threads_, hand_threads_;  // for begin() and for finish()
  std::deque<Share> shares_[kBlocks];                   // per block; batches under way point to theirs
};

// Says why the filter cannot serve a measure and a selection; empty if it can.
std::string unfit(const Fitted& fitted, const Selection& selection) {
  const FilterForm* form = fitted.kernel().filter_form();
  if (form == nullptr || !has_tensor_scan(*form))
    return "no tensor filter for " + std::string(fitted.measure().info.name);
  if (selection.kind == Selection::Kind::radius) {
    if (!(selection.radius < kMostFilterRadius)) return "every row is within the radius";
    return selection.places > kMostFilterNeighbors ? "more rows within the radius than a tensor filter lists" : "";
  }
  const bool heap = selection.kind == Selection::Kind::rapidminer_heap;
  if (selection.ks.size() != 1 || (heap && selection.train_groups != nullptr)) {
    return "no tensor filter for this selection";
  }
  if (selection.ks.front() > fitted.n_rows() - (selection.exclude_self ? 1 : 0)) return "fewer rows than neighbours";
  const std::int64_t most = heap ? kMostHeapNeighbors : kMostFilterNeighbors;
  return tensor_places(fitted, selection) > most ? "more neighbours than a tensor filter lists" : "";
}

}  // namespace

std::int64_t tensor_places(const Fitted& fitted, const Selection& selection) {
  if (selection.kind == Selection::Kind::radius) return selection.places;
  const std::int64_t k = selection.ks.front();
  if (selection.train_groups == nullptr) return k;
  return std::min(checked::add(k, selection.group_rows), fitted.n_rows() - (selection.exclude_self ? 1 : 0));
}

bool tensor_lists_vary(const Selection& selection) {
  return selection.kind == Selection::Kind::radius || selection.train_groups != nullptr;
}

bool tensor_filter_takes(const Fitted& fitted, const Selection& selection) {
  return unfit(fitted, selection).empty();
}

Method choose_tensor_method(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                            const device::BackendChoice& backend, const RunOptions& run) {
  const auto reference = [](const std::string& problem) {
    return Method{.engine = Engine::gpu_reference, .reason = "every distance by the formula, on the GPU: " + problem};
  };
  if (const std::string problem = unfit(fitted, selection); !problem.empty()) return reference(problem);
  const std::int64_t k = tensor_places(fitted, selection);
  // Queries are counted over the life of the table, since images are kept.
  const std::int64_t queries = fitted.history().add_queries(n_queries);
  if (!backend.forced && queries < kLeastPairs / fitted.n_rows()) {
    return reference("too few pairs for a filter to pay");
  }
  const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *fitted.kernel().filter_form());
  if (!map->bounds()) return reference("no tensor filter for these attributes' weights");
  const bool bytes = choose_image_element(fitted, *map, backend) == ImageElement::bytes;
  Method method;
  method.engine = Engine::tensor_filter;
  method.reason = bytes ? "in bytes, on the matrix units" : "in half precision, on the matrix units";
  try {
    const TensorFilterSpec spec = spec_of_table(fitted, *map, n_queries, k, backend, run);
    if (fits_the_gpus(fitted, spec, backend, run)) return method;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return reference(error.what());
  }
  if (selection.kind == Selection::Kind::rapidminer_heap)
    return reference("RapidMiner's heap, and the table comes in parts");
  if (!parts_are_held(fitted, k, n_queries, backend) &&
      plan_part_sizes(fitted, *map, k, n_queries, backend, run).rows == 0) {
    return reference("the images of too few rows fit the GPU's memory");
  }
  method.engine = Engine::tensor_filter_parts;
  method.reason += ", the table in parts";
  return method;
}

std::unique_ptr<SearchPipeline> make_tensor_filter(const Fitted& fitted, const Plan& plan, const Selection& selection,
                                                   std::int64_t n_queries, const RunOptions& run) {
  return std::make_unique<TensorFilterPipeline>(fitted, plan, selection, n_queries, run);
}

}  // namespace stope::knn
