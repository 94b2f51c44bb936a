// The host's half of the gram operator on GPUs, with the fake plug-in: parts, several GPUs, errors. No GPU is needed;
// gram_test.cpp tests the kernels themselves where there is one.
#include <gtest/gtest.h>

#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "gram/gram_cases.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

class FakeGram : public testing::Test, protected WithFakePlugin {
 protected:
  static RunOptions on(const char* device) {
    RunOptions run;
    run.device = device;
    run.threads = 2;
    return run;
  }
};

TEST_F(FakeGram, AnyPartsAndGpusGiveTheSameBits) {
  std::uint64_t seed = 0;
  std::int64_t number = 0;
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 3}, {40, 600}, {1100, 5}, {530, 1030}, {300, 9001}}) {
    for (const bool is_float : {true, false}) {
      GramCase c = make_case(rows, columns, is_float, ++seed, Values::wide_range, 3);
      if (is_float) c.shift = c.scale = c.x;
      const Products wanted = multiply(c, on("cpu"));
      for (const char* device : {"cuda", "cuda:1,1", "cuda:1,1,1"}) {
        for (const char* held : {"", "1", "9", "100"}) {
          if ((rows > 600 && held[0] == '1' && held[1] == '\0') || !chosen(number++)) continue;
          setenv("STOPE_DEVICE_ROWS", held, 1);
          const auto by = make_operator(rows_of(c), options_of(c), on(device));
          EXPECT_EQ(multiply(c, *by), wanted) << rows << " x " << columns << ", " << device << ", held " << held;
          // The second product finds resident rows, and replays a graph.
          EXPECT_EQ(multiply(c, *by), wanted) << rows << " x " << columns << ", " << device << ", held " << held;
          EXPECT_EQ(by->report().backend, "cuda");
          const auto copied = make_operator(std::make_shared<CopiedRows>(c), options_of(c), on(device));
          EXPECT_EQ(multiply(c, *copied), wanted) << rows << " x " << columns << ", " << device << ", held " << held;
        }
      }
    }
  }
}

// A piece in pinned memory has 32 MB.
TEST_F(FakeGram, RowsOfSeveralPiecesGiveTheSameBits) {
  const GramCase c = make_case(1100, 9001, true, 8);
  EXPECT_EQ(multiply(c, *make_operator(rows_of(c), {}, on("cuda"))), multiply(c, on("cpu")));
}

TEST_F(FakeGram, SeveralVectors) {
  const GramCase c = make_case(100, 30, true, 5);
  Random random(1);
  const std::vector<double> x = draw_vector(random, 3 * 30);
  std::vector<double> z(x.size()), wanted(x.size());
  make_operator(rows_of(c), {}, on("cpu"))->gram(x, wanted, 3);
  make_operator(rows_of(c), {}, on("cuda"))->gram(x, z, 3);
  EXPECT_EQ(z, wanted);
}

TEST_F(FakeGram, LittleMemoryMeansParts) {
  const GramCase c = make_case(3000, 100, true, 6);
  const Products wanted = multiply(c, on("cpu"));
  RunOptions run = on("cuda");
  run.memory_limit = std::int64_t{10} << 20;  // sums take 3.7 MB
  const auto by = make_operator(rows_of(c), {}, run);
  EXPECT_EQ(multiply(c, *by), wanted);
  run.memory_limit = 1 << 20;
  try {
    make_operator(rows_of(c), {}, run);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("bytes of GPU memory"), std::string::npos) << error.what();
  }
}

TEST_F(FakeGram, ALostGpuAndFailedAllocationsAreErrors) {
  const GramCase c = make_case(50, 20, true, 7);
  const Products wanted = multiply(c, on("cpu"));
  for (int n = 1; n < 12; ++n) {
    const auto by = make_operator(rows_of(c), {}, on("cuda"));
    fault::arm_device(n);
    try {
      multiply(c, *by);
      fault::arm_device(0);
      EXPECT_GT(n, 5);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device_lost);
    }
    fault::arm_device(0);
  }
  for (int n = 1; n < 12; ++n) {
    fault::arm_alloc(n);
    try {
      EXPECT_EQ(multiply(c, on("cuda")), wanted);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    }
    fault::arm_alloc(0);
  }
}

TEST_F(FakeGram, AutoTakesAGpuForManyProducts) {
  const GramCase c = make_case(3000, 300, true, 9);
  const Products wanted = multiply(c, on("cpu"));
  const auto once = make_operator(rows_of(c), {}, on("auto"));
  EXPECT_EQ(once->report().device_reason, "auto: nothing was multiplied yet");
  EXPECT_EQ(multiply(c, *once), wanted);
  EXPECT_NE(once->report().backend, "cuda");
  EXPECT_TRUE(once->report().device_reason.starts_with("auto: ")) << once->report().device_reason;
  const auto often = make_operator(rows_of(c), {}, on("auto"), 1'000'000);
  EXPECT_EQ(multiply(c, *often), wanted);
  EXPECT_EQ(often->report().backend, "cuda");
  EXPECT_EQ(often->report().passes, 3);
  EXPECT_EQ(often->report().reason, "New Card, sm_90");
  EXPECT_TRUE(often->report().device_reason.starts_with("auto: about ")) << often->report().device_reason;
}

TEST_F(FakeGram, AutoMovesAMatrixThatIsMultipliedAgainAndAgain) {
  const GramCase c = make_case(2000, 200, true, 10);
  std::vector<double> z(200), wanted(200);
  make_operator(rows_of(c), {}, on("cuda"))->gram(c.x, wanted);  // starts the driver
  const auto by = make_operator(rows_of(c), {}, on("auto"));
  std::int64_t products = 0;
  for (; products < 5'000 && by->report().backend != "cuda"; ++products) {
    by->gram(c.x, z);
    ASSERT_EQ(z, wanted);
  }
  EXPECT_GT(products, 1);
  EXPECT_EQ(by->report().backend, "cuda") << by->report().device_reason;
  EXPECT_EQ(by->report().passes, products);
}

TEST_F(FakeGram, AutoGivesUpAGpuThatFails) {
  const GramCase c = make_case(3000, 300, true, 11);
  const Products wanted = multiply(c, on("cpu"));
  for (const int n : {1, 3, 5, 8}) {
    const auto by = make_operator(rows_of(c), {}, on("auto"), 1'000'000);
    fault::arm_device(n);
    EXPECT_EQ(multiply(c, *by), wanted) << n;
    fault::arm_device(0);
    EXPECT_NE(by->report().backend, "cuda");
    const std::string why = by->report().device_reason;
    EXPECT_TRUE(why.starts_with("auto: the GPU was given up: ")) << why;
    EXPECT_EQ(multiply(c, *by), wanted) << n;
  }
}

TEST_F(FakeGram, StopsWhenCancelledAndGoesOn) {
  const GramCase c = make_case(200, 20, true, 8);
  setenv("STOPE_DEVICE_ROWS", "10", 1);
  RunOptions run = on("cuda");
  const auto by = make_operator(rows_of(c), {}, run);
  run.cancel.cancel();
  std::vector<double> z(20);
  expect_error(ErrorCode::cancelled, "cancelled", [&] { by->gram(c.x, z); });
}

TEST_F(FakeGram, VectorsOfOtherLengthsAreRefused) {
  const GramCase c = make_case(20, 5, true, 8);
  std::vector<double> x(9), z(10);
  const auto by = make_operator(rows_of(c), {}, on("cuda"));
  try {
    by->gram(x, z, 2);
    FAIL() << "9 numbers were taken for two vectors of 5";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace stope::gram
