#include "knn/cuda/tensor/session.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "device/cuda/attribute.hpp"
#include "knn/cuda/copies.hpp"
#include "knn/cuda/tensor/scan/scan_plan.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::DeviceBuffer;
using stope::cuda::PinnedBuffer;

std::int64_t padded(std::int64_t n, std::int64_t to) {
  return checked::mul(checked::ceil_div(n, to), to);
}

// The width of an image in halves: two bytes take the place of one.
int image_width(const cuda_abi::TensorSpec& spec) {
  return static_cast<int>(spec.byte_factor != 0 ? spec.image_width / 2 : spec.image_width);
}

ByteSteps byte_steps(const cuda_abi::TensorSpec& spec) {
  if (spec.byte_factor == 0) return {};
  // A factor of 1 has room for -128 as well.
  const int most = 127 / spec.byte_factor, least = spec.byte_factor == 1 ? -most - 1 : -most;
  return {spec.byte_factor, least, most, 1.0 / spec.columns->scale, spec.columns->scale};
}

std::int64_t padded_rows(const cuda_abi::TensorSpec& spec) {
  return padded(spec.n_rows, scan_tile_rows(image_width(spec)));
}

constexpr std::int64_t kUsualNeighbors = 128;
// The maxima of the sample lie where the lists will lie. Lists begin when thresholds are known, and then nobody needs
// the maxima.
constexpr auto kMaximaPerGroup = static_cast<std::int64_t>(sizeof(ListedGroup) / sizeof(float));

std::int64_t most_maxima(const cuda_abi::TensorSpec& spec) {
  constexpr std::int64_t kUsualMaxima = 1024;
  const std::int64_t most = spec.most_neighbors <= kUsualNeighbors ? kUsualMaxima : kMostMaxima;
  return std::min<std::int64_t>(most, spec.list_groups * kMaximaPerGroup / kMaximaPerSegment * kMaximaPerSegment);
}

std::int64_t batch_of(const cuda_abi::TensorSpec& spec) {
  return padded(std::clamp<std::int64_t>(spec.most_queries, 1, cuda_abi::kMostTensorBatchQueries), kBlockQueries);
}

}  // namespace

cuda_abi::FilterSize TensorSession::size(const cuda_abi::TensorSpec& spec, int gpu) {
  const auto [major, minor] = stope::cuda::capability_of(gpu);
  cuda_abi::FilterSize size{};
  // A row is an int32, and so is the first row of a group in the padding.
  constexpr std::int64_t kMostRows = INT32_MAX - 2 * kTileRows;
  const std::int64_t width = image_width(spec), batch = batch_of(spec);
  const bool scans = spec.byte_factor != 0 ? can_scan_bytes(major, minor, width) : can_scan(major, minor);
  size.possible = scans && find_rerank_kernel(spec.measure) != nullptr && width <= kMostWidth &&
                  spec.most_neighbors <= kMostNeighbors && spec.n_rows <= kMostRows;
  // Norms, residuals, and starts where they lie apart from the images; those of halves lie there twice (make_table).
  const std::int64_t floats = spec.start_column >= 0 ? 2 : spec.byte_factor != 0 ? 3 : 4;
  const std::int64_t row = (spec.lent_rows != 0 ? 0 : spec.width * 8) + width * 2 + floats * 4;
  const std::int64_t query = width * (scans_tiles(image_width(spec)) ? 4 : 2) + 32 +
                             spec.list_groups * static_cast<std::int64_t>(sizeof(ListedGroup)) +
                             spec.n_spaces * (spec.width * 8 + spec.most_neighbors * 12 + 12);
  size.bytes =
      checked::add(checked::mul(checked::mul(padded_rows(spec), row), spec.n_buffers), checked::mul(batch, query));
  return size;
}

