// Compares the gram operator with its definition, on every back end of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/array.hpp"
#include "device/needs_gpu.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "gram/gram_cases.hpp"
#include "gram/shape.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The shape, written down a second time, must give the same bits.
void expect_the_shape(const GramCase& c, const Products& p, const std::string& what) {
  const oracle::GramOracle oracle(c);
  for (std::int64_t i = 0; i < c.n_rows; ++i) {
    ASSERT_EQ(p.y[static_cast<std::size_t>(i)], oracle.shaped_y(i)) << what << ", y of row " << i;
  }
  for (std::int64_t j = 0; j < c.n_columns; ++j) {
    ASSERT_EQ(p.z[static_cast<std::size_t>(j)], oracle.shaped_z(j, p.y)) << what << ", z of column " << j;
    ASSERT_EQ(p.zt[static_cast<std::size_t>(j)], oracle.shaped_z(j, c.y)) << what << ", A^T y of column " << j;
  }
}

void expect_within_bounds(const GramCase& c, const Products& p, const std::string& what) {
  const oracle::GramOracle oracle(c);
  std::vector<oracle::Bounded> y, given;
  for (std::int64_t i = 0; i < c.n_rows; ++i) {
    y.push_back(oracle.y(i));
    given.push_back({static_cast<long double>(c.y[static_cast<std::size_t>(i)]), 0.0L});
    ASSERT_TRUE(y.back().holds(p.y[static_cast<std::size_t>(i)])) << what << ", y of row " << i;
  }
  for (std::int64_t j = 0; j < c.n_columns; ++j) {
    const oracle::Bounded z = oracle.z(j, y), zt = oracle.z(j, given);
    ASSERT_TRUE(z.holds(p.z[static_cast<std::size_t>(j)])) << what << ", z of column " << j;
    ASSERT_TRUE(zt.holds(p.zt[static_cast<std::size_t>(j)])) << what << ", A^T y of column " << j;
  }
}

std::string words(const GramCase& c, const std::string& backend) {
  return backend + ", " + std::to_string(c.n_rows) + " x " + std::to_string(c.n_columns) +
         (c.is_float ? " floats" : " doubles") + (c.shift.empty() ? "" : ", shifted") +
         (c.scale.empty() ? "" : ", scaled");
}

void check_everywhere(const GramCase& c) {
  for (const std::string& backend : backends()) {
    const ForcedBackend forced(backend);
    const Products p = multiply(c);
    expect_the_shape(c, p, words(c, backend));
    expect_within_bounds(c, p, words(c, backend));
  }
}

TEST(Gram, SmallShapesOnEveryBackEnd) {
  std::uint64_t seed = 1;
  for (const std::int64_t rows : {1, 2, 3, 7, 8, 9, 31, 33}) {
    for (const std::int64_t columns : {1,   2,   3,   4,   5,   7,   8,   9,   15,  31,  32,  33,   127,
                                       128, 129, 130, 255, 257, 383, 385, 511, 512, 513, 640, 1023, 1025}) {
      for (const bool is_float : {true, false}) check_everywhere(make_case(rows, columns, is_float, ++seed));
    }
  }
}

TEST(Gram, TallAndWideShapes) {
  std::uint64_t seed = 100;
  std::int64_t number = 0;
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{1, 20000}, {3, 9000},  {260, 2047}, {2000, 3},  {20000, 1},
                                                          {5000, 17}, {700, 600}, {17, 16385}, {530, 4097}};
  for (const auto& [rows, columns] : shapes) {
    for (const bool is_float : {true, false}) {
      ++seed;
      if (chosen(number++)) check_everywhere(make_case(rows, columns, is_float, seed));
    }
  }
}

// Rows are longer than what the multiprocessors of any GPU hold together.
TEST(Gram, RowsOfMoreThanAMillionColumns) {
  const GramCase c = make_case(1, 1'200'001, true, 110);
  for (const std::string& backend : backends()) {
    const ForcedBackend forced(backend);
    expect_the_shape(c, multiply(c), words(c, backend));
  }
}

