// Which formats the outputs of the commands have. The suffix of -o names one, unless --output-format or --format does.
// One table lists them, so that a command's --output-format takes exactly the formats that its suffixes name.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stope::cli {

/// Rows with named fields, which RecordWriter writes.
inline constexpr std::string_view kRecords[] = {".csv", ".tsv", ".json", ".jsonl", ".md"};
/// Tables, which the library writes, but for JSON and Markdown.
inline constexpr std::string_view kTables[] = {".csv",   ".tsv",   ".arff",    ".npy",   ".fvecs", ".bvecs",
                                               ".ivecs", ".raw",   ".json",    ".jsonl", ".md",    ".parquet",
                                               ".pq",    ".arrow", ".feather", ".ipc",   ".arrows"};

/// The suffix of a file's name in lower case, before one of .gz and .zst: ".csv". Empty for "-", devices and names
/// without a dot.
std::string suffix_of(const std::string& path);

/// True for "-" and the other names of stdout: /dev/stdout, /dev/fd/1, /proc/self/fd/1.
bool is_stdout(const std::string& path);

/// True for pipes, devices and what stands for a descriptor. They have no suffix.
bool is_stream(const std::string& path);

/// Throws invalid_argument unless the suffix of `path` is one of `suffixes`. Names without a suffix, stdout and devices
/// get the first format.
void require_suffix(const std::string& option, const std::string& path, std::span<const std::string_view> suffixes);

/// The words that --output-format takes for the output -o of a command: its suffixes without the dot, and formats that
/// make several files.
std::vector<std::string> formats_of(std::string_view command);

/// The format of an output as a word: `format` if it is named, else the suffix of `path` without the dot. Empty where
/// neither says anything.
std::string format_word(const std::string& format, const std::string& path);

/// Throws invalid_argument, naming `option`, unless the word is one of these suffixes without the dot.
void require_format(const std::string& option, const std::string& format, std::span<const std::string_view> suffixes);

/// Checks the suffix of an output option, e.g. "-o", by the table of all commands. Options that are not in it are the
/// command's own business.
void check_suffix(const std::string& command, const std::string& option, const std::string& path);

}  // namespace stope::cli
