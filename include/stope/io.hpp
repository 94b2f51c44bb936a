// Reading and writing tables. Formats: CSV/TSV, ARFF, NPY, fvecs/bvecs/ivecs, raw; each also .gz and .zst. Parquet and
// Arrow IPC need the plug-in for files (stope/files.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stope/error.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io {
class AtomicFile;
class ColumnarParts;
}  // namespace stope::io

#pragma GCC visibility push(default)
namespace stope {

/// arrow: an Arrow IPC file (Feather) or stream. sheet: a spreadsheet, read only.
enum class Format { automatic, csv, tsv, arff, npy, fvecs, bvecs, ivecs, raw, parquet, arrow, sheet };
enum class Header { automatic, yes, no };
enum class Encoding { utf8, utf16, latin1, windows1252 };  ///< "utf-8", "utf-16", "latin-1", "windows-1252"
enum class NominalOrder { sorted, appearance };
/// What happens if an option names a column that the file lacks. error: it is an error. skip: the option is ignored,
/// and columns are named by name, never by number. So a second table, read with the roles and types of the first, may
/// lack the label.
enum class UnknownColumns { error, skip };

/// The value of that name; each throws invalid_argument for any other. An encoding has other names, too: latin1,
/// iso-8859-1, cp1252, utf8, utf-16le, ...
Format table_format(std::string_view name);
Header header(std::string_view name);
Encoding encoding(std::string_view name);
NominalOrder nominal_order(std::string_view name);
UnknownColumns unknown_columns(std::string_view name);
std::string_view to_string(Format format) noexcept;
std::string_view to_string(Header header) noexcept;
std::string_view to_string(Encoding encoding) noexcept;
std::string_view to_string(NominalOrder order) noexcept;
std::string_view to_string(UnknownColumns unknown) noexcept;

/// Options of read_table. Columns are given by name or by 1-based number (a name that exists wins). The lists `select`,
/// `ignore`, `nominal`, `numeric` and `date` also take patterns of names, in which * stands for any text and ? for one
/// character, and ranges of numbers such as 3-10. A pattern leaves a column alone that another option names itself.
struct ReadOptions {
  Format format = Format::automatic;  ///< automatic: by suffix, without .gz / .zst
  Encoding encoding = Encoding::utf8;
  /// '\0' = found: named by a first line `sep=;`, else one of , ; tab |. ' ' = any number of spaces and tabs.
  char separator = '\0';
  char decimal = '\0';  ///< '\0' = '.'; ',' for the columns that it fits, where the separator is ';'
  /// Mark between groups of three digits in numbers of text files: 1,234,567.5. '\0' = none. ' ' stands for no-break
  /// spaces, too. '.' makes ',' the decimal mark, unless `decimal` says otherwise.
  char thousands = '\0';
  char comment = '\0';          ///< lines that begin with this character are no records; '\0' = none
  std::int64_t skip_lines = 0;  ///< lines before the table, in each part of a table of several files
  /// CSV: missing values fill a record with fewer fields than the first one, and surplus fields are dropped; both with
  /// a warning that counts them (warning::kRaggedRecords). Otherwise such a record is an error.
  bool allow_ragged = false;
  /// automatic: yes if some field of the first record does not fit the type that its column has below; no if all fit,
  /// or if `names` are given (docs/formats/csv.md). A decision that was close is a warning (stope/warning.hpp).
  Header header = Header::automatic;
  /// One name per column. They imply that the file has no header; with Header::yes they replace the header's names.
  std::vector<std::string> names = {};
  std::vector<std::string> missing = {"?", "", "NA", "NaN"};
  NominalOrder nominal_order =
      NominalOrder::sorted;           ///< for value lists that neither a schema nor an ARFF header gives
  std::string schema = {};            ///< path of a schema file; empty = none
  std::string schema_part = "train";  ///< "train" or "test": which list of columns, where the schema has both
  std::string target = {}, id = {}, sample_weight = {};  ///< roles; empty = none
  bool target_is_nominal = false;  ///< classification: read the target as nominal, spelled as in the file
  /// If not empty, all other columns get Role::ignore, but for those with a role.
  std::vector<std::string> select = {};
  std::vector<std::string> ignore = {}, nominal = {}, numeric = {}, date = {};
  UnknownColumns unknown_columns = UnknownColumns::error;  ///< for target, id, sample_weight, ignore, nominal, ...
  std::vector<std::string> first_names = {};  ///< of a second table: the names of the first one's columns (like())
  std::int64_t n_features = 0;                ///< raw: columns
  std::string dtype = "float32";              ///< raw: float32 | float64 | int32 | int64 | uint8
  std::string sheet = {};  ///< of a workbook: its name, else its number from 1; empty = the first one that is shown
  /// Keep so many rows by chance, in order, the same for a seed everywhere; 0 = all. Value lists are those of all rows.
  std::int64_t sample = 0;
  std::uint64_t sample_seed = 0;
};

/// Reads a table; `path` "-" is standard input. Several files make one table if `path` is a folder, whose files that
/// begin with _ or . are left out, or a pattern with * ? [...] {a,b} that is no file's name. They follow in natural
/// order (part2 before part10), have one format and the same columns in the same order, and give the table that one
/// file of all their rows would give. Cost: one pass over the bytes on all cores (CSV). A table beyond half of the
/// memory budget goes to a mapped temporary file. Throws invalid_data with file:line:column, also for an option that
/// names no column; io; unsupported; out_of_memory for nominal values that exceed the budget and for a compressed file
/// that expands past it; invalid_argument for options that contradict each other.
Table read_table(const std::string& path, const ReadOptions& options = {}, const RunOptions& run = {});

/// The options with which `path` is read like `first`: its columns have the names, types and roles of the columns of
/// that table. `how` says how `first` was read; its column numbers refer to that table. Where `how` has a schema, the
/// schema's part "test" decides.
ReadOptions like(const Table& first, const std::string& path, const ReadOptions& how = {});

/// Weights of the features of `table` from a CSV file. The file has one row or column of numbers, with or without a
/// header of feature names, or lines `name,weight`; features that are not named weigh 1. Throws what read_table throws,
/// and invalid_data for an unknown name and a word that is no number. The number of the weights is not checked.
std::vector<double> read_feature_weights(const std::string& path, const Table& table, const RunOptions& run = {});

/// The format that a path's suffix stands for (without .gz / .zst), or Format::automatic where it stands for none.
Format format_of(std::string_view path);

/// Reads a schema file (docs/FORMATS.md). `part` is "train" or "test": it chooses between `train_columns` and
/// `test_columns`. A file with `columns` serves both.
Schema read_schema(const std::string& path, std::string_view part, const RunOptions& run = {});

/// The reader of a pipe to which this process writes has gone (`stope ... | head`). The code is io; a command line ends
/// quietly. A process that has not ignored SIGPIPE ends by that signal before this can be thrown.
class BrokenPipe : public Error {
 public:
  explicit BrokenPipe(const std::string& message, Place place = {}) : Error(ErrorCode::io, message, std::move(place)) {}
};

struct WriteOptions {
  Format format = Format::automatic;
  char separator = ',';
  std::string dtype = {};  ///< raw, npy: empty = float64 for npy, float32 for raw
};

/// Writes a table to `path` ("-" = standard output), atomically: the file is absent, old or complete.
/// CSV: header, missing = empty field, numbers shortest round-trip. Parquet and Arrow: what read_table reads back is
/// the same table to the bit, with roles, types and value lists; unsupported without the plug-in (stope/files.hpp).
void write_table(const std::string& path, const Table& table, const WriteOptions& options = {},
                 const RunOptions& run = {});

/// A result written piece by piece: the file is absent, old or complete, never half-written. "-" is standard output; it
/// is written directly, as are pipes and devices. write() and commit() throw io, or BrokenPipe, or cancelled once the
/// token is, also while they wait for the reader of a pipe.
class OutputFile {
 public:
  /// Throws io at once where `path` cannot be written: open a result's file before you compute it.
  explicit OutputFile(const std::string& path);
  OutputFile(const std::string& path, const CancelToken& cancel);
  ~OutputFile();  ///< without commit() the file stays as it was before
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  const std::string& path() const noexcept { return path_; }
  /// Throws io, with both figures, if the disk has less than that many bytes free. A compressed file and what is
  /// written directly may need less, so for these nothing is checked.
  void require_space(std::int64_t bytes) const;
  /// The same for rows x values_per_row values of that many bytes each. A product beyond int64 counts as its maximum.
  void require_space(std::int64_t rows, std::int64_t values_per_row, std::int64_t bytes_per_value) const;
  /// Appends bytes (buffered).
  void write(std::string_view bytes);
  /// Moves the complete file into its place.
  void commit();
  /// Commits files that belong together: if the disk is full, this shows while all the old files still stand.
  static void commit_all(const std::vector<OutputFile*>& files);

