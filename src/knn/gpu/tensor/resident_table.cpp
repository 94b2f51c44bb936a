#include "knn/gpu/tensor/resident_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/checked.hpp"
#include "base/environment.hpp"
#include "knn/filter/filter_cache.hpp"
#include "knn/filter/image_map.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

using cuda_abi::Failure;

// A filter is made larger than one search needs, so that it serves many. Most searches have k up to the first of these.
// Beyond the second a query takes so much memory that fewer are searched at once.
constexpr std::int64_t kFewNeighbors = 24, kUsualNeighbors = 128, kQueriesOfMany = cuda_abi::kTensorBatchQueries / 8;
// Batches that are forced may be longer, where lists are short. Whether that pays is not measured.
constexpr std::int64_t kMostQueriesOfFew = cuda_abi::kMostTensorBatchQueries;
// Groups that a list has room for. Lists usually have some hundred; longer ones are left to the reference.
constexpr std::int64_t kGroupsOfFew = 2048, kGroups = 8192, kGroupsOfMany = 16384;
// A first search of few queries leaves room for some more.
constexpr std::int64_t kLeastQueries = 2048;
// Values of a piece of rows under way to the GPU: enough to hide the cost of a call and of waking threads.
constexpr std::int64_t kPieceValues = std::int64_t{1} << 21;
// Rows that are always listed take at most this many places, and this share (one in 4), of every query's list.
constexpr std::int64_t kMostAlways = 512, kAlwaysShare = 4;

cuda_abi::Finish finish_of(Finish finish) {
  switch (finish) {
    case Finish::root: return cuda_abi::Finish::root;
    case Finish::identity: return cuda_abi::Finish::identity;
    case Finish::half: return cuda_abi::Finish::half;
    case Finish::chord_angle: return cuda_abi::Finish::chord_angle;
    case Finish::mean_root:
    case Finish::negated: break;
  }
  throw Error(ErrorCode::internal, "a form that has no image columns");
}

// Whether images for gaps are worth making: enough of `n_queries` lack values of attributes that every training row
// has. n of the queries are at hand.
bool many_gaps(const Fitted& fitted, const double* rows, std::int64_t n, std::int64_t n_queries) {
  if (fitted.kernel().filter_form()->missing == Missing::undefined) return false;  // no images take them
  // A query costs the reference some hundred times as much as a filter. That is about the cost of the images of a
  // hundredth of the table.
  constexpr std::int64_t kMostForTheReference = 128;
  const std::int64_t width = fitted.width();
  std::int64_t with_gaps = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto is_gap = [&](const Attribute& attribute) {
      return !attribute.missing && is_missing(rows[i * width + (&attribute - fitted.attributes().data())]);
    };
    with_gaps += std::any_of(fitted.attributes().begin(), fitted.attributes().end(), is_gap) ? 1 : 0;
  }
  return static_cast<double>(with_gaps) * static_cast<double>(n_queries) >
         static_cast<double>(kMostForTheReference) * static_cast<double>(n);
}

}  // namespace

std::int64_t most_filter_queries(std::int64_t k) {
  return k <= kUsualNeighbors ? cuda_abi::kTensorBatchQueries : kQueriesOfMany;
}

TensorFilterSpec::TensorFilterSpec(const Fitted& fitted, const ImageMap& map, ImageElement element_of_images,
                                   std::int64_t n_rows, std::int64_t n_queries, std::int64_t k)
    : element(element_of_images),
      images(
          element == ImageElement::bytes
              ? make_byte_columns(*map.byte_grid())
              : make_image_columns(map, fitted.attributes(), fitted.gpu_filters().requires_images(ImageNeed::missing))),
      k_(k) {
  const MeasureBytes image = fitted.kernel().bytes();
  const std::int64_t forced = environment::count(environment::Variable::tile_queries);
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
  spec.byte_factor = images.byte_factor;
  spec.start_column = images.start_column;
  spec.width = fitted.width();
  spec.n_rows = n_rows;
  spec.n_buffers = 1;
  spec.n_slots = spec.n_spaces = cuda_abi::kTensorSlots;
  const std::int64_t most_queries = most_filter_queries(k);
  spec.most_queries = forced > 0 ? std::min(forced, k <= kFewNeighbors ? kMostQueriesOfFew : most_queries)
                                 : std::clamp(n_queries, kLeastQueries, most_queries);
  spec.most_neighbors = k <= kFewNeighbors     ? kFewNeighbors
                        : k <= kUsualNeighbors ? kUsualNeighbors
                                               : kMostFilterNeighbors;
  spec.list_groups = k <= kFewNeighbors ? kGroupsOfFew : k <= kUsualNeighbors ? kGroups : kGroupsOfMany;
  // Underflow loses less than 1e-120 before the root.
  spec.tiny = (map.form().finish == Finish::identity ? 1e-60 : 1e-120) * images.unit;
  spec.constant = images.constant;
  spec.nominal = images.nominal;
  spec.hashed = images.hashed;
  spec.product_error = images.product_error;
  // Cosines are off by a rounding per column, once on the way from the images and once on the way back.
  const bool unit_rows = map.form().space == Space::unit_rows;
  spec.slack = unit_rows ? 2.0 * (static_cast<double>(fitted.width()) + 16.0) * 0x1p-50 : 0.0;
  spec.unit_rows = unit_rows ? 1 : 0;
  spec.finish = finish_of(map.form().finish);
  spec.unit = images.unit;
  spec.masks = images.masks ? 1 : 0;
  spec.shares = map.form().missing == Missing::skip ? 1 : 0;
}

