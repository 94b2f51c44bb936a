#include "knn/filter_cuda.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "knn/cuda_call.hpp"
#include "knn/filter/index.hpp"
#include "knn/filter_cuda_columns.hpp"
#include "knn/reference_cuda_plan.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

using cuda_abi::Failure;

// Sizes a filter is made for, so that it serves many searches: k up to the first of them in most.
constexpr std::int64_t kFewNeighbors = 24, kMostNeighbors = 128;
// On the GPU at once. A first search of few queries leaves room for some more.
constexpr std::int64_t kMostQueries = 16384, kLeastQueries = 2048;
constexpr std::int64_t kPieceBytes = std::int64_t{8} << 20;
// Fewer pairs are done on the GPU before images of them would be made.
constexpr std::int64_t kLeastPairs = std::int64_t{1} << 22;
// Rows that are always listed take a place in the list of every query, which has 2048.
constexpr std::int64_t kMostAlways = 512;

/// What the plug-in is told of a fitted table; points into it.
struct Spec {
  Spec(const Fitted& fitted, const ImageMap& map, std::int64_t n_queries, std::int64_t k)
      : images(make_image_columns(map, fitted.attributes())) {
    const MeasureImage image = fitted.kernel().image();
    spec.measure = {image.type,
                    image.bytes,
                    image.n_bytes,
                    image.storage,
                    image.n_storage,
                    fitted.attributes().data(),
                    static_cast<std::int64_t>(fitted.attributes().size())};
    spec.columns = images.columns.data();
    spec.n_columns = static_cast<std::int64_t>(images.columns.size());
    spec.image_width = images.width;
    spec.start_column = images.start_column;
    spec.width = fitted.width();
    spec.n_rows = fitted.n_rows();
    spec.most_queries = std::clamp(n_queries, kLeastQueries, kMostQueries);
    spec.most_neighbors = k <= kFewNeighbors ? kFewNeighbors : kMostNeighbors;
    spec.piece_bytes = kPieceBytes;
    // What is lost to underflow is below 1e-120 before the root.
    spec.tiny = (map.form().finish == Finish::identity ? 1e-60 : 1e-120) * images.unit;
    spec.constant = images.constant;
    spec.nominal = images.nominal;
    spec.hashed = images.hashed;
    spec.product_error = images.product_error;
    // Cosines are off by a rounding a column, once on the way from the images and once on the way back.
    const bool unit_rows = map.form().space == Space::unit_rows;
    spec.slack = unit_rows ? 2.0 * (static_cast<double>(fitted.width()) + 16.0) * 0x1p-50 : 0.0;
    spec.unit_rows = unit_rows ? 1 : 0;
    spec.masks = images.masks ? 1 : 0;
    spec.shares = map.form().missing == Missing::skip ? 1 : 0;
  }
  ImageColumns images;
  cuda_abi::FilterSpec spec{};
};

}  // namespace

/// A training table with its images on one GPU.
class CudaFilter {
 public:
  CudaFilter(int gpu, const Spec& spec, const Fitted& fitted, const CancelToken& cancel)
      : most_neighbors_(spec.spec.most_neighbors), n_rows_(fitted.n_rows()) {
    checked_call([&](Failure* failure) {
      cuda_abi::Filter* filter = nullptr;
      const int code = cuda_functions().filter_create(gpu, &spec.spec, &filter, failure);
      filter_.reset(filter);
      return code;
    });
    // So much is copied between two looks at the cancel token.
    const std::int64_t step = std::max<std::int64_t>(1, (std::int64_t{1} << 28) / (8 * fitted.width()));
    for (std::int64_t begin = 0; begin < n_rows_; begin += step) {
      cancel.check();
      const std::int64_t n = std::min(step, n_rows_ - begin);
      checked_call([&](Failure* failure) {
        return cuda_functions().filter_load(filter_.get(), fitted.rows() + begin * fitted.width(), n, failure);
      });
    }
    checked_call([&](Failure* failure) { return cuda_functions().filter_finish(filter_.get(), &n_always_, failure); });
  }

