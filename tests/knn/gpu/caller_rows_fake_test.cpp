// Rows and lists in a GPU's memory, with the fake plug-in (device/fake_plugin.cpp), whose GPU memory is host memory. It
// covers both ways: a filter reads rows and writes lists in place, or the host does it. It also covers shapes, types
// and errors. No GPU is needed; caller_rows_cuda_test.cpp tests the real plug-in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "environment.hpp"
#include "knn/gpu/caller_rows_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using device_array_cases::Rows;

constexpr int kGpu = 1;  // the one that can be used

class FakeCallerRows : public testing::Test, protected WithFakePlugin {
 protected:
  FakeCallerRows() : WithFakePlugin("filters", "cuda") {}

  // What a search writes to the caller's memory, and its report.
  static device_array_cases::Lists search(const KnnIndex& index, const device_array_cases::Rows& rows,
                                          const SearchOptions& options, const RunOptions& run, int rows_on = kGpu,
                                          int lists_on = kGpu) {
    const std::vector<char> memory = rows.bytes();  // host memory stands in for GPU memory
    device_array_cases::Lists lists(rows.n_rows * options.n_neighbors);
    lists.report = index.kneighbors(rows.array(memory.data(), rows_on), options, run,
                                    NeighborArrays{lists.indices.data(), lists.distances.data(), lists_on});
    return lists;
  }
  RunOptions run_ = {.threads = 2};
};

TEST_F(FakeCallerRows, ListsAreThoseOfRowsOnTheHost) {
  Random random(31);
  int in_place = 0, by_host = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    const device_array_cases::Case job = device_array_cases::random_case(random, 300, 150, 3);
    set_size("STOPE_TILE_QUERIES", 1 + random.below(80));
    const bool in_parts = random.below(3) == 0;
    if (in_parts) setenv("STOPE_DEVICE_ROWS", "90", 1);
    run_.device = std::vector<std::string>{"auto", "cuda", "cuda:1", "cpu"}[random.below(4)];
    if (run_.device == "cpu") unsetenv("STOPE_BACKEND");
    const KnnIndex index = KnnIndex::fit(job.train.table(), job.options);
    const device_array_cases::Lists ours = search(index, job.query, job.search, run_);
    unsetenv("STOPE_DEVICE_ROWS");
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(index, job, ours));
    const bool there = ours.report.method == "filter, products, on the GPU";
    (there ? in_place : by_host) += 1;
    EXPECT_FALSE(there && (run_.device == "cpu" || !job.options.feature_weights.empty() || !job.query.floating()));
    setenv("STOPE_BACKEND", "cuda", 1);
  }
  EXPECT_GT(in_place, 25);
  EXPECT_GT(by_host, 50);
}

TEST_F(FakeCallerRows, AnIndexOfRowsOnAGpu) {
  Random random(32);
  for (int round = 0; round < 20; ++round) {
    device_array_cases::Case job = device_array_cases::random_case(random, 300, 50, 3);
    std::vector<char> memory = job.train.bytes();
    const KnnIndex index = KnnIndex::fit(job.train.array(memory.data(), kGpu), job.options);
    std::fill(memory.begin(), memory.end(), '\0');  // the index has its own copy
    EXPECT_EQ(index.n_samples(), job.train.n_rows);
    const KnnIndex theirs = KnnIndex::fit(job.train.table(), job.options);
    const device_array_cases::Lists ours = search(index, job.query, job.search, run_);
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(theirs, job, ours));
  }
}

// Rows and lists may lie on either side. Only where both are on the GPU do they stay there.
TEST_F(FakeCallerRows, RowsAndListsLieOnEitherSide) {
  Random random(36);
  for (int round = 0; round < 40; ++round) {
    const device_array_cases::Case job = device_array_cases::random_case(random, 300, 100, 3);
    const KnnIndex index = KnnIndex::fit(job.train.table(), job.options);
    const int rows_on = round % 2 == 0 ? kGpu : -1, lists_on = round % 2 == 0 ? -1 : kGpu;
    const device_array_cases::Lists ours = search(index, job.query, job.search, run_, rows_on, lists_on);
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(index, job, ours));
    EXPECT_EQ(ours.report.method.find("on the GPU"), std::string::npos);
  }
}

// Rows in columns, or backwards, are copied as a whole.
TEST_F(FakeCallerRows, AnyStridesAreTaken) {
  Random random(37);
  device_array_cases::Case job = device_array_cases::random_case(random, 200, 90, 3);
  job.search = {.n_neighbors = 1};
  const KnnIndex index = KnnIndex::fit(job.train.table(), job.options);
  std::vector<double> columns(static_cast<std::size_t>(job.query.n_rows * 3));
  for (std::int64_t i = 0; i < job.query.n_rows; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) {
      columns[static_cast<std::size_t>(c * job.query.n_rows + i)] =
          job.query.values[static_cast<std::size_t>(i * job.query.stride + c)];
    }
  }
  device_array_cases::Lists ours(job.query.n_rows);
  const ArrayView array{columns.data(), ElementType::float64, job.query.n_rows, 3, 1, job.query.n_rows, kGpu};
  ours.report =
      index.kneighbors(array, job.search, run_, NeighborArrays{ours.indices.data(), ours.distances.data(), kGpu});
  device_array_cases::expect_the_processors(index, job, ours);
}