// A real GPU gets parts of the rows at a time, and two sessions. The second part of 1700 x 4500 begins within a group,
// in a block that two teams share on an H200.
TEST(Gram, PartsAndSessionsOfAGpu) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  struct Shape {
    std::int64_t rows, columns;
    bool is_float;
  };
  for (const Shape& shape : {Shape{1100, 5, true},
                             {140'000, 6, true},
                             {530, 1030, true},
                             {3000, 9001, true},
                             {1100, 8706, true},
                             {1700, 4500, false}}) {
    GramCase c = make_case(shape.rows, shape.columns, shape.is_float, 111, Values::wide_range, 3);
    c.shift = c.x;
    RunOptions run;
    run.device = "cpu";
    const Products wanted = multiply(c, run);
    for (const char* device : {"cuda:0", "cuda:0,0", "cuda:0,0,0"}) {
      for (const std::int64_t held : {shape.rows, shape.rows / 120, shape.rows / 2}) {
        setenv("STOPE_DEVICE_ROWS", std::to_string(held).c_str(), 1);
        run.device = device;
        const auto by = make_operator(rows_of(c), options_of(c), run);
        for (int turn = 0; turn < 3; ++turn) {  // resident rows are replayed from the second turn on
          EXPECT_EQ(multiply(c, *by), wanted) << words(c, device) << ", held " << held << ", turn " << turn;
        }
      }
    }
    unsetenv("STOPE_DEVICE_ROWS");
  }
}

TEST(Gram, ShiftsScalesAndHardNumbers) {
  std::uint64_t seed = 200;
  for (const Values values : {Values::plain, Values::offset, Values::wide_range}) {
    for (const std::int64_t columns : {5, 129, 700}) {
      for (const int with : {0, 1, 2, 3}) {
        GramCase c = make_case(70, columns, with % 2 == 0, ++seed, values, 3);
        Random random(seed);
        if ((with & 1) != 0) c.shift = draw_vector(random, columns, values);
        if ((with & 2) != 0) c.scale = draw_vector(random, columns);
        check_everywhere(c);
      }
    }
  }
}

// Centring is implicit, as if the matrix had been centred: an offset of a million costs no digits.
TEST(Gram, ShiftingLosesNothing) {
  GramCase c = make_case(300, 40, false, 5, Values::offset);
  c.shift.assign(40, 1e6);
  GramCase centred = c;
  centred.shift.clear();
  for (double& v : centred.doubles) v -= 1e6;
  EXPECT_EQ(multiply(c), multiply(centred));
}

TEST(Gram, TheSameBitsHoweverItIsRun) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3000, 70}, {130, 9001}, {2100, 515}}) {
    for (const bool is_float : {true, false}) {
      GramCase c = make_case(rows, columns, is_float, 42, Values::wide_range, 5);
      c.shift = c.x;
      const GramOptions options = options_of(c);
      const Products wanted = multiply(c);
      for (const int threads : {1, 2, 3, 7, 40}) {
        RunOptions run;
        run.threads = threads;
        EXPECT_EQ(multiply(c, run), wanted) << words(c, "threads ") << threads;
        EXPECT_EQ(multiply(c, *make_operator(std::make_shared<CopiedRows>(c), options, run)), wanted)
            << words(c, "copied, threads ") << threads;
      }
    }
  }
}

// The sums of all groups do not fit: they come in blocks of groups, under one tree.
TEST(Gram, TheSameBitsWithLittleMemory) {
  std::int64_t number = 2;  // begins with five threads
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{5000, 1000}, {1500, 20000}}) {
    const GramCase c = make_case(rows, columns, true, 43);
    const Products wanted = multiply(c);
    const std::int64_t vector = columns * 8;
    for (const std::int64_t vectors : {40, 60, 100, 300}) {
      for (const int threads : {1, 2, 5}) {
        if (!chosen(number++)) continue;
        RunOptions run;
        run.threads = threads;
        run.memory_limit = vectors * vector;
        EXPECT_EQ(multiply(c, run), wanted) << vectors << " vectors, threads " << threads;
      }
    }
    RunOptions run;
    run.memory_limit = vector;
    try {
      multiply(c, run);
      FAIL() << "fits one vector";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    }
  }
}

TEST(Gram, SeveralVectorsAreEachOne) {
  for (const std::int64_t columns : {3, 513, 20000}) {
    const GramCase c = make_case(300, columns, true, 44);
    for (const int threads : {1, 4}) {
      RunOptions run;
      run.threads = threads;
      const auto by = make_operator(rows_of(c), {}, run);
      for (std::int64_t n = 1; n <= kMostVectors; ++n) {
        Random random(static_cast<std::uint64_t>(n));
        const std::vector<double> x = draw_vector(random, n * columns);
        std::vector<double> z(x.size()), one(static_cast<std::size_t>(columns));
        by->gram(x, z, n);
        for (std::int64_t v = 0; v < n; ++v) {
          by->gram(std::span(x).subspan(static_cast<std::size_t>(v * columns), one.size()), one);
          for (std::size_t j = 0; j < one.size(); ++j) {
            ASSERT_EQ(z[static_cast<std::size_t>(v * columns) + j], one[j]) << v << " of " << n << ", column " << j;
          }
        }
      }
    }
  }
}

