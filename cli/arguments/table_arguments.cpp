// The options that say how tables are read (cli/arguments/table_arguments.hpp).
#include "arguments/table_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "stope/discretize.hpp"
#include "stope/error.hpp"

namespace stope::cli {
namespace {

const std::vector<std::pair<std::string, Format>> kFormats = {
    {"csv", Format::csv},     {"tsv", Format::tsv},     {"arff", Format::arff},   {"npy", Format::npy},
    {"fvecs", Format::fvecs}, {"bvecs", Format::bvecs}, {"ivecs", Format::ivecs}, {"raw", Format::raw}};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  names.reserve(kFormats.size());
  for (const auto& [name, format] : kFormats) names.push_back(name);
  return names;
}

std::string quoted_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "'" : " '") + item + "'";
  return text;
}

void add_text_options(CLI::App& app, ReadOptions& read) {
  OptionGroup group(app, "Reading text tables");
  group.parsed("--sep", "CHAR", "Separator of CSV fields; tab or \\t is a tab; default: found among , ; tab |",
               [&read](const std::string& word) { read.separator = parse_character(word, "--sep"); });
  group.parsed("--decimal", "CHAR", "Decimal mark of numbers [.]",
               [&read](const std::string& word) { read.decimal = parse_character(word, "--decimal"); });
  group.parsed("--header", "yes|no",
               "Whether the first record holds names; default: no with --names, else yes, unless all its fields are "
               "numbers",
               [&read](const std::string& word) {
                 require_choice(word, {"yes", "no"}, "--header");
                 read.header = word == "yes" ? Header::yes : Header::no;
               });
  group.list("--names", read.names, "A,B,...",
             "Names of all columns, of a file without header; with --header yes instead of those of the file");
  group.list("--missing,--missing-values", read.missing, "A,B,...",
             "Spellings of a missing value; an empty item is the empty field [" + quoted_list(read.missing) + "]");
  group.parsed("--encoding", "utf-8|utf-16|latin-1", "Encoding of the text [utf-8]", [&read](const std::string& word) {
    require_choice(word, {"utf-8", "utf-16", "latin-1"}, "--encoding");
    read.encoding = word == "utf-8" ? Encoding::utf8 : word == "utf-16" ? Encoding::utf16 : Encoding::latin1;
  });
  group.parsed("--nominal-order", "sorted|appearance",
               "Order of the values of nominal columns where no schema or ARFF header gives it [sorted, by bytes]",
               [&read](const std::string& word) {
                 require_choice(word, {"sorted", "appearance"}, "--nominal-order");
                 read.nominal_order = word == "sorted" ? NominalOrder::sorted : NominalOrder::appearance;
               });
}

void add_format_options(CLI::App& app, ReadOptions& read) {
  OptionGroup group(app, "Input formats");
  group.parsed("--input-format", "csv|tsv|arff|npy|fvecs|bvecs|ivecs|raw",
               "Format of the input; default: from the suffix, after .gz or .zst",
               [&read](const std::string& word) { read.format = parse_format(word, "--input-format"); });
  group.parsed("--n-features", "N", "Columns of a raw array", [&read](const std::string& word) {
    read.n_features = parse_integer(word, "--n-features");
    if (read.n_features < 1) {
      throw Error(ErrorCode::invalid_argument, "--n-features: '" + word + "' is not at least 1");
    }
  });
  group.choice("--dtype", read.dtype, {"float32", "float64", "int32", "int64", "uint8"},
               "Type of a raw array's values [" + read.dtype + "]");
}

