// The output of data (cli/report/output.hpp).
#include "report/output.hpp"

#include <unistd.h>

#include <algorithm>

#include "report/output_format.hpp"
#include "report/session.hpp"
#include "stope/error.hpp"

namespace stope::cli {

void commit_files(Session& session, const std::vector<std::optional<OutputFile>*>& files) {
  std::vector<OutputFile*> there;
  for (std::optional<OutputFile>* file : files) {
    if (*file) there.push_back(&**file);
  }
  if (there.empty()) return;
  session.timed("write", [&] { OutputFile::commit_all(there); });
  for (const OutputFile* file : there) session.note_output(file->path());
}

void require_distinct(const Session& session, const std::vector<std::string>& paths) {
  const bool json = session.arguments().json;
  if (std::count_if(paths.begin(), paths.end(), is_stdout) > (json ? 0 : 1)) {
    throw Error(ErrorCode::invalid_argument, std::string("'-': only one output can go to stdout") +
                                                 (json ? ", the object of --json" : "; give the others files"));
  }
}

std::string output_path(const std::string& path) {
  return path.empty() ? "-" : path;
}

std::string for_terminal(const std::string& path, std::string text) {
  constexpr std::int64_t kMostLines = 500;  // some ten screens
  if (!path.empty() || ::isatty(STDOUT_FILENO) == 0) return text;
  const std::int64_t lines = std::count(text.begin(), text.end(), '\n');
  if (lines <= kMostLines) return text;
  std::size_t end = 0;
  for (std::int64_t line = 0; line < kMostLines; ++line) end = text.find('\n', end) + 1;
  text.resize(end);
  return text + "... and " + std::to_string(lines - kMostLines) + " more lines (-o FILE writes them all)\n";
}

void write_text(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace stope::cli