TEST(Gram, OnePassIsBothProducts) {
  for (const std::int64_t columns : {1, 600, 9000}) {
    GramCase c = make_case(400, columns, true, 45);
    c.shift = c.scale = c.x;
    const auto by = make_operator(rows_of(c), options_of(c), {});
    Products p = multiply(c, *by);
    by->multiply_transposed(p.y, p.zt);
    EXPECT_EQ(p.zt, p.z);
    EXPECT_EQ(by->report().passes, 4);
  }
}

// Wide matrices that lie by columns are multiplied leaf by leaf.
TEST(Gram, BlocksOfColumnsGiveTheSameBits) {
  RunOptions run;
  std::int64_t number = 0;
  run.device = "cpu";
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{1, 1537}, {63, 2048}, {65, 2049}, {300, 3001}, {2100, 1600}, {7, 9000}}) {
    for (const bool is_float : {true, false}) {
      for (const bool shifted : {true, false}) {
        GramCase c = make_case(rows, columns, is_float, 51, Values::wide_range);
        if (shifted) c.shift = c.scale = c.x;
        const Products wanted = multiply(c, run);
        for (const std::string& backend : backends()) {
          if (backend == "cuda") continue;
          const ForcedBackend forced(backend);
          for (const int threads : {1, 4}) {
            if (!chosen(number++)) continue;
            run.threads = threads;
            const auto by = make_operator(std::make_shared<BlockRows>(c), options_of(c), run);
            EXPECT_EQ(by->report().method.substr(0, 7), "columns");
            EXPECT_EQ(multiply(c, *by), wanted) << words(c, backend) << ", threads " << threads;
          }
        }
      }
    }
  }
}

// What least squares asks for, by every way through the matrix, has the bits of two products.
TEST(Gram, ResidualAndOuterAreTwoProducts) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3000, 50}, {130, 9001}, {70, 2100}}) {
    for (const bool weighted : {false, true}) {
      GramCase c = make_case(rows, columns, false, 52, Values::offset);
      c.shift = c.scale = c.x;
      std::vector<double> factors;
      for (std::int64_t r = 0; weighted && r < rows; ++r) factors.push_back(0.25 * static_cast<double>(r % 5));
      const auto plain = make_operator(rows_of(c), options_of(c), {});
      std::vector<double> y(static_cast<std::size_t>(rows)), wanted(static_cast<std::size_t>(columns));
      std::vector<double> z(wanted.size()), image(y.size()), product(y.size());
      plain->multiply(c.x, y);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double factor = weighted ? factors[i] : 1.0;
        y[i] = (c.y[i] - y[i] * factor) * factor;
      }
      plain->multiply_transposed(y, wanted);
      const std::shared_ptr<const RowSource> sources[] = {rows_of(c), std::make_shared<CopiedRows>(c),
                                                          std::make_shared<BlockRows>(c)};
      for (const auto& source : sources) {
        for (const int threads : {1, 3}) {
          RunOptions run;
          run.threads = threads;
          const auto by = make_operator(source, options_of(c), run);
          std::vector<double> residual(y.size());
          by->residual(c.x, {c.y, factors}, z, residual);
          EXPECT_EQ(z, wanted) << words(c, "residual");
          EXPECT_EQ(residual, y) << words(c, "residual");
          std::fill(z.begin(), z.end(), 0.0);
          by->residual(c.x, {c.y, factors}, z, {});
          EXPECT_EQ(z, wanted) << words(c, "residual");
          by->outer(c.y, z, image);
          std::vector<double> back(z.size());
          plain->multiply_transposed(c.y, back);
          plain->multiply(back, product);
          EXPECT_EQ(z, back) << words(c, "outer");
          EXPECT_EQ(image, product) << words(c, "outer");
        }
      }
    }
  }
}

