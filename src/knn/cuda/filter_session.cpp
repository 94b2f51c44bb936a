#include "knn/cuda/filter_session.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "knn/cuda/filter_parts.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::DeviceBuffer;
using stope::cuda::PinnedBuffer;

// Groups a list has room for. Usual are some hundred; longer lists are left to the reference.
constexpr std::int64_t kCapacityOfFew = 2048, kCapacity = 8192, kCapacityOfMany = 16384;
constexpr std::int64_t kFewNeighbors = 24, kUsualNeighbors = 128;
constexpr std::int64_t kMostBatch = 33792;  // queries at once: enough to fill the GPU many times over

enum Total { kListed, kEvaluated, kLargestNorm, kAlwaysListed, kTotals };

std::int64_t padded(std::int64_t n, std::int64_t to) {
  return checked::mul(checked::ceil_div(n, to), to);
}

int image_width(const cuda_abi::FilterSpec& spec) {
  return static_cast<int>(spec.image_width);
}

std::int64_t padded_rows(const cuda_abi::FilterSpec& spec) {
  return padded(spec.n_rows, scan_tile_rows(image_width(spec)));
}

std::int64_t capacity(const cuda_abi::FilterSpec& spec) {
  return spec.most_neighbors <= kFewNeighbors     ? kCapacityOfFew
         : spec.most_neighbors <= kUsualNeighbors ? kCapacity
                                                  : kCapacityOfMany;
}

std::int64_t most_maxima(const cuda_abi::FilterSpec& spec) {
  constexpr std::int64_t kUsualMaxima = 1024;
  return spec.most_neighbors <= kUsualNeighbors ? kUsualMaxima : kMostMaxima;
}

std::int64_t batch_of(const cuda_abi::FilterSpec& spec) {
  return padded(std::clamp<std::int64_t>(spec.most_queries, 1, kMostBatch), kBlockQueries);
}

template <class T>
void copy_out(T* to, const DeviceBuffer<T>& from, std::int64_t n, const stope::cuda::Stream& stream) {
  check(cudaMemcpyAsync(to, from.data(), static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost, stream.get()),
        "copying from the GPU");
}

template <class T>
void copy_in(T* to, const T* from, std::int64_t n, const stope::cuda::Stream& stream) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyHostToDevice, stream.get()),
        "copying to the GPU");
}

template <class T>
void clear(const DeviceBuffer<T>& buffer, const stope::cuda::Stream& stream) {
  check(cudaMemsetAsync(buffer.data(), 0, static_cast<std::size_t>(buffer.bytes()), stream.get()), "clearing memory");
}

int multiprocessors_of(int gpu) {
  int n = 0;
  check(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, gpu), "asking for the multiprocessors");
  return n;
}

}  // namespace

cuda_abi::FilterSize FilterSession::size(const cuda_abi::FilterSpec& spec, int gpu) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu), "asking for the architecture");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu), "asking for the architecture");
  cuda_abi::FilterSize size{};
  // A row is an int32, and so is the first row of a group that lies in the padding.
  constexpr std::int64_t kMostRows = INT32_MAX - 2 * kTileRows;
  size.possible = can_scan(major, minor) && find_rerank_kernel(spec.measure) != nullptr &&
                  spec.image_width <= kMostWidth && spec.most_neighbors <= kMostNeighbors && spec.n_rows <= kMostRows;
  const std::int64_t width = image_width(spec), batch = batch_of(spec);
  const std::int64_t row = spec.width * 8 + width * 2 + 8 + 4 * 4;
  const std::int64_t query = width * (scans_tiles(image_width(spec)) ? 4 : 2) + 24 + most_maxima(spec) * 4 +
                             capacity(spec) * static_cast<std::int64_t>(sizeof(Candidate)) +
                             cuda_abi::kFilterSlots * (spec.width * 8 + spec.most_neighbors * 12 + 4);
  size.bytes = checked::add(checked::mul(padded_rows(spec), row), checked::mul(batch, query));
  return size;
}