TensorSession::TensorSession(int gpu, const cuda_abi::TensorSpec& spec)
    : gpu_(gpu),
      spec_(spec),
      kernel_(find_rerank_kernel(spec.measure)),
      replay_(find_replay_kernel(spec.measure)),
      width_(image_width(spec)),
      bytes_(byte_steps(spec)),
      multiprocessors_(stope::cuda::attribute_of(gpu, cudaDevAttrMultiProcessorCount)),
      batch_(batch_of(spec)),
      attributes_(spec.measure.n_attributes),
      columns_(spec.n_columns),
      plain_train_(spec, PlainColumns::Side::train, stream_),
      plain_queries_(spec, PlainColumns::Side::queries, stream_),
      table_totals_(kTotals),
      host_table_totals_(kTotals),
      query_squares_(batch_),
      query_images_(checked::mul(batch_, width_)),
      query_tiles_(scans_tiles(width_) ? checked::mul(batch_, width_) : 0),
      query_norms_(batch_),
      query_residuals_(batch_),
      thresholds_(batch_),
      candidates_(checked::mul(batch_, spec.list_groups)),
      counts_(batch_),
      sizes_(batch_) {
  if (kernel_ == nullptr) throw Error(ErrorCode::unsupported, std::string("no filter for ") + spec.measure.type);
  const auto* bytes = static_cast<const unsigned char*>(spec.measure.bytes);
  measure_.assign(bytes, bytes + spec.measure.n_bytes);
  copy_in(attributes_.data(), static_cast<const Attribute*>(spec.measure.attributes), attributes_.size(), stream_);
  copy_in(columns_.data(), spec.columns, columns_.size(), stream_);
  for (int buffer = 0; buffer < spec.n_buffers; ++buffer) make_table(tables_[buffer]);
  const std::int64_t n_answers = checked::mul(batch_, spec.most_neighbors);
  for (Space& space : std::span(spaces_).first(static_cast<std::size_t>(spec.n_spaces))) {
    space.queries = DeviceBuffer<double>(checked::mul(batch_, spec.width));
    space.within = DeviceBuffer<double>(batch_);
    space.distances = DeviceBuffer<double>(n_answers);
    space.rows = DeviceBuffer<std::int32_t>(n_answers);
    space.uncertified = DeviceBuffer<std::int32_t>(batch_);
    space.totals = DeviceBuffer<unsigned long long>(kTotals);
    // The answers of uncertified queries are copied back as they are, so they must not be uninitialised memory.
    clear(space.distances, stream_);
    clear(space.rows, stream_);
  }
  for (Slot& slot : std::span(slots_).first(static_cast<std::size_t>(spec.n_slots))) {
    slot.host_distances = PinnedBuffer<double>(n_answers);
    slot.host_rows = PinnedBuffer<std::int32_t>(n_answers);
    slot.host_uncertified = PinnedBuffer<std::int32_t>(batch_);
    slot.host_totals = PinnedBuffer<unsigned long long>(kTotals);
  }
  stream_.wait();  // until then `spec.columns` is read
}

// A cancelled search leaves batches under way. They must end before their memory is freed. A lost GPU has none.
TensorSession::~TensorSession() {
  for (const stope::cuda::Stream* stream : {&copy_rows_, &loading_, &copy_in_, &stream_, &copy_out_}) {
    cudaStreamSynchronize(stream->get());
  }
}

EncodeJob TensorSession::encode_job() const {
  EncodeJob job{};
  job.row_width = spec_.width;
  job.columns = columns_.data();
  job.n_columns = static_cast<int>(spec_.n_columns);
  job.width = width_;
  job.bytes = bytes_;
  job.unit_rows = spec_.unit_rows != 0;
  job.n_to_share = spec_.shares != 0 ? static_cast<double>(spec_.measure.n_attributes) : 0.0;
  return job;
}

BoundsJob TensorSession::bounds(const Table& table) const {
  return {
      .squares = query_squares_.data(),
      .norms = query_norms_.data(),
      .residuals = query_residuals_.data(),
      .train_residual = table.residual,
      .largest_train_norm = table.largest_norm,
      .shift = table.shift.data(),
      .width = width_,
      .bytes = in_bytes(),
      .accumulation = in_bytes() ? 0.0 : kAccumulation * (width_ + 2),  // whole numbers are exact
      .key_step = in_bytes() ? kByteKeyStep : kKeyStep,
      .masks = spec_.masks != 0,
      .tiny = spec_.tiny,
      .constant = spec_.constant,
      .nominal = spec_.nominal,
      .hashed = spec_.hashed,
      .product_error = spec_.product_error,
      .slack = spec_.slack,
  };
}