TEST_F(FakeCallerRows, ReleasedDevicesAreFilledAgain) {
  Random random(38);
  for (const char* device_rows : {"", "70"}) {
    if (*device_rows != '\0') setenv("STOPE_DEVICE_ROWS", device_rows, 1);
    device_array_cases::Case job = device_array_cases::random_case(random, 200, 60, 3);
    job.options = {};
    job.search = {.n_neighbors = 1};
    const KnnIndex index = KnnIndex::fit(job.train.table());
    search(index, job.query, job.search, run_);
    index.release_devices();
    index.release_devices();
    const device_array_cases::Lists ours = search(index, job.query, job.search, run_);
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(index, job, ours));
  }
}

// The sum over shared rows is compared when a GPU gets them, for every kind of filter.
TEST_F(FakeCallerRows, SharedRowsThatChangeBeforeAGpuGetsThemAreAnError) {
  Random random(39);
  for (const char* scan : {"products", "differences", "parts"}) {
    setenv("STOPE_SCAN", std::string(scan) == "differences" ? "differences" : "products", 1);
    if (std::string(scan) == "parts") setenv("STOPE_DEVICE_ROWS", "400", 1);
    auto values = std::make_shared<std::vector<double>>();
    for (int i = 0; i < 3000; ++i) values->push_back(random.uniform());
    const ArrayView train{values->data(), ElementType::float64, 1000, 3, 0, 1, -1, nullptr, values};
    const char* const metric = std::string(scan) == "differences" ? "manhattan" : "euclidean";
    const KnnIndex index = KnnIndex::fit(train, {.metric = {metric}});
    const ArrayView query{values->data(), ElementType::float64, 200, 3};
    (*values)[1504] += 1.0;  // row 501, which is none of those that every search looks at
    const auto search = [&] { return index.kneighbors(query, {.n_neighbors = 3}, run_); };
    try {
      search();  // a first search of few rows makes no images: the reference answers it
      search();
      ADD_FAILURE() << scan;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("have changed since"), std::string::npos) << error.what();
    }
    (*values)[1504] -= 1.0;
    const KnnIndex again = KnnIndex::fit(train);
    EXPECT_EQ(again.kneighbors(query, {.n_neighbors = 3}, run_).n_queries(), 200);
  }
  unset_all({"STOPE_SCAN", "STOPE_DEVICE_ROWS"});
}

// The filter's images allow for missing values only where training rows have some. Once queries turn up that lack more,
// the filter gets other images, and answers those queries in place, too.
TEST_F(FakeCallerRows, QueriesThatLackWhatEveryTrainingRowHas) {
  device_array_cases::Case job;
  Random random(35);
  for (Rows* rows : {&job.train, &job.query}) {
    *rows = {.n_rows = 400, .n_columns = 3, .stride = 3};
    for (int i = 0; i < 1200; ++i) rows->values.push_back(random.uniform());
  }
  for (std::size_t i = 0; i < job.query.values.size(); i += 3) job.query.values[i] = std::nan("");
  job.search = {.n_neighbors = 5};
  setenv("STOPE_TILE_QUERIES", "150", 1);
  const KnnIndex index = KnnIndex::fit(job.train.table());
  for (const bool first : {true, false}) {
    const device_array_cases::Lists ours = search(index, job.query, job.search, run_);
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(index, job, ours));
    EXPECT_EQ(ours.report.method, "filter, products, on the GPU");
    EXPECT_EQ(ours.report.uncertified, 0) << first;
  }
}

TEST_F(FakeCallerRows, SeveralThreadsSearchAtOnce) {
  Random random(33);
  device_array_cases::Case job = device_array_cases::random_case(random, 300, 100, 3);
  job.options = {};
  job.search = {.n_neighbors = 5};
  setenv("STOPE_TILE_QUERIES", "9", 1);
  const KnnIndex index = KnnIndex::fit(job.train.table());
  std::vector<device_array_cases::Lists> ours(5, device_array_cases::Lists(0));
  {
    std::vector<std::jthread> threads;
    for (auto& mine : ours) threads.emplace_back([&] { mine = search(index, job.query, job.search, run_); });
  }
  for (const auto& mine : ours) ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(index, job, mine));
}

TEST_F(FakeCallerRows, ProgressGoesOnWithEveryBlockToTheLastQuery) {
  Random random(34);
  device_array_cases::Case job = device_array_cases::random_case(random, 300, 100, 3);
  job.search = {.n_neighbors = 5};
  setenv("STOPE_TILE_QUERIES", "9", 1);
  std::vector<std::int64_t> told;
  run_.progress = [&](std::string_view phase, std::int64_t done, std::int64_t total) {
    if (phase != "search") return;
    EXPECT_EQ(total, job.query.n_rows);
    told.push_back(done);
  };
  const KnnIndex index = KnnIndex::fit(job.train.table());
  EXPECT_EQ(search(index, job.query, job.search, run_).report.backend, "cuda");
  ASSERT_GE(std::ssize(told), job.query.n_rows / 9);
  EXPECT_EQ(told.back(), job.query.n_rows);
}

