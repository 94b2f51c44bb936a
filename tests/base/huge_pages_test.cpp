// The hint changes nothing but time, for any memory and any size.
#include "base/huge_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <vector>

namespace stope {
namespace {

TEST(HugePages, LeaveMemoryAsItIs) {
  std::vector<int> values(std::size_t{5} << 20);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> before = values;
  errno = 7;
  for (const std::size_t first : {0U, 1U, 1023U, 524'288U}) {
    for (const std::size_t n : {0U, 1U, 1000U, 600'000U, 4'000'000U}) {
      prefer_huge_pages(values.data() + first, n * sizeof(int));
    }
  }
  prefer_huge_pages(nullptr, 0);
  EXPECT_EQ(errno, 7);
  EXPECT_EQ(values, before);
}

}  // namespace
}  // namespace stope
