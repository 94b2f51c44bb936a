// dtw (RapidMiner DynamicTimeWarpingDistance): the two rows as series, with missing values dropped from each. It is
// sqrt(sum of D along the warping path) / length of the path, where D is the accumulated cost matrix.
#pragma once

#include "knn/measure/measure.hpp"

namespace stope::knn {

struct DynamicTimeWarping {
  STOPE_HD static std::int64_t scratch_doubles(std::int64_t n) { return 2 * n + n * n; }

  STOPE_HD static std::int64_t terms(std::int64_t n) { return n * n; }

  STOPE_HD double operator()(const RowPair& p) const {
    double* a = p.scratch;
    double* b = a + p.n;
    double* cost = b + p.n;
    const std::int64_t n = present(p.x, p.n, a), m = present(p.y, p.n, b);
    if (n == 0 || m == 0) return kNaN;
    fill(a, n, b, m, cost);
    if (n == 1 && m == 1) return square_root(cost[0]);
    if (n == 1 || m == 1) return along_line(cost, n * m);
    return along_path(cost, n, m);
  }

  STOPE_HD static double similarity_of(double distance) { return 1.0 - distance / (1.0 + distance); }

 private:
  STOPE_HD static std::int64_t present(const double* row, std::int64_t n, double* out) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!is_missing(row[i])) out[count++] = row[i];
    }
    return count;
  }

  STOPE_HD static void fill(const double* a, std::int64_t n, const double* b, std::int64_t m, double* cost) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < m; ++j) {
        const double step = (a[i] - b[j]) * (a[i] - b[j]);
        double before = 0.0;
        if (i > 0 && j > 0) {
          before = smaller(cost[(i - 1) * m + j - 1], smaller(cost[(i - 1) * m + j], cost[i * m + j - 1]));
        } else if (i > 0) {
          before = cost[(i - 1) * m + j];
        } else if (j > 0) {
          before = cost[i * m + j - 1];
        }
        cost[i * m + j] = step + before;
      }
    }
  }

  STOPE_HD static double along_line(const double* cost, std::int64_t length) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < length; ++i) sum += cost[i];
    return square_root(sum) / static_cast<double>(length);
  }

  // Walks back from the end to the cheapest neighbour: diagonal first, then i-1, then j-1. RapidMiner stops two steps
  // short of the origin (i + j > 2, indices from 0), and so must we.
  STOPE_HD static double along_path(const double* cost, std::int64_t n, std::int64_t m) {
    std::int64_t i = n - 1, j = m - 1, length = 1;
    double sum = cost[i * m + j];
    while (i + j > 2) {
      if (i == 0) {
        --j;
      } else if (j == 0) {
        --i;
      } else {
        const double diagonal = cost[(i - 1) * m + j - 1], up = cost[(i - 1) * m + j], left = cost[i * m + j - 1];
        if (diagonal <= up && diagonal <= left) {
          --i;
          --j;
        } else if (up <= left) {
          --i;
        } else {
          --j;
        }
      }
      ++length;
      sum += cost[i * m + j];
    }
    return square_root(sum) / static_cast<double>(length);
  }
};

}  // namespace stope::knn