TEST_F(FakeCallerRows, ALostGpuIsReportedWhereverItHappens) {
  Random random(34);
  device_array_cases::Case job = device_array_cases::random_case(random, 200, 60, 3);
  job.options = {};
  job.search = {.n_neighbors = 4};
  setenv("STOPE_TILE_QUERIES", "20", 1);
  int lost = 0;
  for (const char* device_rows : {"", "70"}) {
    if (*device_rows != '\0') setenv("STOPE_DEVICE_ROWS", device_rows, 1);
    for (std::int64_t n = 1;; ++n) {
      ASSERT_LT(n, 1000);
      const KnnIndex index = KnnIndex::fit(job.train.table());
      fault::arm_device(n);
      try {
        const device_array_cases::Lists ours = search(index, job.query, job.search, run_);
        fault::arm_device(0);
        ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(index, job, ours));
        break;
      } catch (const Error& error) {
        fault::arm_device(0);
        ASSERT_EQ(error.code(), ErrorCode::device_lost) << error.what();
        ++lost;
      }
    }
  }
  EXPECT_GE(lost, 8);
}

// Returns the code and message of the error that `action` throws.
std::pair<ErrorCode, std::string> thrown(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ErrorCode::internal, "nothing"};
}

TEST_F(FakeCallerRows, Errors) {
  const std::vector<double> values(60, 0.5);
  Table train = device_array_cases::Rows{.n_rows = 20, .n_columns = 3, .stride = 3, .values = values}.table();
  const KnnIndex index = KnnIndex::fit(train);
  std::vector<std::int64_t> indices(40);
  std::vector<double> distances(40);
  const ArrayView good{values.data(), ElementType::float64, 10, 3, 0, 1, kGpu};
  const NeighborArrays out{indices.data(), distances.data(), kGpu};
  const SearchOptions two{.n_neighbors = 2};
  const auto expect = [&](const ArrayView& matrix, const NeighborArrays& lists, const SearchOptions& search,
                          const RunOptions& run, const std::string& words) {
    const auto [code, text] = thrown([&] { index.kneighbors(matrix, search, run, lists); });
    EXPECT_EQ(code, ErrorCode::invalid_argument) << text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  index.kneighbors(good, two, {}, out);
  const auto with = [&](const std::function<void(ArrayView&)>& change) {
    ArrayView matrix = good;
    change(matrix);
    return matrix;
  };
  expect(with([](auto& m) { m.n_columns = 4; }), out, two, {}, "4 columns, the training table has 3");
  expect(with([](auto& m) { m.n_rows = -1; }), out, two, {}, "-1 rows");
  expect(with([](auto& m) { m.data = nullptr; }), out, two, {}, "the query rows has no data");
  expect(with([](auto& m) { m.gpu = 7; }), out, two, {}, "this machine has 2 GPUs");
  expect(good, {indices.data(), distances.data(), 7}, two, {}, "this machine has 2 GPUs");
  expect(good, {nullptr, distances.data(), kGpu}, two, {}, "the lists' indices is null");
  expect(good, {indices.data(), nullptr, kGpu}, two, {}, "the lists' distances is null");
  expect(good, out, {.n_neighbors = 21}, {}, "k = 21 is more than the 20");
  expect(good, out, {.n_neighbors = 0}, {}, "k must be at least 1");
  expect(good, out, {.n_neighbors = 2, .exclude_group = "x0"}, {}, "an array has no column 'x0'");
  expect(good, out, {.n_neighbors = 2, .exclude_self = true}, {}, "10 query rows, 20 training rows");
  EXPECT_EQ(thrown([&] { index.kneighbors(good, two, {.device = "cuda:0"}, out); }).first,
            ErrorCode::device_unavailable);  // too old
  for (const auto& [owner, words] : {std::pair{"0", "that of GPU 0"}, std::pair{"-1", "no GPU's"}}) {
    setenv("STOPE_FAKE_OWNER", owner, 1);
    expect(good, out, two, {}, words);
    EXPECT_EQ(thrown([&] { KnnIndex::fit(good); }).first, ErrorCode::invalid_argument);
  }
  unsetenv("STOPE_FAKE_OWNER");
  EXPECT_EQ(thrown([&] { index.kneighbors(with([](auto& m) { m.gpu = 0; }), two, {}, out); }).first,
            ErrorCode::device_unavailable);  // GPU 0 is too old
  train.columns[1] = make_nominal("x1", std::vector<std::int32_t>(20, 0), {"a"});
  EXPECT_NE(thrown([&] { KnnIndex::fit(train).kneighbors(good, two, {}, out); }).second.find("is nominal"),
            std::string::npos);
}

}  // namespace
}  // namespace stope
