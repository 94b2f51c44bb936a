// Fails every allocation of a small run once, and every one from then on: of every job of the public API, and of front
// ends that read tables and write predictions, cuts, trees and model files. Each failure in the library must come out
// as Error{out_of_memory}. It must leave no file and (under the address sanitizer) no memory behind.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "base/fault.hpp"
#include "effort.hpp"
#include "fault/every_job.hpp"
#include "io/cuts_json.hpp"
#include "io/temporary_folder.hpp"
#include "stope/arrow.hpp"
#include "stope/find_cuts.hpp"
#include "stope/io.hpp"
#include "stope/knn.hpp"
#include "stope/model.hpp"
#include "stope/stope.h"
#include "stope/tree.hpp"
#include "stope/tree_format.hpp"

namespace {

std::atomic<long> countdown{0};            // 0 = off; the allocation that takes it from 1 to 0 fails
std::atomic<bool> all_that_follow{false};  // whether those behind it fail, too
std::atomic<bool> exhausted{false};        // memory has run out for good

bool this_one_fails() noexcept {
  if (exhausted.load(std::memory_order_relaxed)) return true;
  if (countdown.load(std::memory_order_relaxed) <= 0) return false;
  const bool fails = countdown.fetch_sub(1, std::memory_order_relaxed) == 1;
  if (fails && all_that_follow.load(std::memory_order_relaxed)) exhausted.store(true);
  return fails;
}

void* allocate(std::size_t bytes) {
  if (this_one_fails()) throw std::bad_alloc();
  if (void* p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}

void* allocate(std::size_t bytes, std::align_val_t alignment) {
  if (this_one_fails()) throw std::bad_alloc();
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(unit, (bytes + unit) / unit * unit)) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t a) {
  return allocate(bytes, a);
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
  return allocate(bytes, a);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return this_one_fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return this_one_fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  if (this_one_fails()) return nullptr;
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (bytes + unit) / unit * unit);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete[](void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace stope {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPatience = 400;  // seconds after which a test ends that waits for a lost thread
constexpr const char* kOut = "out.csv";

class AllocFault : public TemporaryFolder {
 protected:
  void SetUp() override {
    ::alarm(kPatience);
    TemporaryFolder::SetUp();
    put("train.csv", "x,c,y\n0,red,a\n1.5,blue,b\n,red,a\n3,green,b\n\"4\",blue,\"b\"\n");
    put("test.csv", "x,c\n1,red\n,blue\n2,purple\n");
    put("train.arff",
        "@relation r\n@attribute x numeric\n@attribute c {red,blue,green}\n@attribute y {a,b}\n@data\n0,red,a\n"
        "1.5,blue,b\n?,red,a\n{0 3,1 green}\n");
    put("schema.json",
        R"({"columns": [{"name": "x", "type": "real"}, {"name": "c", "type": "nominal", "values": ["red", "blue",)"
        R"( "green"]}, {"name": "y", "type": "nominal", "role": "label", "values": ["a", "b"]}]})");
    out_ = at(kOut);
  }
  void TearDown() override {
    ::alarm(0);
    TemporaryFolder::TearDown();
  }

  /// Runs `job` with allocation 1, 2, 3, ... failing until it succeeds; returns how many failed.
  template <class Job>
  long sweep(const Job& job) {
    job();  // once without a fault: makes the pools and caches that live as long as the process
    const std::string want = content(kOut);
    const std::size_t complete = files().size();
    for (long n = 1; n < 100000; ++n) {
      fs::remove(out_);
      bool failed = false;
      std::string unexpected;
      countdown.store(n);
      try {
        job();
      } catch (const std::bad_alloc&) {
        failed = true;  // of the test's own part of the job; EveryJob below has no such part
      } catch (const Error& error) {
        countdown.store(0);
        failed = true;
        if (error.code() != ErrorCode::out_of_memory) unexpected = error.what();
      } catch (const std::exception& error) {
        countdown.store(0);
        failed = true;
        unexpected = error.what();
      }
      const bool spent = countdown.exchange(0) <= 0;
      EXPECT_EQ(unexpected, "") << "allocation " << n;
      if (failed) {
        // A failure after the rename may leave the output, but only whole; nothing else may stay.
        const bool written = fs::exists(out_);
        EXPECT_EQ(files().size(), written ? complete : complete - 1) << "allocation " << n << " leaves a file behind";
        if (written) {
          EXPECT_EQ(content(kOut), want) << "allocation " << n;
        }
      } else {
        EXPECT_EQ(content(kOut), want) << "allocation " << n;
        if (!spent) return n - 1;  // fewer than n allocations happened: all have failed once
      }
      if (HasFailure()) return n;
    }
    ADD_FAILURE() << "no end to the allocations";
    return 0;
  }

  void classify(const std::string& train_file, const ReadOptions& read, const KnnOptions& knn) const {
    RunOptions run;
    run.threads = threads_;
    const Table train = read_table(train_file, read, run);
    const Table test = read_table(at("test.csv"), {}, run);
    const KnnClassifier model = KnnClassifier::fit(train, knn, run);
    VoteOptions vote;
    vote.n_neighbors = 3;
    const Classification result = model.predict(test, vote, run);
    Table table;
    table.columns.push_back(make_nominal("prediction", result.codes, result.classes));
    table.n_rows = static_cast<std::int64_t>(result.codes.size());
    write_table(out_, table, {}, run);
  }

  std::string out_;
  int threads_ = 1;
};

TEST_F(AllocFault, ClassifyCsv) {
  ReadOptions read;
  read.target = "y";
  read.target_is_nominal = true;
  EXPECT_GT(sweep([&] { classify(at("train.csv"), read, {}); }), 50);
}

TEST_F(AllocFault, ClassifyUnderCompat) {
  ReadOptions read;
  read.target = "y";
  read.target_is_nominal = true;
  KnnOptions knn;
  knn.compat = Compat::rapidminer;
  EXPECT_GT(sweep([&] { classify(at("train.csv"), read, knn); }), 50);
}

TEST_F(AllocFault, ClassifyArff) {
  ReadOptions read;
  read.target = "y";
  EXPECT_GT(sweep([&] { classify(at("train.arff"), read, {}); }), 50);
}

/// Fails large allocations through their own hook: overrides based on malloc do not see them.
TEST_F(AllocFault, LargeAllocations) {
  ReadOptions read;
  read.target = "y";
  read.target_is_nominal = true;
  classify(at("train.csv"), read, {});
  const std::size_t complete = files().size();
  std::int64_t failures = 0;
  for (std::int64_t n = 1; n < 1000; ++n) {
    fs::remove(out_);
    fault::arm_alloc(n);
    try {
      classify(at("train.csv"), read, {});
      fault::arm_alloc(0);
      EXPECT_EQ(failures, n - 1);
      EXPECT_GE(failures, 3);
      return;
    } catch (const Error& error) {
      fault::arm_alloc(0);
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      EXPECT_EQ(files().size(), complete - 1);
      ++failures;
    }
  }
  FAIL() << "no end to the allocations";
}

TEST_F(AllocFault, ClassifyCsvOnSeveralThreads) {
  threads_ = 3;
  ReadOptions read;
  read.target = "y";
  read.target_is_nominal = true;
  EXPECT_GT(sweep([&] { classify(at("train.csv"), read, {}); }), 50);
}

TEST_F(AllocFault, ClassifyWithSchema) {
  ReadOptions read;
  read.schema = at("schema.json");
  EXPECT_GT(sweep([&] { classify(at("train.csv"), read, {}); }), 50);
}

TEST_F(AllocFault, Discretize) {
  ReadOptions read;
  read.target = "y";
  read.target_is_nominal = true;
  EXPECT_GT(
      sweep([&] {
        RunOptions run;
        run.threads = 1;
        const Table train = read_table(at("train.csv"), read, run);
        BestCutOptions ranking;
        ranking.missing = MissingPolicy::value;
        ranking.n_permutations = 3;
        best_cuts(train, ranking, run);
        DiscretizeOptions options;
        options.missing = MissingPolicy::value;
        for (const auto method : {DiscretizeMethod::mdlp, DiscretizeMethod::chimerge, DiscretizeMethod::md_global}) {
          options.method = method;
          const CutSet cuts = io::parse_cuts(io::cuts_text(find_cuts(train, options, run)), "cuts");
          if (method != DiscretizeMethod::md_global) continue;
          write_table(out_, apply_cuts(train, cuts, {MissingPolicy::value, CodeStyle::labels}, run), {}, run);
        }
      }),
      100);
}

// Grows and prunes trees, writes every format, and predicts, on one thread and on several.
TEST_F(AllocFault, Trees) {
  const ReadOptions read{.target = "y", .target_is_nominal = true};
  for (const int threads : {1, 3}) {
    const long failures = sweep([&] {
      RunOptions run;
      run.threads = threads;
      const Table train = read_table(at("train.csv"), read, run);
      TreeOptions options;
      options.missing = MissingPolicy::value;
      options.class_weights = {{"a", 1.5}};
      options.ccp_alpha = 1e-9;
      DecisionTree tree = DecisionTree::fit(train, options, run);
      tree.prune_reduced_error(train, run);
      std::string text;
      for (const auto format :
           {TreeFormat::text, TreeFormat::json, TreeFormat::dot, TreeFormat::svg, TreeFormat::rules}) {
        text += format_tree(tree, format);
      }
      for (const std::int32_t code : tree.predict(read_table(at("test.csv"), {}, run), run).codes) {
        text += tree.classes()[static_cast<std::size_t>(code)];
      }
      OutputFile file(out_);
      file.write(text);
      file.commit();
    });
    EXPECT_GT(failures, 100);
  }
}

// Model files are summarised, read, and saved again. A file that is half written, or read by halves, would be another
// model.
TEST_F(AllocFault, ModelFiles) {
  const Table train = read_table(at("train.csv"), {.target = "y", .target_is_nominal = true});
  const Table numbers = read_table(put("numbers.csv", "x,z\n0,1\n1.5,3\n2,2\n"), {});
  const TreeOptions grow{.missing = MissingPolicy::value};
  const DiscretizeOptions cut{.method = DiscretizeMethod::md_global, .missing = MissingPolicy::value};
  const std::vector<Model> models = {
      {outline(train), DecisionTree::fit(train, grow)},
      {outline(train), CutsModel{find_cuts(train, cut), {MissingPolicy::value, CodeStyle::codes}}},
      {outline(train), NeighborsModel{train, {}, Normalizer::fit(train, {.method = Normalization::z}), 3, {}}},
      {outline(numbers), Pca::fit(numbers, {.n_components = 1})}};
  const std::string saved = at("saved.stope");
  for (const Model& model : models) {
    OutputFile first(saved);
    write_model(first, model);
    first.commit();
    const long failures = sweep([&] {
      EXPECT_EQ(summarize_model(saved).columns.columns.size(), model.columns.columns.size());
      OutputFile file(out_);
      write_model(file, read_model(saved));
      file.commit();
    });
    EXPECT_EQ(content(kOut), content("saved.stope")) << model.kind();
    EXPECT_GT(failures, 30) << model.kind();
  }
}

/// The parameter: the number of threads.
class EveryJob : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(, EveryJob, testing::Values(1, 3));

// Fails allocation n of a call, and with `all` every one from then on. Returns whether the call made that many.
bool fail_one(const every_job::Job& job, const Table& table, long n, bool all) {
  const every_job::Call call = job.call_for(table);
  std::string unexpected;
  const auto memory_is_back = [] {
    all_that_follow.store(false);
    exhausted.store(false);
    return countdown.exchange(0) <= 0;
  };
  bool spent = false;
  all_that_follow.store(all);
  countdown.store(n);
  try {
    call();
    spent = memory_is_back();
  } catch (const Error& error) {
    spent = memory_is_back();
    if (error.code() != ErrorCode::out_of_memory) unexpected = error.what();
  } catch (const std::exception& error) {
    spent = memory_is_back();
    unexpected = std::string("no Error: ") + error.what();
  }
  EXPECT_EQ(unexpected, "") << job.name << ", allocation " << n << (all ? " and all that follow" : "");
  return spent;
}

void fail_each(int threads, bool all) {
  constexpr long kEvery = 300, kMost = 100000;  // the first ones all, then a sample
  // Under a sanitizer each of the four tests fails every third allocation. Among them they fail all of the first.
  const long step = effort() < 100 ? 3 : 1, first = step == 1 ? 1 : 1 + (threads > 1 ? 1 : 0) + (all ? 1 : 0);
  const std::vector<every_job::Job> jobs = every_job::Jobs({.threads = threads, .device = "cpu"}).all();
  const Table table = every_job::good_table();
  for (const every_job::Job& job : jobs) {
    job.run(table);  // once without a fault: makes the pools and caches that live as long as the process
    long n = first;
    while (n < kMost && !testing::Test::HasFailure() && fail_one(job, table, n, all)) n += step * (n < kEvery ? 1 : 17);
    EXPECT_LT(n, kMost) << job.name << ": no end to the allocations";
    EXPECT_GT(n, 1) << job.name;
    job.run(table);  // what failed has broken nothing that the next call needs
  }
}

TEST_P(EveryJob, LeavesByAnErrorWhicheverAllocationFails) {
  fail_each(GetParam(), false);
}

TEST_P(EveryJob, LeavesByAnErrorWhereverMemoryRunsOutForGood) {
  fail_each(GetParam(), true);
}

// A table of the C ABI whose memory is lent: its release calls the C ABI, as a guest's may, also where the table is
// given up because memory is short.
struct Lent {
  Lent() {
    column_schema.format = "g";
    column_schema.name = "x";
    schema.format = "+s";
    schema.n_children = 1;
    schema.children = schemas;
    column_schema.release = schema.release = [](ArrowSchema* gone) { gone->release = nullptr; };
    column.length = batch.length = 2;
    column.n_buffers = 2;
    column.buffers = of_column;
    column.release = [](ArrowArray* gone) { gone->release = nullptr; };
    batch.n_buffers = batch.n_children = 1;
    batch.buffers = of_batch;
    batch.children = columns;
    batch.release = released;
  }
  static void released(ArrowArray* gone) {
    gone->release = nullptr;
    if (another != nullptr) {
      EXPECT_EQ(stope_table_rows(another), 2);
    }
  }
  static inline stope_table* another = nullptr;

  double values[2] = {1.0, 2.0};
  const void* of_column[2] = {nullptr, values};
  const void* of_batch[1] = {nullptr};
  ArrowSchema column_schema{}, schema{};
  ArrowArray column{}, batch{};
  ArrowSchema* schemas[1] = {&column_schema};
  ArrowArray* columns[1] = {&column};
};

TEST_F(AllocFault, TablesOfTheCAbiWhoseReleaseCallsItAgain) {
  std::vector<stope_table*> kept;
  long failures = 0;
  for (int table = 0; table < 40; ++table) {  // the table of handles grows several times
    for (long n = 1;; ++n) {
      Lent lent;
      stope_table* made = nullptr;
      countdown.store(n);
      const stope_code code = stope_table_from_arrow_array(&lent.schema, &lent.batch, nullptr, nullptr, &made, nullptr);
      countdown.store(0);
      EXPECT_EQ(lent.batch.release, nullptr);
      if (code == STOPE_OK) {
        kept.push_back(made);
        Lent::another = kept.front();
        break;
      }
      ASSERT_EQ(code, STOPE_OUT_OF_MEMORY);
      EXPECT_EQ(made, nullptr);
      ++failures;
    }
  }
  EXPECT_GT(failures, 400);
  Lent::another = nullptr;
  for (stope_table* one : kept) stope_table_free(one);
}

}  // namespace
}  // namespace stope
