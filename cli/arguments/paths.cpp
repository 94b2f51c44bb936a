#include "arguments/paths.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "report/output_format.hpp"
#include "stope/error.hpp"
#include "stope/table_files.hpp"

namespace stope::cli {
namespace {

constexpr int kMaxLinks = 40;  // the kernel follows as many

struct NamedPath {
  std::string option, path;
};

struct Paths {
  std::vector<NamedPath> inputs, outputs;
};

Paths paths_of(const CLI::App& command) {
  Paths paths;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const bool positional = option->get_positional();
    const std::string name = option->get_name(positional), type = option->get_type_name();
    const bool output = name == "-o" || name == "--output" || name == "OUT" || name == "--correlation" ||
                        name == "--report" || name.ends_with("-out");
    if (!output && type.find("FILE") == std::string::npos && type.find("TABLE") == std::string::npos) continue;
    const std::vector<std::string> words = option->results();
    if (output) {
      paths.outputs.push_back({name == "--output" ? "-o" : name, words.front()});
      continue;
    }
    for (const std::string& word : words) paths.inputs.push_back({name, word});
  }
  return paths;
}

bool is_data(const NamedPath& output) {
  return output.option == "-o" || output.option == "OUT";
}

bool is_one_file(const struct stat& a, const struct stat& b) {
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// An input '-' is the file that stdin was redirected from. An output '-' is none: the shell has emptied it already.
bool is_one_file(const std::string& output, const std::string& input) {
  struct stat first{}, second{};
  if (::stat(output.c_str(), &first) != 0) return false;
  if ((input == "-" ? ::fstat(STDIN_FILENO, &second) : ::stat(input.c_str(), &second)) != 0) return false;
  return is_one_file(first, second);
}

// The input may be a folder or a pattern, and the output one of its files.
bool is_one_of_files(const std::string& output, const std::string& input) {
  if (is_one_file(output, input)) return true;
  try {
    const std::vector<std::string> parts = files_of(input);
    return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) { return is_one_file(output, part); });
  } catch (const Error&) {
    return false;  // reading it tells what is wrong
  }
}

// The path of the file that an output replaces, also where it does not exist yet.
std::filesystem::path final_place(std::filesystem::path path) {
  std::error_code no_link, ignored;
  for (int links = 0; links < kMaxLinks; ++links) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, no_link);
    if (no_link) break;
    path = path.parent_path() / target;  // an absolute target replaces it all
  }
  const std::filesystem::path whole =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  return whole.empty() ? path : whole;
}

// Data go to stdout beside the named outputs. Where it leads to a file, the rename of an output would take the place of
// the data.
bool is_file_of_stdout(const std::string& path) {
  struct stat out{}, file{};
  return ::fstat(STDOUT_FILENO, &out) == 0 && ::stat(path.c_str(), &file) == 0 && is_one_file(out, file);
}

void require_distinct(const std::vector<NamedPath>& outputs) {
  std::set<std::filesystem::path> seen;
  for (const NamedPath& output : outputs) {
    if (output.path.empty() || is_stream(output.path) || seen.insert(final_place(output.path)).second) continue;
    throw Error(ErrorCode::invalid_argument,
                "'" + output.path + "' is named for two outputs: give each a file of its own",
                {.option = output.option});
  }
}

}  // namespace

void check_paths(const CLI::App& command) {
  const Paths paths = paths_of(command);
  require_distinct(paths.outputs);
  const auto given = [&](const char* option) {
    const CLI::Option* const found = command.get_option_no_throw(option);
    return found != nullptr && found->count() > 0;
  };
  const bool chosen = given("--output-format") || given("--format");
  const bool to_file = std::any_of(paths.outputs.begin(), paths.outputs.end(), is_data);
  if (chosen && !to_file && command.get_option("--json")->count() > 0) {
    throw Error(ErrorCode::invalid_argument, "--json holds the result as JSON: another format needs -o FILE");
  }
  for (const NamedPath& output : paths.outputs) {
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorCode::invalid_argument, output.option + why, {.option = output.option});
    };
    if (output.path.empty()) refuse(": the name is empty; '-' is stdout");
    for (const NamedPath& input : paths.inputs) {
      if (!is_one_of_files(output.path, input.path)) continue;
      refuse(" '" + output.path + "' is the same file as " + input.option + " '" + input.path +
             "', which it would replace: name another one");
    }
    if (!is_stream(output.path) && is_file_of_stdout(output.path)) {
      refuse(" '" + output.path + "' is the file that stdout goes to: name another one");
    }
    if (!is_data(output) || !chosen) check_suffix(command.get_name(), output.option, output.path);
  }
}

}  // namespace stope::cli