void add_column_options(CLI::App& app, TableArguments& arguments, Tables tables) {
  OptionGroup group(app, "Columns (by name or by number, counted from 1)");
  ReadOptions& read = arguments.read;
  group.text("--target", read.target, "COLUMN", "The label");
  group.text("--id", read.id, "COLUMN", "A column that names the rows; not a feature");
  group.list("--ignore", read.ignore, "COLUMN,...", "Columns to leave out");
  group.text("--sample-weight", read.sample_weight, "COLUMN", "Weights of the rows, in votes and scores");
  group.list("--nominal", read.nominal, "COLUMN,...", "Columns to read as nominal, spelled as in the file");
  group.list("--numeric", read.numeric, "COLUMN,...", "Columns to read as numbers");
  group.text("--schema", read.schema, "FILE", "JSON file with names, types, roles and values of the columns");
  if (tables == Tables::one) return;
  group.text("--test-schema", arguments.test_schema, "FILE", "Schema of the second table; default: that of --schema");
  group.list("--test-names", arguments.test_names, "A,B,...",
             "Names of the second table's columns; a file without header, as with --names");
}

bool is_text(Format format) {
  return format == Format::csv || format == Format::tsv || format == Format::automatic;
}

}  // namespace

Format parse_format(const std::string& name, const std::string& option) {
  for (const auto& [known, format] : kFormats) {
    if (known == name) return format;
  }
  require_choice(name, format_names(), option);
  return Format::automatic;
}

void require_one_stdin(const std::string& first, const std::string& second) {
  if (first != "-" || second != "-") return;
  throw Error(ErrorCode::invalid_argument, "only one of the two tables can be '-', standard input");
}

void TableArguments::add_to(CLI::App& app, Tables tables) {
  add_column_options(app, *this, tables);
  add_format_options(app, read);
  add_text_options(app, read);
}

void TableArguments::refuse_policy_as_spelling() const {
  if (read.missing.size() != 1) return;
  for (const auto policy : {MissingPolicy::error, MissingPolicy::value, MissingPolicy::drop, MissingPolicy::fill}) {
    const std::string name(to_string(policy));
    if (read.missing[0] != name) continue;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--missing says how a missing value is spelled; --missing-policy {0} says what happens to it "
                    "(for cells that read '{0}' list another spelling, too: --missing {0},NA)",
                    name));
  }
}

Table TableArguments::read_first(const std::string& path, const RunOptions& run) const {
  ReadOptions first = read;
  const Format format = first.format == Format::automatic ? format_of(path) : first.format;
  const bool named = !first.id.empty() && first.schema.empty() && is_text(format);
  // If ids such as 007 or 12345678901234567890 were read as numbers, they would be written differently.
  const bool listed = std::find(first.numeric.begin(), first.numeric.end(), first.id) != first.numeric.end();
  if (named && !listed) first.nominal.push_back(first.id);
  return read_table(path, first, run);
}

Table TableArguments::read_second(const std::string& path, const Table& first, const RunOptions& run) const {
  ReadOptions second = read;
  second.unknown_columns = UnknownColumns::skip;
  second.schema_part = "test";
  if (!test_schema.empty()) second.schema = test_schema;
  if (!test_names.empty()) second.names = test_names;

  // Column numbers refer to the first table; here its names count.
  const auto name_of = [&first](Role role) {
    const std::int64_t column = first.find(role);
    return column < 0 ? std::string() : first.columns[static_cast<std::size_t>(column)].name;
  };
  if (second.schema.empty() || !read.target.empty()) second.target = name_of(Role::label);
  if (second.schema.empty() || !read.id.empty()) second.id = name_of(Role::id);
  if (second.schema.empty() || !read.sample_weight.empty()) second.sample_weight = name_of(Role::weight);

  // A text file does not say what its columns are: "1" is a number in one file and a code in another that also holds
  // "x", and a column may be missing throughout. The first table's column of that name decides.
  const Format format = second.format == Format::automatic ? format_of(path) : second.format;
  if (!is_text(format) || !second.schema.empty()) return read_table(path, second, run);
  second.ignore.clear();
  second.nominal.clear();
  second.numeric.clear();
  for (const Column& column : first.columns) {
    if (column.role == Role::ignore) {
      second.ignore.push_back(column.name);
    } else {
      (column.nominal() ? second.nominal : second.numeric).push_back(column.name);
    }
  }
  return read_table(path, second, run);
}

}  // namespace stope::cli
