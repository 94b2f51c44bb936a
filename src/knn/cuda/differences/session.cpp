#include "knn/cuda/differences/session.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "device/cuda/attribute.hpp"
#include "knn/cuda/usual_residual.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::DeviceBuffer;

// How many rows a list has room for. Some hundred are usual; queries with more rows than fit are left to the reference.
constexpr std::int64_t kCapacity = 2048, kCapacityOfMany = 8192;
// Lists are short up to this many neighbours.
constexpr std::int64_t kFewNeighbors = 24, kUsualNeighbors = 128, kMostNeighbors = 512;
// Queries in a batch: enough to fill the GPU many times over.
constexpr std::int64_t kMostBatch = 16384, kMostBatchOfMany = 4096;
constexpr std::int32_t kMostAlways = 512;

enum Total { kListed, kEvaluated, kTotals };

std::int64_t padded(std::int64_t n) {
  return checked::mul(checked::ceil_div(n, kPairTile), kPairTile);
}

bool few(const cuda_abi::DifferenceSpec& spec) {
  return spec.most_neighbors <= kFewNeighbors;
}
std::int64_t capacity(const cuda_abi::DifferenceSpec& spec) {
  return few(spec) ? kCapacity : kCapacityOfMany;
}
std::int64_t batch_of(const cuda_abi::DifferenceSpec& spec) {
  return padded(std::clamp<std::int64_t>(spec.most_queries, 1, few(spec) ? kMostBatch : kMostBatchOfMany));
}
std::int64_t stride_of(const cuda_abi::DifferenceSpec& spec) {
  return few(spec) ? kFewChosen : kMostChosen;
}
/// Returns the words of an image. Images in bytes are largest with gaps.
std::int64_t words_of(const cuda_abi::DifferenceSpec& spec) {
  return spec.steps > 0.0 ? plan_bytes(spec, true).words() : even_lines(static_cast<int>(spec.bounds.n_columns));
}

template <class T>
void copy_out(T* to, const DeviceBuffer<T>& from, std::int64_t n, const stope::cuda::Stream& stream) {
  check(cudaMemcpyAsync(to, from.data(), static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost, stream.get()),
        "copying from the GPU");
}

template <class T>
void clear(const DeviceBuffer<T>& buffer, const stope::cuda::Stream& stream) {
  check(cudaMemsetAsync(buffer.data(), 0, static_cast<std::size_t>(buffer.bytes()), stream.get()), "clearing memory");
}

/// Pinned memory is slow to allocate, so it is kept for the next search.
template <class T>
void grow(stope::cuda::PinnedBuffer<T>& buffer, std::int64_t size) {
  if (buffer.size() < size) buffer = stope::cuda::PinnedBuffer<T>(size);
}

/// Cuts the tiles of a scan into about `wanted` segments.
ScanTiles cut_tiles(std::int64_t n_queries, std::int64_t n_tiles, std::int64_t stride, std::int64_t wanted) {
  const std::int64_t segments = std::clamp<std::int64_t>(wanted, 1, n_tiles);
  return {n_queries, n_tiles, stride, checked::ceil_div(n_tiles, segments)};
}

constexpr std::int64_t kGroupsPerSegment = 16;

std::int64_t segments_of(const ScanTiles& tiles) {
  return checked::ceil_div(tiles.n_tiles, tiles.tiles_per_segment);
}

}  // namespace