// Rows and answers are copied in streams of their own: the GPU computes one batch while it copies for another.
void TensorSession::submit(int number, const cuda_abi::TensorQuery& query) {
  Slot& slot = slots_[number];
  if (query.n > batch_ || query.k > spec_.most_neighbors || (query.heap != 0 && query.k > kMostReplayed)) {
    throw Error(ErrorCode::internal, "a batch that cannot be");
  }
  reserve_votes(slot, query);
  slot.n_queries = query.n;
  slot.lists_stay = query.device_lists != nullptr;
  slot.has_step = {};
  slot.table = &tables_[query.buffer];
  take_space(slot);
  take_queries(slot, query);
  clear(slot.space->totals, stream_);
  search_batch(slot, query);
  if (slot.voted) {
    const ListsToVote lists{slot.space->distances.data(), slot.space->rows.data(), query.k, query.n,
                            slot.space->uncertified.data()};
    if (slot.predictions_stay) {
      slot.votes.cast(*query.vote, voters_of(query), lists, *query.device_predictions, stream_);
    } else {
      slot.votes.cast(*query.vote, voters_of(query), lists, stream_);
    }
  }
  if (slot.voted) end_step(slot, cuda_abi::kVoteStep);
  if (slot.lists_stay) {
    launch_hand_lists({slot.space->distances.data(), slot.space->rows.data(), slot.space->uncertified.data(), query.n,
                       query.k, *query.device_lists},
                      stream_.get());
  }
  slot.space->computed.record(stream_);
  slot.space->computed.hold(copy_out_);
  copy_back(slot, query);
  end_step(slot, cuda_abi::kCopyBackStep, copy_out_);
  slot.space->copied_back.record(copy_out_);
}

// Rows may come once the batch before is computed, and the search may begin once its answers are copied.
void TensorSession::take_space(Slot& slot) {
  slot.space = spaces_ + next_space_;
  next_space_ = (next_space_ + 1) % spec_.n_spaces;
  slot.space->computed.hold(copy_in_);
  slot.space->copied_back.hold(stream_);
}

// Only steps that queue something end with a mark: between two kernels a mark takes the GPU some microseconds.
void TensorSession::end_step(Slot& slot, cuda_abi::FilterStep step, const stope::cuda::Stream& stream) {
  const auto at = static_cast<std::size_t>(step);
  slot.ends[at].record(stream);
  slot.has_step[at] = true;
}

void TensorSession::take_queries(Slot& slot, const cuda_abi::TensorQuery& query) {
  if (query.device_rows != nullptr) {
    // The caller's stream comes first: it may still be making the rows, or reading the lists' memory.
    check(cudaEventRecord(slot.uploaded.get(), static_cast<cudaStream_t>(query.device_rows->stream)),
          "marking the caller's stream");
    slot.uploaded.hold(copy_in_);
    launch_take_rows({*query.device_rows, query.n, spec_.width, slot.space->queries.data()}, copy_in_.get());
  } else {
    copy_in(slot.space->queries.data(), query.rows, query.n * spec_.width, copy_in_);
  }
  if (query.within != nullptr) copy_in(slot.space->within.data(), query.within, query.n, copy_in_);
  slot.uploaded.record(copy_in_);
  slot.uploaded.hold(stream_);
}

// This comes before anything is queued, because it throws if there is no room.
void TensorSession::reserve_votes(Slot& slot, const cuda_abi::TensorQuery& query) {
  slot.voted = query.vote != nullptr;
  slot.predictions_stay = slot.voted && query.device_predictions != nullptr;
  if (!slot.voted) return;
  if (!slot.predictions_stay) return slot.votes.reserve(*query.vote, voters_of(query), batch_, query.n);
  if (query.vote->n_ks != 1) throw Error(ErrorCode::internal, "predictions of several k in place");
  slot.votes.reserve(*query.device_predictions, voters_of(query), batch_);
}

