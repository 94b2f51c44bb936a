// Reading and writing tables. Formats: CSV/TSV, ARFF, NPY, fvecs/bvecs/ivecs, raw; each also .gz and .zst.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stope/error.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope {

enum class Format { automatic, csv, tsv, arff, npy, fvecs, bvecs, ivecs, raw };
enum class Header { automatic, yes, no };
enum class Encoding { utf8, utf16, latin1 };
enum class NominalOrder { sorted, appearance };
/// What an option naming a column that the file does not have means: an error, or nothing (a second table, read with
/// the roles and types of the first, may lack the label; then columns are meant by name, never by number).
enum class UnknownColumns { error, skip };

/// Options of read_table. Columns are named by name or by 1-based number (a name that exists wins).
struct ReadOptions {
  Format format = Format::automatic;  ///< automatic: by suffix, after .gz / .zst is taken off
  Encoding encoding = Encoding::utf8;
  char separator = '\0';  ///< '\0' = sniffed among , ; tab |
  char decimal = '.';
  /// automatic: yes, unless `names` are given or every field of the first record is a number or missing; a record of
  /// quoted numbers above unquoted fields is a header too (the names "1", "2", ... of an array).
  Header header = Header::automatic;
  /// As many as there are columns. They say that the file has no header; with Header::yes they replace its names.
  std::vector<std::string> names = {};
  std::vector<std::string> missing = {"?", "", "NA", "NaN"};
  NominalOrder nominal_order = NominalOrder::sorted;  ///< of value lists that neither a schema nor an ARFF header gives
  std::string schema = {};                            ///< path of a schema file; empty = none
  std::string schema_part = "train";  ///< which of `train_columns` / `test_columns` where the file has both
  std::string target = {}, id = {}, sample_weight = {};  ///< roles; empty = none
  bool target_is_nominal = false;  ///< classification: read the target as nominal, spelled as in the file
  std::vector<std::string> ignore = {}, nominal = {}, numeric = {};
  UnknownColumns unknown_columns = UnknownColumns::error;  ///< of target, id, sample_weight, ignore, nominal, numeric
  std::int64_t n_features = 0;                             ///< raw: columns
  std::string dtype = "float32";                           ///< raw: float32 | float64 | int32 | int64 | uint8
};

/// Reads a table; `path` "-" is standard input. Cost: one pass over the bytes on all cores (CSV).
/// Throws invalid_file with file:line:column, io, unsupported, out_of_memory (nominal values that exceed the budget, a
/// compressed file that expands past it; a table beyond half of the budget goes to a mapped temporary file),
/// invalid_argument (options that contradict each other); an option that names no column is invalid_file, as the
/// command line's exit codes want it.
Table read_table(const std::string& path, const ReadOptions& options = {}, const RunOptions& run = {});

/// The format a path's suffix stands for (after .gz / .zst), or Format::automatic where it stands for none.
Format format_of(std::string_view path);

/// Reads a schema file (docs/FORMATS.md). `part` is "train" or "test" and chooses between `train_columns` and
/// `test_columns`; a file with `columns` serves both.
Schema read_schema(const std::string& path, std::string_view part);

/// The reader of a pipe this process writes to has gone (`stope ... | head`). Code io; a command line ends quietly.
class BrokenPipe : public Error {
 public:
  explicit BrokenPipe(const std::string& message) : Error(ErrorCode::io, message) {}
};

struct WriteOptions {
  Format format = Format::automatic;
  char separator = ',';
  std::string dtype = {};  ///< raw, npy: empty = float64 for npy, float32 for raw
};

/// Writes a table to `path` ("-" = standard output), atomically: the file is absent, old or complete.
/// CSV: header, missing = empty field, numbers shortest round-trip.
void write_table(const std::string& path, const Table& table, const WriteOptions& options = {},
                 const RunOptions& run = {});

namespace io {
class AtomicFile;
}

/// A result written piece by piece: the file is absent, old or complete, never half-written. "-" is standard output,
/// which is written straight through, as are pipes and devices. write() and commit() throw io, or BrokenPipe.
class OutputFile {
 public:
  /// Throws io at once where `path` cannot be written: open the result before computing it.
  explicit OutputFile(const std::string& path);
  ~OutputFile();  ///< without commit() the file is as it was before
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  const std::string& path() const noexcept { return path_; }
  /// Appends bytes (buffered).
  void write(std::string_view bytes);
  /// Puts the complete file in its place.
  void commit();
  /// Commits files that belong together: what can run out does so while all the old files still stand.
  static void commit_all(const std::vector<OutputFile*>& files);

 private:
  std::string path_;
  std::unique_ptr<io::AtomicFile> file_;
};

/// Writes a table into an open file, in the format of its path's suffix unless the options say otherwise; the caller
/// commits.
void write_table(OutputFile& file, const Table& table, const WriteOptions& options = {}, const RunOptions& run = {});

/// A table that comes in parts, whose columns have the same names, types and value lists, written into an open file as
/// write_table would write the whole; the caller commits. The sum of the parts' rows must be n_rows (invalid_argument).
/// What it holds of a part it holds no longer than append(). Integer columns whose values are not whole numbers in
/// every part, and instance weights of ARFF, have to be written as a whole.
class TablePartsWriter {
 public:
  TablePartsWriter(OutputFile& file, std::int64_t n_rows, const WriteOptions& options = {});
  void append(const Table& part, const RunOptions& run = {});
  /// Throws invalid_argument unless all rows have come.
  void finish() const;

 private:
  OutputFile& file_;
  WriteOptions options_;
  std::int64_t n_rows_, written_ = 0;
  bool begun_ = false;
};

/// What stands before the values of an NPY file (format 1.0, C order) of n_rows x n_columns, for arrays written piece
/// by piece. `dtype`: float32, float64, int32, int64 or uint8, else invalid_argument.
std::string npy_header(const std::string& dtype, std::int64_t n_rows, std::int64_t n_columns);

/// Appends the shortest text that reads back as the same double: 0.1, -0.0, NaN, Infinity.
void append_number(std::string& out, double value);

}  // namespace stope
