#include "knn/gpu/tensor/tensor_filter.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/gpu/caller_rows.hpp"
#include "knn/gpu/filter_work.hpp"
#include "knn/gpu/keep_or_make.hpp"
#include "knn/gpu/reference/plan.hpp"
#include "knn/gpu/tensor/image_columns.hpp"
#include "knn/gpu/tensor/parts.hpp"
#include "knn/gpu/tensor/resident_table.hpp"
#include "knn/gpu/uncertified_queries.hpp"
#include "knn/vote/gpu_votes.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

using cuda_abi::Failure;

// Fewer pairs are done on the GPU before images of them would be made.
constexpr std::int64_t kLeastPairs = std::int64_t{1} << 22;

// Whether the GPUs hold the whole table; throws unsupported where there are no kernels.
bool fits_the_gpus(const Fitted& fitted, const TensorFilterSpec& spec, const device::BackendChoice& backend,
                   const RunOptions& run) {
  const std::int64_t forced_rows = environment::count(environment::Variable::device_rows);
  bool fits = fitted.resident() && (forced_rows == 0 || forced_rows >= fitted.n_rows());
  for (const int gpu : backend.gpus) {
    if (fits && fitted.filters().has_tensor_filter(gpu)) continue;  // it has its memory
    cuda_abi::FilterSize size{};
    std::int64_t free = 0;
    checked_call([&](Failure* failure) { return cuda_functions().tensor_size(gpu, &spec.spec, &size, failure); });
    checked_call([&](Failure* failure) { return device::cuda().functions->free_memory(gpu, &free, failure); });
    if (!size.possible) throw Error(ErrorCode::unsupported, "no tensor filter for this measure, width or GPU");
    fits = fits && size.bytes <= gpu_budget(free, run.memory_limit);
  }
  return fits;
}

// Of the whole table. Where that does not fit with as many queries at once as are best, fewer may do.
TensorFilterSpec spec_of_table(const Fitted& fitted, const ImageMap& map, std::int64_t n_queries, std::int64_t k,
                               const device::BackendChoice& backend, const RunOptions& run) {
  const ImageElement element = choose_image_element(fitted, map, backend);
  TensorFilterSpec spec(fitted, map, element, fitted.n_rows(), n_queries, k);
  if (n_queries <= kHalfOfBatch || fits_the_gpus(fitted, spec, backend, run)) return spec;
  return {fitted, map, element, fitted.n_rows(), kHalfOfBatch, k};
}

