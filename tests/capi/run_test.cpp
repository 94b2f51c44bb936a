// Runs of the C ABI: settings, cancellation from other threads and signal handlers, progress, reports, warnings.
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "capi/capi.hpp"

namespace capi_test {
namespace {

JobRun make_run() {
  JobRun run;
  EXPECT_EQ(stope_run_new(run.out(), nullptr), STOPE_OK);
  return run;
}

// Large enough that a search with itself takes seconds, whatever the machine.
Table large() {
  std::vector<double> rows(std::size_t{200000} * 8);
  std::uint64_t state = 1;
  for (double& value : rows) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<double>(state >> 11) * 0x1p-53;
  }
  Table table;
  const stope_array array = array_of(rows.data(), 200000, 8);
  EXPECT_EQ(stope_table_from_array(&array, nullptr, nullptr, nullptr, nullptr, table.out(), nullptr), STOPE_OK);
  return table;
}

Model searcher(const stope_table* table) {
  Model model;
  Failure failure;
  const Options measure = options({{"metric", "manhattan"}});
  EXPECT_OK(stope_fit("neighbors", table, measure, nullptr, model.out(), &failure));
  return model;
}

TEST(Runs, TakeSettingsByName) {
  const JobRun run = make_run();
  Failure failure;
  EXPECT_OK(stope_run_set(run, "threads", "2", &failure));
  EXPECT_OK(stope_run_set(run, "memory_limit", "1.5GiB", &failure));
  EXPECT_OK(stope_run_set(run, "memory_limit", "2 gb", &failure)) << "as the command line reads it";
  EXPECT_OK(stope_run_set(run, "device", "cpu", &failure));
  EXPECT_REFUSED(stope_run_set(run, "treads", "2", &failure), STOPE_INVALID_ARGUMENT, "did you mean 'threads'?");
  EXPECT_REFUSED(stope_run_set(run, "threads", "-1", &failure), STOPE_INVALID_ARGUMENT, "is no number of threads");
  EXPECT_REFUSED(stope_run_set(run, "threads", "5000000000", &failure), STOPE_INVALID_ARGUMENT, "no number of threads");
  EXPECT_OK(stope_run_set(run, "memory_limit", "0", &failure)) << "the default";
  EXPECT_REFUSED(stope_run_set(run, "memory_limit", "much", &failure), STOPE_INVALID_ARGUMENT, "is not a size");
  EXPECT_REFUSED(stope_run_set(run, "memory_limit", "1e30", &failure), STOPE_INVALID_ARGUMENT, "is not a size");
  EXPECT_OK(stope_run_set(run, "device", "abacus", &failure));
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}}, {1, 2, 3});
  Table out;
  EXPECT_REFUSED(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure), STOPE_INVALID_ARGUMENT,
                 "abacus");
}

TEST(Runs, KeepTheReportAndTheWarningsOfTheirJobs) {
  const JobRun run = make_run();
  Failure failure;
  EXPECT_EQ(told(run, stope_run_report), Json::object());
  EXPECT_EQ(told(run, stope_run_warnings), Json::array());
  EXPECT_OK(stope_run_set(run, "threads", "1", &failure));
  std::vector<double> rows;
  for (int i = 0; i < 40; ++i) rows.insert(rows.end(), {i / 40.0, i * 1000.0});
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}, {"y", STOPE_REGULAR, "real", {}}}, rows);
  Model model;
  Table found;
  EXPECT_OK(stope_fit("neighbors", table, nullptr, run, model.out(), &failure));
  EXPECT_OK(stope_apply(model, table, nullptr, run, found.out(), &failure));
  const Json report = told(run, stope_run_report);
  EXPECT_EQ(report["pairs"], 1600);
  EXPECT_EQ(report["threads"], 1);
  const Json warnings = told(run, stope_run_warnings);
  ASSERT_FALSE(warnings.empty()) << "ranges differ by a factor of 40,000";
  EXPECT_EQ(warnings[0]["code"], "ranges_apart");
  EXPECT_OK(stope_run_reset(run, &failure));
  EXPECT_EQ(told(run, stope_run_report), Json::object());
  EXPECT_EQ(told(run, stope_run_warnings), Json::array());
}

std::atomic<stope_run*> interrupted = nullptr;
void interrupt(int /*signal*/) {
  stope_run_cancel(interrupted);
}

// A job that would take seconds ends once `stop` has asked it to.
template <class Stop>
void expect_stopped(const Stop& stop) {
  const Table table = large();
  const Model model = searcher(table);
  const JobRun run = make_run();
  Failure failure;
  std::vector<std::int64_t> indices(200000 * 5);
  std::vector<double> distances(indices.size());
  std::atomic<bool> ended = false;
  std::thread other([&] {
    // The watch is asked while the job works.
    char phase[32] = "";
    std::int64_t done = -1, total = -1;
    while (!ended && (stope_run_progress(run, phase, &done, &total) != 1 || done <= 0 || total <= 0)) {
      EXPECT_EQ(told(run, stope_run_report), Json::object());  // any thread may ask at any time
      EXPECT_EQ(told(run, stope_run_warnings), Json::array());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(ended) << "the job was too small";
    EXPECT_LE(done, total);
    EXPECT_NE(std::string(phase), "");
    stop(run);
  });
  EXPECT_REFUSED(stope_neighbors(model, table, 5, nullptr, run, indices.data(), distances.data(), &failure),
                 STOPE_CANCELLED, "cancelled");
  ended = true;
  other.join();
  EXPECT_EQ(stope_run_progress(run, nullptr, nullptr, nullptr), 0);

  Table out;
  EXPECT_EQ(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure), STOPE_CANCELLED);
  EXPECT_OK(stope_run_reset(run, &failure));
  EXPECT_OK(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure));
}