FilterSession::FilterSession(int gpu, const cuda_abi::FilterSpec& spec)
    : gpu_(gpu),
      spec_(spec),
      kernel_(find_rerank_kernel(spec.measure)),
      replay_(find_replay_kernel(spec.measure)),
      width_(image_width(spec)),
      multiprocessors_(multiprocessors_of(gpu)),
      n_padded_(padded_rows(spec)),
      batch_(batch_of(spec)),
      attributes_(spec.measure.n_attributes),
      columns_(spec.n_columns),
      train_(checked::add(checked::mul(spec.n_rows, spec.width), kReadBeyond)),
      train_squares_(n_padded_),
      train_images_(checked::mul(n_padded_, width_)),
      train_norms_(n_padded_),
      train_residuals_(n_padded_),
      starts_(spec.start_column < 0 ? n_padded_ : 0),
      shifted_starts_(starts_.size()),
      query_squares_(batch_),
      shift_(2),
      query_images_(checked::mul(batch_, width_)),
      query_tiles_(scans_tiles(width_) ? checked::mul(batch_, width_) : 0),
      query_norms_(batch_),
      query_residuals_(batch_),
      maxima_(checked::mul(batch_, most_maxima(spec))),
      thresholds_(batch_),
      candidates_(checked::mul(batch_, capacity(spec))),
      counts_(batch_),
      sizes_(batch_) {
  if (kernel_ == nullptr) throw Error(ErrorCode::unsupported, std::string("no filter for ") + spec.measure.type);
  const auto* bytes = static_cast<const unsigned char*>(spec.measure.bytes);
  measure_.assign(bytes, bytes + spec.measure.n_bytes);
  copy_in(attributes_.data(), static_cast<const Attribute*>(spec.measure.attributes), attributes_.size(), stream_);
  copy_in(columns_.data(), spec.columns, columns_.size(), stream_);
  check(cudaMemsetAsync(train_.data() + train_.size() - kReadBeyond, 0, kReadBeyond * sizeof(double), stream_.get()),
        "clearing memory");
  for (Slot& slot : slots_) {
    const std::int64_t n_answers = checked::mul(batch_, spec.most_neighbors);
    slot.queries = DeviceBuffer<double>(checked::mul(batch_, spec.width));
    slot.distances = DeviceBuffer<double>(n_answers);
    slot.rows = DeviceBuffer<std::int32_t>(n_answers);
    slot.uncertain = DeviceBuffer<std::int32_t>(batch_);
    slot.totals = DeviceBuffer<unsigned long long>(kTotals);
    slot.host_distances = PinnedBuffer<double>(n_answers);
    slot.host_rows = PinnedBuffer<std::int32_t>(n_answers);
    slot.host_uncertain = PinnedBuffer<std::int32_t>(batch_);
    slot.host_totals = PinnedBuffer<unsigned long long>(kTotals);
    // The answers of uncertain queries are copied back as they are.
    clear(slot.distances, stream_);
    clear(slot.rows, stream_);
  }
  stream_.wait();  // the columns may go
}

// A search that was cancelled leaves batches under way: they end before their memory goes. A lost GPU has none.
FilterSession::~FilterSession() {
  for (const stope::cuda::Stream* stream : {&copy_in_, &stream_, &copy_out_}) cudaStreamSynchronize(stream->get());
}

EncodeJob FilterSession::encode_job() const {
  EncodeJob job{};
  job.row_width = spec_.width;
  job.columns = columns_.data();
  job.n_columns = static_cast<int>(spec_.n_columns);
  job.width = width_;
  job.unit_rows = spec_.unit_rows != 0;
  job.n_to_share = spec_.shares != 0 ? static_cast<double>(spec_.measure.n_attributes) : 0.0;
  return job;
}

void FilterSession::begin(std::int64_t n_rows) {
  if (checked::mul(n_rows, spec_.width) > train_.size()) throw Error(ErrorCode::internal, "a part that cannot be");
  spec_.n_rows = n_rows;
  n_padded_ = padded_rows(spec_);
  loaded_ = 0;
}

void FilterSession::load(int piece, const double* rows, std::int64_t n) {
  double* const to = train_.data() + loaded_ * spec_.width;
  // Copies do not wait for the encoding of the rows before, which waits for a place beside another table's search.
  copy_in(to, rows, n * spec_.width, copy_in_);
  loaded_pieces_[piece].record(copy_in_);
  loaded_pieces_[piece].hold(stream_);
  EncodeJob job = encode_job();
  job.rows = to;
  job.first = loaded_;
  job.n = n;
  job.n_padded = loaded_ + n == spec_.n_rows ? n_padded_ : loaded_ + n;
  job.tiles = train_images_.data();
  job.squares = train_squares_.data();
  job.norms = train_norms_.data();
  job.residuals = train_residuals_.data();
  add_image_time(piece);
  images_begin_[piece].record(stream_);
  launch_encode_train(job, stream_.get());
  images_end_[piece].record(stream_);
  images_timed_[piece] = true;
  loaded_ += n;
}

