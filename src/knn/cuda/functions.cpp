// The plug-in's table for nearest neighbours. It finds the kernel of a measure and ends every exception.
#include <cstring>
#include <memory>

#include "device/cuda/handle.hpp"
#include "knn/cuda/boxes/session.hpp"
#include "knn/cuda/differences/session.hpp"
#include "knn/cuda/reference/session.hpp"
#include "knn/cuda/table_rows.hpp"
#include "knn/cuda/tensor/session.hpp"
#include "stope/error.hpp"

namespace stope::knn::cuda {

/// The difference filter in one of its two forms: a scan of images, or a search through boxes.
class AnyDifferenceSession {
 public:
  AnyDifferenceSession(int gpu, const cuda_abi::DifferenceSpec& spec) : gpu_(gpu) {
    if (spec.boxes != 0) {
      boxes_ = std::make_unique<BoxSession>(gpu, spec);
    } else {
      scan_ = std::make_unique<DifferenceSession>(gpu, spec);
    }
  }
  static cuda_abi::FilterSize size(const cuda_abi::DifferenceSpec& spec, int gpu) {
    return spec.boxes != 0 ? BoxSession::size(spec) : DifferenceSession::size(spec, gpu);
  }

  int gpu() const { return gpu_; }
  void load(const double* rows, std::int64_t n) { boxes_ != nullptr ? boxes_->load(rows, n) : scan_->load(rows, n); }
  std::int64_t finish() { return boxes_ != nullptr ? boxes_->finish() : scan_->finish(); }
  cuda_abi::FilterAnswer search(const cuda_abi::DifferenceQuery& query) {
    return boxes_ != nullptr ? boxes_->search(query) : scan_->search(query);
  }
  RowsThere rows_there() const {
    if (scan_ == nullptr) throw Error(ErrorCode::internal, "boxes do not hold rows in the table's order");
    return scan_->rows_there();
  }

 private:
  int gpu_;
  std::unique_ptr<BoxSession> boxes_;
  std::unique_ptr<DifferenceSession> scan_;
};

}  // namespace stope::knn::cuda

namespace stope::knn::cuda_abi {

struct Session : stope::cuda::Handle<cuda::ReferenceSession> {
  using Handle::Handle;
};

struct TensorFilter : stope::cuda::Handle<cuda::TensorSession> {
  using Handle::Handle;
};

struct DifferenceFilter : stope::cuda::Handle<cuda::AnyDifferenceSession> {
  using Handle::Handle;
};

}  // namespace stope::knn::cuda_abi

