// The options that say how tables are read (cli/arguments/table_arguments.hpp).
#include "arguments/table_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "report/output_format.hpp"
#include "stope/discretize.hpp"
#include "stope/error.hpp"
#include "stope/names.hpp"

namespace stope::cli {
namespace {

[[noreturn]] void refuse_spelling(const std::string& word, std::string_view option) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--missing says how a missing value is spelled; {1} {0} says what happens to it "
                          "(for cells that read '{0}' list another spelling, too: --missing {0},NA)",
                          word, option));
}

std::string quoted_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "'" : " '") + item + "'";
  return text;
}

void add_text_options(CLI::App& app, ReadOptions& read) {
  OptionGroup group(app, "Reading text tables");
  group.parsed("--sep,--delimiter", "CHAR",
               "Separator of CSV fields; tab or \\t is a tab, ' ' any number of blanks; default: found among , ; tab "
               "|, or named by a first line "
               "sep=;",
               [&read](const std::string& word) { read.separator = parse_character(word, "--sep"); });
  group.parsed(
      "--decimal", "CHAR",
      "Decimal mark of numbers; default: a point, or a comma in columns that it fits, where the separator is ;",
      [&read](const std::string& word) { read.decimal = parse_character(word, "--decimal"); });
  group.parsed("--thousands", "CHAR",
               "Mark between groups of three digits: , for 1,234,567.5; . for 1.234,5; ' ' also for no-break spaces",
               [&read](const std::string& word) { read.thousands = parse_character(word, "--thousands"); });
  group.flag("--allow-ragged", read.allow_ragged,
             "Fill records that are too short with missing values, and cut those that are too long; a warning counts "
             "them");
  group.parsed("--header", "yes|no",
               "Whether the first record holds names; default: no with --names, else yes unless its fields fit the "
               "types of the columns below",
               [&read](const std::string& word) {
                 require_choice(word, {"yes", "no"}, "--header");
                 read.header = word == "yes" ? Header::yes : Header::no;
               });
  group.list("--names", read.names, "A,B,...",
             "Names of all columns, of a file without header; with --header yes instead of those of the file");
  group.list("--missing,--missing-values", read.missing, "A,B,...",
             "Spellings of a missing value; an empty item is the empty field [" + quoted_list(read.missing) + "]");
  group.parsed("--encoding", "utf-8|utf-16|latin-1|windows-1252",
               "Encoding of the text, also as utf8, utf16, latin1, iso-8859-1, cp1252 [utf-8]",
               [&read](const std::string& word) { read.encoding = encoding(word); });
  group.parsed("--comment", "CHAR", "Lines that begin with this character are no records",
               [&read](const std::string& word) { read.comment = parse_character(word, "--comment"); });
  group.parsed("--skip-lines", "N", "Lines before the table, to be left out [0]", [&read](const std::string& word) {
    read.skip_lines = parse_integer(word, "--skip-lines");
    if (read.skip_lines < 0) {
      throw Error(ErrorCode::invalid_argument, "--skip-lines: '" + word + "' is not at least 0");
    }
  });
  group.choice("--nominal-order", read.nominal_order,
               "Order of the values of nominal columns where no schema or ARFF header gives it; sorted: by bytes");
}

void add_format_options(CLI::App& app, ReadOptions& read) {
  OptionGroup group(app, "Input formats");
  group.parsed("--input-format", "csv|tsv|arff|npy|fvecs|bvecs|ivecs|raw|parquet|arrow",
               "Format of the input; default: from the suffix, after .gz or .zst",
               [&read](const std::string& word) { read.format = parse_format(word, "--input-format"); });
  group.parsed("--n-features", "N", "Columns of a raw array", [&read](const std::string& word) {
    read.n_features = parse_integer(word, "--n-features");
    if (read.n_features < 1) {
      throw Error(ErrorCode::invalid_argument, "--n-features: '" + word + "' is not at least 1");
    }
  });
  group.text("--sheet", read.sheet, "SHEET",
             "Sheet of a workbook, by name or by number; default: the first one that is shown");
  group.parsed("--sample", "N", "Keep N rows of the first table, chosen by chance (--seed), in their order",
               [&read](const std::string& word) {
                 read.sample = parse_integer(word, "--sample");
                 if (read.sample < 1) {
                   throw Error(ErrorCode::invalid_argument, "--sample: '" + word + "' is not at least 1");
                 }
               });
  group.choice("--dtype", read.dtype, {"float32", "float64", "int32", "int64", "uint8"},
               "Type of a raw array's values [" + read.dtype + "]");
}