TEST(Runs, AreCancelledByAnotherThread) {
  expect_stopped([](stope_run* run) { stope_run_cancel(run); });
}

TEST(Runs, AreCancelledByASignalHandler) {
  const auto before = std::signal(SIGUSR1, interrupt);
  expect_stopped([](stope_run* run) {
    interrupted = run;
    std::raise(SIGUSR1);
  });
  std::signal(SIGUSR1, before);
}

TEST(Runs, DoOneJobAtATime) {
  const Table table = large();
  const Model model = searcher(table);
  const JobRun run = make_run();
  Failure failure;
  std::vector<std::int64_t> indices(200000 * 5);
  std::vector<double> distances(indices.size());
  std::thread first([&] {
    Failure its;
    EXPECT_EQ(stope_neighbors(model, table, 5, nullptr, run, indices.data(), distances.data(), &its), STOPE_CANCELLED);
  });
  while (stope_run_progress(run, nullptr, nullptr, nullptr) != 1) std::this_thread::yield();
  Table out;
  EXPECT_REFUSED(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure), STOPE_INVALID_ARGUMENT,
                 "busy with another job");
  EXPECT_REFUSED(stope_run_set(run, "threads", "1", &failure), STOPE_INVALID_ARGUMENT, "busy");
  EXPECT_REFUSED(stope_run_reset(run, &failure), STOPE_INVALID_ARGUMENT, "busy");
  stope_run_cancel(run);
  first.join();
}

TEST(Runs, LeaveNothingToTheRunsAfterThem) {
  for (int i = 0; i < 100; ++i) {
    const JobRun run = make_run();
    const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}}, {1, 2, 3});
    Table out;
    Failure failure;
    EXPECT_OK(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure));  // not cancelled by the last
    stope_run_cancel(run);
    EXPECT_EQ(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure), STOPE_CANCELLED);
  }
}

TEST(Runs, CutWhatTheyTellToTheRoomThereIs) {
  const JobRun run = make_run();
  char text[8] = "???????";
  EXPECT_EQ(stope_run_report(run, text, 2), 3);
  EXPECT_STREQ(text, "{");
  EXPECT_EQ(text[2], '?');
  EXPECT_EQ(stope_run_report(run, text, 0), 3);
  EXPECT_EQ(stope_run_report(run, nullptr, 8), 3);
  EXPECT_EQ(stope_run_report(run, text, -1), -1);
  EXPECT_EQ(stope_run_report(nullptr, text, 8), -1);
}

TEST(Runs, ResumeWithTheirReportAndWarnings) {
  const JobRun run = make_run();
  Failure failure;
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}}, {1, 2, 3});
  Table out;
  EXPECT_OK(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure));
  stope_run_cancel(run);
  EXPECT_EQ(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure), STOPE_CANCELLED);
  EXPECT_OK(stope_run_resume(run, &failure));
  EXPECT_OK(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure));
  const Json report = told(run, stope_run_report);
  Builder builder;
  EXPECT_OK(stope_builder_new(0, run, builder.out(), &failure));
  EXPECT_EQ(told(run, stope_run_report), report) << "a builder is no job";
}

TEST(Runs, OutliveTheirHandleWhereABuilderUsesThem) {
  Failure failure;
  JobRun first = make_run();
  Builder builder;
  EXPECT_OK(stope_builder_new(0, first, builder.out(), &failure));
  EXPECT_OK(stope_builder_column(builder, "x", STOPE_REGULAR, "real", nullptr, 0, &failure));
  stope_run* const gone = first;
  first = {};
  stope_run_cancel(gone);
  const JobRun second = make_run();
  stope_run_cancel(second);
  const double rows[] = {1, 2};
  const stope_array block = array_of(rows, 2, 1);
  EXPECT_OK(stope_builder_append(builder, &block, &failure));
}

TEST(Runs, AreNotCancelledByACancelOfTheRunBefore) {
  std::atomic<stope_run*> last = nullptr;
  std::atomic<bool> ended = false;
  std::thread canceller([&] {
    while (!ended) stope_run_cancel(last);
  });
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}}, {1, 2, 3});
  for (int i = 0; i < 3000; ++i) {
    {
      const JobRun before = make_run();
      last = before;  // it is cancelled while it is freed
    }
    const JobRun run = make_run();
    Table out;
    Failure failure;
    ASSERT_EQ(stope_compute("stats", table, nullptr, nullptr, run, out.out(), &failure), STOPE_OK) << failure.message;
  }
  ended = true;
  canceller.join();
}

TEST(Runs, SixteenThreadsShareOneModel) {
  std::vector<double> rows;
  for (int i = 0; i < 3000; ++i)
    rows.insert(rows.end(), {static_cast<double>(i % 97), static_cast<double>(i % 31), i % 3 * 1.0});
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}},
                                {"y", STOPE_REGULAR, "real", {}},
                                {"label", STOPE_LABEL, "nominal", {"a", "b", "c"}}},
                               rows);
  Model model;
  Failure failure;
  EXPECT_OK(stope_fit("classify", table, nullptr, nullptr, model.out(), &failure));
  Table expected;
  EXPECT_OK(stope_apply(model, table, nullptr, nullptr, expected.out(), &failure));
  const std::vector<double> wanted = column(expected, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 3; ++repeat) {
        const JobRun run = make_run();
        Table found;
        EXPECT_EQ(stope_apply(model, table, nullptr, run, found.out(), nullptr), STOPE_OK);
        EXPECT_EQ(column(found, 0), wanted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace capi_test