void TensorSession::copy_back(Slot& slot, const cuda_abi::TensorQuery& query) {
  if (slot.voted && !slot.predictions_stay) {
    slot.votes.copy_back(*query.vote, voters_of(query), 0, query.n, copy_out_);
  } else if (!slot.voted && !slot.lists_stay) {
    copy_out(slot.host_distances.data(), slot.space->distances, query.n * query.k, copy_out_);
    copy_out(slot.host_rows.data(), slot.space->rows, query.n * query.k, copy_out_);
  }
  copy_out(slot.host_uncertified.data(), slot.space->uncertified, query.n, copy_out_);
  copy_out(slot.host_totals.data(), slot.space->totals, kTotals, copy_out_);
}

cuda_abi::FilterAnswer TensorSession::collect(int number) {
  Slot& slot = slots_[number];
  slot.ends[cuda_abi::kCopyBackStep].wait();
  cuda_abi::FilterAnswer answer{
      .distances = slot.host_distances.data(),
      .rows = slot.host_rows.data(),
      .uncertified = slot.host_uncertified.data(),
      .scanned = slot.n_queries * slot.table->n_rows - static_cast<std::int64_t>(slot.host_totals.data()[kSkipped]),
      .listed = static_cast<std::int64_t>(slot.host_totals.data()[kListed]),
      .evaluated = static_cast<std::int64_t>(slot.host_totals.data()[kEvaluated]),
      .milliseconds = {},
      .skipped = static_cast<std::int64_t>(slot.host_totals.data()[kSkipped]),
  };
  for (std::size_t step = cuda_abi::kImagesStep, before = cuda_abi::kUploadStep; step <= cuda_abi::kCopyBackStep;
       ++step) {
    if (!slot.has_step[step]) continue;
    answer.milliseconds[step] = slot.ends[step].since(slot.ends[before]);
    before = step;
  }
  answer.milliseconds[cuda_abi::kTableImagesStep] = static_cast<float>(image_microseconds_.exchange(0)) * 1e-3F;
  if (slot.voted || slot.lists_stay) {
    answer.distances = nullptr;
    answer.rows = nullptr;
  }
  if (slot.voted && !slot.predictions_stay) {
    answer.winners = slot.votes.winners();
    answer.values = slot.votes.values();
  }
  return answer;
}

void TensorSession::encode_queries(const Slot& slot, std::int64_t n) {
  EncodeJob encode = encode_job();
  encode.rows = slot.space->queries.data();
  encode.n = n;
  encode.n_padded = padded(n, kBlockQueries);
  encode.plain = plain_queries_.columns();
  encode.plain_sources = plain_queries_.sources();
  encode.images = query_images_.data();
  encode.tiles = query_tiles_.data();
  encode.squares = query_squares_.data();
  encode.norms = query_norms_.data();
  encode.residuals = query_residuals_.data();
  launch_encode_queries(encode, stream_.get());
  if (in_bytes()) return;  // starts of bytes are shifted already
  launch_shift(
      {
          .query_norms = query_norms_.data(),
          .query_residuals = query_residuals_.data(),
          .n_queries = n,
          .largest_train_norm = slot.table->largest_norm,
          .nominal = spec_.masks != 0 ? spec_.nominal : 0.0,
          .masks = spec_.masks != 0,
          .width = width_,
          .column = spec_.start_column < 0 ? -1 : static_cast<int>(spec_.start_column) + 2,
          .images = query_images_.data(),
          .tiles = query_tiles_.data(),
          .starts = slot.table->starts.data(),
          .shifted_starts = slot.table->shifted_starts.data(),
          .n = slot.table->n_padded,
          .shift = slot.table->shift.data(),
      },
      stream_.get());
}