// The images that a piece's clocks were started for. They are long done when the piece has been filled again.
void FilterSession::add_image_time(int piece) {
  if (!images_timed_[piece]) return;
  images_end_[piece].wait();
  image_milliseconds_ += images_end_[piece].since(images_begin_[piece]);
  images_timed_[piece] = false;
}

// Rows far above the usual residual are always listed instead of widening every bound.
float FilterSession::usual_residual() {
  constexpr std::int64_t kSample = 4096;
  const std::int64_t stride = std::max<std::int64_t>(1, spec_.n_rows / kSample);
  const std::int64_t n = checked::ceil_div(spec_.n_rows, stride);
  std::vector<float> sample(static_cast<std::size_t>(n));
  check(cudaMemcpy2DAsync(sample.data(), sizeof(float), train_residuals_.data(),
                          static_cast<std::size_t>(stride) * sizeof(float), sizeof(float), static_cast<std::size_t>(n),
                          cudaMemcpyDeviceToHost, stream_.get()),
        "copying from the GPU");
  stream_.wait();
  std::erase_if(sample, [](float residual) { return std::isnan(residual); });
  if (sample.empty()) return 0.0F;
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() - 1 - sample.size() / 256);
  std::nth_element(sample.begin(), at, sample.end());
  return 1.5F * *at;
}

std::int64_t FilterSession::finish() {
  const float usual = usual_residual();
  train_residual_ = static_cast<double>(usual);
  for (int piece = 0; piece < cuda_abi::kFilterPieces; ++piece) add_image_time(piece);
  const DeviceBuffer<unsigned long long>& totals = slots_[0].totals;
  const unsigned long long* host_totals = slots_[0].host_totals.data();
  clear(totals, stream_);
  clear(shift_, stream_);
  images_begin_[0].record(stream_);
  launch_starts({train_squares_.data(), train_norms_.data(), train_residuals_.data(), spec_.n_rows, n_padded_, width_,
                 usual, static_cast<int>(spec_.start_column), train_images_.data(), starts_.data(),
                 reinterpret_cast<unsigned*>(totals.data() + kLargestNorm), totals.data() + kAlwaysListed},
                stream_.get());
  images_end_[0].record(stream_);
  images_timed_[0] = true;
  copy_out(slots_[0].host_totals.data(), totals, kTotals, stream_);
  stream_.wait();
  add_image_time(0);
  largest_norm_ = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(host_totals[kLargestNorm])));
  n_always_ = static_cast<std::int64_t>(host_totals[kAlwaysListed]);
  return n_always_;
}

BoundsJob FilterSession::bounds() const {
  return {query_squares_.data(),
          query_norms_.data(),
          query_residuals_.data(),
          train_residual_,
          largest_norm_,
          shift_.data(),
          width_,
          spec_.masks != 0,
          spec_.tiny,
          spec_.constant,
          spec_.nominal,
          spec_.hashed,
          spec_.product_error,
          spec_.slack};
}

// Rows come and answers go in streams of their own: the GPU computes on one batch while it copies for another.
void FilterSession::submit(int number, const cuda_abi::FilterQuery& query) {
  Slot& slot = slots_[number];
  if (query.n > batch_ || query.k > spec_.most_neighbors || (query.heap != 0 && query.k > kMostReplayed)) {
    throw Error(ErrorCode::internal, "a batch that cannot be");
  }
  reserve_votes(slot, query);
  slot.n_queries = query.n;
  slot.lists_stay = query.device_lists != nullptr;
  take_queries(slot, query);
  clear(slot.totals, stream_);
  search_batch(slot, query);
  if (slot.voted) {
    slot.votes.cast(*query.vote, voters_,
                    {slot.distances.data(), slot.rows.data(), query.k, query.n, slot.uncertain.data()}, stream_);
  }
  slot.clocks[6].record(stream_);
  if (slot.lists_stay) {
    launch_hand_lists(
        {slot.distances.data(), slot.rows.data(), slot.uncertain.data(), query.n, query.k, *query.device_lists},
        stream_.get());
  }
  slot.computed.record(stream_);
  slot.computed.hold(copy_out_);
  copy_back(slot, query);
  slot.clocks[kSteps].record(copy_out_);
  slot.done.record(copy_out_);
}