cuda_abi::FilterSize DifferenceSession::size(const cuda_abi::DifferenceSpec& spec, int gpu) {
  cuda_abi::FilterSize size{};
  constexpr std::int64_t kMostRows = INT32_MAX - kPairTile;
  // Ampere and later have the matrix instructions for bytes.
  const bool bytes_work = stope::cuda::attribute_of(gpu, cudaDevAttrComputeCapabilityMajor) >= 8;
  size.possible = find_listed_kernel(spec.measure.type, spec.measure.n_bytes) != nullptr &&
                  spec.most_neighbors <= kMostNeighbors && spec.n_rows <= kMostRows &&
                  (spec.steps == 0.0 || bytes_work);
  const std::int64_t image = words_of(spec) * 4, per_row = spec.width * 8 + image + 12;
  const std::int64_t per_query = spec.width * 16 + image + 40 + kMostGroups * 8 +
                                 capacity(spec) * static_cast<std::int64_t>(sizeof(Entry)) + stride_of(spec) * 12 +
                                 spec.most_neighbors * 12;
  size.bytes =
      checked::add(checked::mul(padded(spec.n_rows), per_row + 8), checked::mul(batch_of(spec), per_query + 8));
  return size;
}

DifferenceSession::DifferenceSession(int gpu, const cuda_abi::DifferenceSpec& spec)
    : gpu_(gpu),
      spec_(spec),
      kernel_(find_listed_kernel(spec.measure.type, spec.measure.n_bytes)),
      multiprocessors_(stope::cuda::attribute_of(gpu, cudaDevAttrMultiProcessorCount)),
      n_columns_(spec.bounds.n_columns),
      n_padded_(padded(spec.n_rows)),
      batch_(batch_of(spec)),
      stride_(stride_of(spec)),
      most_words_(words_of(spec)),
      attributes_(spec.measure.n_attributes),
      numeric_(spec.row_form.n_numeric),
      equality_(spec.row_form.n_equality),
      mismatch_(n_columns_),
      weight_(n_columns_),
      byte_columns_(n_columns_),
      train_(checked::mul(spec.n_rows, spec.width)),
      train_images_(checked::mul(n_padded_, most_words_)),
      train_residuals_(n_padded_),
      starts_(n_padded_),
      byte_starts_(n_padded_),
      always_(kMostAlways),
      n_always_found_(1),
      found_gaps_(1),
      queries_{Device<double>(checked::mul(batch_, spec.width)), Device<double>(checked::mul(batch_, spec.width))},
      query_images_(checked::mul(batch_, most_words_)),
      query_residuals_(batch_),
      query_groups_(batch_),
      group_scores_(checked::mul(batch_, kMostGroups)),
      group_rows_(checked::mul(batch_, kMostGroups)),
      cuts_(batch_),
      reaches_(batch_),
      entries_(checked::mul(batch_, capacity(spec))),
      counts_(batch_),
      chosen_rows_(checked::mul(batch_, stride_)),
      chosen_counts_(batch_),
      chosen_distances_(checked::mul(batch_, stride_)),
      distances_(checked::mul(batch_, spec.most_neighbors)),
      rows_(checked::mul(batch_, spec.most_neighbors)),
      uncertified_(batch_),
      totals_(kTotals),
      host_totals_(kTotals),
      host_gaps_(1),
      // Pinned memory is slow to allocate: 5 ms for 8 MiB.
      upload_(std::clamp<std::int64_t>(train_.bytes(), 4096, spec.piece_bytes)) {
  if (kernel_ == nullptr) throw Error(ErrorCode::unsupported, std::string("no filter for ") + spec.measure.type);
  const auto* bytes = static_cast<const unsigned char*>(spec.measure.bytes);
  measure_.assign(bytes, bytes + spec.measure.n_bytes);
  upload_.copy(attributes_.data(), spec.measure.attributes, attributes_.bytes(), stream_);
  upload_.copy(numeric_.data(), spec.row_form.numeric, numeric_.bytes(), stream_);
  upload_.copy(equality_.data(), spec.row_form.equality, equality_.bytes(), stream_);
  upload_.copy(mismatch_.data(), spec.mismatch, mismatch_.bytes(), stream_);
  upload_.copy(weight_.data(), spec.weight, weight_.bytes(), stream_);
  form_ = {.form = spec.row_form.form,
           .numeric = numeric_.data(),
           .n_numeric = spec.row_form.n_numeric,
           .equality = equality_.data(),
           .n_equality = spec.row_form.n_equality,
           .attributes = attributes_.data()};
  if (in_bytes()) plan(false);
  clear(found_gaps_, stream_);
  // The answers of uncertified queries are copied back as they are, so they must not be uninitialised memory.
  clear(distances_, stream_);
  clear(rows_, stream_);
}

