// One run of a command (cli/report/session.hpp).
#include "report/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "report/backend_report.hpp"
#include "report/output.hpp"
#include "stope/error.hpp"
#include "stope/escape.hpp"
#include "stope/version.hpp"

namespace stope::cli {
namespace {

constexpr int kJsonVersion = 1;  // raised when a member changes its meaning or goes away

// Names in a table may be any bytes, and JSON is UTF-8. Other bytes become U+FFFD instead of an error.
std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

// Stands for a long array until it is printed. No value that a command adds begins with it.
std::string placeholder(const std::string& key) {
  return "\x01" + key;
}

// An element of an array that is a member of the outermost object: lines are indented by four.
std::string element_text(const Json& element) {
  std::string text;
  for (const char c : json_text(element)) {
    text += c;
    if (c == '\n') text += "    ";
  }
  return text;
}

}  // namespace

Session::Session(std::string command, const RunArguments& arguments, const CancelToken& cancel)
    : arguments_(arguments),
      progress_(arguments.progress_style()),
      run_(arguments.run_options(cancel)),
      memory_limit_(run_.memory_limit),
      start_(Clock::now()) {
  if (arguments.progress_style() != ProgressStyle::off) {
    run_.progress = [this](std::string_view phase, std::int64_t done, std::int64_t total) {
      progress_.update(phase, done, total);
    };
  }
  json_["schema_version"] = kJsonVersion;
  json_["program"] = "stope " + std::string(version());
  json_["command"] = std::move(command);
}

void Session::say(std::string_view text) {
  progress_.clear();
  if (quiet()) return;
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Session::warn(const std::string& text) {
  warnings_.push_back(text);
  say("stope: warning: " + one_line(text) + "\n");
}

void Session::add_seconds(const std::string& phase, double seconds) {
  for (auto& [name, sum] : seconds_) {
    if (name == phase) {
      sum += seconds;
      return;
    }
  }
  seconds_.emplace_back(phase, seconds);
}

void Session::note_input(const std::string& role, const std::string& path, const Table& table) {
  const Json input = {{"role", role},
                      {"path", path},
                      {"rows", table.n_rows},
                      {"columns", table.columns.size()},
                      {"features", table.features().size()},
                      {"bytes", table.bytes()},
                      {"bytes_in_memory", table.bytes_in_memory()}};
  json_["inputs"].push_back(input);
  if (!arguments_.explain) return;
  say(fmt::format("{:<9} {}: {} rows, {} columns, {} features, {}\n", role, one_line(path), table.n_rows,
                  table.columns.size(), table.features().size(), storage_text(table)));
}

void Session::hold(std::initializer_list<const Table*> tables, std::int64_t more) {
  if (memory_limit_ == 0) return;  // the measured available memory already excludes them
  std::int64_t held = more;
  std::string names;
  for (const Table* table : tables) {
    held += table->bytes_in_memory();
    names += (names.empty() ? "" : " and ") + one_line(table->source);
  }
  if (held >= memory_limit_) {
    throw Error(ErrorCode::out_of_memory, names + ": the nominal values and results that stay in memory take " +
                                              std::to_string(held) + " bytes, but the memory limit is " +
                                              std::to_string(memory_limit_));
  }
  run_.memory_limit = memory_limit_ - held;
}

void Session::note_output(const std::string& path) {
  json_["outputs"].push_back(path);
}

void Session::note_plan(const SearchReport& report) {
  Json plan = backend_json(report);
  plan.update({{"method", report.method},
               {"method_reason", report.method_reason},
               {"threads", report.threads},
               {"tile_queries", report.tile_queries},
               {"tile_rows", report.tile_rows},
               {"part_rows", report.part_rows},
               {"memory_budget", report.memory_budget},
               {"memory_planned", report.memory_planned},
               {"pairs", report.pairs},
               {"scanned", report.scanned},
               {"skipped", report.skipped},
               {"listed", report.listed},
               {"evaluated", report.evaluated},
               {"uncertified", report.uncertified},
               {"seconds", report.seconds}});
  for (const auto& [name, seconds] : report.gpu_seconds) plan["gpu_seconds"][name] = seconds;
  json_["plan"] = std::move(plan);
  if (!arguments_.explain) return;
  const double rate = report.seconds > 0 ? static_cast<double>(report.pairs) / report.seconds : 0;
  say_backend(*this, report);
  say(fmt::format("method    {}{}\n", report.method,
                  report.method_reason.empty() ? "" : " (" + report.method_reason + ")"));
  say(fmt::format("tiles     {} queries x {} rows, {} rows in memory, {} threads\n", report.tile_queries,
                  report.tile_rows, report.part_rows, report.threads));
  say(fmt::format("memory    {} planned, budget {}\n", format_bytes(report.memory_planned),
                  format_bytes(report.memory_budget)));
  say(fmt::format("search    {} pairs in {:.3f} s ({:.3g} per second), {} distances computed\n", report.pairs,
                  report.seconds, rate, report.evaluated));
  if (report.scanned > 0) {
    say(fmt::format("filter    {} pairs compared, {} ruled out in blocks, {} listed\n", report.scanned, report.skipped,
                    report.listed));
  }
  std::string steps;
  for (const auto& [name, seconds] : report.gpu_seconds) {
    steps += fmt::format("{}{} {:.3g} ms", steps.empty() ? "" : ", ", name, 1e3 * seconds);
  }
  if (!steps.empty()) say("gpu       " + steps + "\n");
  if (report.uncertified > 0) say(fmt::format("fall-back {} queries by the reference\n", report.uncertified));
}

bool Session::wants_data(const std::string& path) {
  if (!arguments_.json) return true;
  if (path == "-") {
    throw Error(ErrorCode::invalid_argument, "--json and -o - both write to stdout: give -o FILE for the data");
  }
  if (!path.empty()) return true;
  warn("no data were written, because --json uses stdout (-o FILE writes them)");
  return false;
}

void Session::finish() {
  progress_.clear();
  const double total = std::chrono::duration<double>(Clock::now() - start_).count();
  Json timings;
  std::string line;
  for (const auto& [phase, seconds] : seconds_) {
    timings[phase] = seconds;
    line += fmt::format("{} {:.3f} s, ", phase, seconds);
  }
  timings["total"] = total;
  if (arguments_.explain) say(fmt::format("time      {}total {:.3f} s\n", line, total));
  if (!arguments_.json) return;
  json_["timings"] = timings;
  json_["warnings"] = warnings_;
  print_json();
}

void Session::add_json_array(const std::string& key, std::int64_t n, std::function<Json(std::int64_t)> element) {
  json_[key] = n > 0 ? Json(placeholder(key)) : Json::array();
  if (n > 0) long_arrays_.push_back({key, n, std::move(element)});
}

// Prints as if the whole object were printed at once. A line that begins with exactly two blanks is a member of the
// outermost object: the arrays go there.
void Session::print_json() const {
  const std::string text = json_text(json_) + "\n";
  OutputFile file("-");
  std::size_t at = 0;
  for (const LongArray& array : long_arrays_) {
    const std::string head = "\n  " + json_text(array.key) + ": ", marked = head + json_text(placeholder(array.key));
    const std::size_t found = text.find(marked, at);
    file.write(text.substr(at, found - at) + head + "[");
    for (std::int64_t i = 0; i < array.n; ++i) {
      file.write((i > 0 ? ",\n    " : "\n    ") + element_text(array.element(i)));
    }
    file.write("\n  ]");
    at = found + marked.size();
  }
  file.write(text.substr(at));
  file.commit();
}

std::string storage_text(const Table& table) {
  const std::int64_t memory = table.bytes_in_memory(), file = table.bytes() - memory;
  if (file == 0) return format_bytes(memory) + " in memory";
  return format_bytes(file) + " in a temporary file, " + format_bytes(memory) + " in memory";
}

std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return escape_controls(line);
}

std::string format_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

}  // namespace stope::cli