void FilterSession::take_queries(Slot& slot, const cuda_abi::FilterQuery& query) {
  if (query.device_rows != nullptr) {
    // What the caller's stream has queued comes first: it may make the rows, or read the lists' memory still.
    check(cudaEventRecord(slot.uploaded.get(), static_cast<cudaStream_t>(query.device_rows->stream)),
          "marking the caller's stream");
    slot.uploaded.hold(copy_in_);
    launch_take_rows({*query.device_rows, query.n, spec_.width, slot.queries.data()}, copy_in_.get());
  } else {
    copy_in(slot.queries.data(), query.rows, query.n * spec_.width, copy_in_);
  }
  slot.uploaded.record(copy_in_);
  slot.uploaded.hold(stream_);
}

// Before anything is queued: room may be missing.
void FilterSession::reserve_votes(Slot& slot, const cuda_abi::FilterQuery& query) {
  slot.voted = query.vote != nullptr;
  if (!slot.voted) return;
  if (voters_.n_rows() != spec_.n_rows) throw Error(ErrorCode::internal, "a vote of rows that are not there");
  slot.votes.reserve(*query.vote, voters_.rows(), batch_, query.n);
}

void FilterSession::copy_back(Slot& slot, const cuda_abi::FilterQuery& query) {
  if (slot.voted) {
    slot.votes.copy_back(*query.vote, voters_, 0, query.n, copy_out_);
  } else if (!slot.lists_stay) {
    copy_out(slot.host_distances.data(), slot.distances, query.n * query.k, copy_out_);
    copy_out(slot.host_rows.data(), slot.rows, query.n * query.k, copy_out_);
  }
  copy_out(slot.host_uncertain.data(), slot.uncertain, query.n, copy_out_);
  copy_out(slot.host_totals.data(), slot.totals, kTotals, copy_out_);
}

cuda_abi::FilterAnswer FilterSession::collect(int number) {
  Slot& slot = slots_[number];
  slot.done.wait();
  cuda_abi::FilterAnswer answer{slot.host_distances.data(),
                                slot.host_rows.data(),
                                slot.host_uncertain.data(),
                                slot.n_queries * spec_.n_rows,
                                static_cast<std::int64_t>(slot.host_totals.data()[kListed]),
                                static_cast<std::int64_t>(slot.host_totals.data()[kEvaluated]),
                                {}};
  for (std::size_t step = 0; step < kSteps; ++step) {
    answer.milliseconds[step] = slot.clocks[step + 1].since(slot.clocks[step]);
  }
  answer.milliseconds[kSteps] = std::exchange(image_milliseconds_, 0.0F);
  if (slot.voted || slot.lists_stay) {
    answer.distances = nullptr;
    answer.rows = nullptr;
  }
  if (slot.voted) {
    answer.winners = slot.votes.winners();
    answer.values = slot.votes.values();
  }
  return answer;
}

void FilterSession::encode_queries(const Slot& slot, std::int64_t n) {
  EncodeJob encode = encode_job();
  encode.rows = slot.queries.data();
  encode.n = n;
  encode.n_padded = padded(n, kBlockQueries);
  encode.images = query_images_.data();
  encode.tiles = query_tiles_.data();
  encode.squares = query_squares_.data();
  encode.norms = query_norms_.data();
  encode.residuals = query_residuals_.data();
  launch_encode_queries(encode, stream_.get());
  launch_shift(
      {query_norms_.data(), query_residuals_.data(), n, largest_norm_, spec_.masks != 0 ? spec_.nominal : 0.0,
       spec_.masks != 0, width_, spec_.start_column < 0 ? -1 : static_cast<int>(spec_.start_column) + 2,
       query_images_.data(), query_tiles_.data(), starts_.data(), shifted_starts_.data(), n_padded_, shift_.data()},
      stream_.get());
}

ScanSize FilterSession::scan_size(std::int64_t n_queries, std::int64_t n_tiles, int k) const {
  // Several times as many maxima as neighbours make the k-th largest of them a score near the k-th best.
  constexpr std::int64_t kMaximaPerNeighbor = 8;
  const std::int64_t blocks = checked::ceil_div(n_queries, kBlockQueries);
  return {n_tiles,
          scan_tile_rows(width_),
          width_,
          n_queries,
          scans_tiles(width_) ? 2 * blocks : blocks,
          multiprocessors_,
          k,
          capacity(spec_),
          checked::ceil_div(std::min<std::int64_t>(kMaximaPerNeighbor * k, most_maxima(spec_)), kMaximaPerSegment),
          most_maxima(spec_) / kMaximaPerSegment};
}