void TensorFilterSpec::hold_parts(int n_buffers, std::int64_t batch, ListRoom lists) {
  constexpr std::int64_t kNeighbors = 8, kShortest = 128;
  spec.n_buffers = n_buffers;
  spec.n_spaces = 2;  // one is searched while the rows of the other come
  spec.most_queries = std::min(spec.most_queries, batch);
  if (lists == ListRoom::usual) return;
  spec.most_neighbors = checked::ceil_div(k_, kNeighbors) * kNeighbors;
  spec.list_groups = std::max(
      kShortest, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(4 * spec.most_neighbors))));
}

cuda_abi::TensorSpec spec_with(const TensorFilterSpec& spec, const GpuTable* lent) {
  cuda_abi::TensorSpec raw = spec.spec;
  raw.lent_rows = lent != nullptr ? 1 : 0;
  return raw;
}

TensorFilter::TensorFilter(int gpu, const TensorFilterSpec& spec, std::shared_ptr<const GpuTable> lent)
    : gpu_(gpu),
      most_neighbors_(spec.spec.most_neighbors),
      most_queries_(spec.spec.most_queries),
      takes_gaps_(spec.images.takes_missing),
      in_bytes_(spec.images.byte_factor != 0),
      most_always_(std::min(kMostAlways, spec.spec.list_groups / kAlwaysShare)),
      n_slots_(static_cast<std::size_t>(spec.spec.n_slots)),
      lent_(std::move(lent)) {
  const cuda_abi::TensorSpec raw = spec_with(spec, lent_.get());
  checked_call([&](Failure* failure) {
    cuda_abi::TensorFilter* filter = nullptr;
    const int code = cuda_functions().tensor_create(gpu, &raw, &filter, failure);
    filter_.reset(filter);
    return code;
  });
}

void TensorFilter::take_lent_rows() {
  const cuda_abi::Functions& functions = cuda_functions();
  cuda_abi::TensorFilter* const to = filter_.get();
  checked_call([&](Failure* failure) { return functions.tensor_begin(to, 0, lent_->n_rows(), failure); });
  checked_call([&](Failure* failure) { return functions.tensor_lend(to, 0, lent_->on_gpu(), failure); });
  checked_call([&](Failure* failure) { return functions.tensor_finish(to, 0, &n_always_[0], failure); });
}

bool TensorFilter::may_leave_tiles_out(const cuda_abi::TensorQuery& query) {
  return query.n > cuda_abi::kFewQueries && query.heap == 0 && query.within == nullptr &&
         query.k + (query.self >= 0 ? 1 : 0) <= cuda_abi::kMostClusterNeighbors;
}

bool TensorFilter::useful(int buffer) const {
  return n_always_[buffer] <= most_always_;
}

void TensorFilter::make_clusters(const double* centres, std::int64_t n, double most_radius) {
  const std::scoped_lock submitting(submit_mutex_);
  if (in_clusters_) return;
  asked_for_clusters_ = true;
  scanned_ = skipped_ = 0;
  try {
    bool made = false;
    checked_call([&](Failure* failure) {
      return cuda_functions().tensor_clusters(filter_.get(), 0, centres, n, most_radius, &made, failure);
    });
    in_clusters_ = made;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;  // without clusters it takes less
  }
}

void TensorFilter::drop_clusters() {
  const std::scoped_lock submitting(submit_mutex_);
  if (!in_clusters_) return;
  in_clusters_ = asked_for_clusters_ = false;
  bool made = false;
  checked_call([&](Failure* failure) {
    return cuda_functions().tensor_clusters(filter_.get(), 0, nullptr, 0, 0.0, &made, failure);
  });
}

std::shared_ptr<BatchInFlight> TensorFilter::submit(const cuda_abi::TensorQuery& query,
                                                    decltype(BatchInFlight::take) take) {
  auto flight = std::make_shared<BatchInFlight>();
  flight->take = std::move(take);
  std::unique_lock lock(mutex_);
  flight->slot = free_slot(lock);
  slots_[flight->slot] = {flight, true};
  next_ = (flight->slot + 1) % n_slots_;
  lock.unlock();  // the answers of other batches may be taken meanwhile
  std::exception_ptr error;
  try {
    const std::scoped_lock submitting(submit_mutex_);
    flight->in_clusters = in_clusters_ && may_leave_tiles_out(query);
    checked_call([&](Failure* failure) {
      return cuda_functions().tensor_submit(filter_.get(), static_cast<int>(flight->slot), &query, failure);
    });
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  slots_[flight->slot].held = false;
  if (error != nullptr) slots_[flight->slot] = {};
  lock.unlock();
  landed_.notify_all();
  if (error != nullptr) std::rethrow_exception(error);
  return flight;
}

std::size_t TensorFilter::free_slot(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    std::size_t waiting = n_slots_;
    for (std::size_t i = 0; i < n_slots_; ++i) {
      const std::size_t slot = (next_ + i) % n_slots_;
      if (slots_[slot].flight == nullptr) return slot;
      if (!slots_[slot].held && waiting == n_slots_) waiting = slot;
    }
    if (waiting < n_slots_) {
      land(waiting, nullptr, lock);  // the one queued first
    } else {
      landed_.wait(lock);
    }
  }
}