DifferenceSession::~DifferenceSession() {
  cudaStreamSynchronize(copies_.get());
  cudaStreamSynchronize(stream_.get());
}

bool DifferenceSession::divides() const {
  if (spec_.bounds.form.divisor == Divisor::total) return true;
  return gaps_ && spec_.bounds.form.divisor == Divisor::present_weight;
}

void DifferenceSession::plan(bool gaps) {
  bytes_ = plan_bytes(spec_, gaps);
  upload_.copy(byte_columns_.data(), bytes_.columns.data(), byte_columns_.bytes(), stream_);
}

ByteLayout DifferenceSession::layout() const {
  return {.columns = byte_columns_.data(),
          .steps = spec_.steps,
          .difference_words = bytes_.difference_words,
          .product_words = bytes_.product_words,
          .divisor_words = bytes_.divisor_words};
}

ImageJob DifferenceSession::image_job(const double* rows, std::int64_t first, std::int64_t n, std::int64_t n_padded,
                                      float* residuals) {
  return {.form = form_,
          .rows = rows,
          .first = first,
          .n = n,
          .n_padded = n_padded,
          .width = spec_.width,
          .residuals = residuals,
          .gaps = found_gaps_.data()};
}

void DifferenceSession::make_train_images(std::int64_t first, std::int64_t n) {
  const std::int64_t end = first + n == spec_.n_rows ? n_padded_ : first + n;
  const ImageJob job = image_job(train_.data() + first * spec_.width, first, n, end, train_residuals_.data());
  if (in_bytes()) {
    launch_byte_images(job, layout(), Side::train, train_images_.data(), stream_.get());
  } else {
    launch_float_images(job, reinterpret_cast<float*>(train_images_.data()), stream_.get());
  }
}

void DifferenceSession::load(const double* rows, std::int64_t n) {
  upload_.copy(train_.data() + loaded_ * spec_.width, rows, n * spec_.width * static_cast<std::int64_t>(sizeof(double)),
               stream_);
  make_train_images(loaded_, n);
  loaded_ += n;
}

void DifferenceSession::find_always() {
  const float usual = (in_bytes() ? 1.5F : 2.0F) * usual_residual(train_residuals_, spec_.n_rows, stream_);
  train_residual_ = static_cast<double>(usual);
  clear(n_always_found_, stream_);
  const AlwaysJob job{.residuals = train_residuals_.data(),
                      .n = spec_.n_rows,
                      .n_padded = n_padded_,
                      .most_residual = usual,
                      .starts = in_bytes() ? nullptr : starts_.data(),
                      .byte_starts = in_bytes() ? byte_starts_.data() : nullptr,
                      .always = always_.data(),
                      .most = kMostAlways,
                      .n_always = n_always_found_.data()};
  launch_always(job, stream_.get());
  copy_out(&n_always_, n_always_found_, 1, stream_);
  stream_.wait();
}

bool DifferenceSession::read_gaps() {
  copy_out(host_gaps_.data(), found_gaps_, 1, stream_);
  stream_.wait();
  return *host_gaps_.data() != 0;
}

std::int64_t DifferenceSession::finish() {
  gaps_ = read_gaps();
  if (gaps_ && in_bytes()) {
    plan(true);
    make_train_images(0, spec_.n_rows);
  }
  find_always();
  return n_always_;
}