 private:
  std::string path_;
  std::unique_ptr<io::AtomicFile> file_;
};

/// Writes a table into an open file, in the format of its path's suffix unless the options say otherwise; the caller
/// commits.
void write_table(OutputFile& file, const Table& table, const WriteOptions& options = {}, const RunOptions& run = {});

/// Writes a table that comes in parts into an open file, as write_table would write the whole; the caller commits. The
/// parts have the same column names, types and value lists, and n_rows rows together (else invalid_argument). The
/// writer holds nothing of a part after append(). Integer columns whose values are not whole numbers in every part, and
/// instance weights of ARFF, have to be written as a whole, and so do dates of several units as Parquet or Arrow.
class TablePartsWriter {
 public:
  TablePartsWriter(OutputFile& file, std::int64_t n_rows, const WriteOptions& options = {});
  ~TablePartsWriter();
  TablePartsWriter(const TablePartsWriter&) = delete;
  TablePartsWriter& operator=(const TablePartsWriter&) = delete;
  void append(const Table& part, const RunOptions& run = {});
  /// Throws invalid_argument if rows are still missing.
  void finish() const;

 private:
  OutputFile& file_;
  WriteOptions options_;
  std::int64_t n_rows_, written_ = 0;
  bool begun_ = false;
  std::unique_ptr<io::ColumnarParts> columnar_;
};

/// The header of an NPY file (format 1.0, C order) of n_rows x n_columns, for arrays written piece by piece. `dtype` is
/// float32, float64, int32, int64 or uint8; any other throws invalid_argument.
std::string npy_header(const std::string& dtype, std::int64_t n_rows, std::int64_t n_columns);
/// The same for one array of n_queries lists of neighbours. An element has `width` row numbers, 'index' (int64), and as
/// many distances, 'distance' (float64).
std::string npy_header_of_lists(std::int64_t n_queries, std::int64_t width);

/// Appends the shortest text that reads back as the same double: 0.1, -0.0, NaN, Infinity.
void append_number(std::string& out, double value);

}  // namespace stope
#pragma GCC visibility pop
