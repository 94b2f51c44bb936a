#include "knn/gpu/differences/difference_filter.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "device/pinned_pool.hpp"
#include "knn/filter/derived_images.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/gpu/call.hpp"
#include "knn/gpu/differences/answer_places.hpp"
#include "knn/gpu/filter_pipeline.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/gpu/keep_or_make.hpp"
#include "knn/gpu/reference/plan.hpp"
#include "knn/gpu/spare_threads.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

using cuda_abi::Failure;

static_assert(cuda_abi::kExcludesNothing == kNoGroup);

// A filter is made larger than one search needs, so that it serves many. Most searches have k up to the first of these.
constexpr std::int64_t kFewNeighbors = 24, kUsualNeighbors = 128, kMostNeighbors = 512;
// Within a radius no sample and no heap is in the way of more.
constexpr std::int64_t kMostPlaces = 1024;
constexpr std::int64_t kMostNeighborsOfBoxes = 128;
// Most queries on the GPU at once. A first search of few queries leaves room for some more.
constexpr std::int64_t kMostQueries = 16384, kMostQueriesOfBoxes = kBoxQueries, kLeastQueries = 2048;
constexpr std::int64_t kPieceBytes = std::int64_t{8} << 20;
// Queries between two looks at the cancel token.
constexpr std::int64_t kQueriesPerCall = kBoxQueries;
// ... within a radius, whose lists have many places that stay empty. All places together take 48 MB of pinned memory.
constexpr std::int64_t kPlacesPerCall = std::int64_t{1} << 22;
std::int64_t varying_per_call(std::int64_t places) {
  return std::min(kMostQueries, kPlacesPerCall / places);
}
// Below this many pairs, the reference on the GPU ends before images of the rows would be made.
constexpr std::int64_t kLeastPairs = std::int64_t{1} << 22;
// Most rows that may be always listed: they are evaluated for every query.
constexpr std::int64_t kMostAlways = 64;

ScanKind kind_of(DifferenceForm form) {
  return form == DifferenceForm::bytes ? ScanKind::byte_differences : ScanKind::differences;
}

/// How many rows of a query the filter lists.
std::int64_t places_of(const Selection& selection) {
  return selection.kind == Selection::Kind::radius ? selection.places : selection.ks.front();
}

/// What the plug-in is told about a fitted table. Points into the table and the map.
struct Spec {
  Spec(const Fitted& fitted, const ImageMap& map, DifferenceForm form, std::int64_t n_queries, std::int64_t k) {
    const MeasureBytes image = fitted.kernel().bytes();
    spec = {{image.type, image.bytes, image.n_bytes, image.storage, image.n_storage, fitted.attributes().data(),
             static_cast<std::int64_t>(fitted.attributes().size())},
            map.row_form(),
            map.sum_bounds(),
            map.mismatch(),
            map.weight(),
            form == DifferenceForm::bytes ? steps_of(fitted, map) : 0.0,
            fitted.width(),
            fitted.n_rows(),
            std::clamp(n_queries, kLeastQueries, form == DifferenceForm::boxes ? kMostQueriesOfBoxes : kMostQueries),
            k <= kFewNeighbors     ? kFewNeighbors
            : k <= kUsualNeighbors ? kUsualNeighbors
                                   : kMostPlaces,
            kPieceBytes,
            form == DifferenceForm::boxes ? 1 : 0};
  }
  cuda_abi::DifferenceSpec spec{};

 private:
  // Returns how many steps a unit of the images has. All but one row in 512 of a sample then have at most 127 steps;
  // values beyond that are cut off, and their residual says so. Without numbers the largest mismatch has 127 steps.
  static double steps_of(const Fitted& fitted, const ImageMap& map) {
    constexpr std::int64_t kSample = 2048;
    constexpr double kLargestStep = 127.0, kMostSteps = 1e30;
    if (map.n_numeric() == 0) {
      const float most = *std::max_element(map.mismatch(), map.mismatch() + map.n_columns());
      return most > 0.0F ? std::min((kLargestStep + 0.5) / static_cast<double>(most), kMostSteps) : 1.0;
    }
    const std::vector<double> rows = fitted.sample(kSample);
    const std::int64_t n = static_cast<std::int64_t>(rows.size()) / fitted.width();
    std::vector<float> image(static_cast<std::size_t>(map.n_columns()));
    std::vector<double> sizes;
    for (std::int64_t i = 0; i < n; ++i) {
      map.map(rows.data() + i * fitted.width(), image.data());
      double size = 0.0;
      for (std::int64_t c = 0; c < map.n_numeric(); ++c) {
        const auto value = static_cast<double>(image[static_cast<std::size_t>(c)]);
        if (!std::isnan(value)) size = std::max(size, std::fabs(value));
      }
      sizes.push_back(size);
    }
    if (sizes.empty()) return 1.0;
    const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() - 1 - sizes.size() / 512);
    std::nth_element(sizes.begin(), at, sizes.end());
    return *at > 0.0 ? std::min(kLargestStep / *at, kMostSteps) : 1.0;
  }
};

}  // namespace