// If the first missing value comes with a query, images in bytes get another layout and are all made again.
void DifferenceSession::make_query_images(const Batch& batch) {
  const ImageJob job = image_job(queries_[batch.buffer].data(), 0, batch.n, padded(batch.n), query_residuals_.data());
  const auto make = [&] {
    if (in_bytes()) {
      launch_byte_images(job, layout(), Side::query, query_images_.data(), stream_.get());
    } else {
      launch_float_images(job, reinterpret_cast<float*>(query_images_.data()), stream_.get());
    }
  };
  make();
  if (gaps_ || !read_gaps()) return;
  gaps_ = true;
  if (!in_bytes()) return;
  plan(true);
  make_train_images(0, spec_.n_rows);
  make();
}

cuda_abi::FilterAnswer DifferenceSession::search(const cuda_abi::DifferenceQuery& query) {
  if (query.vote != nullptr) {
    votes_.reserve(*query.vote, voters_of(query), batch_, query.n);
  } else {
    grow(host_distances_, checked::mul(query.n, query.k));
    grow(host_rows_, host_distances_.size());
  }
  grow(host_uncertified_, query.n);
  milliseconds_.fill(0.0F);
  clear(totals_, stream_);
  if (query.train_groups != nullptr) {
    if (train_groups_.size() == 0) train_groups_ = Device<std::int64_t>(spec_.n_rows);
    upload_.copy(train_groups_.data(), query.train_groups, train_groups_.bytes(), stream_);
  }
  // All batches have about one size: a small last one would leave multiprocessors idle.
  const std::int64_t n_batches = checked::ceil_div(query.n, batch_);
  const std::int64_t size = n_batches == 0 ? 0 : padded(checked::ceil_div(query.n, n_batches));
  const auto batch_at = [&](std::int64_t begin, std::size_t buffer) {
    return Batch{begin, std::clamp<std::int64_t>(query.n - begin, 0, size), buffer};
  };
  Batch batch = batch_at(0, 0);
  upload(query, batch);
  while (batch.n > 0) {
    const Batch next = batch_at(batch.begin + batch.n, 1 - batch.buffer);
    search_batch(query, batch, next);
    batch = next;
  }
  copy_out(host_totals_.data(), totals_, kTotals, stream_);
  stream_.wait();
  cuda_abi::FilterAnswer answer{
      .distances = host_distances_.data(),
      .rows = host_rows_.data(),
      .uncertified = host_uncertified_.data(),
      .scanned = query.n * spec_.n_rows,
      .listed = static_cast<std::int64_t>(host_totals_.data()[kListed]),
      .evaluated = static_cast<std::int64_t>(host_totals_.data()[kEvaluated]),
      .milliseconds = {},
  };
  std::copy(milliseconds_.begin(), milliseconds_.end(), answer.milliseconds);
  if (query.vote != nullptr) {
    answer.distances = nullptr;
    answer.rows = nullptr;
    answer.winners = votes_.winners();
    answer.values = votes_.values();
  }
  return answer;
}

CutRule DifferenceSession::rule() const {
  return {.bounds = spec_.bounds,
          .train_residual = train_residual_,
          .residuals = query_residuals_.data(),
          .divides = divides(),
          .steps = spec_.steps,
          .weight_steps = bytes_.weight_steps};
}

template <class Sink, class Differences, class Bytes>
void DifferenceSession::scan(const ScanTiles& tiles, const Exclusions& exclusions, const Sink& sink,
                             const Differences& differences, const Bytes& bytes) {
  if (in_bytes()) {
    const ByteScan job{.divides = divides(),
                       .queries = query_images_.data(),
                       .train = train_images_.data(),
                       .starts = byte_starts_.data(),
                       .difference_words = bytes_.difference_words,
                       .product_words = bytes_.product_words,
                       .divisor_words = bytes_.divisor_words,
                       .tiles = tiles,
                       .exclusions = exclusions};
    bytes(job, sink, stream_.get());
  } else {
    const DifferenceScan job{.form = spec_.bounds.form,
                             .gaps = gaps_,
                             .queries = reinterpret_cast<const float*>(query_images_.data()),
                             .train = reinterpret_cast<const float*>(train_images_.data()),
                             .starts = starts_.data(),
                             .n_numeric = static_cast<int>(spec_.row_form.n_numeric),
                             .n_columns = static_cast<int>(n_columns_),
                             .mismatch = mismatch_.data(),
                             .weight = weight_.data(),
                             .tiles = tiles,
                             .exclusions = exclusions};
    differences(job, sink, stream_.get());
  }
}

