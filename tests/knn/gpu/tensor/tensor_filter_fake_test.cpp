// The host's half of the tensor filter, with the fake plug-in (device/fake_plugin.cpp): blocks under way, parts of the
// training table, several GPUs, queries without an answer, errors. No GPU is needed; tensor_filter_cuda_test.cpp tests
// the real plug-in.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fault.hpp"
#include "base/random.hpp"
#include "device/fake_counts.hpp"
#include "device/with_fake_plugin.hpp"
#include "effort.hpp"
#include "knn/answers.hpp"
#include "knn/gpu/tensor/resident_table.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

constexpr const char* kSizes[] = {"STOPE_TILE_QUERIES", "STOPE_DEVICE_ROWS", "STOPE_PART_ROWS",
                                  "STOPE_BLOCKS_UNDER_WAY"};

class FakeTensorFilter : public testing::Test, protected WithFakePlugin {
 protected:
  FakeTensorFilter() : WithFakePlugin("filters", "cuda") {}
  static Table table(std::int64_t n, double missing = 0.1) {
    Random random(3);
    return oracle::random_table(
        random, {.n_rows = n, .n_numeric = 3, .missing = missing, .values = oracle::TableShape::Values::few});
  }
  static void set_sizes(std::initializer_list<std::int64_t> sizes) {
    const char* const* name = kSizes;
    for (const std::int64_t size : sizes) set_size(*name++, size);
  }
  static Neighbors on_processor(const Table& train, const Table& query, const SearchOptions& search) {
    set_sizes({0, 0, 0, 0});
    unsetenv("STOPE_BACKEND");
    const Neighbors theirs = KnnIndex::fit(train).kneighbors(query, search, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    return theirs;
  }
  std::pair<Neighbors, SearchReport> searched(const KnnIndex& index, const Table& query, const SearchOptions& search) {
    Neighbors all;
    const SearchReport report = index.kneighbors(query, search, run_, [&](const Neighbors& block) {
      for (std::int64_t i = 0; i < block.n_queries(); ++i) {
        all.offsets.push_back(all.offsets.back() + search.n_neighbors);
      }
      all.indices.insert(all.indices.end(), block.indices.begin(), block.indices.end());
      all.distances.insert(all.distances.end(), block.distances.begin(), block.distances.end());
    });
    return {std::move(all), report};
  }
  RunOptions run_ = {.threads = 2, .device = "cuda"};
};

TEST_F(FakeTensorFilter, AnyBlocksPartsAndGpusGiveTheSameLists) {
  Random random(1);
  const auto size = [&](std::uint64_t most) { return static_cast<std::int64_t>(random.below(most)); };
  int in_parts = 0, whole = 0;
  const int rounds = repeated(120, 15);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const std::int64_t n = 2 + size(500);
    const Table train = table(n, random.below(2) == 0 ? 0.0 : 0.1);
    SearchOptions search{.n_neighbors = 1 + size(static_cast<std::uint64_t>(std::min<std::int64_t>(n - 1, 40)))};
    search.exclude_self = random.below(3) == 0;
    const Table query = search.exclude_self ? train : table(1 + size(200));
    const Neighbors theirs = on_processor(train, query, search);
    set_sizes({size(60), random.below(2) == 0 ? 1 + size(200) : 0, random.below(3) == 0 ? 1 + size(200) : 0, size(4)});
    run_.device = random.below(3) == 0 ? "cuda:1,1,1" : "cuda";
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    for (int again = 0; again < 2; ++again) {
      ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(query, search, run_), theirs));
    }
    const SearchReport report = index.kneighbors(query, search, run_, [](const Neighbors&) {});
    EXPECT_EQ(report.backend, "cuda");
    in_parts += report.method == "filter, products, in parts" ? 1 : 0;
    whole += report.method == "filter, products" ? 1 : 0;
  }
  EXPECT_GT(in_parts, rounds / 3);
  EXPECT_GT(whole, rounds / 6);
}

