// What the tests of the back ends share: comparing two answers bit for bit, and searching while GPUs or memory fail.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/fault.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {

/// It does not matter which NaN a value is.
inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_bits(a[i], b[i])) return false;
  }
  return true;
}

inline void expect_same_bits(const std::vector<double>& ours, const std::vector<double>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_TRUE(same_bits(ours[i], theirs[i])) << i << ": " << ours[i] << " != " << theirs[i];
  }
}

inline void expect_same(const Neighbors& ours, const Neighbors& theirs) {
  ASSERT_EQ(ours.offsets, theirs.offsets);
  ASSERT_EQ(ours.indices.size(), theirs.indices.size());
  for (std::size_t i = 0; i < ours.indices.size(); ++i) {
    ASSERT_EQ(ours.indices[i], theirs.indices[i]) << i << ": at " << ours.distances[i] << ", " << theirs.distances[i];
  }
  expect_same_bits(ours.distances, theirs.distances);
}

/// Runs searches in which the GPU is lost from the n-th call on, for n = 1, 1 + step, ... until a search makes fewer
/// calls. Each search must say that the GPU was lost, none may hang, and the next one must work again. Returns how many
/// were lost.
template <class Search>
int lose_the_gpu_at_every_call(const Neighbors& theirs, const Search& search, std::int64_t step = 1) {
  constexpr std::int64_t kMost = 5000;
  int lost = 0;
  for (std::int64_t n = 1; n < kMost; n += step) {
    fault::arm_device(n);
    try {
      const Neighbors ours = search();
      fault::arm_device(0);
      expect_same(ours, theirs);
      return lost;
    } catch (const Error& error) {
      fault::arm_device(0);
      EXPECT_EQ(error.code(), ErrorCode::device_lost) << error.what();
      if (error.code() != ErrorCode::device_lost) return lost;
      ++lost;
    }
  }
  ADD_FAILURE() << "a search makes more than " << kMost << " calls";
  return lost;
}

/// Makes the n-th allocation of search(fit()) after fit() fail once, for n = 1, 2, ... until there are fewer. The
/// answer must be the same, or the error must say that memory is short. Returns how many searches had their answer in
/// spite of a failure.
template <class Fit, class Search>
int fail_every_allocation_once(const Neighbors& theirs, const Fit& fit, const Search& search) {
  constexpr std::int64_t kMost = 500;
  int recovered = 0;
  for (std::int64_t n = 1; n < kMost; ++n) {
    const KnnIndex index = fit();
    fault::arm_alloc(n);
    try {
      const Neighbors ours = search(index);
      // If the failure is still ahead, one of the next n allocations gets it.
      bool reached = true;
      for (std::int64_t asked = 0; asked < n && reached; ++asked) reached = !fault::alloc_fails();
      fault::arm_alloc(0);
      expect_same(ours, theirs);
      if (!reached) return recovered;
      ++recovered;
    } catch (const Error& error) {
      fault::arm_alloc(0);
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    if (testing::Test::HasFatalFailure()) return recovered;
  }
  ADD_FAILURE() << "a search makes more than " << kMost << " allocations";
  return recovered;
}

}  // namespace stope
