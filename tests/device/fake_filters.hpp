// The fake plug-in's filters: the data they hold, and their votes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "device/fake_plugin.hpp"
#include "knn/gpu/device_rows_abi.hpp"
#include "knn/measure/formulas/mixed_euclidean.hpp"
#include "knn/vote/vote_abi.hpp"

namespace stope::fake {

// Predictions of a batch. They use up the lists of k, which are empty afterwards.
struct Votes {
  std::vector<std::int32_t> winners;
  std::vector<double> values;
  knn::VoterView rows{};  // points into VotersOnGpu, which must still be there

  void cast(const knn::VoteRule rule, const std::vector<std::int64_t>& ks, std::int64_t k, std::int64_t n,
            std::vector<double>& distances, std::vector<std::int32_t>& found, std::vector<std::int32_t>& uncertified) {
    const std::int64_t n_values = rows.n_values();
    winners.assign(ks.size() * static_cast<std::size_t>(n), -7);
    values.assign(winners.size() * static_cast<std::size_t>(n_values), -7.0);
    for (std::size_t j = 0; j < ks.size(); ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = j * static_cast<std::size_t>(n) + static_cast<std::size_t>(i);
        const knn::NeighborView<std::int32_t> list{distances.data() + i * k, found.data() + i * k, ks[j], ks[j]};
        std::int32_t& unknown = uncertified[static_cast<std::size_t>(i)];
        if (unknown == 0 && knn::first_without_weight(rule, list) >= 0) unknown = 1;
        if (unknown != 0) continue;
        double* const out = values.data() + at * static_cast<std::size_t>(n_values);
        std::fill_n(out, n_values, 0.0);
        if (rows.codes != nullptr) {
          winners[at] = knn::vote_for_class(rule, rows, list, out);
        } else {
          *out = knn::vote_for_mean(rule, rows, list);
        }
      }
    }
    std::fill(distances.begin(), distances.end(), -5.0);
    std::fill(found.begin(), found.end(), -5);
  }
};

}  // namespace stope::fake

namespace stope::knn::cuda_abi {
struct TensorFilter;
struct DifferenceFilter;
}  // namespace stope::knn::cuda_abi

namespace stope::fake {

/// A scan of differences keeps its rows as the tensor filter does. Null: boxes keep them in another order.
const knn::cuda_abi::TensorFilter* rows_of(const knn::cuda_abi::DifferenceFilter& filter);

}  // namespace stope::fake

namespace stope::knn::cuda_abi {

struct VotersOnGpu {
  std::vector<std::int32_t> codes;
  std::vector<double> targets, sample_weights;
  knn::VoterView rows{};
  fake::Alive alive{};
};

struct RowsOnGpu {
  std::vector<double> values;
  std::int64_t n, width;
};

// A filter that keeps the rows and answers when a batch is collected: the query rows must still be there then.
struct TensorFilter {
  struct Slot {
    bool busy = false;
    std::int64_t skipped = 0;
    TensorQuery query{};
    std::vector<double> distances;
    std::vector<std::int32_t> rows, uncertified;
    knn::VoteRule rule{};
    std::vector<std::int64_t> ks;  // the ks of a vote
    std::vector<double> device_rows;
    DeviceLists device_lists{};
    bool predictions_stay = false;
    DevicePredictions device_predictions{};
    fake::Votes votes;
  };
  MixedEuclidean measure;
  std::vector<knn::Attribute> attributes;
  std::vector<std::int32_t> unmasked;  // attributes that no query may lack
  int byte_factor = 0;
  std::vector<double> centres;  // centres of bytes
  double scale = 1.0;
  struct Table {
    std::int64_t n_rows = 0;
    bool ready = false, in_clusters = false;
    std::vector<double> rows;
  };
  std::int64_t width, most_rows, most_queries, most_neighbors, n_buffers = 1;
  bool lent_rows = false;
  Table tables[kTensorBuffers];
  struct Piece {
    const double* rows = nullptr;
    std::int64_t n = 0;
    int buffer = 0;
  };
  Piece pieces[kTensorPieces];
  int last_piece = 0;
  Slot slots[kTensorSlots];
  std::atomic<int> n_batches[kTensorBuffers] = {};  // under way; read while other threads submit to another table
  std::atomic<int> n_made = 0;                      // tables since the last answer: each takes a millisecond
  fake::Alive alive{};

  bool in_bytes(const double* row) const {
    for (std::size_t c = 0; c < centres.size(); ++c) {
      const double byte = (row[c] - centres[c]) * scale;
      if (byte != std::nearbyint(byte) || std::fabs(byte + 0.5) > (byte_factor == 1 ? 127.5 : 63.5)) return false;
    }
    return true;
  }

  double distance(const std::vector<double>& rows, std::int64_t row, const double* y) const {
    MixedEuclidean::State state;
    for (std::int64_t a = 0; a < width; ++a) {
      measure.add(state, rows[static_cast<std::size_t>(row * width + a)], y[a],
                  attributes[static_cast<std::size_t>(a)]);
    }
    return measure.finish(state);
  }

  void answer(Slot& slot, std::int64_t query) const {
    const double* y = slot.query.rows + query * width;
    std::vector<std::pair<double, std::int32_t>> all;
    const Table& table = tables[slot.query.buffer];
    const double* const within = slot.query.within;
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      if (slot.query.self >= 0 && slot.query.self + query == row) continue;
      const double distance = this->distance(table.rows, row, y);
      if (within != nullptr && !(distance <= within[query])) continue;
      if (distance == distance) all.emplace_back(distance, static_cast<std::int32_t>(row));
    }
    std::sort(all.begin(), all.end());
    const auto k = static_cast<std::size_t>(slot.query.k);
    // It has no bound for some queries, and leaves heaps to the reference.
    const bool bound = std::none_of(unmasked.begin(), unmasked.end(), [&](auto a) { return std::isnan(y[a]); });
    const bool known = bound && (all.size() >= k || within != nullptr) && slot.query.heap == 0 &&
                       !(std::fmod(std::fabs(y[0]) * 7.0, 5.0) >= 4.5);
    slot.uncertified.push_back(known ? 0 : 1);
    if (known && all.size() < k) all.resize(k, {std::numeric_limits<double>::infinity(), kNoFilterRow});
    for (std::size_t i = 0; i < k; ++i) {
      slot.distances.push_back(known ? all[i].first : -1.0);
      slot.rows.push_back(known ? all[i].second : -1);
    }
  }
};

}  // namespace stope::knn::cuda_abi