// The fake plug-in accepts only centres that are rows of the table.
TEST_F(FakeTensorFilter, ATableIsPutIntoClustersWhereThatIsAskedForAndPossible) {
  struct Case {
    const char* order;
    double missing;
    const char* method;
  };
  for (const Case& wanted : {Case{"near", 0.0, "filter, products, clusters"}, Case{"table", 0.0, "filter, products"},
                             Case{"", 0.0, "filter, products"}, Case{"near", 0.1, "filter, products"}}) {
    SCOPED_TRACE(std::string(wanted.order) + ", missing " + std::to_string(wanted.missing));
    const Table train = table(700, wanted.missing), query = table(40, 0.0);
    const Neighbors theirs = on_processor(train, query, {.n_neighbors = 5});
    setenv("STOPE_BLOCK_ORDER", wanted.order, 1);
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    const auto [ours, report] = searched(index, query, {.n_neighbors = 5});
    unsetenv("STOPE_BLOCK_ORDER");
    EXPECT_EQ(report.method, wanted.method);
    expect_same(ours, theirs);
  }
}

TEST_F(FakeTensorFilter, NoMemoryForClustersIsNoError) {
  const Table train = table(700, 0.0), query = table(40, 0.0);
  const Neighbors theirs = on_processor(train, query, {.n_neighbors = 5});
  setenv("STOPE_BLOCK_ORDER", "near", 1);
  std::vector<std::string> methods;
  for (std::int64_t n = 1; n < 40 && (methods.empty() || methods.back() != "filter, products, clusters"); ++n) {
    SCOPED_TRACE(n);
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    fault::arm_alloc(n);
    try {
      const auto [ours, report] = searched(index, query, {.n_neighbors = 5});
      expect_same(ours, theirs);
      methods.push_back(report.method);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      methods.push_back(error.what());
    }
    fault::arm_alloc(0);
  }
  unsetenv("STOPE_BLOCK_ORDER");
  EXPECT_EQ(std::count(methods.begin(), methods.end(), "filter, products"), 1);
  EXPECT_EQ(methods.back(), "filter, products, clusters");
}

// Blocks have thousands of queries, and several are under way.
TEST_F(FakeTensorFilter, LongBlocks) {
  const Table train = table(40);
  std::int64_t number = 0;
  for (const std::int64_t n : {1023, 1280, 4096, 9001}) {
    const Table query = table(n);
    const SearchOptions search{.n_neighbors = 3};
    const Neighbors theirs = on_processor(train, query, search);
    for (const std::int64_t tile : {1024, 1300, 4096, 5000}) {
      if (!chosen(number++)) continue;
      set_sizes({tile, 0, 0, 0});
      const KnnIndex index = KnnIndex::fit(train, {}, run_);
      std::int64_t next = 0;
      const SearchReport report = index.kneighbors(query, search, run_, [&](const Neighbors& block) {
        ASSERT_EQ(block.first_query, next);
        ASSERT_LE(block.n_queries(), tile);
        next += block.n_queries();
      });
      EXPECT_EQ(next, n);
      EXPECT_EQ(report.method, "filter, products");
      ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(query, search, run_), theirs));
    }
  }
}

// A sink searches itself, and several threads search at the same time. None may wait for another for ever, and each
// must have its answer.
TEST_F(FakeTensorFilter, SearchesWithinAndBesideASearch) {
  const Table train = table(300), query = table(100);
  const SearchOptions search{.n_neighbors = 7};
  const Neighbors theirs = on_processor(train, query, search);
  set_sizes({9, 0, 0});
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  int blocks = 0;
  const auto within = [&](const auto& self, int depth) -> void {
    index.kneighbors(query, search, run_, [&](const Neighbors& block) {
      ++blocks;
      if (depth > 0 && block.first_query % 27 == 0) self(self, depth - 1);
      for (std::int64_t i = 0; i < block.n_queries() * 7; ++i) {
        ASSERT_EQ(block.indices[static_cast<std::size_t>(i)],
                  theirs.indices[static_cast<std::size_t>(block.first_query * 7 + i)]);
      }
    });
  };
  within(within, 2);
  EXPECT_EQ(blocks, 12 + 4 * 12 + 16 * 12);
  std::vector<Neighbors> ours(6);
  {
    std::vector<std::jthread> threads;
    for (Neighbors& mine : ours) threads.emplace_back([&] { mine = index.kneighbors(query, search, run_); });
  }
  for (const Neighbors& mine : ours) expect_same(mine, theirs);
}