// Every GPU holds the whole table and takes its share of a block's queries.
class TensorFilterPipeline final : public SearchPipeline {
 public:
  TensorFilterPipeline(const Fitted& fitted, const Plan& plan, const Selection& selection, std::int64_t n_queries,
                       const RunOptions& run)
      : fitted_(fitted), plan_(plan), run_(run), k_(selection.ks.front()), n_queries_(n_queries) {
    const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *fitted.kernel().filter_form());
    const TensorFilterSpec spec = spec_of_table(fitted, *map, n_queries, k_, plan.backend, run);
    const auto n_gpus = static_cast<std::int64_t>(plan.backend.gpus.size());
    filters_.resize(plan.backend.gpus.size());
    const auto make = [&](int gpu, const TensorFilterSpec& as) {
      auto filter = std::make_shared<TensorFilter>(gpu, as);
      ThreadPool pool(std::min(plan.threads, kLoaderThreads));
      RowLoader(gpu, fitted, run.memory_limit).load(*filter, 0, 0, fitted.n_rows(), pool, run.cancel);
      return filter;
    };
    const auto spec_of = [&](std::int64_t queries, std::int64_t k) {
      return queries == n_queries && k == k_
                 ? spec
                 : TensorFilterSpec(fitted, *map, spec.element, fitted.n_rows(), queries, k);
    };
    ThreadPool gpus(static_cast<int>(n_gpus));
    gpus.parallel_for(n_gpus, run.cancel, [&](std::int64_t i, int) {
      const int gpu = plan.backend.gpus[static_cast<std::size_t>(i)];
      filters_[static_cast<std::size_t>(i)] =
          fitted.filters().tensor_filter(gpu, [&](const std::shared_ptr<TensorFilter>& there) {
            return keep_or_make(there, n_queries, k_, spec_of,
                                [&](const TensorFilterSpec& as) { return make(gpu, as); });
          });
    });
    votes_ = can_vote(spec, selection);
    on_gpu_ = selection.device;
    // All GPUs of the run are that of the rows and lists, however often it is named.
    for (const int gpu : plan.backend.gpus) {
      if (on_gpu_ != nullptr && gpu != on_gpu_->gpu()) on_gpu_ = nullptr;
    }
    // So many values are encoded in about the time a thread takes to wake.
    constexpr std::int64_t kValuesPerThread = std::int64_t{1} << 17;
    const std::int64_t values = checked::mul(plan.tile_queries, fitted.width());
    // The caller's thread waits for the GPU without sleep, and others hand on: more than this would wait for a core.
    const std::int64_t most_threads = std::max(1, plan.threads * 3 / 4);
    threads_ = filters_.front()->borrow_threads(
        static_cast<int>(std::clamp<std::int64_t>(values / kValuesPerThread, 1, most_threads)));
    // Handed on while the next block is encoded.
    const std::int64_t tasks = checked::ceil_div(checked::mul(plan.tile_queries, k_), kHandedPerTask);
    hand_threads_ = filters_.front()->borrow_threads(static_cast<int>(std::min<std::int64_t>(tasks, most_threads)));
    const std::int64_t n_blocks = checked::ceil_div(n_queries, plan.tile_queries);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(n_blocks, kBlocks); ++i) {
      if (on_gpu_ != nullptr) break;
      blocks_[i].rows = filters_.front()->row_memory().borrow(filters_.front()->gpu(), values);
    }
  }

  // A search that failed or was cancelled leaves batches under way, which read and write the blocks.
  ~TensorFilterPipeline() override {
    for (Block& block : blocks_) {
      for (const Share& share : block.shares) {
        if (share.flight != nullptr) share.filter->settle(*share.flight);
      }
      filters_.front()->row_memory().give_back(std::move(block.rows));
    }
    filters_.front()->give_back(std::move(threads_));
    filters_.front()->give_back(std::move(hand_threads_));
  }
  TensorFilterPipeline(const TensorFilterPipeline&) = delete;
  TensorFilterPipeline& operator=(const TensorFilterPipeline&) = delete;

  int blocks() const override { return kBlocks; }
  bool begins_beside() const override { return true; }

  void begin(int which, const QueryBlock& queries, const Selection& selection, const QueryEncoder& encode) override {
    Block& block = blocks_[which];
    block.queries = queries;
    block.queries.rows = block.rows.data();
    block.encode = &encode;
    for (const std::shared_ptr<TensorFilter>& filter : filters_) {
      if (filter->in_bytes() && !filter->useful()) throw OtherImages{ImageNeed::halves};
    }
    if (on_gpu_ == nullptr) {
      encode(queries.first, queries.n, block.rows.data(), *threads_);
      look_at_queries(block.rows.data(), queries.n);
    }
    block.selection = &selection;
    block.uncertified.assign(static_cast<std::size_t>(queries.n), 1);
    if (votes_) shape_outcome(*selection.ballot, queries, block.outcome);
    if (on_gpu_ != nullptr) block.outcome = {queries.first, queries.n, {}, {}, {}, {}};
    block.shares.clear();
    const auto n_gpus = static_cast<std::int64_t>(filters_.size());
    const auto share_end = [&](std::int64_t gpu) { return queries.n * (gpu + 1) / n_gpus; };
    // Batch by batch, so that no GPU waits for another's.
    for (std::int64_t batch = 0, added = 1; added > 0; ++batch) {
      added = 0;
      for (std::int64_t gpu = 0; gpu < n_gpus; ++gpu) {
        TensorFilter& filter = *filters_[static_cast<std::size_t>(gpu)];
        const std::int64_t begin = share_end(gpu - 1) + batch * filter.most_queries();
        if (begin >= share_end(gpu) || !filter.useful()) continue;
        block.shares.push_back({&filter, begin, std::min(filter.most_queries(), share_end(gpu) - begin)});
        ++added;
      }
    }
    for (Share& share : block.shares) submit(block, share);
  }

  void finish(int which, Neighbors& out) override {
    Block& block = blocks_[which];
    for (Share& share : block.shares) {
      share.out = &out;
      land(share);
      if (!share.rows.empty()) hand_on(share, share.distances.data(), share.rows.data(), *hand_threads_);
    }
    answer_uncertified(block, [&](std::int64_t query, std::vector<Neighbor> list) {
      copy_lists({std::move(list)}, *block.selection, query, out);
    });
  }

  bool keeps_lists() const override { return votes_ || on_gpu_ != nullptr; }

  void finish_kept(int which, Outcome& out) override {
    Block& block = blocks_[which];
    for (Share& share : block.shares) {
      land(share);
      if (votes_ && !share.voted) keep_lists(block, share);
    }
    if (on_gpu_ != nullptr) look_at_queries_on_gpu(block);
    answer_uncertified(block, [&](std::int64_t query, std::vector<Neighbor> list) {
      add_list(query, std::move(list), block.outcome);
    });
    sort_lists(block.outcome);
    std::swap(out, block.outcome);
  }

  void report(SearchReport& report) const override {
    uncertified_.report(report);
    report.method += filters_.front()->in_bytes() ? ", byte products" : ", products";
    if (votes_ || on_gpu_ != nullptr) report.method += votes_ ? ", votes" : ", on the GPU";
    report.tile_queries = plan_.tile_queries;
    work_.report(cuda_abi::kImagesStep, cuda_abi::kTableImagesStep, report);
  }

 private:
  // One is prepared and one handed on while the GPU searches the third.
  static constexpr int kBlocks = cuda_abi::kTensorSlots;
  // Neighbours: to wake a thread for fewer takes longer than to copy them.
  static constexpr std::int64_t kHandedPerTask = std::int64_t{1} << 17;

  // Queries [begin, begin + n) of a block, on one GPU.
  struct Share {
    TensorFilter* filter;
    std::int64_t begin, n;
    std::shared_ptr<BatchInFlight> flight = {};
    bool voted = false;
    Neighbors* out = nullptr;
    // The answer, if another search wanted the batch's place on the GPU before we wanted the answer.
    std::vector<double> distances = {};
    std::vector<std::int32_t> rows = {};
  };
  struct Block {
    device::Pinned<double> rows;
    QueryBlock queries;
    const Selection* selection = nullptr;
    const QueryEncoder* encode = nullptr;
    std::deque<Share> shares;  // batches under way point to theirs
    std::vector<std::int32_t> uncertified;
    Outcome outcome = {};  // where lists are kept
  };

  // Whether every GPU has what the training rows vote with, within the run's memory limit.
  bool can_vote(const TensorFilterSpec& spec, const Selection& selection) const {
    if (selection.ballot == nullptr) return false;
    if (run_.memory_limit > 0) {
      cuda_abi::FilterSize size{};
      checked_call([&](Failure* failure) {
        return cuda_functions().tensor_size(plan_.backend.gpus.front(), &spec.spec, &size, failure);
      });
      const std::int64_t bytes = vote_bytes(*selection.ballot, spec.spec.most_queries, cuda_abi::kTensorSlots);
      if (checked::add(size.bytes, bytes) > run_.memory_limit) return false;
    }
    return std::all_of(filters_.begin(), filters_.end(), [&](const std::shared_ptr<TensorFilter>& filter) {
      return filter->take_voters(selection.ballot->voters);
    });
  }

  void look_at_queries(const double* rows, std::int64_t n) const {
    if (filters_.front()->takes_missing()) return;
    ask_for_other_images(fitted_, filters_.front()->in_bytes(), rows, std::min(n, kGapSample), n_queries_);
  }

  // Rows on a GPU are looked at only where many of them have no answer.
  void look_at_queries_on_gpu(const Block& block) const {
    const std::int64_t n = std::min(block.queries.n, kGapSample);
    const auto uncertified = std::count(block.uncertified.begin(), block.uncertified.end(), 1);
    if (uncertified < n / 8 || filters_.front()->takes_missing()) return;
    Buffer<double> rows(checked::mul(n, fitted_.width()));
    (*block.encode)(block.queries.first, n, rows.data(), *hand_threads_);
    look_at_queries(rows.data(), n);
  }

  void land(Share& share) {
    const std::shared_ptr<BatchInFlight> flight = std::exchange(share.flight, nullptr);
    share.filter->finish(*flight, *hand_threads_);
  }

  void keep_lists(Block& block, const Share& share) const {
    for (std::int64_t i = 0; i < share.n; ++i) {
      if (block.uncertified[static_cast<std::size_t>(share.begin + i)] != 0) continue;
      std::vector<Neighbor> list;
      for (std::int64_t j = i * k_; j < (i + 1) * k_; ++j) {
        list.push_back({share.distances[static_cast<std::size_t>(j)], share.rows[static_cast<std::size_t>(j)]});
      }
      add_list(share.begin + i, std::move(list), block.outcome);
    }
  }

  void submit(Block& block, Share& share) {
    run_.cancel.check();
    const std::int64_t self = block.selection->exclude_self ? block.queries.first + share.begin : -1;
    const bool heap = block.selection->kind == Selection::Kind::rapidminer_heap;
    cuda_abi::TensorQuery query{block.queries.rows + share.begin * fitted_.width(), share.n, k_, self, heap ? 1 : 0};
    const auto submit = [&] {
      share.flight = share.filter->submit(
          query, [&](const cuda_abi::FilterAnswer& answer, ThreadPool* pool) { take(block, share, answer, pool); });
    };
    if (on_gpu_ != nullptr) {
      const cuda_abi::DeviceRows rows = on_gpu_->rows_from(block.queries.first + share.begin);
      const cuda_abi::DeviceLists lists = on_gpu_->lists_from(block.queries.first + share.begin);
      query.rows = nullptr;
      query.device_rows = &rows;
      query.device_lists = &lists;
      return submit();
    }
    if (!votes_) return submit();
    const cuda_abi::Vote vote = vote_of(*block.selection->ballot);
    query.vote = &vote;
    share.voted = true;
    try {
      submit();
    } catch (const Error& error) {
      // No room for predictions: the lists come back, and the host votes.
      if (error.code() != ErrorCode::out_of_memory) throw;
      query.vote = nullptr;
      share.voted = false;
      submit();
    }
  }

  // With a pool it is our own thread that asks for the answer, else another search's.
  void take(Block& block, Share& share, const cuda_abi::FilterAnswer& answer, ThreadPool* pool) {
    std::copy_n(answer.uncertified, share.n, block.uncertified.begin() + share.begin);
    if (share.voted) {
      put_predictions(*block.selection->ballot, {answer.winners, answer.values, share.begin, share.n}, block.outcome);
    } else if (on_gpu_ != nullptr) {
      // The lists are in place.
    } else if (pool != nullptr && share.out != nullptr) {
      hand_on(share, answer.distances, answer.rows, *pool);
    } else {
      share.distances.assign(answer.distances, answer.distances + share.n * k_);
      share.rows.assign(answer.rows, answer.rows + share.n * k_);
    }
    const std::scoped_lock lock(work_mutex_);
    work_.add(answer);
  }

  void hand_on(const Share& share, const double* distances, const std::int32_t* rows, ThreadPool& pool) const {
    const std::int64_t n = share.n * k_, to = share.begin * k_;
    pool.parallel_for(checked::ceil_div(n, kHandedPerTask), run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t begin = task * kHandedPerTask, end = std::min(n, begin + kHandedPerTask);
      std::copy(distances + begin, distances + end, share.out->distances.begin() + to + begin);
      std::copy(rows + begin, rows + end, share.out->indices.begin() + to + begin);
    });
  }

  void answer_uncertified(const Block& block, const UncertifiedQueries::Take& take) {
    const std::int64_t width = fitted_.width();
    const auto fetch = [&](std::int64_t begin, std::int64_t n, double* rows) {
      if (on_gpu_ != nullptr) return (*block.encode)(block.queries.first + begin, n, rows, *hand_threads_);
      std::copy_n(block.queries.rows + begin * width, n * width, rows);
    };
    uncertified_.answer(block.queries, *block.selection, block.uncertified, fetch, take);
  }

  const Fitted& fitted_;
  const Plan plan_;
  const RunOptions& run_;
  std::int64_t k_, n_queries_;
  bool votes_ = false;                                  // lists stay on the GPUs,
  const DeviceQueries* on_gpu_ = nullptr;               // or in the caller's memory there, where the rows are, too
  std::vector<std::shared_ptr<TensorFilter>> filters_;  // per GPU
  UncertifiedQueries uncertified_{fitted_, plan_, run_};
  std::unique_ptr<ThreadPool> threads_, hand_threads_;  // of begin() and of finish()
  Block blocks_[kBlocks];
  std::mutex work_mutex_;
  FilterWork work_;
};

}  // namespace