void TensorFilter::finish(BatchInFlight& flight, ThreadPool& pool) {
  settle(flight, &pool);
  if (flight.error != nullptr) std::rethrow_exception(flight.error);
}

void TensorFilter::settle(BatchInFlight& flight, ThreadPool* pool) {
  std::unique_lock lock(mutex_);
  const auto there = [&] { return slots_[flight.slot].flight.get() == &flight; };
  if (!there()) return;
  if (!slots_[flight.slot].held) return land(flight.slot, pool, lock);
  landed_.wait(lock, [&] { return !there(); });
}

void TensorFilter::land(std::size_t slot, ThreadPool* pool, std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<BatchInFlight> flight = slots_[slot].flight;
  slots_[slot].held = true;
  lock.unlock();
  try {
    cuda_abi::FilterAnswer answer{};
    checked_call([&](Failure* failure) {
      return cuda_functions().tensor_collect(filter_.get(), static_cast<int>(slot), &answer, failure);
    });
    if (flight->in_clusters) {
      scanned_ += answer.scanned;
      skipped_ += answer.skipped;
    }
    flight->take(answer, pool);
  } catch (...) {
    flight->error = std::current_exception();
  }
  lock.lock();
  slots_[slot] = {};
  landed_.notify_all();
}

RowLoader::RowLoader(int gpu, const Fitted& fitted, std::int64_t memory_limit) : fitted_(fitted) {
  // Both pieces together take at most an eighth of a limit.
  constexpr std::int64_t kShare = 8 * cuda_abi::kTensorPieces * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t values = memory_limit > 0 ? std::min(kPieceValues, memory_limit / kShare) : kPieceValues;
  piece_rows_ = std::clamp<std::int64_t>(values / fitted.width(), 1, fitted.n_rows());
  for (device::Pinned<double>& piece : pieces_) {
    piece = device::Pinned<double>(gpu, checked::mul(piece_rows_, fitted.width()));
  }
}

void RowLoader::load(TensorFilter& filter, int buffer, std::int64_t first, std::int64_t n_rows, ThreadPool& pool,
                     const CancelToken& cancel, const std::function<void()>& until_free) {
  const cuda_abi::Functions& functions = cuda_functions();
  cuda_abi::TensorFilter* const to = filter.filter_.get();
  int piece = 0;
  for (std::int64_t begin = 0; begin < n_rows; begin += piece_rows_, piece = (piece + 1) % cuda_abi::kTensorPieces) {
    const std::int64_t n = std::min(piece_rows_, n_rows - begin);
    checked_call([&](Failure* failure) { return functions.tensor_wait(to, piece, failure); });
    fill(pieces_[piece].data(), first + begin, n, pool, cancel);
    if (begin == 0) {
      if (until_free) until_free();
      checked_call([&](Failure* failure) { return functions.tensor_begin(to, buffer, n_rows, failure); });
    }
    checked_call(
        [&](Failure* failure) { return functions.tensor_load(to, buffer, piece, pieces_[piece].data(), n, failure); });
  }
  checked_call(
      [&](Failure* failure) { return functions.tensor_finish(to, buffer, &filter.n_always_[buffer], failure); });
}

void RowLoader::fill(double* to, std::int64_t first, std::int64_t n, ThreadPool& pool,
                     const CancelToken& cancel) const {
  if (!fitted_.resident()) return fitted_.encode(first, first + n, to, pool, cancel);
  constexpr std::int64_t kPerTask = std::int64_t{1} << 16;
  const double* const from = fitted_.rows() + first * fitted_.width();
  const std::int64_t n_values = n * fitted_.width();
  pool.parallel_for(checked::ceil_div(n_values, kPerTask), cancel, [&](std::int64_t task, int) {
    std::copy(from + task * kPerTask, from + std::min(n_values, (task + 1) * kPerTask), to + task * kPerTask);
  });
}

std::optional<ImageNeed> unmet_need(const Fitted& fitted, bool in_bytes, const double* rows, std::int64_t n,
                                    std::int64_t n_queries) {
  if (many_gaps(fitted, rows, n, n_queries)) return ImageNeed::missing;
  if (!in_bytes) return {};
  const std::shared_ptr<const ImageMap> map = fitted.filters().map(fitted, *fitted.kernel().filter_form());
  if (many_off_grid(*map->byte_grid(), rows, std::min(n, kGridSample), n_queries)) return ImageNeed::halves;
  return {};
}

}  // namespace stope::knn
