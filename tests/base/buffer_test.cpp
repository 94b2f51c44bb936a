// Buffer: aligned, shared, checked sizes, borrowed memory kept alive.
#include "stope/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "base/zeroed.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

TEST(Buffer, IsAlignedToACacheLineAtEverySize) {
  for (const std::int64_t n : {0, 1, 7, 8, 9, 63, 64, 65, 100000}) {
    const Buffer<double> buffer(n);
    EXPECT_EQ(buffer.size(), n);
    EXPECT_EQ(buffer.empty(), n == 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u) << n << " doubles";
    EXPECT_EQ(buffer.end() - buffer.begin(), n);
  }
}

TEST(Buffer, DefaultIsEmpty) {
  const Buffer<float> buffer;
  EXPECT_EQ(buffer.size(), 0);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.begin(), buffer.end());
}

TEST(Buffer, CopiesShareTheMemory) {
  Buffer<std::int32_t> original(33);
  std::iota(original.begin(), original.end(), 5);
  const Buffer<std::int32_t> copy = original;
  original[32] = -1;
  EXPECT_EQ(copy.data(), original.data());
  EXPECT_EQ(copy[0], 5);
  EXPECT_EQ(copy[32], -1);
}

TEST(Buffer, OutlivesTheOneItWasCopiedFrom) {
  Buffer<double> copy;
  {
    Buffer<double> original(3);
    original[0] = 1.5;
    original[1] = original[2] = 2.5;
    copy = original;
  }
  EXPECT_EQ(copy[0], 1.5);
  EXPECT_EQ(copy[2], 2.5);
}

TEST(Buffer, RefusesSizesThatAreNone) {
  for (const std::int64_t n : {std::int64_t{-1}, INT64_MIN, INT64_MAX, INT64_MAX / 8 + 1}) {
    try {
      const Buffer<double> buffer(n);
      FAIL() << n << " doubles allocated";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      EXPECT_STREQ(error.what(), "a size exceeds the address space");
    }
  }
}

TEST(Buffer, BorrowKeepsTheOwnerAliveAndCopiesNothing) {
  auto owner = std::make_shared<std::vector<double>>(std::vector<double>{1, 2, 3});
  const std::weak_ptr<std::vector<double>> watch = owner;
  double* const data = owner->data();
  {
    const Buffer<double> borrowed = Buffer<double>::borrow(data, 3, owner);
    owner.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(borrowed.data(), data);
    EXPECT_EQ(borrowed[2], 3.0);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Allocation, ZeroedBytesAreZero) {
  for (const Storage storage : {Storage::memory, Storage::file}) {
    const std::shared_ptr<void> bytes = allocate_zeroed_bytes(100'000, storage);
    const auto* const begin = static_cast<const char*>(bytes.get());
    EXPECT_EQ(std::count(begin, begin + 100'000, '\0'), 100'000);
  }
}

TEST(Buffer, OfNoBytesNeedsNoFile) {
  const Buffer<double> buffer(0, Storage::file);
  EXPECT_TRUE(buffer.empty());
  EXPECT_NE(allocate_shared_bytes(0, Storage::file), nullptr);
  for (const Storage storage : {Storage::memory, Storage::file}) {
    expect_error(ErrorCode::out_of_memory, "", [&] { allocate_shared_bytes(-1, storage); });
    expect_error(ErrorCode::out_of_memory, "", [&] { allocate_zeroed_bytes(-1, storage); });
  }
}

}  // namespace
}  // namespace stope