/// A training table with its images on one GPU.
class DifferenceFilter {
 public:
  DifferenceFilter(int gpu, const Spec& spec, const Fitted& fitted, const CancelToken& cancel)
      : gpu_(gpu), most_neighbors_(spec.spec.most_neighbors), most_queries_(spec.spec.most_queries) {
    checked_call([&](Failure* failure) {
      cuda_abi::DifferenceFilter* filter = nullptr;
      const int code = cuda_functions().differences_create(gpu, &spec.spec, &filter, failure);
      filter_.reset(filter);
      return code;
    });
    // Rows copied between two looks at the cancel token.
    const std::int64_t step = std::max<std::int64_t>(1, (std::int64_t{1} << 28) / (8 * fitted.width()));
    for (std::int64_t begin = 0; begin < fitted.n_rows(); begin += step) {
      cancel.check();
      const std::int64_t n = std::min(step, fitted.n_rows() - begin);
      checked_call([&](Failure* failure) {
        return cuda_functions().differences_load(filter_.get(), fitted.rows() + begin * fitted.width(), n, failure);
      });
    }
    checked_call(
        [&](Failure* failure) { return cuda_functions().differences_finish(filter_.get(), &n_always_, failure); });
  }

  int gpu() const { return gpu_; }
  std::int64_t most_neighbors() const { return most_neighbors_; }
  std::int64_t most_queries() const { return most_queries_; }
  bool useful() const { return n_always_ <= kMostAlways; }
  /// Its training rows; boxes have them in another order.
  cuda_abi::LentRows lent_rows() const { return {nullptr, nullptr, filter_.get()}; }

  /// Memory for query rows.
  device::PinnedPool<double>& row_memory() { return row_memory_; }
  SpareThreads& threads() { return threads_; }

  /// Lists of n neighbours in all, uninitialised: in memory that an earlier search left, if it is enough. Memory costs
  /// more to write for the first time than to write again.
  struct Answers {
    Buffer<double> distances;
    Buffer<std::int32_t> rows;
  };
  Answers borrow_answers(std::int64_t n) {
    {
      const std::scoped_lock lock(answers_mutex_);
      for (Answers& spare : spare_answers_) {
        if (spare.rows.size() >= n) return std::exchange(spare, {});
      }
    }
    return {Buffer<double>(n), Buffer<std::int32_t>(n)};
  }
  void give_back(Answers answers) {
    if (answers.rows.size() > kMostKept) return;
    const std::scoped_lock lock(answers_mutex_);
    for (Answers& spare : spare_answers_) {
      if (spare.rows.size() < answers.rows.size()) std::swap(spare, answers);
    }
  }

  /// `take` gets the answer, which is valid only while it runs. The GPU works for the next search meanwhile, unless
  /// this one votes or its lists are long: places for these would take much pinned memory.
  template <class Take>
  void search(cuda_abi::DifferenceQuery query, const Take& take) {
    std::unique_lock lock(mutex_);
    const bool apart = query.vote == nullptr && query.n * query.k <= kMostKept;
    const AnswerPlaces::Borrowed place(places_, apart ? next_place_ : 0, !apart);
    query.place = place.number();
    next_place_ = (query.place + 1) % cuda_abi::kAnswerPlaces;
    cuda_abi::FilterAnswer answer{};
    const auto run = [&] {
      checked_call([&](Failure* failure) {
        return cuda_functions().differences_search(filter_.get(), &query, &answer, failure);
      });
    };
    std::optional<AnswerPlaces::Borrowed> other;
    try {
      run();
    } catch (const Error& error) {
      // Without memory for this place the other one will do, once it is free.
      if (error.code() != ErrorCode::out_of_memory || !apart) throw;
      query.place = other.emplace(places_).number();
      run();
    }
    if (apart) lock.unlock();
    take(answer);
  }