void DifferenceSession::evaluate(const Batch& batch, const ChosenRows& chosen) {
  const ListedPairs pairs{.queries = queries_[batch.buffer].data(),
                          .train = train_.data(),
                          .width = spec_.width,
                          .attributes = attributes_.data(),
                          .n_queries = chosen.n_queries,
                          .rows = chosen.rows,
                          .counts = chosen.counts,
                          .stride = chosen.stride,
                          .distances = chosen.distances};
  kernel_->launch(pairs, measure_.data(), stream_.get());
}

void DifferenceSession::upload(const cuda_abi::DifferenceQuery& query, const Batch& batch) {
  if (batch.n == 0) return;
  upload_begins_[batch.buffer].record(copies_);
  // This copies from pinned memory, if the caller has the rows there, while another batch is computed.
  check(cudaMemcpyAsync(queries_[batch.buffer].data(), query.rows + batch.begin * spec_.width,
                        static_cast<std::size_t>(batch.n * spec_.width) * sizeof(double), cudaMemcpyHostToDevice,
                        copies_.get()),
        "copying to the GPU");
  upload_ends_[batch.buffer].record(copies_);
  uploaded_[batch.buffer].record(copies_);
}

// The sample is every share-th tile: a prefix would say nothing of a sorted table. There are several times as many
// groups as neighbours, so that the k-th best group has a row near the k-th nearest of the sample. With k = 512 there
// are twice as many: such a group has the 726th of the sample, on average, and a list has 8 times as many rows.
ScanTiles DifferenceSession::sample_tiles(std::int64_t n_queries, std::int64_t k) const {
  constexpr std::int64_t kShare = 16, kShareOfMany = 8, kLeastTiles = 32, kGroupsPerNeighbor = 8;
  const std::int64_t n_tiles = n_padded_ / kPairTile;
  const std::int64_t share = k <= kUsualNeighbors ? kShare : kShareOfMany;
  const std::int64_t stride = std::max<std::int64_t>(1, std::min(share, n_tiles / kLeastTiles));
  const std::int64_t wanted = checked::ceil_div(kGroupsPerNeighbor * k, kGroupsPerSegment);
  const std::int64_t segments = std::max(segments_that_fill(n_queries), wanted);
  return cut_tiles(n_queries, checked::ceil_div(n_tiles, stride), stride,
                   std::min<std::int64_t>(segments, kMostGroups / kGroupsPerSegment));
}

std::int64_t DifferenceSession::segments_that_fill(std::int64_t n_queries) const {
  constexpr std::int64_t kBlocksPerProcessor = 2;
  return checked::ceil_div(kBlocksPerProcessor * multiprocessors_, checked::ceil_div(n_queries, kPairTile));
}

void DifferenceSession::copy_back(const cuda_abi::DifferenceQuery& query, const Batch& batch) {
  if (query.vote != nullptr) {
    votes_.copy_back(*query.vote, voters_of(query), batch.begin, batch.n, stream_);
  } else {
    copy_out(host_distances_.data() + batch.begin * query.k, distances_, batch.n * query.k, stream_);
    copy_out(host_rows_.data() + batch.begin * query.k, rows_, batch.n * query.k, stream_);
  }
  copy_out(host_uncertified_.data() + batch.begin, uncertified_, batch.n, stream_);
}