  std::int64_t most_neighbors() const { return most_neighbors_; }
  bool useful() const { return n_always_ <= kMostAlways; }

  /// `take` gets the answer, which is valid only while it runs.
  template <class Take>
  void search(const cuda_abi::FilterQuery& query, const Take& take) {
    const std::scoped_lock lock(mutex_);
    cuda_abi::FilterAnswer answer{};
    checked_call(
        [&](Failure* failure) { return cuda_functions().filter_search(filter_.get(), &query, &answer, failure); });
    take(answer);
  }

 private:
  struct Destroy {
    void operator()(cuda_abi::Filter* filter) const { cuda_functions().filter_destroy(filter); }
  };
  std::int64_t most_neighbors_, n_rows_;
  std::int64_t n_always_ = 0;
  std::unique_ptr<cuda_abi::Filter, Destroy> filter_;
  std::mutex mutex_;
};

namespace {

class CudaFilterSearcher final : public Searcher {
 public:
  CudaFilterSearcher(const Fitted& fitted, const Plan& plan, const RunOptions& run)
      : fitted_(fitted), plan_(plan), run_(run), gpus_(static_cast<int>(plan.backend.gpus.size())) {}

  void search(const TrainPart& part, const QueryBlock& block, const Selection& selection, Lists& lists) override {
    take_filters(block.n, selection.ks.front());
    uncertain_.assign(static_cast<std::size_t>(block.n), 0);
    const auto n_gpus = static_cast<std::int64_t>(filters_.size());
    gpus_.parallel_for(n_gpus, run_.cancel, [&](std::int64_t gpu, int) {
      search_share(*filters_[static_cast<std::size_t>(gpu)], block, block.n * gpu / n_gpus,
                   block.n * (gpu + 1) / n_gpus, selection, lists);
    });
    // Consecutive queries that are uncertain go to the reference together.
    for (std::int64_t i = 0; i < block.n; ++i) {
      if (uncertain_[static_cast<std::size_t>(i)] == 0) continue;
      std::int64_t end = i + 1;
      while (end < block.n && uncertain_[static_cast<std::size_t>(end)] != 0) ++end;
      search_reference(part, block, i, end, selection, lists);
      i = end;
    }
  }

  void matrix(const TrainPart& part, const QueryBlock& block, Quantity quantity, Order order, double* values,
              std::int64_t ld) override {
    reference().matrix(part, block, quantity, order, values, ld);
  }

  void report(SearchReport& report) const override {
    if (reference_ != nullptr) reference_->report(report);
    report.method += ", products";
    report.scanned += scanned_;
    report.listed += listed_;
    report.evaluated += evaluated_;
    report.uncertified += uncertified_;
    constexpr const char* kNames[] = {"images", "sample", "thresholds", "list", "re-rank", "copy back"};
    for (std::size_t step = 0; step < seconds_.size(); ++step)
      report.gpu_seconds.emplace_back(kNames[step], seconds_[step]);
  }

 private:
  void take_filters(std::int64_t n_queries, std::int64_t k) {
    if (!filters_.empty()) return;
    for (const int gpu : plan_.backend.gpus) {
      filters_.push_back(fitted_.filters().cuda(gpu, [&](const std::shared_ptr<CudaFilter>& there) {
        if (there != nullptr && there->most_neighbors() >= k) return there;
        return std::make_shared<CudaFilter>(gpu, Spec(fitted_, *map_, n_queries, k), fitted_, run_.cancel);
      }));
    }
  }

