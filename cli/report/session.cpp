// One run of a command (cli/report/session.hpp).
#include "report/session.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "report/hints.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "report/text_table.hpp"
#include "standard_streams.hpp"
#include "stope/error.hpp"
#include "stope/escape.hpp"
#include "stope/place_of_cell.hpp"
#include "stope/version.hpp"

namespace stope::cli {
namespace {

constexpr int kJsonVersion = 1;  // raised when a member changes its meaning or goes away

// Names in a table may be any bytes, and JSON is UTF-8. Other bytes become U+FFFD instead of an error.
std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

// Copies the file, but for the line end behind its text.
void copy_text(const std::string& path, OutputFile& to) {
  std::ifstream from(path, std::ios::binary);
  std::string block(std::size_t{1} << 16, '\0');
  bool line_end = false;
  for (;;) {
    from.read(block.data(), static_cast<std::streamsize>(block.size()));
    std::string_view text(block.data(), static_cast<std::size_t>(from.gcount()));
    if (text.empty()) return;
    if (line_end) to.write("\n");
    line_end = text.ends_with('\n');
    if (line_end) text.remove_suffix(1);
    to.write(text);
  }
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
  run_.warn = [this](std::string_view code, std::string_view text) {
    if (code == ignored_warning_) return;
    const std::string sentence = std::string(text) + hint_for(code);
    // A table that is both training and test table is read twice.
    if (std::find(warnings_.begin(), warnings_.end(), sentence) == warnings_.end()) warn(sentence);
  };
  json_["schema_version"] = kJsonVersion;
  json_["program"] = "stope " + std::string(version());
  json_["command"] = std::move(command);
}

Session::~Session() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void Session::say(std::string_view text) {
  progress_.clear();
  if (quiet()) return;
  write_to_stderr(text);
}

void Session::warn(const std::string& text) {
  warnings_.push_back(text);
  say("stope: warning: " + message_line(text) + "\n");
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
  say(fmt::format("{:<9} {}: {}, {}, {}, {}\n", role, one_line(path), counted(table.n_rows, "row"),
                  counted(std::ssize(table.columns), "column"), counted(std::ssize(table.features()), "feature"),
                  storage_text(table)));
}

void Session::hold(std::initializer_list<const Table*> tables, std::int64_t more) {
  if (memory_limit_ == 0) return;  // the measured available memory already excludes them
  std::int64_t held = more;
  std::string names;
  for (const Table* table : tables) {
    held += table->bytes_in_memory() + std::ssize(table->columns) * kColumnBytes;
    names += (names.empty() ? "" : " and ") + one_line(table->source);
  }
  if (held >= memory_limit_) {
    throw Error(ErrorCode::out_of_memory,
                names + ": the columns, the nominal values and the results that stay in memory take " +
                    std::to_string(held) + " bytes, and the job needs more");
  }
  run_.memory_limit = memory_limit_ - held;
  held_ = names;
}

// Says of an error about memory which limit was given, what of it is in use, and what is needed for the step that
// failed: later steps may need more.
std::string Session::memory_hint(const Error& error) const {
  if (error.code() != ErrorCode::out_of_memory || memory_limit_ == 0) return {};
  const std::int64_t held = memory_limit_ - run_.memory_limit;
  std::string text = fmt::format(" (--memory-limit {}", memory_limit_);
  if (held > 0) text += fmt::format(", of which {} holds {}", held_, held);
  if (error.bytes() > 0) text += fmt::format("; at least {} is needed", error.bytes() + held);
  return text + ")";
}

Error Session::explained(const Error& error) const {
  Place place = error.place();
  const auto reading =
      std::find_if(readings_.begin(), readings_.end(), [&](const auto& one) { return one.first == place.file; });
  if (place.line == 0 && reading != readings_.end()) {
    try {
      const Place found = place_of_cell(reading->first, reading->second, place.row, place.feature, run_);
      if (found.line > 0) place.file = found.file;  // one of several files
      place.line = found.line;
      place.column = found.column;
    } catch (const Error&) {  // the file has changed or gone, or was interrupted: the first error still stands
      place.line = 0;
    }
  }
  const auto command = json_["command"].get<std::string>();
  const std::string hints = memory_hint(error) + hint_for(error, command);
  place.option = option_name(place.option, command);
  return {error.code(), error.message() + hints, place};
}

void Session::note_output(const std::string& path) {
  if (!folder_.empty() && path.starts_with(folder_)) return;
  json_["outputs"].push_back(path);
}

bool Session::wants_data(const std::string& path) {
  if (!arguments_.json) return true;
  if (is_stdout(path)) {
    throw Error(ErrorCode::invalid_argument, "--json and '-' both write to stdout: name a file for the data");
  }
  if (!path.empty()) return true;
  warn("no data were written, because --json uses stdout (-o FILE writes them)");
  return false;
}

std::string Session::data_path(const std::string& path, const std::string& key) {
  if (!arguments_.json || !path.empty()) return wants_data(path) ? output_path(path) : path;
  if (folder_.empty()) {
    std::error_code failed;
    std::string name = (std::filesystem::temp_directory_path(failed) / "stope-XXXXXX").string();
    if (failed || ::mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorCode::io, "cannot make a temporary folder for the results of --json (TMPDIR says where)");
    }
    folder_ = name;
  }
  const std::string result = folder_ + "/" + key + ".json";
  json_[key] = Json::binary({}, long_arrays_.size());
  long_arrays_.push_back({0, {}, result});
  return result;
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

// Binary data, which no command adds, hold the number of the array.
Json Session::long_array(std::int64_t n, std::function<Json(std::int64_t)> element) {
  if (n == 0) return Json::array();
  long_arrays_.push_back({n, std::move(element), {}});
  return Json::binary({}, long_arrays_.size() - 1);
}

// Prints as json_text() would, but makes the elements of long arrays one by one.
void Session::print(OutputFile& file, const Json& json, const std::string& indent) const {
  const std::string inner = indent + "  ";
  std::string_view before = "\n";
  if (json.is_binary()) {
    const LongArray& array = long_arrays_[json.get_binary().subtype()];
    if (!array.path.empty()) {
      copy_text(array.path, file);
      return;
    }
    file.write("[");
    for (std::int64_t i = 0; i < array.n; ++i, before = ",\n") {
      run_.cancel.check();
      file.write(std::string(before) + inner);
      print(file, array.element(i), inner);
    }
    file.write("\n" + indent + "]");
  } else if (json.is_structured() && !json.empty()) {
    file.write(json.is_object() ? "{" : "[");
    for (auto item = json.begin(); item != json.end(); ++item, before = ",\n") {
      run_.cancel.check();
      file.write(std::string(before) + inner + (json.is_object() ? json_text(item.key()) + ": " : std::string()));
      print(file, *item, inner);
    }
    file.write("\n" + indent + (json.is_object() ? "}" : "]"));
  } else {
    file.write(json_text(json));
  }
}

void Session::print_json() const {
  OutputFile file("-", run_.cancel);
  print(file, json_, "");
  file.write("\n");
  file.commit();
}

void print_json(const Error& error) {
  const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
  const auto number = [](std::int64_t value, std::int64_t least) {
    return value < least ? Json(nullptr) : Json(value);
  };
  const Json json = {{"schema_version", kJsonVersion},
                     {"program", "stope " + std::string(version())},
                     {"error",
                      {{"code", std::string(to_string(error.code()))},
                       {"exit_code", exit_code(error.code())},
                       {"message", message_line(error.message())},
                       {"file", text(error.file())},
                       {"line", number(error.line(), 1)},
                       {"column", number(error.column(), 1)},
                       {"option", text(error.option())},
                       {"feature", text(error.feature())},
                       {"row", number(error.row(), 0)}}}};
  write_text("-", json_text(json) + "\n");
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

std::string message_line(std::string_view text) {
  // The place is at the beginning, the reason at the end; between them is what was found there.
  constexpr std::size_t kBegin = 700, kEnd = 300;
  std::string line = one_line(text);
  if (line.size() <= kBegin + kEnd) return line;
  const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80U; };
  std::size_t first = kBegin, last = line.size() - kEnd;
  while (inside(first)) --first;
  while (last < line.size() && inside(last)) ++last;
  return line.replace(first, last - first, "...");
}

}  // namespace stope::cli