ScanSize TensorSession::scan_size(std::int64_t n_queries, std::int64_t n_tiles, int k) const {
  // There are several times as many maxima as neighbours, so that the k-th largest of them is near the k-th best score.
  constexpr std::int64_t kMaximaPerNeighbor = 8;
  const std::int64_t blocks = checked::ceil_div(n_queries, kBlockQueries);
  return {
      .n_tiles = n_tiles,
      .tile_rows = scan_tile_rows(width_),
      .width = width_,
      .n_queries = n_queries,
      .block_rows = scans_tiles(width_) ? 2 * blocks : blocks,
      .multiprocessors = multiprocessors_,
      .k = k,
      .capacity = spec_.list_groups,
      .least_maxima_segments =
          checked::ceil_div(std::min(kMaximaPerNeighbor * k, most_maxima(spec_)), kMaximaPerSegment),
      .most_maxima_segments = most_maxima(spec_) / kMaximaPerSegment,
  };
}

const float* TensorSession::starts_of(const Table& table) const {
  if (in_bytes()) return table.starts.data();
  return spec_.start_column < 0 ? table.shifted_starts.data() : nullptr;
}

ScanJob TensorSession::scan_job(const Table& table, std::int64_t n_queries, const ScanPart& part) const {
  return {
      .queries = query_images_.data(),
      .query_tiles = query_tiles_.data(),
      .train = table.images.data(),
      .starts = starts_of(table),
      .width = width_,
      .bytes = in_bytes(),
      .n_queries = n_queries,
      .n_tiles = part.n_tiles,
      .first_tile = part.first_tile,
      .stride = part.stride,
      .tiles_per_segment = part.segments.tiles,
  };
}

RerankJob TensorSession::rerank_job(Slot& slot, const cuda_abi::TensorQuery& query) {
  return {
      .bounds = bounds(*slot.table),
      .query_images = query_images_.data(),
      .train_images = slot.table->images.data(),
      .order = nullptr,
      .starts = starts_of(*slot.table),
      .queries = slot.space->queries.data(),
      .train = slot.table->values,
      .width = spec_.width,
      .attributes = attributes_.data(),
      .n_rows = slot.table->n_rows,
      .n_queries = query.n,
      .self = query.self,
      .k = static_cast<int>(query.k),
      .n_always = slot.table->n_always,
      .may_have_fewer = query.within != nullptr,
      .lists = lists(),
      .distances = slot.space->distances.data(),
      .rows = slot.space->rows.data(),
      .uncertified = slot.space->uncertified.data(),
      .n_listed = slot.space->totals.data() + kListed,
      .n_evaluated = slot.space->totals.data() + kEvaluated,
  };
}

GroupLists TensorSession::lists() const {
  return {.thresholds = thresholds_.data(),
          .candidates = candidates_.data(),
          .counts = counts_.data(),
          .capacity = static_cast<std::int32_t>(spec_.list_groups)};
}

void TensorSession::search_nearest(Slot& slot, const cuda_abi::TensorQuery& query) {
  const Table& table = *slot.table;
  const std::int64_t n = query.n, n_tiles = table.n_padded / scan_tile_rows(width_);
  const int k_listed = static_cast<int>(query.k) + (query.self >= 0 ? 1 : 0);  // the query itself is listed, too
  const ScanPlan plan = plan_scan(scan_size(n, n_tiles, k_listed));
  const std::int64_t n_maxima = plan.sample.segments.count * kMaximaPerSegment;
  auto* const maxima = reinterpret_cast<float*>(candidates_.data());
  launch_sample(scan_job(table, n, plan.sample), maxima, n_maxima, stream_.get());

  end_step(slot, cuda_abi::kSampleStep);
  const ThresholdJob thresholds{.bounds = bounds(table),
                                .maxima = maxima,
                                .n_maxima = n_maxima,
                                .n_queries = n,
                                .k = k_listed,
                                .thresholds = thresholds_.data()};
  launch_thresholds(thresholds, stream_.get());

  end_step(slot, cuda_abi::kThresholdsStep);
  clear(counts_, stream_);
  const TightenJob tighten{
      .bounds = bounds(table), .lists = lists(), .n_queries = n, .k = k_listed, .thresholds = thresholds_.data()};
  for (const ScanPart& part : plan.parts) {
    if (part.first_tile != 0) launch_tighten(tighten, stream_.get());
    launch_list(scan_job(table, n, part), lists(), stream_.get());
  }

  end_step(slot, cuda_abi::kListStep);
  kernel_(rerank_job(slot, query), measure_.data(), stream_.get());
}