namespace stope::knn::cuda {

using stope::cuda::destroy_handle;
using stope::cuda::guarded;
using stope::cuda::in_session;
using stope::cuda::make_handle;

const PairKernel* find_pair_kernel(const char* type, std::int64_t n_bytes) {
  for (const auto& family : {sum_kernels(), product_kernels(), math_kernels(), row_kernels()}) {
    for (const PairKernel& kernel : family) {
      if (std::strcmp(kernel.type, type) == 0 && kernel.n_bytes == n_bytes) return &kernel;
    }
  }
  return nullptr;
}

namespace {

using cuda_abi::Failure;
using cuda_abi::Session;

bool has_measure(const char* type, std::int64_t n_bytes) {
  return find_pair_kernel(type, n_bytes) != nullptr;
}

int create(std::int32_t gpu, const cuda_abi::Measure* measure, const cuda_abi::Sizes* sizes, Session** session,
           Failure* failure) {
  return make_handle(session, failure, gpu, *measure, *sizes);
}

int load_queries(Session* session, const double* rows, std::int64_t n, Failure* failure) {
  return in_session(session, failure, [&](ReferenceSession& reference) { reference.load_queries(rows, n); });
}

int load_rows(Session* session, std::int64_t buffer, const double* rows, std::int64_t n, Failure* failure) {
  return in_session(session, failure, [&](ReferenceSession& reference) { reference.load_rows(buffer, rows, n); });
}

RowsThere rows_there(const cuda_abi::LentRows& lent) {
  if (lent.tensor != nullptr) return lent.tensor->session.rows_there();
  if (lent.differences != nullptr) return lent.differences->session.rows_there();
  return lent.rows->session.rows_there();
}

int lend_rows(Session* session, std::int64_t buffer, const cuda_abi::LentRows* rows, std::int64_t first, std::int64_t n,
              Failure* failure) {
  return in_session(session, failure,
                    [&](ReferenceSession& reference) { reference.lend_rows(buffer, rows_there(*rows), first, n); });
}

int submit(Session* session, int slot, const cuda_abi::Tile* tile, const double* thresholds, Failure* failure) {
  return in_session(session, failure, [&](ReferenceSession& reference) { reference.submit(slot, *tile, thresholds); });
}

int collect(Session* session, int slot, cuda_abi::Survivors* survivors, Failure* failure) {
  return in_session(session, failure, [&](ReferenceSession& reference) { *survivors = reference.collect(slot); });
}

int matrix(Session* session, const cuda_abi::Tile* tile, bool similarity, bool query_first, double* values,
           std::int64_t ld, Failure* failure) {
  return in_session(session, failure, [&](ReferenceSession& reference) {
    reference.matrix(*tile, similarity ? Quantity::similarity : Quantity::distance, query_first, values, ld);
  });
}

int voters_create(std::int32_t gpu, const VoterView* voters, cuda_abi::VotersOnGpu** copy, Failure* failure) {
  return make_handle(copy, failure, gpu, *voters);
}

int rows_create(std::int32_t gpu, const cuda_abi::DeviceRows* from, std::int64_t n, std::int64_t width,
                cuda_abi::RowsOnGpu** rows, Failure* failure) {
  return make_handle(rows, failure, gpu, *from, n, width);
}

int rows_extremes(const cuda_abi::RowsOnGpu* rows, const cuda_abi::ColumnExtremes* out, Failure* failure) {
  return in_session(rows, failure, [&](const TableRows& there) { there.extremes(*out); });
}

int rows_download(const cuda_abi::RowsOnGpu* rows, std::int64_t first, const std::int64_t* which, std::int64_t n,
                  double* to, Failure* failure) {
  return in_session(rows, failure, [&](const TableRows& there) { there.download(first, which, n, to); });
}

int tensor_size(std::int32_t gpu, const cuda_abi::TensorSpec* spec, cuda_abi::FilterSize* size, Failure* failure) {
  return guarded(failure, [&] { *size = TensorSession::size(*spec, gpu); });
}

int tensor_create(std::int32_t gpu, const cuda_abi::TensorSpec* spec, cuda_abi::TensorFilter** filter,
                  Failure* failure) {
  return make_handle(filter, failure, gpu, *spec);
}

int tensor_begin(cuda_abi::TensorFilter* filter, int buffer, std::int64_t n_rows, Failure* failure) {
  return in_session(filter, failure, [&](TensorSession& session) { session.begin(buffer, n_rows); });
}

int tensor_lend(cuda_abi::TensorFilter* filter, int buffer, const cuda_abi::RowsOnGpu* rows, Failure* failure) {
  return in_session(filter, failure, [&](TensorSession& session) { session.lend(buffer, rows->session); });
}

int tensor_load(cuda_abi::TensorFilter* filter, int buffer, int piece, const double* rows, std::int64_t n,
                Failure* failure) {
  return in_session(filter, failure, [&](TensorSession& session) { session.load(buffer, piece, rows, n); });
}

int tensor_wait(cuda_abi::TensorFilter* filter, int piece, Failure* failure) {
  return in_session(filter, failure, [&](TensorSession& session) { session.wait(piece); });
}

int tensor_finish(cuda_abi::TensorFilter* filter, int buffer, std::int64_t* n_always, Failure* failure) {
  return in_session(filter, failure, [&](TensorSession& session) { *n_always = session.finish(buffer); });
}

int tensor_clusters(cuda_abi::TensorFilter* filter, int buffer, const double* centres, std::int64_t n_centres,
                    double most_radius, bool* made, Failure* failure) {
  return in_session(filter, failure, [&](TensorSession& session) {
    *made = session.make_clusters(buffer, centres, n_centres, most_radius);
  });
}

int tensor_submit(cuda_abi::TensorFilter* filter, int slot, const cuda_abi::TensorQuery* query, Failure* failure) {
  return in_session(filter, failure, [&](TensorSession& session) { session.submit(slot, *query); });
}

int tensor_collect(cuda_abi::TensorFilter* filter, int slot, cuda_abi::FilterAnswer* answer, Failure* failure) {
  return in_session(filter, failure, [&](TensorSession& session) { *answer = session.collect(slot); });
}

int differences_size(std::int32_t gpu, const cuda_abi::DifferenceSpec* spec, cuda_abi::FilterSize* size,
                     Failure* failure) {
  return guarded(failure, [&] { *size = AnyDifferenceSession::size(*spec, gpu); });
}

int differences_create(std::int32_t gpu, const cuda_abi::DifferenceSpec* spec, cuda_abi::DifferenceFilter** filter,
                       Failure* failure) {
  return make_handle(filter, failure, gpu, *spec);
}

int differences_load(cuda_abi::DifferenceFilter* filter, const double* rows, std::int64_t n, Failure* failure) {
  return in_session(filter, failure, [&](AnyDifferenceSession& session) { session.load(rows, n); });
}

int differences_finish(cuda_abi::DifferenceFilter* filter, std::int64_t* n_always, Failure* failure) {
  return in_session(filter, failure, [&](AnyDifferenceSession& session) { *n_always = session.finish(); });
}

int differences_search(cuda_abi::DifferenceFilter* filter, const cuda_abi::DifferenceQuery* query,
                       cuda_abi::FilterAnswer* answer, Failure* failure) {
  return in_session(filter, failure, [&](AnyDifferenceSession& session) { *answer = session.search(*query); });
}

}  // namespace

extern const cuda_abi::Functions kFunctions;
const cuda_abi::Functions kFunctions = {
    .has_measure = &has_measure,
    .create = &create,
    .destroy = &destroy_handle<Session>,
    .load_queries = &load_queries,
    .load_rows = &load_rows,
    .lend_rows = &lend_rows,
    .submit = &submit,
    .collect = &collect,
    .matrix = &matrix,
    .voters_create = &voters_create,
    .voters_destroy = &destroy_handle<cuda_abi::VotersOnGpu>,
    .rows_create = &rows_create,
    .rows_destroy = &destroy_handle<cuda_abi::RowsOnGpu>,
    .rows_extremes = &rows_extremes,
    .rows_download = &rows_download,
    .tensor_size = &tensor_size,
    .tensor_create = &tensor_create,
    .tensor_destroy = &destroy_handle<cuda_abi::TensorFilter>,
    .tensor_begin = &tensor_begin,
    .tensor_lend = &tensor_lend,
    .tensor_load = &tensor_load,
    .tensor_wait = &tensor_wait,
    .tensor_finish = &tensor_finish,
    .tensor_clusters = &tensor_clusters,
    .tensor_submit = &tensor_submit,
    .tensor_collect = &tensor_collect,
    .differences_size = &differences_size,
    .differences_create = &differences_create,
    .differences_destroy = &destroy_handle<cuda_abi::DifferenceFilter>,
    .differences_load = &differences_load,
    .differences_finish = &differences_finish,
    .differences_search = &differences_search,
};

}  // namespace stope::knn::cuda
