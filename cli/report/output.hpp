// The output of data: small functions that every command needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/io.hpp"

namespace stope::cli {

class Session;

/// Commits the open files together and notes their paths for the JSON.
void commit_files(Session& session, const std::vector<std::optional<OutputFile>*>& files);

/// Throws if two of these outputs are stdout, which --json may use, too. check_paths() looks for two that are one file.
void require_distinct(const Session& session, const std::vector<std::string>& paths);

/// The path to which data go: `path`, or "-" if it is empty.
std::string output_path(const std::string& path);

/// `text`, but on a terminal only its first lines if it is long, and how to get the others.
std::string for_terminal(const std::string& path, std::string text);

/// Writes a whole text to `path` ("-" = stdout).
void write_text(const std::string& path, std::string_view text);

}  // namespace stope::cli
