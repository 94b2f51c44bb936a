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
#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/knn.hpp"
#include "stope/report.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::cli {

class Session {
 public:
  Session(std::string command, const RunArguments& arguments, const CancelToken& cancel);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const RunArguments& arguments() const { return arguments_; }
  const RunOptions& run() const { return run_; }
  /// The object of --json; commands add "options", "scores", ...
  Json& json() { return json_; }
  /// Returns what stands for an array that is too long to be held, to be put anywhere into json(): `element` makes its
  /// n elements one after the other when the object is printed.
  Json long_array(std::int64_t n, std::function<Json(std::int64_t)> element);
  bool quiet() const { return arguments_.quiet; }

  /// Says something to people, on stderr; silent under --quiet. `text` ends with its own newline.
  void say(std::string_view text);
  /// Warns on stderr and in the JSON, as the library's warnings do.
  void warn(const std::string& text);
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// The seconds of the phases so far, in the order of their beginnings.
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }
  /// Drops the library's warnings of that code (stope/warning.hpp).
  void ignore_warning(std::string_view code) { ignored_warning_ = code; }

  /// Runs `work` and adds its seconds to the phase of that name.
  template <class Work>
  auto timed(const std::string& phase, const Work& work) {
    const Stopwatch stopwatch{*this, phase, Clock::now()};
    return work();
  }

  /// Notes how a table is read, so that an error about one of its rows can name the line.
  void note_reading(const std::string& path, const ReadOptions& options) { readings_.emplace_back(path, options); }
  /// The error as a user of the command line wants it: with file:line:column if it is about a cell of a text file, and
  /// with the option that does what the library advises.
  Error explained(const Error& error) const;

  /// Notes an input table for the JSON.
  void note_input(const std::string& role, const std::string& path, const Table& table);
  /// Says what stays in memory while the rest of the command runs: these tables and `more` bytes. An explicit
  /// --memory-limit shrinks by it. Each call replaces the one before.
  void hold(std::initializer_list<const Table*> tables, std::int64_t more = 0);
  /// Notes an output path for the JSON.
  void note_output(const std::string& path);
  /// Notes how a job ran, for the JSON, and on stderr under --explain.
  template <class AnyReport>
  void note_plan(const AnyReport& report) {
    if (arguments_.json) json_["plan"] = Json::parse(to_json(report));
    if (arguments_.explain) say(to_text(report));
  }

  /// True if data are to be written: to `path`, or to stdout if --json does not need it. Warns if not.
  bool wants_data(const std::string& path);
  /// The path to which a result goes: `path`, stdout if it is empty, or under --json a temporary file with the suffix
  /// .json, whose content becomes the member `key` of the object. So the object holds results of any length.
  std::string data_path(const std::string& path, const std::string& key);

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
    std::int64_t n;
    std::function<Json(std::int64_t)> element;
    std::string path;  // of the file that has its text instead
  };
  void add_seconds(const std::string& phase, double seconds);
  std::string memory_hint(const Error& error) const;
  void print_json() const;
  void print(OutputFile& file, const Json& json, const std::string& indent) const;

  const RunArguments& arguments_;
  Progress progress_;
  RunOptions run_;
  std::int64_t memory_limit_;  // as given; run_ has the rest of it
  std::string held_;           // names of the tables that hold what run_ lacks
  Json json_;
  std::vector<LongArray> long_arrays_;
  std::string folder_;  // of the temporary files with results, if there are any
  std::vector<std::pair<std::string, double>> seconds_;
  std::vector<std::string> warnings_;
  std::string ignored_warning_;
  std::vector<std::pair<std::string, ReadOptions>> readings_;
  Clock::time_point start_;
};

/// One line for a terminal: a line end becomes a blank, other control characters become \xNN.
std::string one_line(std::string_view text);
/// A message in one line of about a thousand bytes: "..." stands for the middle of a longer one.
std::string message_line(std::string_view text);

/// Prints what --json prints of a run that failed: an object with "error".
void print_json(const Error& error);

/// How much of a table lies where: "1.2 MB in memory".
std::string storage_text(const Table& table);

}  // namespace stope::cli