// What other rows tell about the neighbours replaces the sample and its thresholds.
void TensorSession::search_within(Slot& slot, const cuda_abi::TensorQuery& query) {
  const Table& table = *slot.table;
  const std::int64_t n = query.n, n_tiles = table.n_padded / scan_tile_rows(width_);
  const RootJob within{.bounds = bounds(table),
                       .image = {spec_.unit, spec_.finish},
                       .heaps = slot.space->within.data(),
                       .sizes = nullptr,
                       .n_queries = n,
                       .k = 1,
                       .thresholds = thresholds_.data()};
  launch_roots(within, stream_.get());
  end_step(slot, cuda_abi::kThresholdsStep);
  clear(counts_, stream_);
  const ScanSize size = scan_size(n, n_tiles, static_cast<int>(query.k));
  launch_list(scan_job(table, n, {0, 1, n_tiles, segments_of(size)}), lists(), stream_.get());
  end_step(slot, cuda_abi::kListStep);
  kernel_(rerank_job(slot, query), measure_.data(), stream_.get());
}

// The first chunk has at least as many rows as there are neighbours. Each later chunk has three times as many rows as
// all before it. So about three rows a neighbour enter the heap in each chunk, and there are few chunks. A large heap
// has as many as all before it: the rows of three chunks would not fit a team's memory. All this time counts as the
// list step.
void TensorSession::search_heap(Slot& slot, const cuda_abi::TensorQuery& query) {
  constexpr std::int64_t kLargeHeap = 128;
  const std::int64_t growth = query.k <= kLargeHeap ? 3 : 1;
  const Table& table = *slot.table;
  const std::int64_t n_tiles = table.n_padded / scan_tile_rows(width_);
  const auto k = static_cast<int>(query.k);
  const RootJob roots{.bounds = bounds(table),
                      .image = {spec_.unit, spec_.finish},
                      .heaps = slot.space->distances.data(),
                      .sizes = sizes_.data(),
                      .n_queries = query.n,
                      .k = k,
                      .thresholds = thresholds_.data()};
  ReplayJob replay{rerank_job(slot, query), sizes_.data(), false};
  clear(slot.space->uncertified, stream_);
  clear(sizes_, stream_);
  std::int64_t n = checked::ceil_div(query.k + 1, scan_tile_rows(width_));
  for (std::int64_t first = 0; first < n_tiles; first += n, n = growth * first) {
    n = std::min(n, n_tiles - first);
    launch_roots(roots, stream_.get());
    clear(counts_, stream_);
    launch_list(scan_job(table, query.n, {first, 1, n, segments_of(scan_size(query.n, n, k))}), lists(), stream_.get());
    replay.last = first + n == n_tiles;
    replay_(replay, measure_.data(), stream_.get());
  }
  end_step(slot, cuda_abi::kListStep);
}

void TensorSession::search_batch(Slot& slot, const cuda_abi::TensorQuery& query) {
  end_step(slot, cuda_abi::kUploadStep);
  encode_queries(slot, query.n);
  end_step(slot, cuda_abi::kImagesStep);
  if (query.heap != 0) {
    search_heap(slot, query);
  } else if (query.within != nullptr) {
    search_within(slot, query);
  } else if (leaves_tiles_out(slot, query)) {
    search_clusters(slot, query);
  } else {
    search_nearest(slot, query);
  }
  if (query.heap == 0) end_step(slot, cuda_abi::kRerankStep);
}

}  // namespace stope::knn::cuda