TEST(Gram, NanAndInfinityReachWhatTheyTouch) {
  for (const std::string& backend : backends()) {
    const ForcedBackend forced(backend);
    GramCase c = make_case(20, 600, false, 46);
    c.doubles[3 * 600 + 599] = kInfinity;  // row 3, the last column
    c.doubles[7 * 600 + 5] = -std::nan("");
    const Products p = multiply(c);
    for (std::size_t i = 0; i < p.y.size(); ++i) {
      EXPECT_EQ(std::isnan(p.y[i]), i == 7) << backend << ", row " << i;
      EXPECT_EQ(std::isinf(p.y[i]), i == 3) << backend << ", row " << i;
    }
    for (std::size_t j = 0; j < p.z.size(); ++j) {
      EXPECT_TRUE(std::isnan(p.z[j])) << backend << ", column " << j;
      EXPECT_FALSE(std::signbit(p.z[j])) << backend << ", column " << j;
      EXPECT_EQ(std::isnan(p.zt[j]), j == 5) << backend << ", column " << j;
      EXPECT_EQ(std::isinf(p.zt[j]), j == 599) << backend << ", column " << j;
    }
  }
}

TEST(Gram, ZerosAreOfPositiveSign) {
  for (const std::string& backend : backends()) {
    const ForcedBackend forced(backend);
    GramCase c = make_case(9, 513, true, 47);
    std::fill(c.floats.begin(), c.floats.end(), -0.0F);
    for (double& x : c.x) x = std::fabs(x);
    c.scale.assign(513, -1.0);
    const Products p = multiply(c);
    for (const auto* vector : {&p.y, &p.z, &p.zt}) {
      for (const double v : *vector) {
        ASSERT_EQ(v, 0.0);
        ASSERT_FALSE(std::signbit(v)) << backend;
      }
    }
  }
}

// Memory ends where rows end: nothing beyond it is read. (The address sanitizer watches.)
TEST(Gram, ReadsNothingBehindTheLastRow) {
  for (const std::int64_t columns : {1, 3, 5, 9, 130, 517}) {
    for (const bool is_float : {true, false}) {
      const GramCase c = make_case(5, columns, is_float, 48);  // the vectors have exactly that size
      for (const std::string& backend : backends()) {
        const ForcedBackend forced(backend);
        multiply(c);
      }
    }
  }
}

// Without an owner the operator has a copy: the caller's memory may change or go.
TEST(Gram, KeepsAnArrayOnlyWithItsOwner) {
  GramCase c = make_case(300, 40, false, 3);
  std::vector<double> before(40), after(40);
  ArrayView matrix = view(c);
  auto owner = std::make_shared<int>(0);
  matrix.owner = owner;
  {
    GramOperator shares(matrix);
    matrix.owner = nullptr;
    EXPECT_EQ(owner.use_count(), 2);
    GramOperator copies(matrix);
    copies.gram(c.x, before);
    shares.gram(c.x, after);
    EXPECT_EQ(before, after);
    std::fill(c.doubles.begin(), c.doubles.end(), 7.0);
    copies.gram(c.x, after);
    EXPECT_EQ(before, after);
    shares.gram(c.x, after);
    EXPECT_NE(before, after);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

// Shapes around the tiles of the copy, by columns, spread and backwards.
TEST(Gram, TakesAnyStrides) {
  for (const std::int64_t rows : {1, 63, 64, 65, 200}) {
    for (const std::int64_t columns : {1, 15, 16, 17, 40}) {
      for (const bool is_float : {true, false}) {
        const GramCase c = make_case(rows, columns, is_float, static_cast<std::uint64_t>(rows + columns));
        std::vector<double> wanted(static_cast<std::size_t>(columns)), z(wanted.size());
        GramOperator(view(c)).gram(c.x, wanted);
        const std::int64_t size = is_float ? 4 : 8;
        for (const auto& [row_stride, column_stride] :
             {std::pair<std::int64_t, std::int64_t>{1, rows}, {2, 2 * rows + 3}, {-columns, -1}, {3 * columns, -3}}) {
          SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", strides " +
                       std::to_string(row_stride) + " and " + std::to_string(column_stride));
          ArrayView array{nullptr,    c.is_float ? ElementType::float32 : ElementType::float64,
                          rows,       columns,
                          row_stride, column_stride};
          const ByteRange range = bytes_of(array);
          Buffer<char> memory(range.size);
          array.data = memory.data() - range.first;
          for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
              std::memcpy(memory.data() - range.first + (i * row_stride + j * column_stride) * size,
                          static_cast<const char*>(c.values()) + (i * c.stride + j) * size,
                          static_cast<std::size_t>(size));
            }
          }
          GramOperator(array).gram(c.x, z);
          EXPECT_EQ(z, wanted);
          const std::vector<float> x(c.x.begin(), c.x.end());
          GramOperator(array).gram(std::vector<double>(x.begin(), x.end()), z);
          EXPECT_EQ(check_gram(array, x, std::vector<float>(z.begin(), z.end())).n_wrong, 0);
        }
      }
    }
  }
}