namespace {

// Why there is no filter for a measure and a selection; empty if there is.
std::string unfit(const Fitted& fitted, const Selection& selection) {
  const FilterForm* form = fitted.kernel().filter_form();
  if (form == nullptr || !has_image_columns(*form))
    return "no tensor filter for " + std::string(fitted.measure().info.name);
  if (selection.kind == Selection::Kind::radius || selection.train_groups != nullptr || selection.ks.size() != 1) {
    return "no tensor filter for this selection";
  }
  if (selection.ks.front() > fitted.n_rows() - (selection.exclude_self ? 1 : 0)) return "fewer rows than neighbours";
  const bool heap = selection.kind == Selection::Kind::rapidminer_heap;
  const std::int64_t most = heap ? kMostHeapNeighbors : kMostFilterNeighbors;
  return selection.ks.front() > most ? "more neighbours than a tensor filter lists" : "";
}

}  // namespace

bool tensor_filter_takes(const Fitted& fitted, const Selection& selection) {
  return unfit(fitted, selection).empty();
}

Method choose_tensor_method(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                            const device::BackendChoice& backend, const RunOptions& run) {
  const auto reference = [](const std::string& problem) {
    return Method{Method::Way::reference, {}, {}, "every distance by the formula, on the GPU: " + problem};
  };
  if (const std::string problem = unfit(fitted, selection); !problem.empty()) return reference(problem);
  const std::int64_t k = selection.ks.front();
  // Over the life of the table, since images are kept.
  const std::int64_t queries = fitted.filters().add_queries(n_queries);
  if (!backend.forced && queries < kLeastPairs / fitted.n_rows()) {
    return reference("too few pairs for a filter to pay");
  }
  const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *fitted.kernel().filter_form());
  if (!map->bounds()) return reference("no tensor filter for these attributes' weights");
  const bool bytes = choose_image_element(fitted, *map, backend) == ImageElement::bytes;
  Method method{Method::Way::filter, BlockOrder::table, ScanKind::products,
                bytes ? "in bytes, on the matrix units" : "in half precision, on the matrix units"};
  try {
    method.in_parts = !fits_the_gpus(fitted, spec_of_table(fitted, *map, n_queries, k, backend, run), backend, run);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return reference(error.what());
  }
  if (!method.in_parts) return method;
  if (selection.kind != Selection::Kind::nearest) return reference("RapidMiner's heap, and the table comes in parts");
  if (!parts_are_held(fitted, k, n_queries, backend) &&
      plan_part_sizes(fitted, *map, k, n_queries, backend, run).rows == 0) {
    return reference("the images of too few rows fit the GPU's memory");
  }
  method.reason += ", the table in parts";
  return method;
}

std::unique_ptr<SearchPipeline> make_tensor_filter(const Fitted& fitted, const Plan& plan, const Selection& selection,
                                                   std::int64_t n_queries, const RunOptions& run) {
  return std::make_unique<TensorFilterPipeline>(fitted, plan, selection, n_queries, run);
}

}  // namespace stope::knn