 private:
  static constexpr std::int64_t kMostKept = std::int64_t{1} << 21;  // neighbours: 24 MB
  struct Destroy {
    void operator()(cuda_abi::DifferenceFilter* filter) const {
      if (device::cuda_lives()) cuda_functions().differences_destroy(filter);
    }
  };
  int gpu_;
  std::int64_t most_neighbors_, most_queries_;
  std::int64_t n_always_ = 0;
  std::unique_ptr<cuda_abi::DifferenceFilter, Destroy> filter_;
  AnswerPlaces places_;
  std::mutex mutex_;
  int next_place_ = 0;
  device::PinnedPool<double> row_memory_;
  SpareThreads threads_;
  std::mutex answers_mutex_;
  Answers spare_answers_[2];  // for two blocks under way
};

namespace {

// Every GPU holds the whole table and takes its share of a block's queries, in a thread of its own. The next block is
// prepared meanwhile.
class DifferenceFilterPipeline final : public GpuFilterPipeline {
 public:
  DifferenceFilterPipeline(const Fitted& fitted, const Plan& plan, const Selection& selection, std::int64_t n_queries,
                           const RunOptions& run)
      : GpuFilterPipeline(fitted, plan, n_queries, run, kBlocks, places_of(selection),
                          selection.kind == Selection::Kind::radius) {
    const std::shared_ptr<const ImageMap> map = fitted_.filters().map(fitted_, *fitted_.kernel().filter_form());
    const auto spec_of = [&](std::int64_t queries, std::int64_t k) { return Spec(fitted_, *map, form(), queries, k); };
    for (const int gpu : plan_.backend.gpus) {
      filters_.push_back(
          fitted_.gpu_filters().difference_filter(gpu, form(), [&](const std::shared_ptr<DifferenceFilter>& there) {
            return keep_or_make(there, n_queries, k_, spec_of, [&](const Spec& spec) {
              auto filter = std::make_shared<DifferenceFilter>(gpu, spec, fitted_, run_.cancel);
              fitted_.check_rows(plan_.threads, run_.cancel);
              return filter;
            });
          }));
    }
    if (form() != DifferenceForm::boxes) lend_rows_of(filters_);
    // The predictions of a call are in host memory.
    take_voters(selection, 1, [&] {
      const Spec spec = spec_of(n_queries, k_);
      cuda_abi::FilterSize size{};
      checked_call([&](Failure* failure) {
        return cuda_functions().differences_size(plan_.backend.gpus.front(), &spec.spec, &size, failure);
      });
      return FilterRoom{size.bytes, spec.spec.most_queries};
    });
    threads_ = filters_.front()->threads().borrow(plan_.threads);
    hold_rows(filters_.front()->row_memory(), plan_.backend.gpus.front());
  }

  // After an error or a cancellation other searches are still under way, and they read and write the blocks.
  ~DifferenceFilterPipeline() override {
    wait();
    release_rows(filters_.front()->row_memory());
    for (Found& found : found_) filters_.front()->give_back(std::move(found.answers));
    filters_.front()->threads().give_back(std::move(threads_));
    filters_.front()->threads().give_back(std::move(hand_threads_));
  }
  DifferenceFilterPipeline(const DifferenceFilterPipeline&) = delete;
  DifferenceFilterPipeline& operator=(const DifferenceFilterPipeline&) = delete;

 private:
  static constexpr std::size_t kBlocks = 2;                              // blocks under way at once
  static constexpr std::int64_t kCopiedPerTask = std::int64_t{1} << 15;  // neighbours

  // The answers of all shares of a block; no lists where the lists stay on the GPU.
  struct Found {
    DifferenceFilter::Answers answers;
    std::vector<std::future<void>> shares;
  };

