#include "knn/gpu/caller_rows.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "device/array_abi.hpp"
#include "device/cuda_plugin.hpp"
#include "knn/gpu/call.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

using cuda_abi::Failure;

// Bytes of rows copied to the host at once: few calls, little memory.
constexpr std::int64_t kPieceBytes = std::int64_t{16} << 20;

std::int64_t bytes_of(FloatType type) {
  return type == FloatType::float32 ? std::int64_t{4} : std::int64_t{8};
}

std::int64_t stride_of(const DeviceMatrix& matrix) {
  return matrix.row_stride != 0 ? matrix.row_stride : matrix.n_columns;
}

const char* first_of(const DeviceMatrix& matrix, std::int64_t row) {
  return static_cast<const char*>(matrix.data) + row * stride_of(matrix) * bytes_of(matrix.type);
}

const stope::cuda_abi::ArrayFunctions& array_functions() {
  return *device::cuda().functions->arrays;
}

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

void check_owner(const void* memory, int gpu, const std::string& what) {
  std::int32_t owner = -1;
  checked_call([&](Failure* failure) { return array_functions().owner(memory, &owner, failure); });
  if (owner == gpu) return;
  refuse("the memory of " + what + " is " + (owner < 0 ? "no GPU's" : "that of GPU " + std::to_string(owner)) +
         ", it should be GPU " + std::to_string(gpu) + "'s");
}

// Checks the first and the last byte; everything between them is one allocation.
void check_memory(const void* memory, std::int64_t bytes, int gpu, const std::string& what) {
  if (bytes == 0) return;
  if (memory == nullptr) refuse("the memory of " + what + " is null");
  check_owner(memory, gpu, what);
  check_owner(static_cast<const char*>(memory) + bytes - 1, gpu, what);
}

void check_gpu(int gpu, const char* what) {
  const device::Cuda& cuda = device::cuda();
  if (cuda.functions == nullptr) {
    throw Error(ErrorCode::device_unavailable, std::string(what) + " are on a GPU, but CUDA is off: " + cuda.reason);
  }
  if (gpu < 0 || gpu >= static_cast<int>(cuda.gpus.size())) {
    refuse(std::string(what) + " are on GPU " + std::to_string(gpu) + "; this machine has " +
           std::to_string(cuda.gpus.size()) + (cuda.gpus.size() == 1 ? " GPU" : " GPUs"));
  }
  const GpuInfo& info = cuda.gpus[static_cast<std::size_t>(gpu)];
  if (!info.available) {
    throw Error(ErrorCode::device_unavailable, "GPU " + std::to_string(gpu) + ", " + info.name + ": " + info.reason);
  }
}

// Copies rows [begin, end) without gaps.
template <class Value>
void download(const DeviceMatrix& matrix, std::int64_t begin, std::int64_t end, Value* to) {
  const stope::cuda_abi::Rows rows{first_of(matrix, begin), end - begin,
                                   matrix.n_columns * static_cast<std::int64_t>(sizeof(Value)),
                                   stride_of(matrix) * static_cast<std::int64_t>(sizeof(Value))};
  checked_call(
      [&](Failure* failure) { return array_functions().download(matrix.gpu, matrix.stream, &rows, to, failure); });
}

// Calls use(first row, n, their values) for pieces of rows [begin, end).
template <class Value, class Use>
void for_pieces(const DeviceMatrix& matrix, std::int64_t begin, std::int64_t end, const Use& use) {
  const std::int64_t row_bytes = std::max<std::int64_t>(1, matrix.n_columns) * static_cast<std::int64_t>(sizeof(Value));
  const std::int64_t most = std::max<std::int64_t>(1, kPieceBytes / row_bytes);
  std::vector<Value> values(static_cast<std::size_t>(std::min(most, end - begin) * matrix.n_columns));
  for (std::int64_t first = begin; first < end; first += most) {
    const std::int64_t n = std::min(most, end - first);
    download(matrix, first, first + n, values.data());
    use(first, n, values.data());
  }
}

