#include "knn/cuda/boxes/session.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "knn/cuda/copies.hpp"
#include "knn/cuda/usual_residual.hpp"

namespace stope::knn::cuda {
namespace {

// Queries on the GPU at once: enough to fill it, and so many that near ones follow each other.
constexpr std::int64_t kMostBatch = std::int64_t{1} << 17;

std::int64_t batch_of(const cuda_abi::DifferenceSpec& spec) {
  return std::clamp<std::int64_t>(spec.most_queries, 1, kMostBatch);
}

std::int64_t floats_of(const BoxLevels& boxes, std::int64_t n_columns) {
  return checked::mul(checked::mul(boxes.n_groups(), kGroupBoxes), n_columns);
}

}  // namespace

cuda_abi::FilterSize BoxSession::size(const cuda_abi::DifferenceSpec& spec) {
  cuda_abi::FilterSize size{};
  constexpr std::int64_t kMostRows = INT32_MAX - kLeafRows;
  const std::int64_t n_columns = spec.bounds.n_columns;
  size.possible = find_box_kernel(spec.measure.type, spec.measure.n_bytes) != nullptr &&
                  spec.most_neighbors <= kMostBoxNeighbors && spec.n_rows <= kMostRows && spec.n_rows > 0 &&
                  n_columns > 0 && n_columns <= kMostBoxColumns && spec.width <= kMostBoxColumns;
  if (!size.possible) return size;
  const LeafShape shape = LeafShape::of(spec.n_rows);
  const std::int64_t in_leaves = checked::mul(shape.n_leaves(), kLeafRows);
  const std::int64_t table =
      checked::add(checked::mul(in_leaves, spec.width * 8 + 4), checked::mul(shape.n_leaves(), 8 + n_columns * 9 + 5));
  // While rows are put in order, they are there twice, with their images.
  const std::int64_t ordering =
      checked::add(checked::mul(spec.n_rows, spec.width * 8 + n_columns * 4 + 4), PairSort::bytes(spec.n_rows));
  const std::int64_t batch = batch_of(spec);
  const std::int64_t per_query = spec.width * 8 + n_columns * 4 + 16 + spec.most_neighbors * 12;
  size.bytes =
      checked::add(checked::add(table, ordering), checked::add(checked::mul(batch, per_query), PairSort::bytes(batch)));
  return size;
}

BoxSession::BoxSession(int gpu, const cuda_abi::DifferenceSpec& spec)
    : gpu_(gpu),
      spec_(spec),
      kernel_(find_box_kernel(spec.measure.type, spec.measure.n_bytes)),
      n_columns_(static_cast<int>(spec.bounds.n_columns)),
      batch_(batch_of(spec)),
      shape_(LeafShape::of(spec.n_rows)),
      boxes_(BoxLevels::over(shape_.n_leaves())),
      attributes_(spec.measure.n_attributes),
      numeric_(spec.row_form.n_numeric),
      equality_(spec.row_form.n_equality),
      mismatch_(n_columns_),
      train_(checked::mul(spec.n_rows, spec.width)),
      near_(checked::mul(checked::mul(shape_.n_leaves(), kLeafRows), spec.width)),
      near_rows_(shape_.n_leaves() * kLeafRows),
      splits_(shape_.n_leaves()),
      low_(floats_of(boxes_, n_columns_)),
      high_(low_.size()),
      first_rows_(boxes_.n_groups() * kGroupBoxes),
      query_groups_(batch_),
      sort_(batch_),
      queries_(checked::mul(batch_, spec.width)),
      images_(checked::mul(batch_, n_columns_)),
      residuals_(batch_),
      distances_(checked::mul(batch_, spec.most_neighbors)),
      rows_(distances_.size()),
      uncertified_(batch_),
      work_(2 * kWorkCounters),
      host_work_(2 * kWorkCounters),
      // Pinned memory is slow to allocate: 5 ms for 8 MiB.
      upload_(std::clamp<std::int64_t>(train_.bytes(), 4096, spec.piece_bytes)) {
  if (kernel_ == nullptr) throw Error(ErrorCode::unsupported, std::string("no boxes for ") + spec.measure.type);
  const auto* bytes = static_cast<const unsigned char*>(spec.measure.bytes);
  measure_.assign(bytes, bytes + spec.measure.n_bytes);
  upload_.copy(attributes_.data(), spec.measure.attributes, attributes_.bytes(), stream_);
  upload_.copy(numeric_.data(), spec.row_form.numeric, numeric_.bytes(), stream_);
  upload_.copy(equality_.data(), spec.row_form.equality, equality_.bytes(), stream_);
  upload_.copy(mismatch_.data(), spec.mismatch, mismatch_.bytes(), stream_);
  form_ = {.form = spec.row_form.form,
           .numeric = numeric_.data(),
           .n_numeric = spec.row_form.n_numeric,
           .equality = equality_.data(),
           .n_equality = spec.row_form.n_equality,
           .attributes = attributes_.data()};
  boxes_.low = low_.data();
  boxes_.high = high_.data();
  boxes_.first_rows = first_rows_.data();
}

BoxSession::~BoxSession() {
  cudaStreamSynchronize(stream_.get());
}

void BoxSession::load(const double* rows, std::int64_t n) {
  upload_.copy(train_.data() + loaded_ * spec_.width, rows, n * spec_.width * static_cast<std::int64_t>(sizeof(double)),
               stream_);
  loaded_ += n;
}

std::int64_t BoxSession::finish() {
  const std::int64_t n = spec_.n_rows;
  Ordering ordering{PairSort(n), Device<float>(checked::mul(n, n_columns_)), Device<float>(n)};
  begin_.record(stream_);
  const RowImageJob images{.form = form_,
                           .rows = train_.data(),
                           .n = n,
                           .width = spec_.width,
                           .images = ordering.images.data(),
                           .residuals = ordering.residuals.data()};
  launch_row_images(images, stream_.get());
  const float usual = 2.0F * usual_residual(ordering.residuals, n, stream_);
  train_residual_ = static_cast<double>(usual);
  launch_hide({ordering.images.data(), ordering.residuals.data(), n, n_columns_, usual}, stream_.get());
  order_rows(shape_, ordering.images.data(), n_columns_, ordering.sort, splits_.data(), stream_);
  const LeafJob leaves{.shape = shape_,
                       .order = ordering.sort.values(),
                       .images = ordering.images.data(),
                       .n_columns = n_columns_,
                       .train = train_.data(),
                       .width = static_cast<int>(spec_.width),
                       .boxes = boxes_,
                       .near = near_.data(),
                       .near_rows = near_rows_.data()};
  // Lanes beyond the last box of a level read the places of boxes that there are not.
  clear(low_, stream_);
  clear(high_, stream_);
  launch_boxes(leaves, stream_.get());
  ordered_.record(stream_);
  stream_.wait();  // the memory for the order is freed, and that for the rows in the table's order
  train_ = {};
  table_milliseconds_ = ordered_.since(begin_);
  return 0;
}

cuda_abi::FilterAnswer BoxSession::search(const cuda_abi::DifferenceQuery& query) {
  if (query.vote != nullptr) votes_.reserve(*query.vote, voters_of(*query.vote, gpu_, spec_.n_rows), batch_, query.n);
  HostAnswer& host = answers_[query.place];
  host.reserve(query);
  milliseconds_.fill(0.0F);
  milliseconds_[cuda_abi::kTableImagesStep] = std::exchange(table_milliseconds_, 0.0F);
  clear(work_, stream_);
  if (query.train_groups != nullptr) {
    if (train_groups_.size() == 0) train_groups_ = Device<std::int64_t>(spec_.n_rows);
    upload_.copy(train_groups_.data(), query.train_groups, train_groups_.bytes(), stream_);
  }
  for (std::int64_t begin = 0; begin < query.n; begin += batch_) {
    search_batch(query, begin, std::min(batch_, query.n - begin));
  }
  copy_out(host_work_.data(), work_, work_.size(), stream_);
  stream_.wait();
  const auto total = [&](int first) {
    const unsigned long long* const counters = host_work_.data() + first;
    return static_cast<std::int64_t>(std::accumulate(counters, counters + kWorkCounters, 0ULL));
  };
  const std::int64_t evaluated = total(kWorkCounters);
  cuda_abi::FilterAnswer answer{
      .distances = host.distances.data(),
      .rows = host.rows.data(),
      .uncertified = host.uncertified.data(),
      .scanned = evaluated,
      .listed = evaluated,
      .evaluated = evaluated,
      .milliseconds = {},
      .opened = total(0),
      .skipped = query.n * spec_.n_rows - evaluated,
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

void BoxSession::copy_back(const cuda_abi::DifferenceQuery& query, std::int64_t begin, std::int64_t n) {
  if (query.vote != nullptr) {
    votes_.copy_back(*query.vote, voters_of(*query.vote, gpu_, spec_.n_rows), begin, n, stream_);
  } else {
    copy_out(answers_[query.place].distances.data() + begin * query.k, distances_, n * query.k, stream_);
    copy_out(answers_[query.place].rows.data() + begin * query.k, rows_, n * query.k, stream_);
  }
  copy_out(answers_[query.place].uncertified.data() + begin, uncertified_, n, stream_);
}

void BoxSession::search_batch(const cuda_abi::DifferenceQuery& query, std::int64_t begin, std::int64_t n) {
  const bool grouped = query.train_groups != nullptr;
  begin_.record(stream_);
  copy_in(queries_.data(), query.rows + begin * spec_.width, n * spec_.width, stream_);
  if (grouped) {
    upload_.copy(query_groups_.data(), query.query_groups + begin, n * static_cast<std::int64_t>(sizeof(std::int64_t)),
                 stream_);
  }
  uploaded_.record(stream_);
  const RowImageJob images{.form = form_,
                           .rows = queries_.data(),
                           .n = n,
                           .width = spec_.width,
                           .images = images_.data(),
                           .residuals = residuals_.data()};
  launch_row_images(images, stream_.get());
  launch_homes({shape_, splits_.data(), images_.data(), n_columns_, n, sort_.keys(), sort_.values()}, stream_.get());
  sort_.sort(n, shape_.depth, stream_);
  ordered_.record(stream_);
  const BoxSearch search{.boxes = boxes_,
                         .bounds = spec_.bounds,
                         .train_residual = train_residual_,
                         .mismatch = mismatch_.data(),
                         .n_numeric = static_cast<int>(spec_.row_form.n_numeric),
                         .n_columns = n_columns_,
                         .near = near_.data(),
                         .near_rows = near_rows_.data(),
                         .width = spec_.width,
                         .attributes = attributes_.data(),
                         .queries = queries_.data(),
                         .images = images_.data(),
                         .residuals = residuals_.data(),
                         .homes = sort_.keys(),
                         .order = sort_.values(),
                         .n_queries = n,
                         .exclusions = {query.self >= 0 ? query.self + begin : -1,
                                        grouped ? train_groups_.data() : nullptr, query_groups_.data()},
                         .k = static_cast<int>(query.k),
                         .within = query.within,
                         .distances = distances_.data(),
                         .rows = rows_.data(),
                         .uncertified = uncertified_.data(),
                         .opened = work_.data(),
                         .evaluated = work_.data() + kWorkCounters};
  kernel_->launch(search, measure_.data(), stream_.get());
  searched_.record(stream_);
  if (query.vote != nullptr) {
    votes_.cast(*query.vote, voters_of(*query.vote, gpu_, spec_.n_rows),
                {distances_.data(), rows_.data(), query.k, n, uncertified_.data()}, stream_);
  }
  voted_.record(stream_);
  copy_back(query, begin, n);
  copied_.record(stream_);
  stream_.wait();
  milliseconds_[cuda_abi::kUploadStep] += uploaded_.since(begin_);
  milliseconds_[cuda_abi::kImagesStep] += ordered_.since(uploaded_);
  milliseconds_[cuda_abi::kListStep] += searched_.since(ordered_);
  milliseconds_[cuda_abi::kVoteStep] += voted_.since(searched_);
  milliseconds_[cuda_abi::kCopyBackStep] += copied_.since(voted_);
}

}  // namespace stope::knn::cuda
