// Progress of every job: told by the thread that called the job, never going back, ending at its total, readable from
// another thread meanwhile; and the callback may cancel the job.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "effort.hpp"
#include "stope/stope.hpp"

namespace stope {
namespace {

constexpr std::int64_t kRows = 40'000;

// Small enough for every job, and more than one task of each.
const Table& classes() {
  static const Table table = [] {
    TableGenerator generator({.kind = "blobs", .n_columns = 6, .n_rows = kRows, .seed = 1, .n_classes = 3});
    Table made = generator.rows(0, kRows);
    made.columns.back().role = Role::label;
    return made;
  }();
  return table;
}

const Table& few() {
  static const Table table = [] {
    std::vector<std::int64_t> rows(500);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
    return classes().take(rows);
  }();
  return table;
}

const Table& regression() {
  static const Table table = [] {
    Table copy = few();
    copy.n_rows = classes().n_rows;
    copy.columns = classes().columns;
    copy.columns.back().role = Role::ignore;
    copy.columns[0].role = Role::label;
    return copy;
  }();
  return table;
}

// Every third row lacks the first column.
const Table& holes() {
  static const Table table = [] {
    Table copy = classes();
    std::vector<double> values;
    for (std::int64_t row = 0; row < kRows; ++row) {
      values.push_back(row % 3 == 0 ? std::nan("") : copy.columns[0].at(row));
    }
    copy.columns[0] = make_numeric(copy.columns[0].name, values);
    return copy;
  }();
  return table;
}

struct Job {
  const char* name;
  std::function<void(const RunOptions&)> run;
};

std::string csv_file() {
  static const std::string path = [] {
    std::string name =
        (std::filesystem::temp_directory_path() / ("stope_progress_" + std::to_string(getpid()) + ".csv"));
    write_table(name, classes());
    return name;
  }();
  return path;
}

std::vector<Job> jobs() {
  static const KnnClassifier classifier = KnnClassifier::fit(few());
  static const Normalizer normalizer = Normalizer::fit(classes(), {.method = Normalization::z});
  static const Imputer imputer = Imputer::fit(few());
  static const Pca pca = Pca::fit(few(), {});
  static const LinearModel model = LinearModel::fit(regression(), {});
  static const DecisionTree tree = DecisionTree::fit(few());
  static const CutSet cuts = find_cuts(few(), {});
  return {
      {"fit of neighbours", [](const RunOptions& run) { KnnIndex::fit(classes(), {}, run); }},
      {"search", [](const RunOptions& run) { classifier.index().kneighbors(classes(), {}, run); }},
      {"classification", [](const RunOptions& run) { classifier.predict(classes(), {}, run); }},
      {"statistics", [](const RunOptions& run) { describe(classes(), {}, run); }},
      {"statistics by class",
       [](const RunOptions& run) { describe(classes(), {.by = classes().columns.back().name}, run); }},
      {"fit of ranges",
       [](const RunOptions& run) { Normalizer::fit(classes(), {.method = Normalization::range}, run); }},
      {"fit of quartiles",
       [](const RunOptions& run) { Normalizer::fit(classes(), {.method = Normalization::interquartile}, run); }},
      {"normalisation", [](const RunOptions& run) { normalizer.apply(classes(), run); }},
      {"fit of an imputer", [](const RunOptions& run) { Imputer::fit(classes(), {}, run); }},
      {"imputation", [](const RunOptions& run) { imputer.apply(holes(), run); }},
      {"PCA", [](const RunOptions& run) { Pca::fit(classes(), {}, run); }},
      {"transform", [](const RunOptions& run) { pca.transform(classes(), run); }},
      {"least squares", [](const RunOptions& run) { LinearModel::fit(regression(), {}, run); }},
      {"prediction by least squares", [](const RunOptions& run) { model.predict(regression(), run); }},
      {"best cuts", [](const RunOptions& run) { best_cuts(classes(), {}, run); }},
      {"permutations", [](const RunOptions& run) { best_cuts(few(), {.n_permutations = 20}, run); }},
      {"cuts", [](const RunOptions& run) { find_cuts(classes(), {.method = DiscretizeMethod::mdlp}, run); }},
      {"global cuts", [](const RunOptions& run) { find_cuts(few(), {}, run); }},
      {"coding", [](const RunOptions& run) { apply_cuts(classes(), cuts, {}, run); }},
      {"tree", [](const RunOptions& run) { DecisionTree::fit(classes(), {}, run); }},
      {"prediction by a tree", [](const RunOptions& run) { tree.predict(classes(), run); }},
      {"evaluation", [](const RunOptions& run) { evaluate(few(), {.knn = {}, .normalize = {}, .n_folds = 3}, run); }},
      {"pairwise distances",
       [](const RunOptions& run) { pairwise_distances(few(), few(), {}, run, [](const PairwiseBlock&) {}); }},
      {"second pass of statistics",
       [](const RunOptions& run) {
         describe(classes(), {.distinct = StatsOptions::Distinct::count, .histogram_bins = 10}, run);
       }},
      {"standard errors",
       [](const RunOptions& run) { LinearModel::fit(regression(), {.standard_errors = true}, run); }},
      {"ChiMerge", [](const RunOptions& run) { find_cuts(few(), {.method = DiscretizeMethod::chimerge}, run); }},
      {"writing", [](const RunOptions& run) { write_table(csv_file() + ".copy.csv", classes(), {}, run); }},
      {"reading what is compressed",
       [](const RunOptions& run) {
         const std::string path = csv_file() + ".gz";
         write_table(path, few(), {}, {});
         read_table(path, {}, run);
       }},
      {"reading a model",
       [](const RunOptions& run) {
         const std::string path = csv_file() + ".stope";
         OutputFile file(path);
         write_model(file, {outline(few()), pca});
         file.commit();
         read_model(path, run);
       }},
      {"reading", [](const RunOptions& run) { read_table(csv_file(), {}, run); }},
  };
}

// The stages that a user would otherwise wait for in silence.
TEST(Progress, NamesTheStagesOfAJob) {
  const std::map<std::string, std::vector<std::string>> wanted = {
      {"search", {"images", "search"}},
      {"fit of an imputer", {"fit", "columns"}},
      {"imputation", {"impute"}},
      {"pairwise distances", {"pairwise"}},
      {"second pass of statistics", {"statistics", "histograms", "distinct values"}},
      {"PCA", {"columns", "covariance", "tridiagonal form", "eigenvalues"}},
      {"standard errors", {"columns", "normal equations", "eigenvalues"}},
      {"tree", {"sort", "level 0", "rows in leaves"}},
      {"global cuts", {"sort", "cuts"}},
      {"ChiMerge", {"cuts"}},
      {"writing", {"write"}},
      {"reading what is compressed", {"load", "decompress", "read"}},
      {"reading a model", {"checksum"}},
  };
  std::size_t n_found = 0;
  for (const Job& job : jobs()) {
    const auto stages = wanted.find(job.name);
    if (stages == wanted.end()) continue;
    ++n_found;
    std::map<std::string, int> told;
    RunOptions run;
    run.threads = 2;
    run.device = "cpu";  // a GPU has stages of its own
    run.progress = [&](std::string_view phase, std::int64_t, std::int64_t) { ++told[std::string(phase)]; };
    job.run(run);
    for (const std::string& stage : stages->second) EXPECT_GE(told[stage], 1) << job.name << ": " << stage;
  }
  EXPECT_EQ(n_found, wanted.size());
}

TEST(Progress, TellsOfASearchWithinItsOneBlock) {
  std::vector<std::int64_t> told;
  RunOptions run;
  run.threads = 2;
  run.device = "cpu";  // a GPU's blocks are smaller
  run.progress = [&](std::string_view phase, std::int64_t done, std::int64_t) {
    if (phase == "search") told.push_back(done);
  };
  const KnnIndex index = KnnIndex::fit(few(), {});
  const SearchReport report = index.kneighbors(classes(), {}, run, [](const Neighbors&) {});
  ASSERT_EQ(report.tile_queries, classes().n_rows) << "the block is the whole table";
  EXPECT_GE(told.size(), 10U);
}

struct Told {
  std::int64_t done = 0, total = 0;
};

TEST(Progress, IsToldByTheCallingThreadAndEndsAtItsTotal) {
  std::int64_t number = 0;
  for (const Job& job : jobs()) {
    for (const int threads : {1, 4}) {
      if (threads == 1 && !chosen(number++)) continue;  // several threads are the harder case
      SCOPED_TRACE(std::string(job.name) + ", threads " + std::to_string(threads));
      const std::thread::id caller = std::this_thread::get_id();
      std::map<std::string, Told> phases;
      RunOptions run;
      run.threads = threads;
      run.progress = [&](std::string_view phase, std::int64_t done, std::int64_t total) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_TRUE(run.watch.state().running);
        Told& told = phases[std::string(phase)];
        EXPECT_GE(done, told.done) << phase;
        if (total > 0) {
          EXPECT_LE(done, total) << phase;
        }
        told = {done, total};
      };
      job.run(run);
      EXPECT_FALSE(run.watch.state().running);
      EXPECT_FALSE(phases.empty());
      for (const auto& [phase, told] : phases) {
        if (told.total > 0) {
          EXPECT_EQ(told.done, told.total) << phase;
        }
      }
    }
  }
}

TEST(Progress, IsReadFromAnotherThreadMeanwhile) {
  for (const Job& job : jobs()) {
    SCOPED_TRACE(job.name);
    RunOptions run;
    run.threads = 3;
    const ProgressWatch watch = run.watch;
    std::atomic<bool> over{false};
    std::thread reader([&] {
      while (!over.load()) {
        const ProgressState state = watch.state();
        if (state.total > 0) {
          EXPECT_LE(state.done, state.total) << state.phase;
        }
      }
    });
    job.run(run);
    over.store(true);
    reader.join();
    const ProgressState last = watch.state();
    EXPECT_NE(last.phase, "");
    if (last.total > 0) {
      EXPECT_EQ(last.done, last.total) << last.phase;
    }
    EXPECT_FALSE(last.running);
  }
}

TEST(Progress, TheCallbackMayCancelTheJob) {
  int n_cancelled = 0;
  for (const Job& job : jobs()) {
    SCOPED_TRACE(job.name);
    RunOptions run;
    run.threads = 1;  // what is not done has not begun, which is not so on a GPU
    run.device = "cpu";
    run.progress = [&](std::string_view, std::int64_t done, std::int64_t total) {
      if (done < total) run.cancel.cancel();
    };
    bool was_cancelled = false;
    try {
      job.run(run);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled) << error.what();
      was_cancelled = true;
    }
    EXPECT_EQ(was_cancelled, run.cancel.cancelled());
    n_cancelled += was_cancelled ? 1 : 0;
  }
  EXPECT_GE(n_cancelled, 12);
}

