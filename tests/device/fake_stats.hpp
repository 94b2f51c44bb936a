// Statistics as the pretended plug-in computes them: chain after chain, from the formulas of stats/moments.hpp, written
// apart from the kernels of the processor and of the GPU.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "stats/cuda_abi.hpp"

namespace fake_stats {

using namespace stope;
using stats::Part;
using stats::cuda_abi::Type;
using stats::cuda_abi::Values;

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

inline void describe(const Values& values, void* parts) {
  switch (values.type) {
    case Type::float32: return describe_as<float>(values, static_cast<Part<double>*>(parts));
    case Type::float64: return describe_as<double>(values, static_cast<Part<double>*>(parts));
    case Type::int32: return describe_as<std::int32_t>(values, static_cast<Part<std::int64_t>*>(parts));
    case Type::int64: break;
  }
  describe_as<std::int64_t>(values, static_cast<Part<std::int64_t>*>(parts));
}

}  // namespace fake_stats

struct stope::stats::cuda_abi::Session {
  std::int64_t bytes = 0, columns = 0;
  struct Slot {
    bool busy = false;
    std::vector<char> copy;
    Values values{};
  } slots[kSlots];

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
    fake_stats::describe(mine.values, parts);
    mine.busy = false;
    return nullptr;
  }
};
