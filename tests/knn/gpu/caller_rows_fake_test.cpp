// Rows and lists in a GPU's memory, with the fake plug-in (device/fake_plugin.cpp), whose GPU memory is host memory. It
// covers both ways: a filter reads rows and writes lists in place, or the host does it. It also covers shapes, types
// and errors. No GPU is needed; caller_rows_cuda_test.cpp tests the real plug-in.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "knn/gpu/caller_rows_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using device_array_cases::Rows;

constexpr int kGpu = 1;  // the one that can be used

/// Host memory stands in for GPU memory.
struct HostMemory {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> indices;

  const void* put(const std::vector<float>& values) { return (floats = values).data(); }
  const void* put(const std::vector<double>& values) { return (doubles = values).data(); }
};

class FakeCallerRows : public testing::Test, protected WithFakePlugin {
 protected:
  FakeCallerRows() : WithFakePlugin("filters", "cuda") {}

  // What a search writes to the caller's memory, and its report.
  static device_array_cases::Lists search(const KnnIndex& index, const device_array_cases::Rows& rows,
                                          const SearchOptions& options, const RunOptions& run) {
    HostMemory memory;
    const DeviceMatrix matrix = rows.matrix(rows.floats ? memory.put(rows.as_floats()) : memory.put(rows.values), kGpu);
    device_array_cases::Lists lists(rows.n_rows * options.n_neighbors);
    lists.report = index.kneighbors(matrix, options, run, {lists.indices.data(), lists.distances.data()});
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
    EXPECT_FALSE(there && (run_.device == "cpu" || !job.options.feature_weights.empty()));
    setenv("STOPE_BACKEND", "cuda", 1);
  }
  EXPECT_GT(in_place, 25);
  EXPECT_GT(by_host, 50);
}

TEST_F(FakeCallerRows, AnIndexOfRowsOnAGpu) {
  Random random(32);
  for (int round = 0; round < 20; ++round) {
    device_array_cases::Case job = device_array_cases::random_case(random, 300, 50, 3);
    HostMemory memory;
    const DeviceMatrix matrix =
        job.train.matrix(job.train.floats ? memory.put(job.train.as_floats()) : memory.put(job.train.values), kGpu);
    const KnnIndex index = KnnIndex::fit(matrix, job.options);
    memory = {};  // the index has its own copy
    EXPECT_EQ(index.n_samples(), job.train.n_rows);
    const KnnIndex theirs = KnnIndex::fit(job.train.table(), job.options);
    const device_array_cases::Lists ours = search(index, job.query, job.search, run_);
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(theirs, job, ours));
  }
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
  EXPECT_GT(lost, 10);
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
  const DeviceMatrix good{values.data(), FloatType::float64, 10, 3, 0, kGpu, nullptr};
  const DeviceNeighbors out{indices.data(), distances.data()};
  const SearchOptions two{.n_neighbors = 2};
  const auto expect = [&](const DeviceMatrix& matrix, const DeviceNeighbors& lists, const SearchOptions& search,
                          const RunOptions& run, const std::string& words) {
    const auto [code, text] = thrown([&] { index.kneighbors(matrix, search, run, lists); });
    EXPECT_EQ(code, ErrorCode::invalid_argument) << text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  index.kneighbors(good, two, {}, out);
  const auto with = [&](const std::function<void(DeviceMatrix&)>& change) {
    DeviceMatrix matrix = good;
    change(matrix);
    return matrix;
  };
  expect(with([](auto& m) { m.n_columns = 4; }), out, two, {}, "4 columns, the training table has 3");
  expect(with([](auto& m) { m.row_stride = 2; }), out, two, {}, "with 2 from row to row");
  expect(with([](auto& m) { m.n_rows = -1; }), out, two, {}, "-1 x 3");
  expect(with([](auto& m) { m.data = nullptr; }), out, two, {}, "the query rows is null");
  expect(with([](auto& m) { m.gpu = 7; }), out, two, {}, "on GPU 7; this machine has 2 GPUs");
  expect(good, {nullptr, distances.data()}, two, {}, "the lists' indices is null");
  expect(good, {indices.data(), nullptr}, two, {}, "the lists' distances is null");
  expect(good, out, {.n_neighbors = 21}, {}, "k = 21 is more than the 20");
  expect(good, out, {.n_neighbors = 0}, {}, "k must be at least 1");
  expect(good, out, {.n_neighbors = 2, .exclude_group = "x0"}, {}, "no groups");
  expect(good, out, {.n_neighbors = 2, .exclude_self = true}, {}, "10 query rows, 20 training rows");
  expect(good, out, two, {.device = "cuda:0"}, "on GPU 1, the search is to run on 'cuda:0'");
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
