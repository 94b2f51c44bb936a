// Runs the jobs of the earlier works (prior_works.py lists them) as a caller of the library does, from tables in memory
// to the answer in memory. Reads one case per line from standard input and prints one JSON object per case.
//
//   classify KEY=VALUE...    fits a table and predicts the classes of another: every repetition does the whole
//   matrix KEY=VALUE...      hands out the distances of all pairs, block by block
//   one-by-one KEY=VALUE...  fits once, then searches one query after another; the times after 1, 100, 200, ... queries
//   write KEY=VALUE...       writes the two tables of a case, data=decimals, as CSV to train=PATH and test=PATH
//
//   rows= queries= columns= k= data= (uniform) nominal= missing= metric= compat= device= threads= repeats= (3)
//   seconds=                 repetitions, and queries of one-by-one, end when so long was spent on them
//
// "answer" is a hash of all that came back. Hashes are equal if the answers are equal to the last bit.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/knn_pairwise.hpp"
#include "support/made_table.hpp"
#include "support/words.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// FNV-1a over the bytes of values.
class Hash {
 public:
  template <class T>
  void add(const T* values, std::size_t n) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values);
    for (std::size_t i = 0; i < n * sizeof(T); ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3ULL;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

struct Case {
  explicit Case(stope::bench::Words& words) {
    n = words.integer("rows", 1000);
    m = words.integer("queries", 1000);
    k = words.integer("k", 10);
    stope::bench::TableKind kind{.numeric = words.text("data", "uniform"), .n_columns = words.integer("columns", 50)};
    kind.n_nominal = words.integer("nominal", 0);
    kind.missing = words.number("missing", 0.0);
    options.metric.name = words.text("metric", kind.n_nominal > 0 ? "mixed-euclidean" : "euclidean");
    options.compat = stope::compat(words.text("compat", "none"));
    run.device = words.text("device", "auto");
    run.threads = static_cast<int>(words.integer("threads", 0));
    repeats = words.integer("repeats", 3);
    seconds = words.number("seconds", std::numeric_limits<double>::infinity());
    const stope::bench::TableMaker maker(kind);
    train = maker.table(n, 1);
    query = maker.table(m, 2);
  }

  // Adds two random classes; the time does not depend on them.
  void add_label() {
    stope::Buffer<std::int32_t> codes(n);
    stope::Random random(3);
    for (std::int32_t& code : codes) code = static_cast<std::int32_t>(random.below(2));
    train.columns.push_back({"class", stope::ValueType::nominal, stope::Role::label, codes, {"no", "yes"}});
  }

  std::int64_t n, m, k, repeats;
  double seconds;
  stope::KnnOptions options;
  stope::RunOptions run;
  stope::Table train, query;
};

// The printed results of a case, whatever the job.
struct Outcome {
  double first = 0.0;
  std::vector<double> milliseconds;
  std::vector<std::int64_t> queries;  // one-by-one: the number of queries for each time
  std::uint64_t answer = 0;
  stope::SearchReport report;
};

// The hashed parts of an answer. Blocks may be cut anywhere, so each kind of value has its own hash.
struct Hashes {
  Hash first, second;
};

// Repeats a whole job. The first time is kept apart: it includes the start of a GPU's driver, and only its answer is
// hashed.
Outcome repeat(const Case& job, const std::function<stope::SearchReport(Hashes*)>& whole) {
  Outcome outcome;
  Hashes hashes;
  const Clock::time_point start = Clock::now();
  outcome.report = whole(&hashes);
  outcome.first = 1e3 * seconds_since(start);
  outcome.answer = hashes.first.value() ^ (hashes.second.value() << 1);
  for (std::int64_t i = 0; i < job.repeats && seconds_since(start) < job.seconds; ++i) {
    const Clock::time_point begin = Clock::now();
    outcome.report = whole(nullptr);
    outcome.milliseconds.push_back(1e3 * seconds_since(begin));
  }
  return outcome;
}

Outcome classify(Case& job) {
  job.add_label();
  return repeat(job, [&](Hashes* hashes) {
    const auto classifier = stope::KnnClassifier::fit(job.train, job.options, job.run);
    return classifier.predict(job.query, {.n_neighbors = job.k}, job.run,
                              [&](std::int64_t, const stope::Classification& block) {
                                if (hashes == nullptr) return;
                                hashes->first.add(block.codes.data(), block.codes.size());
                                hashes->second.add(block.confidences.data(), block.confidences.size());
                              });
  });
}

Outcome matrix(const Case& job) {
  constexpr std::int64_t kHashed = 97;  // every 97th row, since hashing all would take longer than the distances
  return repeat(job, [&](Hashes* hashes) {
    return stope::pairwise_distances(
        job.query, job.train, {.knn = job.options}, job.run, [&](const stope::PairwiseBlock& block) {
          if (hashes == nullptr) return;
          for (std::int64_t i = 0; i < block.n_requests; ++i) {
            if ((block.first_request + i) % kHashed != 0) continue;
            hashes->first.add(block.values + i * block.n_reference, static_cast<std::size_t>(block.n_reference));
          }
        });
  });
}

Outcome one_by_one(const Case& job) {
  const auto index = stope::KnnIndex::fit(job.train, job.options, job.run);
  Outcome outcome;
  Hash hash;
  // The first use of a GPU starts its driver and makes what the index keeps. The very first time includes both.
  const Clock::time_point start = Clock::now();
  for (std::int64_t query = 0; query < job.m; ++query) {
    const stope::Table row = job.query.take({query});
    outcome.report = index.kneighbors(row, {.n_neighbors = job.k}, job.run, [&](const stope::Neighbors& found) {
      if (query >= 10) return;
      hash.add(found.indices.data(), found.indices.size());
      hash.add(found.distances.data(), found.distances.size());
    });
    const std::int64_t done = query + 1;
    const bool last = done == job.m || seconds_since(start) > job.seconds;
    if (done == 1 || done == 10 || done % 100 == 0 || last) {
      outcome.queries.push_back(done);
      outcome.milliseconds.push_back(1e3 * seconds_since(start));
    }
    if (done == 10) outcome.answer = hash.value();
    if (last) break;
  }
  return outcome;
}

void append_row(std::string& text, const stope::Table& table, std::int64_t row) {
  for (const stope::Column& column : table.columns) {
    if (column.nominal()) {
      text += column.values[static_cast<std::size_t>(column.codes()[row])];
    } else {
      char digits[] = "0.00000";
      auto value = std::llround(1e5 * column.at(row));
      for (std::size_t i = 6; i > 1; --i, value /= 10) digits[i] = static_cast<char>('0' + value % 10);
      text += digits;
    }
    text += &column == &table.columns.back() ? '\n' : ',';
  }
}

// Writes a table of decimals (and a label) as CSV. 0.12345 is written from its digits, which is many times as fast as
// the shortest text of a double, and is read as the same number.
void write(const std::string& path, const stope::Table& table) {
  constexpr std::int64_t kRowsPerTask = 4096, kTasks = 64;
  stope::OutputFile file(path);
  for (const stope::Column& column : table.columns) file.write((&column == &table.columns[0] ? "" : ",") + column.name);
  file.write("\n");
  stope::ThreadPool pool(0);
  std::vector<std::string> texts(kTasks);
  for (std::int64_t first = 0; first < table.n_rows; first += kRowsPerTask * kTasks) {
    pool.parallel_for(kTasks, {}, [&](std::int64_t task, int) {
      std::string& text = texts[static_cast<std::size_t>(task)];
      text.clear();
      const std::int64_t begin = first + task * kRowsPerTask, end = std::min(begin + kRowsPerTask, table.n_rows);
      for (std::int64_t row = begin; row < end; ++row) append_row(text, table, row);
    });
    for (const std::string& text : texts) file.write(text);
  }
  file.commit();
}

void print(const Case& job, const Outcome& outcome) {
  const stope::SearchReport& report = outcome.report;
  std::printf(
      "{\"backend\": \"%s\", \"method\": \"%s\", \"threads\": %d, \"device\": \"%s\", \"answer\": \"%016llx\", ",
      report.backend.c_str(), report.method.c_str(), report.threads, job.run.device.c_str(),
      static_cast<unsigned long long>(outcome.answer));
  std::printf("\"uncertified\": %lld, \"first_ms\": %.3f, \"milliseconds\": [",
              static_cast<long long>(report.uncertified), outcome.first);
  for (std::size_t i = 0; i < outcome.milliseconds.size(); ++i) {
    std::printf("%s%.3f", i > 0 ? ", " : "", outcome.milliseconds[i]);
  }
  std::printf("], \"queries\": [");
  for (std::size_t i = 0; i < outcome.queries.size(); ++i) {
    std::printf("%s%lld", i > 0 ? ", " : "", static_cast<long long>(outcome.queries[i]));
  }
  std::printf("], \"gpu_ms\": {");
  for (std::size_t i = 0; i < report.gpu_seconds.size(); ++i) {
    const auto& [step, seconds] = report.gpu_seconds[i];
    std::printf("%s\"%s\": %.4f", i > 0 ? ", " : "", step.c_str(), 1e3 * seconds);
  }
  std::printf("}}\n");
}

void run_line(const std::string& line) {
  const std::string name = line.substr(0, line.find(' '));
  stope::bench::Words words(line.substr(name.size()));
  const std::string train = words.text("train", ""), test = words.text("test", "");
  Case job(words);
  words.done();
  if (name == "classify") {
    print(job, classify(job));
  } else if (name == "matrix") {
    print(job, matrix(job));
  } else if (name == "one-by-one") {
    print(job, one_by_one(job));
  } else if (name == "write") {
    job.add_label();
    write(train, job.train);
    write(test, job.query);
    std::printf("{}\n");
  } else {
    throw stope::Error(stope::ErrorCode::invalid_argument, "no job '" + name + "'");
  }
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      run_line(line);
    } catch (const std::exception& error) {
      std::string text = error.what();
      for (char& c : text) c = c == '"' || c == '\\' ? '\'' : c;
      std::printf("{\"error\": \"%s\"}\n", text.c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}