void add_column_options(CLI::App& app, TableArguments& arguments, Tables tables) {
  OptionGroup group(app, "Columns (by name or number, counted from 1; lists take patterns and ranges)");
  ReadOptions& read = arguments.read;
  group.text("--target,--label", read.target, "COLUMN", "The label");
  group.text("--id", read.id, "COLUMN", "A column that names the rows; not a feature");
  group.list("--select", read.select, "COLUMN,...", "Columns to keep, beside those with a role; default: all");
  group.list("--ignore", read.ignore, "COLUMN,...", "Columns to leave out");
  group.text("--sample-weight", read.sample_weight, "COLUMN", "Weights of the rows, in votes and scores");
  group.list("--nominal", read.nominal, "COLUMN,...", "Columns to read as nominal, spelled as in the file");
  group.list("--numeric", read.numeric, "COLUMN,...", "Columns to read as numbers");
  group.list("--date", read.date, "COLUMN,...", "Columns to read as ISO dates: days since 1970-01-01 UTC");
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
  std::vector<std::string> names = names_of<Format>();
  names.erase(names.begin());  // automatic: without the option
  return static_cast<Format>(require_choice(name, names, option) + 1);
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

bool TableArguments::spells_missing_as_policy() const {
  const std::vector<std::string> policies = names_of<MissingPolicy>();
  return read.missing.size() == 1 && std::find(policies.begin(), policies.end(), read.missing[0]) != policies.end();
}

void TableArguments::refuse_policy_as_spelling() const {
  if (spells_missing_as_policy()) refuse_spelling(read.missing[0], "--missing-policy");
}

void TableArguments::refuse_imputation_as_spelling() const {
  if (read.missing == std::vector<std::string>{"mean"}) refuse_spelling(read.missing[0], "--impute");
}

void TableArguments::warn_of_policy_as_spelling(Session& session, std::string_view instead) const {
  if (!spells_missing_as_policy()) return;
  session.warn(
      fmt::format("--missing {0} says how a missing value is spelled: cells that read '{0}'; {1} "
                  "(--missing {0},NA says the same without this warning)",
                  read.missing[0], instead));
}

Table TableArguments::read_first(const std::string& path, Session& session) {
  ReadOptions first = read;
  const Format format = first.format == Format::automatic ? format_of(path) : first.format;
  const bool named = !first.id.empty() && first.schema.empty() && is_text(format);
  // If ids such as 007 or 12345678901234567890 were read as numbers, they would be written differently.
  const bool listed = std::find(first.numeric.begin(), first.numeric.end(), first.id) != first.numeric.end();
  if (named && !listed) first.nominal.push_back(first.id);
  first.sample_seed = session.arguments().seed;
  warn_of_policy_as_spelling(session, "this command has no --missing-policy");
  if (after.wanted()) return read_as_prepared(path, std::move(first), session);
  session.note_reading(path, first);
  return read_table(path, first, session.run());
}

// The model of --after knows columns better than a text file does: "1" may be a code. So a file is read once more where
// it was read in another way. What comes through a pipe cannot be.
Table TableArguments::read_as_prepared(const std::string& path, ReadOptions how, Session& session) {
  require_one_stdin(path, after.path());
  after.load(session);
  session.note_reading(path, how);
  Table table = read_table(path, how, session.run());
  if (after.adjust(table, how)) {
    if (is_stream(path)) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("--after {}: its columns have other types or roles than those read from {}; save the table "
                      "in a file, which can be read again",
                      after.path(), path));
    }
    session.note_reading(path, how);
    table = read_table(path, how, session.run());
  }
  session.hold({&table});
  return after.applied(table, session);
}

Table TableArguments::read_second(const std::string& path, const Table& first, Session& session) {
  ReadOptions second = read;
  if (!test_schema.empty()) second.schema = test_schema;
  if (!test_names.empty()) second.names = test_names;
  second = like(after.wanted() ? after.before() : first, path, second);
  session.note_reading(path, second);
  Table table = read_table(path, second, session.run());
  if (!after.wanted()) return table;
  return after.applied(table, session);
}

}  // namespace stope::cli
