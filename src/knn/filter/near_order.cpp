#include "knn/filter/near_order.hpp"

#include <algorithm>
#include <numeric>

namespace stope::knn {
namespace {

struct Part {
  std::int64_t begin, end;
};

struct Key {
  float value;
  std::int32_t missing;  // missing values stand together, last
  std::int64_t row;
  bool operator<(const Key& other) const {
    if (missing != other.missing) return missing < other.missing;
    if (value != other.value) return value < other.value;
    return row < other.row;
  }
};

std::int64_t widest_column(const float* images, std::int64_t n_columns, const std::int64_t* rows, std::int64_t n,
                           std::vector<float>& low, std::vector<float>& high) {
  // A sample shows which column is wide; looking at every row would cost as much as the split itself.
  const std::int64_t step = std::max<std::int64_t>(1, n / 512);
  low.assign(static_cast<std::size_t>(n_columns), 3e38F);
  high.assign(static_cast<std::size_t>(n_columns), -3e38F);
  for (std::int64_t i = 0; i < n; i += step) {
    const float* image = images + rows[i] * n_columns;
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const auto column = static_cast<std::size_t>(c);
      if (image[c] < low[column]) low[column] = image[c];
      if (image[c] > high[column]) high[column] = image[c];
    }
  }
  std::int64_t widest = 0;
  float spread = -1.0F;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const auto column = static_cast<std::size_t>(c);
    if (high[column] - low[column] > spread) {
      spread = high[column] - low[column];
      widest = c;
    }
  }
  return widest;
}

// Puts half of the leaves on either side.
std::int64_t middle(const Part& part, std::int64_t leaf) {
  const std::int64_t leaves = (part.end - part.begin + leaf - 1) / leaf;
  return part.begin + leaves / 2 * leaf;
}

}  // namespace

std::vector<std::int64_t> near_order(const float* images, std::int64_t n, std::int64_t n_columns, std::int64_t leaf,
                                     ThreadPool& pool, const CancelToken& cancel) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<Part> parts = {{0, n}};
  // Parts are split level by level while there are few of them. Then every task finishes a part on its own stack.
  const auto split = [&](const Part& part, std::vector<Key>& keys, std::vector<float>& low, std::vector<float>& high) {
    const std::int64_t size = part.end - part.begin;
    std::int64_t* const first = rows.data() + part.begin;
    const std::int64_t column = widest_column(images, n_columns, first, size, low, high);
    keys.resize(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i) {
      const float value = images[first[i] * n_columns + column];
      const bool missing = value != value;
      keys[static_cast<std::size_t>(i)] = {missing ? 0.0F : value, missing ? 1 : 0, first[i]};
    }
    const std::int64_t cut = middle(part, leaf);
    std::nth_element(keys.begin(), keys.begin() + (cut - part.begin), keys.end());
    for (std::int64_t i = 0; i < size; ++i) first[i] = keys[static_cast<std::size_t>(i)].row;
    return cut;
  };
  const auto finish = [&](const Part& whole) {
    std::vector<Key> keys;
    std::vector<float> low, high;
    std::vector<Part> open = {whole};
    while (!open.empty()) {
      const Part part = open.back();
      open.pop_back();
      if (part.end - part.begin <= leaf) continue;
      const std::int64_t cut = split(part, keys, low, high);
      open.push_back({cut, part.end});
      open.push_back({part.begin, cut});
    }
  };
  const std::size_t enough = 4 * static_cast<std::size_t>(pool.size());
  while (parts.size() < enough && parts.front().end - parts.front().begin > 4096) {
    std::vector<std::int64_t> cuts(parts.size());
    pool.parallel_for(static_cast<std::int64_t>(parts.size()), cancel, [&](std::int64_t i, int) {
      std::vector<Key> keys;
      std::vector<float> low, high;
      cuts[static_cast<std::size_t>(i)] = split(parts[static_cast<std::size_t>(i)], keys, low, high);
    });
    std::vector<Part> halves;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      halves.push_back({parts[i].begin, cuts[i]});
      halves.push_back({cuts[i], parts[i].end});
    }
    parts = std::move(halves);
  }
  pool.parallel_for(static_cast<std::int64_t>(parts.size()), cancel,
                    [&](std::int64_t i, int) { finish(parts[static_cast<std::size_t>(i)]); });
  return rows;
}

}  // namespace stope::knn