// What is done between two reports polls: once the token is set, at most the round under way is told to its end.
TEST(Progress, NothingGoesOnAfterACancelAtAnyMoment) {
  std::int64_t number = 0;
  for (const Job& job : jobs()) {
    SCOPED_TRACE(job.name);
    int n_reports = 0;
    RunOptions whole;
    whole.threads = 1;
    whole.progress = [&](std::string_view, std::int64_t, std::int64_t) { ++n_reports; };
    job.run(whole);
    for (const int moment : {1, n_reports / 3, n_reports * 2 / 3}) {
      if (!chosen(number++)) continue;
      int n_told = 0, n_after = 0;
      RunOptions run;
      run.threads = 1;
      run.progress = [&](std::string_view, std::int64_t, std::int64_t) {
        n_after += run.cancel.cancelled() ? 1 : 0;
        if (++n_told == moment) run.cancel.cancel();
      };
      try {
        job.run(run);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled) << error.what();
      }
      EXPECT_LE(n_after, 3) << "of " << n_reports << ", cancelled at " << moment;
    }
  }
}

TEST(Progress, EveryJobStopsWhereverAnotherThreadCancelsIt) {
  const int step = effort() < 40 ? 3 : 1;  // under a sanitizer, two moments a job, which differ from job to job
  int first = 0;
  for (const Job& job : jobs()) {
    SCOPED_TRACE(job.name);
    first = (first + 1) % step;
    for (int moment = first; moment < 6; moment += step) {
      RunOptions run;
      run.threads = 3;
      std::atomic<bool> over{false};
      std::atomic<std::int64_t> n_told{0};
      run.progress = [&](std::string_view, std::int64_t, std::int64_t) { n_told.fetch_add(1); };
      std::thread stopper([&] {
        while (!over.load() && n_told.load() < moment) std::this_thread::yield();
        run.cancel.cancel();
      });
      try {
        job.run(run);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::cancelled) << error.what();
      }
      over.store(true);
      stopper.join();
      EXPECT_FALSE(run.watch.state().running);
    }
  }
}

TEST(Progress, WhatTheCallbackThrowsReachesTheCaller) {
  for (const Job& job : jobs()) {
    SCOPED_TRACE(job.name);
    RunOptions run;
    run.threads = 3;
    run.progress = [](std::string_view, std::int64_t, std::int64_t) { throw Error(ErrorCode::io, "enough"); };
    try {
      job.run(run);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "enough");
    }
  }
}

}  // namespace
}  // namespace stope
