// Fault hooks: the n-th operation fails, once.
#include "base/fault.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "base/thread_pool.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

class Fault : public testing::Test {
 protected:
  ~Fault() override {
    fault::arm_alloc(0);
    fault::arm_io(0, 0);
    fault::arm_device(0);
  }
};

TEST_F(Fault, NothingFailsUnlessArmed) {
  fault::arm_alloc(0);
  fault::arm_io(0, EIO);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(fault::alloc_fails());
    EXPECT_EQ(fault::io_fails(), 0);
  }
}

TEST_F(Fault, TheNthOperationFailsOnce) {
  for (const int n : {1, 2, 31, 32, 33}) {
    fault::arm_alloc(n);
    fault::arm_io(n, ENOSPC);
    for (int i = 1; i <= 2 * n; ++i) {
      EXPECT_EQ(fault::alloc_fails(), i == n) << i << " of " << n;
      EXPECT_EQ(fault::io_fails(), i == n ? ENOSPC : 0) << i << " of " << n;
    }
  }
}

TEST_F(Fault, ALostDeviceStaysLost) {
  EXPECT_FALSE(fault::device_fails());
  fault::arm_device(3);
  for (int i = 1; i <= 6; ++i) EXPECT_EQ(fault::device_fails(), i >= 3) << i;
  fault::arm_device(0);
  EXPECT_FALSE(fault::device_fails());
}

TEST_F(Fault, ArmingAgainStartsAnewAndZeroDisarms) {
  fault::arm_io(2, EIO);
  EXPECT_EQ(fault::io_fails(), 0);
  fault::arm_io(2, EACCES);
  EXPECT_EQ(fault::io_fails(), 0);
  EXPECT_EQ(fault::io_fails(), EACCES);
  fault::arm_alloc(1);
  fault::arm_alloc(0);
  EXPECT_FALSE(fault::alloc_fails());
}

TEST_F(Fault, ExactlyOneOfManyThreadsFails) {
  fault::arm_alloc(500);
  std::atomic<int> failures = 0;
  ThreadPool pool(8);
  pool.parallel_for(1000, CancelToken(), [&](std::int64_t, int) { failures += fault::alloc_fails() ? 1 : 0; });
  EXPECT_EQ(failures.load(), 1);
}

TEST_F(Fault, ABufferReportsIt) {
  fault::arm_alloc(2);
  EXPECT_NO_THROW(Buffer<double>(10));
  try {
    const Buffer<double> second(10);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_STREQ(error.what(), "cannot allocate 80 bytes");
  }
  EXPECT_NO_THROW(Buffer<double>(10));
}

}  // namespace
}  // namespace stope