  // The plug-in works through some seconds at most between two looks at the cancel token.
  void search_share(CudaFilter& filter, const QueryBlock& block, std::int64_t begin, std::int64_t end,
                    const Selection& selection, Lists& lists) {
    if (!filter.useful()) {
      std::fill(uncertain_.begin() + begin, uncertain_.begin() + end, 1);
      return;
    }
    const std::int64_t k = selection.ks.front();
    for (; begin < end; begin += kMostQueries) {
      run_.cancel.check();
      const std::int64_t n = std::min(kMostQueries, end - begin);
      const std::int64_t self = selection.exclude_self ? block.first + begin : -1;
      filter.search({block.rows + begin * fitted_.width(), n, k, self}, [&](const cuda_abi::FilterAnswer& answer) {
        for (std::int64_t i = 0; i < n; ++i) {
          const auto at = static_cast<std::size_t>(begin + i);
          uncertain_[at] = answer.uncertain[i];
          if (answer.uncertain[i] != 0) continue;
          lists[at].resize(static_cast<std::size_t>(k));
          for (std::int64_t j = 0; j < k; ++j) {
            lists[at][static_cast<std::size_t>(j)] = {answer.distances[i * k + j], answer.rows[i * k + j]};
          }
        }
        const std::scoped_lock lock(counts_mutex_);
        scanned_ += answer.scanned;
        listed_ += answer.listed;
        evaluated_ += answer.evaluated;
        for (std::size_t step = 0; step < seconds_.size(); ++step) {
          seconds_[step] += static_cast<double>(answer.milliseconds[step]) * 1e-3;
        }
      });
    }
  }

  void search_reference(const TrainPart& part, const QueryBlock& block, std::int64_t begin, std::int64_t end,
                        const Selection& selection, Lists& lists) {
    const QueryBlock few{block.first + begin, end - begin, block.rows + begin * fitted_.width(), nullptr};
    Lists found(static_cast<std::size_t>(few.n));
    reference().search(part, few, selection, found);
    std::move(found.begin(), found.end(), lists.begin() + begin);
    uncertified_ += few.n;
  }

  Searcher& reference() {
    if (reference_ == nullptr) {
      Plan plan = plan_;
      plan.method = {};
      reference_ = make_cuda_searcher(fitted_, plan, run_);
    }
    return *reference_;
  }

  const Fitted& fitted_;
  const Plan plan_;
  const RunOptions& run_;
  const std::shared_ptr<const ImageMap> map_ = fitted_.filters().map(fitted_, *fitted_.kernel().filter_form());
  ThreadPool gpus_;
  std::vector<std::shared_ptr<CudaFilter>> filters_;  // per GPU
  std::unique_ptr<Searcher> reference_;
  std::vector<std::int32_t> uncertain_;  // per query of the block
  std::mutex counts_mutex_;
  std::array<double, 6> seconds_{};
  std::int64_t scanned_ = 0, listed_ = 0, evaluated_ = 0, uncertified_ = 0;
};

}  // namespace

std::string cuda_filter_problem(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                const device::BackendChoice& backend, const RunOptions& run) {
  const FilterForm* form = fitted.kernel().filter_form();
  if (form == nullptr || !has_image_columns(*form))
    return "no tensor filter for " + std::string(fitted.measure().info.name);
  if (selection.kind != Selection::Kind::nearest || selection.train_groups != nullptr) {
    return "no tensor filter for this selection";
  }
  const std::int64_t k = selection.ks.front();
  if (k > kMostNeighbors) return "more neighbours than a tensor filter lists";
  if (!fitted.resident()) return "the training table comes in parts";
  if (!backend.forced && n_queries < kLeastPairs / fitted.n_rows()) return "too few pairs for a filter to pay";
  const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *form);
  if (!map->bounds()) return "no tensor filter for these attributes' weights";
  const Spec spec(fitted, *map, n_queries, k);
  for (const int gpu : backend.gpus) {
    if (fitted.filters().has_cuda(gpu)) continue;  // it has its memory
    cuda_abi::FilterSize size{};
    std::int64_t free = 0;
    checked_call([&](Failure* failure) { return cuda_functions().filter_size(gpu, &spec.spec, &size, failure); });
    checked_call([&](Failure* failure) { return device::cuda().functions->free_memory(gpu, &free, failure); });
    if (!size.possible) return "no tensor filter for this measure, width or GPU";
    if (size.bytes > gpu_budget(free, run.memory_limit)) return "the images do not fit the GPU's memory";
  }
  return {};
}

std::unique_ptr<Searcher> make_cuda_filter_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run) {
  return std::make_unique<CudaFilterSearcher>(fitted, plan, run);
}

}  // namespace stope::knn