  std::optional<ImageNeed> start(std::size_t which) override {
    const Block& block = blocks_[which];
    Found& found = found_[which];
    const std::int64_t n = block.queries.n;
    (*block.encode)(block.queries.first, n, block.rows.data(), *threads_);
    if (const std::int64_t size = checked::mul(n, k_); !votes_ && !vary_ && found.answers.rows.size() < size) {
      found.answers = filters_.front()->borrow_answers(size);
    }
    found.shares.clear();
    const auto n_gpus = static_cast<std::int64_t>(filters_.size());
    for (std::int64_t gpu = 0; gpu < n_gpus; ++gpu) {
      DifferenceFilter& filter = *filters_[static_cast<std::size_t>(gpu)];
      const std::int64_t begin = n * gpu / n_gpus, end = n * (gpu + 1) / n_gpus;
      if (begin == end || !filter.useful()) continue;
      found.shares.push_back(std::async(
          std::launch::async, [this, which, &filter, begin, end] { search(which, filter, {begin, end - begin}); }));
    }
    return {};
  }

  std::optional<ImageNeed> collect(std::size_t which, Neighbors* out) override {
    Found& found = found_[which];
    for (std::future<void>& share : found.shares) share.get();
    if (out == nullptr || vary_) return {};
    const std::int64_t n = checked::mul(blocks_[which].queries.n, k_);
    threads_->parallel_for(checked::ceil_div(n, kCopiedPerTask), run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t begin = task * kCopiedPerTask, end = std::min(n, begin + kCopiedPerTask);
      const DifferenceFilter::Answers& answers = found.answers;
      std::copy(answers.distances.data() + begin, answers.distances.data() + end, out->distances.begin() + begin);
      std::copy(answers.rows.data() + begin, answers.rows.data() + end, out->indices.begin() + begin);
    });
    return {};
  }

  // Waits for all shares under way.
  void wait() const {
    for (const Found& found : found_) {
      for (const std::future<void>& share : found.shares) {
        if (share.valid()) share.wait();
      }
    }
  }

  void report_filter(SearchReport& report) const override {
    wait();  // where another pipeline goes on with a block, the next one is under way here
    constexpr std::string_view kNames[] = {", differences", ", byte differences", ", boxes"};
    report.method += kNames[static_cast<std::size_t>(form())];
    if (votes_) report.method += ", votes";
    const bool boxes = form() == DifferenceForm::boxes;
    work_.report(cuda_abi::kUploadStep, boxes ? cuda_abi::kTableImagesStep : cuda_abi::kCopyBackStep, report);
  }

  ThreadPool& finish_threads() override { return *threads_; }
  bool may_have_more_places() const override { return more_places(k_) <= kMostPlaces; }

  DifferenceForm form() const {
    if (plan_.method.engine == Engine::box_search) return DifferenceForm::boxes;
    return plan_.method.kind == ScanKind::byte_differences ? DifferenceForm::bytes : DifferenceForm::floats;
  }

  // Searches a share of a block's queries on one GPU.
  void search(std::size_t which, DifferenceFilter& filter, Range share) {
    Block& block = blocks_[which];
    const Selection& selection = *block.selection;
    const bool grouped = selection.train_groups != nullptr;
    const std::int64_t end = share.begin + share.n, step = vary_ ? varying_per_call(k_) : kQueriesPerCall;
    for (std::int64_t begin = share.begin; begin < end; begin += step) {
      run_.cancel.check();
      const Range range{begin, std::min(step, end - begin)};
      cuda_abi::DifferenceQuery query{block.queries.rows + begin * fitted_.width(),
                                      range.n,
                                      k_,
                                      selection.own_row(block.queries.first + begin),
                                      selection.train_groups,
                                      grouped ? block.queries.groups + begin : nullptr};
      if (selection.kind == Selection::Kind::radius) query.within = filter_radius(selection);
      query.heap = selection.kind == Selection::Kind::rapidminer_heap ? 1 : 0;
      submit_with_vote(block, filter.gpu(), query, [&] {
        filter.search(query,
                      [&](const cuda_abi::FilterAnswer& answer) { take(which, range, answer, query.vote != nullptr); });
      });
    }
  }