void DifferenceSession::search_batch(const cuda_abi::DifferenceQuery& query, const Batch& batch, const Batch& next) {
  const std::int64_t n = batch.n;
  const auto k = static_cast<int>(query.k);
  const bool grouped = query.train_groups != nullptr;
  const Exclusions exclusions{query.self >= 0 ? query.self + batch.begin : -1, grouped ? train_groups_.data() : nullptr,
                              query_groups_.data()};
  const ChosenRows chosen{n, stride_, chosen_rows_.data(), chosen_counts_.data(), chosen_distances_.data()};

  uploaded_[batch.buffer].hold(stream_);
  if (grouped) {
    upload_.copy(query_groups_.data(), query.query_groups + batch.begin,
                 n * static_cast<std::int64_t>(sizeof(std::int64_t)), stream_);
  }
  ends_[cuda_abi::kUploadStep].record(stream_);
  make_query_images(batch);

  ends_[cuda_abi::kImagesStep].record(stream_);
  const bool within = query.within < std::numeric_limits<double>::infinity();  // no sample is needed then
  const ScanTiles sample = sample_tiles(n, query.k);
  const GroupBests bests{group_scores_.data(), group_rows_.data(), segments_of(sample) * kGroupsPerSegment};
  if (!within) scan(sample, exclusions, bests, launch_difference_sample, launch_byte_sample);

  ends_[cuda_abi::kSampleStep].record(stream_);
  constexpr int kSpareRows = 8;  // the order of distances differs a little from that of sums
  if (!within) {
    launch_choose_of_groups(bests, k + kSpareRows, chosen, stream_.get());
    evaluate(batch, chosen);
  }
  const CutJob cuts{.rule = rule(),
                    .k = k,
                    .list_all = spec_.n_rows <= capacity(spec_),
                    .within = query.within,
                    .cuts = cuts_.data(),
                    .reaches = reaches_.data()};
  launch_cuts(cuts, chosen, stream_.get());

  ends_[cuda_abi::kThresholdsStep].record(stream_);
  constexpr std::int64_t kWaves = 10;  // segments so short that the last blocks of a wave do not wait long
  const ScanTiles all = cut_tiles(n, n_padded_ / kPairTile, 1, kWaves * segments_that_fill(n));
  const EntryLists lists{cuts_.data(), entries_.data(), counts_.data(), static_cast<std::int32_t>(capacity(spec_))};
  clear(counts_, stream_);
  scan(all, exclusions, lists, launch_difference_list, launch_byte_list);

  ends_[cuda_abi::kListStep].record(stream_);
  if (within) {
    clear(chosen_counts_, stream_);  // only more rows than a list has places for would sharpen the cut
  } else {
    launch_choose_of_lists(lists, divides(), k, chosen, stream_.get());
    evaluate(batch, chosen);
  }
  const SharpenJob sharpen{.rule = rule(),
                           .k = k,
                           .lists = lists,
                           .reaches = reaches_.data(),
                           .always = always_.data(),
                           .n_always = std::min(n_always_, kMostAlways),
                           .exclusions = exclusions,
                           .uncertified = uncertified_.data(),
                           .n_listed = totals_.data() + kListed,
                           .n_evaluated = totals_.data() + kEvaluated};
  launch_sharpen(sharpen, chosen, stream_.get());
  evaluate(batch, chosen);
  launch_nearest({k, within, distances_.data(), rows_.data(), uncertified_.data()}, chosen, stream_.get());

  ends_[cuda_abi::kRerankStep].record(stream_);
  if (query.vote != nullptr) {
    votes_.cast(*query.vote, voters_of(query), {distances_.data(), rows_.data(), query.k, n, uncertified_.data()},
                stream_);
  }
  ends_[cuda_abi::kVoteStep].record(stream_);
  copy_back(query, batch);
  ends_[cuda_abi::kCopyBackStep].record(stream_);
  upload(query, next);
  stream_.wait();
  milliseconds_[cuda_abi::kUploadStep] += upload_ends_[batch.buffer].since(upload_begins_[batch.buffer]);
  for (std::size_t step = cuda_abi::kImagesStep; step <= cuda_abi::kCopyBackStep; ++step) {
    milliseconds_[step] += ends_[step].since(ends_[step - 1]);
  }
}

}  // namespace stope::knn::cuda