ScanJob FilterSession::scan_job(std::int64_t n_queries, const ScanPart& part) const {
  return {query_images_.data(),
          query_tiles_.data(),
          train_images_.data(),
          spec_.start_column < 0 ? shifted_starts_.data() : nullptr,
          width_,
          n_queries,
          part.n_tiles,
          part.first_tile,
          part.stride,
          part.segments.tiles};
}

RerankJob FilterSession::rerank_job(Slot& slot, const cuda_abi::FilterQuery& query) {
  return {bounds(),
          query_images_.data(),
          train_images_.data(),
          spec_.start_column < 0 ? shifted_starts_.data() : nullptr,
          slot.queries.data(),
          train_.data(),
          spec_.width,
          attributes_.data(),
          spec_.n_rows,
          query.n,
          query.self,
          static_cast<int>(query.k),
          n_always_,
          lists(),
          slot.distances.data(),
          slot.rows.data(),
          slot.uncertain.data(),
          slot.totals.data() + kListed,
          slot.totals.data() + kEvaluated};
}

CandidateLists FilterSession::lists() const {
  return {thresholds_.data(), candidates_.data(), counts_.data(), static_cast<std::int32_t>(capacity(spec_))};
}

void FilterSession::search_nearest(Slot& slot, const cuda_abi::FilterQuery& query) {
  const std::int64_t n = query.n, n_tiles = n_padded_ / scan_tile_rows(width_);
  const int k_listed = static_cast<int>(query.k) + (query.self >= 0 ? 1 : 0);  // the query itself is listed, too
  const ScanPlan plan = plan_scan(scan_size(n, n_tiles, k_listed));
  const std::int64_t n_maxima = plan.sample.segments.count * kMaximaPerSegment;
  launch_sample(scan_job(n, plan.sample), maxima_.data(), n_maxima, stream_.get());

  slot.clocks[2].record(stream_);
  launch_thresholds({bounds(), maxima_.data(), n_maxima, n, k_listed, thresholds_.data()}, stream_.get());

  slot.clocks[3].record(stream_);
  clear(counts_, stream_);
  for (const ScanPart& part : plan.parts) {
    if (part.first_tile != 0) launch_tighten({bounds(), lists(), n, k_listed, thresholds_.data()}, stream_.get());
    launch_list(scan_job(n, part), lists(), stream_.get());
  }

  slot.clocks[4].record(stream_);
  kernel_(rerank_job(slot, query), measure_.data(), stream_.get());
}

// The first chunk has as many rows as neighbours at least, each of the others three times what came before: some three
// rows a neighbour enter the heap in each, and there are few of them. All that is done counts as the list.
void FilterSession::search_heap(Slot& slot, const cuda_abi::FilterQuery& query) {
  constexpr std::int64_t kGrowth = 3;
  const std::int64_t n_tiles = n_padded_ / scan_tile_rows(width_);
  const auto k = static_cast<int>(query.k);
  const RootJob roots{bounds(), {spec_.unit, spec_.finish}, slot.distances.data(), sizes_.data(), query.n,
                      k,        thresholds_.data()};
  ReplayJob replay{rerank_job(slot, query), sizes_.data(), false};
  clear(slot.uncertain, stream_);
  clear(sizes_, stream_);
  slot.clocks[2].record(stream_);
  slot.clocks[3].record(stream_);
  std::int64_t n = checked::ceil_div(query.k + 1, scan_tile_rows(width_));
  for (std::int64_t first = 0; first < n_tiles; first += n, n = kGrowth * first) {
    n = std::min(n, n_tiles - first);
    launch_roots(roots, stream_.get());
    clear(counts_, stream_);
    launch_list(scan_job(query.n, {first, 1, n, segments_of(scan_size(query.n, n, k))}), lists(), stream_.get());
    replay.last = first + n == n_tiles;
    replay_(replay, measure_.data(), stream_.get());
  }
  slot.clocks[4].record(stream_);
}

void FilterSession::search_batch(Slot& slot, const cuda_abi::FilterQuery& query) {
  slot.clocks[0].record(stream_);
  encode_queries(slot, query.n);
  slot.clocks[1].record(stream_);
  query.heap != 0 ? search_heap(slot, query) : search_nearest(slot, query);
  slot.clocks[5].record(stream_);
}

}  // namespace stope::knn::cuda