  void take(std::size_t which, Range range, const cuda_abi::FilterAnswer& answer, bool voted) {
    Block& block = blocks_[which];
    take_answer(block, range, answer, voted);
    if (voted) return;
    if (votes_) return keep_lists(block, range, answer.distances, answer.rows);
    if (vary_) {
      return with_hand_threads([&](ThreadPool& threads) {
        block.found.take(range.begin, range.n, k_, answer.distances, answer.rows,
                         block.uncertified.data() + range.begin, &threads, run_.cancel);
      });
    }
    Found& found = found_[which];
    const std::int64_t first = range.begin * k_, n = range.n * k_;
    const auto copy = [&](std::int64_t begin, std::int64_t end) {
      std::copy(answer.distances + begin, answer.distances + end, found.answers.distances.data() + first + begin);
      std::copy(answer.rows + begin, answer.rows + end, found.answers.rows.data() + first + begin);
    };
    if (n <= kCopiedPerTask) return copy(0, n);
    with_hand_threads([&](ThreadPool& threads) {
      threads.parallel_for(checked::ceil_div(n, kCopiedPerTask), run_.cancel, [&](std::int64_t task, int) {
        copy(task * kCopiedPerTask, std::min(n, (task + 1) * kCopiedPerTask));
      });
    });
  }

  template <class Work>
  void with_hand_threads(const Work& work) {
    const std::scoped_lock lock(hand_mutex_);
    if (hand_threads_ == nullptr) hand_threads_ = filters_.front()->threads().borrow(plan_.threads);
    work(*hand_threads_);
  }

  std::vector<std::shared_ptr<DifferenceFilter>> filters_;  // per GPU
  std::unique_ptr<ThreadPool> threads_;
  std::mutex hand_mutex_;
  std::unique_ptr<ThreadPool> hand_threads_;  // for answers, borrowed for the first long one
  Found found_[kBlocks];                      // per block
};

// Says why the filter cannot serve a measure and a selection; empty if it can.
std::string unfit(const Fitted& fitted, const Selection& selection) {
  const FilterForm* const form = fitted.kernel().filter_form();
  if (form == nullptr || !has_gpu_filter(*form)) return "no filter bounds " + std::string(fitted.measure().info.name);
  if (selection.kind == Selection::Kind::rapidminer_heap) {
    if (selection.ks.size() != 1) return "no filter on the GPU for this selection";
    if (selection.ks.front() > fitted.n_rows() - (selection.exclude_self ? 1 : 0)) return "fewer rows than neighbours";
  }
  const bool within = selection.kind == Selection::Kind::radius;
  if (within && !(selection.radius < kMostFilterRadius)) return "every row is within the radius";
  if (places_of(selection) > (within ? kMostPlaces : kMostNeighbors))
    return "more neighbours than a filter on the GPU lists";
  return fitted.resident() ? "" : "the training table comes in parts";
}

}  // namespace

bool difference_filter_takes(const Fitted& fitted, const Selection& selection) {
  return unfit(fitted, selection).empty();
}

std::string difference_filter_problem(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                      DifferenceForm form, const device::BackendChoice& backend,
                                      const RunOptions& run) {
  if (std::string problem = unfit(fitted, selection); !problem.empty()) return problem;
  const std::int64_t k = places_of(selection);
  if (form == DifferenceForm::boxes && k > kMostNeighborsOfBoxes) return "more neighbours than boxes find";
  if (!backend.forced && n_queries < kLeastPairs / fitted.n_rows()) return "too few pairs for a filter to pay";
  const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *fitted.kernel().filter_form());
  if (!map->bounds()) return "the attribute weights leave the range in which the filter's bound holds";
  if (!fits(*map, kind_of(form))) return "no such images for these attributes";
  std::vector<int> gpus;
  for (const int gpu : backend.gpus) {
    // A filter that exists already needs no more memory.
    if (!fitted.gpu_filters().has_difference_filter(gpu, form)) gpus.push_back(gpu);
  }
  if (gpus.empty()) return {};
  const Spec spec(fitted, *map, form, n_queries, k);
  for (const int gpu : gpus) {
    cuda_abi::FilterSize size{};
    std::int64_t free = 0;
    checked_call([&](Failure* failure) { return cuda_functions().differences_size(gpu, &spec.spec, &size, failure); });
    checked_call([&](Failure* failure) { return device::plugin().free_memory(gpu, &free, failure); });
    if (!size.possible) return "no such filter for this measure or GPU";
    if (size.bytes > gpu_budget(free, run.memory_limit)) return "the images do not fit the GPU's memory";
  }
  return {};
}

std::unique_ptr<SearchPipeline> make_difference_filter(const Fitted& fitted, const Plan& plan,
                                                       const Selection& selection, std::int64_t n_queries,
                                                       const RunOptions& run) {
  return std::make_unique<DifferenceFilterPipeline>(fitted, plan, selection, n_queries, run);
}

}  // namespace stope::knn
