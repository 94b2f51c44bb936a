// Tables made of arrays in a GPU's memory, with the fake plug-in, whose memory is the host's.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "device/with_fake_plugin.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/table_builder.hpp"
#include "table/array_cases.hpp"

namespace stope {
namespace {

using namespace array_cases;

class FakeArrays : public testing::Test, protected WithFakePlugin {};

TEST_F(FakeArrays, BecomeTablesOfTheHost) {
  for (const ElementType type : kTypes) {
    for (const auto& [row_stride, column_stride] :
         {std::pair<std::int64_t, std::int64_t>{3, 1}, {7, 1}, {1, 70}, {1, 90}, {-3, 1}, {8, 2}}) {
      SCOPED_TRACE(std::string(to_string(type)) + ", strides " + std::to_string(row_stride) + " and " +
                   std::to_string(column_stride));
      Filled made = filled(type, 70, 3, row_stride, column_stride);
      made.array.gpu = 1;
      const Table table = table_of(made.array);
      TableBuilder builder({{{"a"}, {"b"}, {"c"}}, {}});
      builder.append(made.array);
      const Table built = builder.finish();
      std::memset(made.memory.data(), 0, static_cast<std::size_t>(made.memory.size()));
      for (std::int64_t r = 0; r < 70; ++r) {
        for (std::int64_t c = 0; c < 3; ++c) {
          ASSERT_TRUE(same(table.columns[static_cast<std::size_t>(c)].at(r), value_at(type, r, c)));
          ASSERT_TRUE(same(built.columns[static_cast<std::size_t>(c)].at(r), value_at(type, r, c)));
        }
      }
    }
  }
}

TEST_F(FakeArrays, OfAnotherGpuAreRefused) {
  Filled made = filled(ElementType::float32, 70, 3, 3, 1);
  made.array.gpu = 0;
  expect_error(ErrorCode::device_unavailable, "GPU 0 has its memory, but cannot be used",
               [&] { table_of(made.array); });
  made.array.gpu = 2;
  expect_error(ErrorCode::invalid_argument, "GPU 2 is not there", [&] { table_of(made.array); });
  made.array.gpu = 1;
  setenv("STOPE_FAKE_OWNER", "0", 1);
  expect_error(ErrorCode::invalid_argument, "that of GPU 0, it should be GPU 1's", [&] { table_of(made.array); });
  unsetenv("STOPE_FAKE_OWNER");
  RunOptions run;
  run.device = "cuda:0";
  expect_error(ErrorCode::device_unavailable, "GPU 0, Old Card", [&] { table_of(made.array, {}, run); });
}

}  // namespace
}  // namespace stope