TEST(Gram, SaysWhatIsWrong) {
  const GramCase c = make_case(4, 3, true, 49);
  const auto make = [&](auto change) {
    ArrayView matrix = view(c);
    change(matrix);
    GramOperator{matrix};
  };
  expect_error(ErrorCode::invalid_argument, "0 rows", [&] { make([](ArrayView& m) { m.n_rows = 0; }); });
  expect_error(ErrorCode::invalid_argument, "-2 columns", [&] { make([](ArrayView& m) { m.n_columns = -2; }); });
  expect_error(ErrorCode::invalid_argument, "the matrix has no data",
               [&] { make([](ArrayView& m) { m.data = nullptr; }); });
  expect_error(ErrorCode::unsupported, "a matrix of int16: convert it",
               [&] { make([](ArrayView& m) { m.type = ElementType::int16; }); });
  expect_error(ErrorCode::unsupported, "in the memory of GPU 2", [&] { make([](ArrayView& m) { m.gpu = 2; }); });
  RunOptions little;
  little.memory_limit = 40;
  expect_error(ErrorCode::out_of_memory, "not copied) needs 48 bytes", [&] {
    ArrayView matrix = view(c);
    matrix.owner = nullptr;
    GramOperator(matrix, {}, little);
  });
  expect_error(ErrorCode::out_of_memory, "address space",
               [&] { make([](ArrayView& m) { m.n_rows = std::int64_t{1} << 61; }); });
  GramOptions options;
  options.shift = {1.0, 2.0};
  expect_error(ErrorCode::invalid_argument, "shift has 2 numbers for 3", [&] { GramOperator(view(c), options); });
  options.shift = {};
  options.scale = {1.0, kInfinity, 2.0};
  expect_error(ErrorCode::invalid_argument, "scale of column 2", [&] { GramOperator(view(c), options); });

  GramOperator by(view(c));
  std::vector<double> three(3), four(4);
  expect_error(ErrorCode::invalid_argument, "x has 4 numbers, not 3", [&] { by.multiply(four, four); });
  expect_error(ErrorCode::invalid_argument, "y has 3 numbers, not 4", [&] { by.multiply(three, three); });
  expect_error(ErrorCode::invalid_argument, "z has 4", [&] { by.multiply_transposed(four, four); });
  expect_error(ErrorCode::invalid_argument, "9 vectors", [&] { by.gram(three, three, 9); });
  expect_error(ErrorCode::invalid_argument, "0 vectors", [&] { by.gram(three, three, 0); });
}

TEST(Gram, StopsWhenCancelled) {
  const GramCase c = make_case(40, 30, true, 50);
  RunOptions run;
  const auto by = make_operator(rows_of(c), {}, run);
  run.cancel.cancel();
  std::vector<double> x(30), z(30);
  expect_error(ErrorCode::cancelled, "cancelled", [&] { by->gram(x, z); });
}

TEST(GramShape, GroupsCoverAllRowsOnce) {
  for (const std::int64_t rows : {1, 7, 8, 9, 100, 1792, 32768, 1000003}) {
    for (const std::int64_t columns : {1, 50, 512, 513, 1024, 8192, 8193, 32768, 1000000, 5000000}) {
      const std::int64_t groups = n_groups(rows, columns);
      ASSERT_GE(groups, 1);
      EXPECT_EQ(group_begin(0, rows, groups), 0);
      EXPECT_EQ(group_begin(groups, rows, groups), rows);
      EXPECT_EQ(GroupRows::of(rows, groups).group_of(0), 0);
      EXPECT_EQ(GroupRows::of(rows, groups).group_of(rows - 1), groups - 1);
      for (std::int64_t g = 0; g < groups; ++g) {
        ASSERT_GT(group_begin(g + 1, rows, groups), group_begin(g, rows, groups)) << rows << " x " << columns;
        ASSERT_EQ(GroupRows::of(rows, groups).group_of(group_begin(g, rows, groups)), g);
        ASSERT_EQ(GroupRows::of(rows, groups).group_of(group_begin(g + 1, rows, groups) - 1), g);
      }
      // The sums of all groups take 9 MB, or 8 vectors where rows are wide.
      EXPECT_LE(groups * columns, std::max<std::int64_t>(1081344, 8 * columns));
    }
  }
}

}  // namespace
}  // namespace stope::gram
