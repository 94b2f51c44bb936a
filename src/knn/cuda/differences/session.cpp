#include "knn/cuda/differences/session.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "device/cuda/attribute.hpp"
#include "knn/cuda/copies.hpp"
#include "knn/cuda/differences/heaps.hpp"
#include "knn/cuda/usual_residual.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::check;

// How many rows a list has room for. Some hundred are usual; queries with more rows than fit are left to the reference.
constexpr std::int64_t kCapacity = 2048, kCapacityOfMany = 8192;
// Lists are short up to this many neighbours.
constexpr std::int64_t kFewNeighbors = 24;
// Queries in a batch: enough to fill the GPU many times over.
constexpr std::int64_t kMostBatch = 16384, kMostBatchOfMany = 4096;

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

}  // namespace

cuda_abi::FilterSize DifferenceSession::size(const cuda_abi::DifferenceSpec& spec, int gpu) {
  cuda_abi::FilterSize size{};
  constexpr std::int64_t kMostRows = INT32_MAX - kPairTile;
  // Ampere and later have the matrix instructions for bytes.
  const bool bytes_work = stope::cuda::attribute_of(gpu, cudaDevAttrComputeCapabilityMajor) >= 8;
  size.possible = find_listed_kernel(spec.measure.type, spec.measure.n_bytes) != nullptr &&
                  spec.most_neighbors <= kMostChosen && spec.n_rows <= kMostRows && (spec.steps == 0.0 || bytes_work);
  const std::int64_t image = words_of(spec) * 4, per_row = spec.width * 8 + image + 12;
  const std::int64_t per_query = spec.width * 16 + image + 44 + kMostGroups * 8 +
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
      list_capacity_(capacity(spec)),
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
      heap_sizes_(batch_),
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
  // The sample has too few groups for more, and a heap has no room.
  const bool within = query.within < std::numeric_limits<double>::infinity();
  if (query.k > spec_.most_neighbors || (!within && query.k > kMostOffered)) {
    throw Error(ErrorCode::internal, "queries that cannot be");
  }
  if (query.vote != nullptr) votes_.reserve(*query.vote, voters_of(query), batch_, query.n);
  HostAnswer& host = answers_[query.place];
  host.reserve(query);
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
      .distances = host.distances.data(),
      .rows = host.rows.data(),
      .uncertified = host.uncertified.data(),
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

void DifferenceSession::copy_back(const cuda_abi::DifferenceQuery& query, const Batch& batch) {
  if (query.vote != nullptr) {
    votes_.copy_back(*query.vote, voters_of(query), batch.begin, batch.n, stream_);
  } else {
    copy_out(answers_[query.place].distances.data() + batch.begin * query.k, distances_, batch.n * query.k, stream_);
    copy_out(answers_[query.place].rows.data() + batch.begin * query.k, rows_, batch.n * query.k, stream_);
  }
  copy_out(answers_[query.place].uncertified.data() + batch.begin, uncertified_, batch.n, stream_);
}

void DifferenceSession::search_batch(const cuda_abi::DifferenceQuery& query, const Batch& batch, const Batch& next) {
  const std::int64_t n = batch.n;
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
  if (query.heap != 0) {
    fill_heaps(query, batch, exclusions, chosen);
  } else {
    find_nearest(query, batch, exclusions, chosen);
  }

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
