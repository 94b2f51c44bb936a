// One run of a command: its run options, its messages on stderr, and the JSON object that it prints at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments/run_arguments.hpp"
#include "report/json.hpp"
#include "report/progress.hpp"
#include "stope/knn.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::cli {

class Session {
 public:
  Session(std::string command, const RunArguments& arguments, const CancelToken& cancel);

  const RunArguments& arguments() const { return arguments_; }
  const RunOptions& run() const { return run_; }
  /// The object of --json; commands add "options", "scores", ...
  Json& json() { return json_; }
  /// Adds an array that is too long to be held: `element` makes its n elements one after the other when it is printed.
  void add_json_array(const std::string& key, std::int64_t n, std::function<Json(std::int64_t)> element);
  bool quiet() const { return arguments_.quiet; }

  /// Says something to people, on stderr; silent under --quiet. `text` ends with its own newline.
  void say(std::string_view text);
  /// Warns on stderr and in the JSON.
  void warn(const std::string& text);

  /// Runs `work` and adds its seconds to the phase of that name.
  template <class Work>
  auto timed(const std::string& phase, const Work& work) {
    const Stopwatch stopwatch{*this, phase, Clock::now()};
    return work();
  }

  /// Notes an input table for the JSON.
  void note_input(const std::string& role, const std::string& path, const Table& table);
  /// Says what stays in memory while the rest of the command runs: these tables and `more` bytes. An explicit
  /// --memory-limit shrinks by it. Each call replaces the one before.
  void hold(std::initializer_list<const Table*> tables, std::int64_t more = 0);
  /// Notes an output path for the JSON.
  void note_output(const std::string& path);
  /// Notes how a search ran, for the JSON, and on stderr under --explain.
  void note_plan(const SearchReport& report);

  /// True if data are to be written: to `path`, or to stdout if --json does not need it. Warns if not.
  bool wants_data(const std::string& path);

  /// Prints the timings under --explain and the JSON object under --json.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Stopwatch {
    Session& session;
    std::string phase;
    Clock::time_point start;
    ~Stopwatch() { session.add_seconds(phase, std::chrono::duration<double>(Clock::now() - start).count()); }
  };
  struct LongArray {
    std::string key;
    std::int64_t n;
    std::function<Json(std::int64_t)> element;
  };
  void add_seconds(const std::string& phase, double seconds);
  void print_json() const;

  const RunArguments& arguments_;
  Progress progress_;
  RunOptions run_;
  std::int64_t memory_limit_;  // as given; run_ has the rest of it
  Json json_;
  std::vector<LongArray> long_arrays_;
  std::vector<std::pair<std::string, double>> seconds_;
  std::vector<std::string> warnings_;
  Clock::time_point start_;
};

/// One line for a terminal: a line end becomes a blank, other control characters become \xNN.
std::string one_line(std::string_view text);

/// How much of a table lies where: "1.2 MB in memory".
std::string storage_text(const Table& table);

/// 1234567 -> "1.2 MB".
std::string format_bytes(std::int64_t bytes);

}  // namespace stope::cli
