// Random bytes as several CSV files give one valid table or a stope::Error. Where no part has a mark or a header of its
// own, the table is that of the one text of all parts.
//
// The first byte chooses options; bytes of 1 divide the rest into parts.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fuzz_table.hpp"
#include "io/csv/join_parts.hpp"
#include "io/readers.hpp"
#include "mutate_text.hpp"

namespace {

using namespace stope;

/// A file in memory, which has a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : file_(memfd_create("part", MFD_CLOEXEC)) {
    fuzz::require(file_ >= 0);
    fuzz::require(::write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// Whether the part's text is its bytes, and its records end where it ends: letters, digits and separators.
bool is_plain(std::string_view part) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'r') || (c >= '0' && c <= '9') || c == ',' || c == '\n'; };
  return !part.empty() && part.front() != '\n' && std::all_of(part.begin(), part.end(), plain);
}

std::vector<std::string_view> divided(std::string_view text) {
  constexpr std::size_t kMostParts = 8;
  std::vector<std::string_view> parts;
  parts.reserve(kMostParts);
  while (parts.size() + 1 < kMostParts && text.find('\1') != std::string_view::npos) {
    parts.push_back(text.substr(0, text.find('\1')));
    text.remove_prefix(parts.back().size() + 1);
  }
  parts.push_back(text);
  return parts;
}

constexpr std::string_view kWords[] = {",\1",   "\n,\1",   "\1",        "\1\1", "\n\1", "\1\xEF\xBB\xBF",
                                       "a,b\n", "\1a,b\n", "\1sep=;\n", "?",    "a",    "\""};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return stope::fuzz::mutate_text(data, size, most, seed, 1, kWords);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::vector<std::string_view> parts = divided({reinterpret_cast<const char*>(data) + 1, size - 1});
  ReadOptions options;
  options.header = (data[0] & 3) == 1 ? Header::yes : (data[0] & 3) == 2 ? Header::no : Header::automatic;
  options.allow_ragged = (data[0] & 4) != 0;
  if ((data[0] & 8) != 0) options.separator = ',';
  if ((data[0] & 16) != 0) options.skip_lines = 1;

  std::vector<std::unique_ptr<MemoryFile>> files;
  std::vector<std::string> paths;
  files.reserve(parts.size());
  paths.reserve(parts.size());
  for (const std::string_view part : parts) {
    files.push_back(std::make_unique<MemoryFile>(part));
    paths.push_back(files.back()->path());
  }
  const std::optional<Table> joined = fuzz::table_or_error([&] {
    const io::csv::JoinedParts all = io::csv::join_parts(paths, "fuzz", options, fuzz::bounded_run());
    return io::read_csv(all.bytes, all.options, nullptr, fuzz::bounded_run());
  });
  const bool plain = std::all_of(parts.begin(), parts.end(), is_plain);
  if (!plain || options.header != Header::no || options.skip_lines > 0) return 0;

  std::string text;
  for (const std::string_view part : parts) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += part;
  }
  const std::optional<Table> whole = fuzz::table_or_error(
      [&] { return io::read_csv({text, nullptr, "fuzz", 0}, options, nullptr, fuzz::bounded_run()); });
  fuzz::require(joined.has_value() == whole.has_value());
  if (whole.has_value()) fuzz::require_equal(*joined, *whole);
  return 0;
}
