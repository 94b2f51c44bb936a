// Statistics as the fake plug-in computes them: chain after chain, from the formulas of stats/moments.hpp. It was
// written separately from the kernels of the CPU and of the GPU.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "device/fake_plugin.hpp"
#include "stats/cuda_abi.hpp"
#include "stope/error.hpp"

namespace stope::stats {
namespace {

using cuda_abi::Session;
using cuda_abi::Type;
using cuda_abi::Values;
using fake::fail;
using fake::the_host;
using stope::cuda_abi::Failure;

template <class T>
T value(const Values& values, std::int64_t row, std::int64_t column) {
  const T x = static_cast<const T*>(values.data)[row * values.row_stride + column * values.column_stride];
  if constexpr (std::is_same_v<T, double>) return x * values.scale;
  return x;
}

template <class T, class Wide>
Part<Wide> chain(const Values& values, std::int64_t leaf, std::int64_t first, std::int64_t column) {
  Part<Wide> part;
  part.min_row = part.max_row = leaf;
  double s1 = 0, s2 = 0, s3 = 0;
  const std::int64_t end = std::min(values.n_rows, leaf + stats::kLeafRows);
  for (std::int64_t row = leaf + first; row < end; row += stats::kChains) {
    const T x = value<T>(values, row, column);
    if (x != x) {
      ++part.missing;
      continue;
    }
    const auto wide = static_cast<Wide>(x);
    if (part.count == 0) part.pivot = part.min = part.max = wide;
    ++part.count;
    part.zeros += x == T{} ? 1 : 0;
    if (wide < part.min) part.min = wide;
    if (wide > part.max) part.max = wide;
    stats::add(part.sum, wide);
    const double d = stats::distance(part.pivot, wide);
    s1 += d;
    s2 += d * d;
    s3 += d * d * d;
  }
  if (part.count > 0) stats::center(static_cast<double>(part.count), s1, s2, s3, part.moments);
  return part;
}

template <class T, class Wide>
void describe_as(const Values& values, Part<Wide>* parts) {
  for (std::int64_t column = 0; column < values.n_columns; ++column) {
    std::vector<Part<Wide>> leaves;
    for (std::int64_t leaf = 0; leaf < values.n_rows; leaf += stats::kLeafRows) {
      std::vector<Part<Wide>> chains;
      for (int c = 0; c < stats::kChains; ++c) chains.push_back(chain<T, Wide>(values, leaf, c, column));
      for (std::size_t half = chains.size() / 2; half >= 1; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) stats::join(chains[i], chains[i + half]);
      }
      leaves.push_back(chains[0]);
    }
    stats::join_all(leaves.data(), static_cast<std::int64_t>(leaves.size()));
    Part<Wide> part = leaves[0];
    for (std::int64_t row = 0; row < values.n_rows && part.count > 0; ++row) {
      if (static_cast<Wide>(value<T>(values, row, column)) != part.min) continue;
      part.min_row = row;
      part.min = static_cast<Wide>(value<T>(values, row, column));
      break;
    }
    for (std::int64_t row = 0; row < values.n_rows && part.count > 0; ++row) {
      if (static_cast<Wide>(value<T>(values, row, column)) != part.max) continue;
      part.max_row = row;
      part.max = static_cast<Wide>(value<T>(values, row, column));
      break;
    }
    parts[column] = part;
  }
}

void describe_parts(const Values& values, void* parts) {
  switch (values.type) {
    case Type::float32: return describe_as<float>(values, static_cast<Part<double>*>(parts));
    case Type::float64: return describe_as<double>(values, static_cast<Part<double>*>(parts));
    case Type::int32: return describe_as<std::int32_t>(values, static_cast<Part<std::int64_t>*>(parts));
    case Type::int64: break;
  }
  describe_as<std::int64_t>(values, static_cast<Part<std::int64_t>*>(parts));
}

}  // namespace

namespace cuda_abi {

// A slot is computed when it is collected.
struct Session {
  std::int64_t bytes = 0, columns = 0;
  struct Slot {
    bool busy = false;
    std::vector<char> copy;
    Values values{};
  } slots[kSlots];
  fake::Alive alive{};

  const char* take(int slot, const Values& values) {
    Slot& mine = slots[slot];
    if (mine.busy) return "a slot was used before it was collected";
    const bool narrow = values.type == Type::int32 || values.type == Type::float32;
    const std::int64_t size =
        ((values.n_rows - 1) * values.row_stride + (values.n_columns - 1) * values.column_stride + 1) *
        (narrow ? 4 : 8);
    if (size > bytes || values.n_columns > columns) return "a piece is larger than was said";
    const char* data = static_cast<const char*>(values.data);
    mine = {true, std::vector<char>(data, data + size), values};
    return nullptr;
  }
  const char* give(int slot, void* parts) {
    Slot& mine = slots[slot];
    if (!mine.busy) return "an empty slot was collected";
    mine.values.data = mine.copy.data();
    describe_parts(mine.values, parts);
    mine.busy = false;
    return nullptr;
  }
};

}  // namespace cuda_abi

namespace {

int create(std::int32_t gpu, std::int64_t bytes, std::int64_t columns, Session** session, Failure* failure) {
  if (gpu != 1) return fail(failure, ErrorCode::internal, "not the GPU that can be used");
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "no room for pieces");
  *session = new Session{bytes, columns, {}};
  return 0;
}
void destroy(Session* session) {
  delete session;
}
int submit(Session* session, int slot, const Values* values, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost before a piece");
  const char* problem = session->take(slot, *values);
  return problem == nullptr ? 0 : fail(failure, ErrorCode::internal, problem);
}
int collect(Session* session, int slot, void* parts, Failure* failure) {
  if (the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost in a piece");
  const char* problem = session->give(slot, parts);
  return problem == nullptr ? 0 : fail(failure, ErrorCode::internal, problem);
}
int describe(std::int32_t gpu, void*, const Values* values, void* parts, float* milliseconds, Failure* failure) {
  if (gpu != 1 || the_host->device_fails()) return fail(failure, ErrorCode::device_lost, "lost while describing");
  describe_parts(*values, parts);
  *milliseconds = 1.0F;
  return 0;
}

}  // namespace
}  // namespace stope::stats

namespace stope::fake {

const stats::cuda_abi::Functions& stats_functions() {
  static const stats::cuda_abi::Functions functions = {
      .create = &stats::create,
      .destroy = &stats::destroy,
      .submit = &stats::submit,
      .collect = &stats::collect,
      .describe = &stats::describe,
  };
  return functions;
}

}  // namespace stope::fake