template <class Value>
std::vector<Buffer<Value>> columns_of(const DeviceMatrix& matrix) {
  std::vector<Buffer<Value>> columns;
  columns.reserve(static_cast<std::size_t>(matrix.n_columns));
  for (std::int64_t c = 0; c < matrix.n_columns; ++c) columns.emplace_back(matrix.n_rows);
  for_pieces<Value>(matrix, 0, matrix.n_rows, [&](std::int64_t first, std::int64_t n, const Value* values) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (Buffer<Value>& column : columns) column[first + i] = *values++;
    }
  });
  return columns;
}

}  // namespace

void check_matrix(const DeviceMatrix& matrix, const char* what) {
  check_gpu(matrix.gpu, what);
  if (matrix.n_rows < 0 || matrix.n_columns < 1 || stride_of(matrix) < matrix.n_columns) {
    refuse(std::string(what) + " cannot be " + std::to_string(matrix.n_rows) + " x " +
           std::to_string(matrix.n_columns) + " values with " + std::to_string(stride_of(matrix)) + " from row to row");
  }
  const std::int64_t values =
      matrix.n_rows == 0 ? 0 : checked::add(checked::mul(matrix.n_rows - 1, stride_of(matrix)), matrix.n_columns);
  check_memory(matrix.data, checked::mul(values, bytes_of(matrix.type)), matrix.gpu, what);
  checked_call([&](Failure* failure) { return array_functions().check_stream(matrix.gpu, matrix.stream, failure); });
}

Table table_of(const DeviceMatrix& matrix) {
  Table table;
  table.n_rows = matrix.n_rows;
  const auto add = [&](auto columns) {
    for (auto& values : columns) {
      Column column;
      column.name = "x" + std::to_string(table.columns.size());
      column.data = std::move(values);
      table.columns.push_back(std::move(column));
    }
  };
  if (matrix.type == FloatType::float32) {
    add(columns_of<float>(matrix));
  } else {
    add(columns_of<double>(matrix));
  }
  return table;
}

DeviceQueries::DeviceQueries(const DeviceMatrix& rows, const DeviceNeighbors& lists, std::int64_t k,
                             std::vector<std::int64_t> columns)
    : rows_(rows), lists_(lists), k_(k), columns_(std::move(columns)) {
  const std::int64_t bytes = checked::mul(checked::mul(rows.n_rows, k), sizeof(double));
  check_memory(lists.indices, bytes, rows.gpu, "the lists' indices");
  check_memory(lists.distances, bytes, rows.gpu, "the lists' distances");
}

bool DeviceQueries::as_they_are() const {
  return static_cast<std::int64_t>(columns_.size()) == rows_.n_columns;  // they ascend
}

void DeviceQueries::encode(std::int64_t begin, std::int64_t end, double* out) const {
  const auto put = [&](std::int64_t, std::int64_t n, const auto* values) {
    for (std::int64_t i = 0; i < n; ++i, values += rows_.n_columns) {
      for (const std::int64_t column : columns_) *out++ = static_cast<double>(values[column]);
    }
  };
  if (rows_.type == FloatType::float32) {
    for_pieces<float>(rows_, begin, end, put);
  } else {
    for_pieces<double>(rows_, begin, end, put);
  }
}

void DeviceQueries::write(std::int64_t first_query, const std::vector<std::int64_t>& indices,
                          const std::vector<double>& distances) const {
  if (indices.empty()) return;
  const auto bytes = static_cast<std::int64_t>(indices.size() * sizeof(double));
  const auto upload = [&](const void* from, void* to) {
    checked_call(
        [&](Failure* failure) { return array_functions().upload(rows_.gpu, rows_.stream, from, bytes, to, failure); });
  };
  upload(indices.data(), lists_.indices + first_query * k_);
  upload(distances.data(), lists_.distances + first_query * k_);
}

cuda_abi::DeviceRows DeviceQueries::rows_from(std::int64_t first) const {
  return {first_of(rows_, first), stride_of(rows_), rows_.type == FloatType::float32 ? 1 : 0, 0, rows_.stream};
}

cuda_abi::DeviceLists DeviceQueries::lists_from(std::int64_t first) const {
  return {lists_.indices + first * k_, lists_.distances + first * k_};
}

}  // namespace stope::knn