// The only place is taken until the first batch has its answer.
TEST_F(FakeTensorFilter, ABatchThatWaitsForAPlaceGoesOnWhenOneIsFree) {
  const Table train = table(40, 0.0);
  const knn::Fitted fitted(train, {}, {});
  const knn::ImageMap map(fitted, *fitted.kernel().filter_form());
  knn::TensorFilterSpec spec(fitted, map, knn::ImageElement::halves, fitted.n_rows(), 1, 1);
  spec.spec.n_slots = 1;
  knn::TensorFilter filter(0, spec);
  ThreadPool pool(1);
  knn::RowLoader(0, fitted, 0).load(filter, 0, 0, fitted.n_rows(), pool, {});
  const knn::cuda_abi::TensorQuery query{fitted.rows(), 1, 1, -1, 0};
  const auto nothing = [](const knn::cuda_abi::FilterAnswer&, ThreadPool*) {};
  std::future<void> other;
  const auto flight = filter.submit(query, [&](const knn::cuda_abi::FilterAnswer&, ThreadPool*) {
    other = std::async(std::launch::async, [&] { filter.settle(*filter.submit(query, nothing)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it waits now
  });
  filter.finish(*flight, pool);
  EXPECT_EQ(other.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  filter.settle(*filter.submit(query, nothing));  // this wakes it, too
}

// Blocks of 30 queries, three batches of 10, are searched in five parts.
TEST_F(FakeTensorFilter, ThreeBatchesAreUnderWayWhereTheTableComesInParts) {
  const Table train = table(400), query = table(100);
  const Neighbors theirs = on_processor(train, query, {});
  for (const std::int64_t most : {0, 1, 2, 3}) {
    SCOPED_TRACE(most);
    set_sizes({10, 90, 0, most});
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    const FakeCount third_batches("stope_fake_third_batches");
    expect_same(index.kneighbors(query, {}, run_), theirs);
    if (most == 1 || most == 2) {
      EXPECT_EQ(third_batches.since(), 0);
    } else {
      EXPECT_GT(third_batches.since(), 20);
    }
  }
}

TEST_F(FakeTensorFilter, BatchesAreAsLongAsTheEnvironmentSaysWhereListsAreShort) {
  const knn::Fitted fitted(table(40, 0.0), {}, {});
  const knn::ImageMap map(fitted, *fitted.kernel().filter_form());
  const auto most_queries = [&](std::int64_t forced, std::int64_t k) {
    set_sizes({forced, 0, 0});
    return knn::TensorFilterSpec(fitted, map, knn::ImageElement::halves, fitted.n_rows(), 1'000'000, k)
        .spec.most_queries;
  };
  EXPECT_EQ(most_queries(0, 10), 33792);
  EXPECT_EQ(most_queries(40000, 10), 40000);
  EXPECT_EQ(most_queries(100000, 10), 67584);
  EXPECT_EQ(most_queries(100000, 25), 33792);
  EXPECT_EQ(most_queries(100000, 129), 4224);
}

// Queries lack values that every training row has. Images that allow for it are made as soon as there are many.
TEST_F(FakeTensorFilter, GapsInQueriesAlone) {
  const Table train = table(400, 0.0), whole = table(300, 0.0), gaps = table(300, 0.3);
  const SearchOptions search{.n_neighbors = 7};
  for (const std::int64_t device_rows : {0, 90}) {
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    const auto uncertified = [&](const Table& query) {
      set_sizes({20, device_rows, 0});
      const auto [ours, report] = searched(index, query, search);
      expect_same(ours, on_processor(train, query, search));
      return report.uncertified;
    };
    EXPECT_EQ(uncertified(whole), 0);
    // Only the last rows lack values: the first blocks' answers stay.
    Table late = whole;
    for (std::size_t c = 0; c < late.columns.size(); ++c) {
      if (late.columns[c].nominal()) continue;
      std::vector<double> values;
      for (std::int64_t i = 0; i < late.n_rows; ++i) {
        values.push_back((i < 200 ? whole : gaps).columns[c].at(i));
      }
      late.columns[c] = make_numeric(late.columns[c].name, values);
    }
    EXPECT_LT(uncertified(late), 40) << "of 71 with gaps";
    EXPECT_LT(uncertified(gaps), 20) << "of 220; some lack everything";
    EXPECT_EQ(uncertified(whole), 0);
    const Table one = gaps.take({0, 1, 2});
    const KnnIndex fresh = KnnIndex::fit(train, {}, run_);
    EXPECT_GT(fresh.kneighbors(one, search, run_, [](const Neighbors&) {}).uncertified, 0) << "not worth new images";
  }
}

// A filter made for few queries is made anew, once, for far more. Where there is no room, the old one stays.
TEST_F(FakeTensorFilter, FewQueriesFirst) {
  const Table train = table(60), few = table(10), many = table(9000);
  const SearchOptions search{.n_neighbors = 7};
  const Neighbors of_few = on_processor(train, few, search), of_many = on_processor(train, many, search);
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  const auto makes_images = [&](const Table& query, const Neighbors& theirs) {
    const auto [ours, report] = searched(index, query, search);
    expect_same(ours, theirs);
    return std::any_of(report.gpu_seconds.begin(), report.gpu_seconds.end(),
                       [](const auto& step) { return step.first == "table images" && step.second > 0.0; });
  };
  EXPECT_TRUE(makes_images(few, of_few));
  EXPECT_FALSE(makes_images(few, of_few));
  EXPECT_TRUE(makes_images(many, of_many));
  EXPECT_FALSE(makes_images(few, of_few));
  EXPECT_FALSE(makes_images(many, of_many));

  const auto fit = [&] {
    KnnIndex fitted = KnnIndex::fit(train, {}, run_);
    fitted.kneighbors(few, search, run_);
    return fitted;
  };
  EXPECT_GT(
      fail_every_allocation_once(of_many, fit, [&](const KnnIndex& i) { return i.kneighbors(many, search, run_); }), 2);
}

// Makes 100 columns of small whole numbers; `value` of row and column replaces some.
template <class Value>
Table whole_numbers(std::int64_t n, const Value& value) {
  Table table;
  table.n_rows = n;
  for (std::int64_t c = 0; c < 100; ++c) {
    std::vector<double> values;
    for (std::int64_t r = 0; r < n; ++r) values.push_back(value(r, c, static_cast<double>((r * 7 + c * c) % 101)));
    table.columns.push_back(make_numeric("x" + std::to_string(c), values));
  }
  return table;
}

// Images are of bytes where rows are small whole numbers, and of halves where that turns out to be wrong.
TEST_F(FakeTensorFilter, BytesWhereRowsAreSmallWholeNumbers) {
  const auto as_is = [](std::int64_t, std::int64_t, double value) { return value; };
  const auto halves_beside = [](std::int64_t r, std::int64_t c, double value) {
    return r % 3 == 1 && c == 7 ? value + 0.25 : value;
  };
  const Table train = whole_numbers(3000, as_is), few = whole_numbers(60, as_is);
  const SearchOptions search{.n_neighbors = 7};
  const auto method = [&](const KnnIndex& index, const Table& query, std::int64_t device_rows) {
    set_sizes({0, device_rows, 0});
    const auto [ours, report] = searched(index, query, search);
    set_sizes({0, 0, 0});
    unsetenv("STOPE_BACKEND");
    expect_same(ours, index.kneighbors(query, search, {.device = "cpu"}));
    setenv("STOPE_BACKEND", "cuda", 1);
    return report.method + " " + report.method_reason.substr(0, report.method_reason.find("; all tiles"));
  };
  const std::string halves = " in half precision, on the matrix units", bytes = " in bytes, on the matrix units";
  EXPECT_EQ(method(KnnIndex::fit(train), few, 0), "filter, products" + halves) << "a GPU without a scan of bytes";
  setenv("STOPE_FAKE", "byte filters", 1);
  const std::string parts = ", the table in parts";
  std::int64_t number = 0;
  for (const std::int64_t device_rows : {0, 700}) {
    SCOPED_TRACE(device_rows);
    const std::string in = device_rows > 0 ? ", in parts" : "", why = device_rows > 0 ? parts : "";
    const std::string of_bytes = "filter, byte products" + in + bytes + why;
    const std::string of_halves = "filter, products" + in + halves + why;
    const auto fit = [&] { return KnnIndex::fit(train, {}, run_); };
    EXPECT_EQ(method(fit(), few, device_rows), of_bytes);
    const KnnIndex index = fit();
    EXPECT_EQ(method(index, few.take({0, 1, 2}), device_rows), of_bytes);
    EXPECT_EQ(method(index, whole_numbers(60, halves_beside).take({0, 1, 2}), device_rows), of_bytes)
        << "not worth new images";
    EXPECT_EQ(method(index, whole_numbers(400, halves_beside), device_rows), of_halves);
    EXPECT_EQ(method(index, few, device_rows), of_halves) << "they stay";
    for (const char* scan : {"halves", "sm80", "few"}) {
      if (!chosen(number++)) continue;
      setenv("STOPE_CUDA_SCAN", scan, 1);
      EXPECT_EQ(method(fit(), few, device_rows), of_halves) << scan;
    }
    unsetenv("STOPE_CUDA_SCAN");
    // No sample of 1024 rows has these values.
    const auto beside = [&](std::int64_t every) {
      return KnnIndex::fit(whole_numbers(3000,
                                         [&](std::int64_t r, std::int64_t c, double value) {
                                           const bool sampled = (r * 1024 + 2999) / 3000 * 3000 / 1024 == r;
                                           return r % every == 1 && !sampled && c == 7 ? value + 0.25 : value;
                                         }),
                           {}, run_);
    };
    EXPECT_EQ(method(beside(1000), few, device_rows), of_bytes);
    EXPECT_EQ(method(beside(2), few, device_rows), device_rows > 0 ? of_bytes : of_halves) << "parts have fewer rows";
  }
}

TEST_F(FakeTensorFilter, ALostGpuIsReportedWhereverItHappens) {
  const Table train = table(400), query = table(50);
  const Neighbors theirs = on_processor(train, query, {});
  for (const std::int64_t device_rows : {0, 90}) {
    set_sizes({10, device_rows, 0});
    run_.device = "cuda:1,1";
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    EXPECT_GT(lose_the_gpu_at_every_call(theirs, [&] { return index.kneighbors(query, {}, run_); }), 10);
    expect_same(index.kneighbors(query, {}, run_), theirs);
  }
}

TEST_F(FakeTensorFilter, AnAllocationThatFailsOnceCostsOnlyRoom) {
  const Table train = table(400), query = table(50);
  const Neighbors theirs = on_processor(train, query, {});
  for (const std::int64_t device_rows : {0, 90}) {
    set_sizes({10, device_rows, 0});
    const auto fit = [&] { return KnnIndex::fit(train, {}, run_); };
    const auto search = [&](const KnnIndex& index) { return index.kneighbors(query, {}, run_); };
    EXPECT_GT(fail_every_allocation_once(theirs, fit, search), 2);
  }
}

// A GPU that nobody asked for may fail: the CPU then goes on where it stopped, and the report says so.
TEST_F(FakeTensorFilter, AutoTakesTheGpuWhereItPaysAndTheProcessorWhereItFails) {
  const Table train = table(200), query = table(1200);
  const Neighbors theirs = on_processor(train, query, {});
  KnnIndex::fit(train).kneighbors(query, {}, run_);  // starts the driver
  unsetenv("STOPE_BACKEND");
  const RunOptions automatic = {.threads = 1};
  const auto search = [&](const KnnIndex& index, const Table& queries) {
    return index.kneighbors(queries, {}, automatic, [](const Neighbors&) {});
  };
  const KnnIndex index = KnnIndex::fit(train);
  const SearchReport little = search(index, table(5));
  EXPECT_NE(little.backend, "cuda");
  EXPECT_EQ(little.device_reason, "auto: under 1 ms on the CPU, 14 ms on the GPU");
  const SearchReport report = search(index, query);
  EXPECT_EQ(report.backend, "cuda");
  EXPECT_EQ(report.reason, "New Card, sm_90");
  EXPECT_TRUE(report.device_reason.starts_with("auto: about ")) << report.device_reason;
  expect_same(index.kneighbors(query, {}, automatic), theirs);
  set_sizes({200, 0, 0});
  int lost = 0;
  for (std::int64_t n = 1;; n += 2) {
    ASSERT_LT(n, 200);
    const KnnIndex fresh = KnnIndex::fit(train);
    fault::arm_device(n);
    const Neighbors ours = fresh.kneighbors(query, {}, automatic);
    ASSERT_NO_FATAL_FAILURE(expect_same(ours, theirs));
    const SearchReport after = search(fresh, query);
    fault::arm_device(0);
    if (after.backend == "cuda") break;
    EXPECT_TRUE(after.device_reason.starts_with("auto: the GPU was given up: lost while ")) << after.device_reason;
    EXPECT_TRUE(after.reason.starts_with("filters with ")) << after.reason;
    ++lost;
  }
  EXPECT_GT(lost, 5);
}

TEST_F(FakeTensorFilter, StopsWhenCancelled) {
  const Table train = table(400), query = table(200);
  for (const std::int64_t device_rows : {0, 90}) {
    set_sizes({10, device_rows, 0});
    const RunOptions run = {.threads = 2, .device = "cuda:1,1"};
    const KnnIndex index = KnnIndex::fit(train, {}, run);
    try {
      index.kneighbors(query, {}, run, [&](const Neighbors&) { run.cancel.cancel(); });
      FAIL() << "not cancelled";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
  }
}

}  // namespace
}  // namespace stope
