#include "io/csv/plan.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "base/counted.hpp"
#include "base/name_index.hpp"
#include "base/progress.hpp"
#include "io/column_choice.hpp"
#include "io/csv/head.hpp"
#include "io/csv/header.hpp"
#include "io/csv/segments.hpp"
#include "io/roles.hpp"

namespace stope::io::csv {
namespace {

// Enough rows to meet the usual values and to see whether a column holds text, yet few compared with the smallest
// chunk.
constexpr std::int64_t kHeadRecords = 1000;
constexpr std::int64_t kHeadBytes = std::int64_t{256} << 10;
// A file below a chunk is guessed at from fewer rows: to read a column again takes less time there than to try all
// readings on every field first. 1,000 x 20 numbers: 2.9 -> 2.1 ms.
constexpr std::int64_t kSmallFile = std::int64_t{1} << 20, kFewRecords = 100;
constexpr std::size_t kPollColumns = 65536;
constexpr std::size_t kHeadValues = 500;  // a column with more at the head has mostly distinct ones: names, keys

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void check_thousands(const Dialect& dialect) {
  const char mark = dialect.thousands;
  const auto refuse = [mark](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "'" + std::string(1, mark) + "' cannot be " + why,
                {.option = "thousands"});
  };
  if (mark == '\0') return;
  if (is_alphanumeric(mark) || mark == '-' || mark == '+' || mark == '"' || mark == '\n' || mark == '\r' ||
      (mark & 0x80) != 0) {
    refuse("the mark between thousands");
  }
  if (mark == dialect.decimal) refuse("both the mark between thousands and the decimal mark");
  if (mark == dialect.separator && mark == ' ') refuse("both the mark between thousands and the separator");
}

// A point between thousands makes the comma the decimal mark, unless another one is given.
char decimal_of(const ReadOptions& options) {
  if (options.decimal != '\0') return options.decimal;
  return options.thousands == '.' ? ',' : '.';
}

// `read` becomes the head that the separator was found in.
Dialect dialect_of(const Text& text, const ReadOptions& options, const CancelToken& cancel, ReadHead& read) {
  const auto refuse = [](std::string_view what, char c) {
    throw Error(ErrorCode::invalid_argument, "'" + std::string(1, c) + "' cannot be the " + std::string(what),
                {.option = std::string(what)});
  };
  Dialect dialect{options.separator, decimal_of(options), options.comment, options.thousands};
  if (dialect.separator == '\0') dialect.separator = text.separator;
  if (dialect.separator == '\0') {
    dialect.separator = options.format == Format::tsv ? '\t' : find_separator(text, dialect, cancel, read);
  }
  for (const char c : {dialect.separator, dialect.decimal, dialect.comment}) {
    if (c == '"' || c == '\n' || c == '\r' || (c & 0x80) != 0)
      refuse(c == dialect.decimal ? "decimal mark" : c == dialect.comment ? "comment character" : "separator", c);
  }
  if (dialect.comment == dialect.separator) refuse("comment character", dialect.comment);
  const char d = dialect.decimal;
  if (is_alphanumeric(d) || d == '-' || d == '+' || d == ' ' || d == '\0') refuse("decimal mark", d);
  if (dialect.separator == dialect.decimal) {
    throw Error(ErrorCode::invalid_argument,
                "'" + std::string(1, d) + "' cannot be both the separator and the decimal mark", {.option = "decimal"});
  }
  check_thousands(dialect);
  return dialect;
}

// Makes the columns that the first record names. Tables may have millions: no list of names is made beside them.
void name_columns(Plan& plan, const Text& text, const HeadRecord& record, bool guessed) {
  std::vector<ColumnPlan>& columns = plan.columns;
  columns.resize(record.fields.size());
  NameIndex seen(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].name = content_of(field_text(text, record.fields[i]));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i + NameIndex::kAhead < columns.size()) seen.prefetch(columns[i + NameIndex::kAhead].name);
    const std::string& name = columns[i].name;
    if (name.empty() || seen.add(name) < 0) continue;
    Place place = place_of(text, record.fields[i].begin);
    place.option = guessed ? "header" : "names";
    throw Error(ErrorCode::invalid_data, "a second column is named '" + name + "'", place);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string& name = columns[i].name;
    if (!name.empty()) continue;
    name = std::to_string(i + 1);
    while (seen.contains(name)) name += '_';  // a table of numbered columns with one of row names
    seen.add(name);
  }
}

void declare(ColumnPlan& column, Kind kind, ValueType type) {
  column.kind = kind;
  column.declared = true;
  if (is_nominal(column.type) != is_nominal(type) || !is_nominal(type)) {
    column.type = type;
    column.known.reset();
    column.listed = false;
  }
}

Kind kind_of(ValueType type) {
  return type == ValueType::date ? Kind::date : is_nominal(type) ? Kind::nominal : Kind::numeric;
}

void apply_declarations(Plan& plan, Names kind, const ReadOptions& options, const Schema* schema,
                        const std::string& source) {
  if (schema == nullptr && !names_columns(options)) return;
  std::vector<std::string> names;
  names.reserve(plan.columns.size());
  for (const ColumnPlan& column : plan.columns) names.push_back(column.name);
  if (schema != nullptr) {
    const std::vector<std::int64_t> specs = match_schema(names, kind, *schema, options.unknown_columns, source);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const ColumnSpec& spec = schema->columns[static_cast<std::size_t>(specs[i])];
      ColumnPlan& column = plan.columns[i];
      if (kind == Names::positions) names[i] = column.name = spec.name;
      declare(column, kind_of(spec.type), spec.type);
      column.type = spec.type;
      column.listed = !spec.values.empty();
      if (column.listed) column.known = std::make_unique<KnownValues>(KnownValues{spec.values.names(), {}});
    }
  }
  const ColumnNames known(std::move(names), options.unknown_columns, source);
  const ColumnChoice choice = choose_columns(known, options);
  const auto declare_found = [&](std::int64_t index, ValueType type) {
    if (index < 0) return;
    ColumnPlan& column = plan.columns[static_cast<std::size_t>(index)];
    if (column.declared && is_nominal(column.type) == is_nominal(type)) return;  // the schema says it more precisely
    declare(column, kind_of(type), type);
  };
  for (const std::int64_t index : choice.nominal) declare_found(index, ValueType::polynominal);
  for (const std::int64_t index : choice.numeric) declare_found(index, ValueType::real);
  for (const std::int64_t index : choice.date) declare_found(index, ValueType::date);
  for (const std::int64_t index : choice.ignore) plan.columns[static_cast<std::size_t>(index)].ignored = true;
  const std::string target = target_name(options, schema);
  if (options.target_is_nominal && !target.empty()) declare_found(known.find(target, "target"), ValueType::polynominal);
  if (!options.sample_weight.empty()) {
    declare_found(known.find(options.sample_weight, "sample_weight"), ValueType::real);
  }
}

// The readings that take every field at the head, the likeliest first.
void guess_readings(ColumnPlan& plan, const Text& text, const Head& data, std::size_t column, std::size_t n_columns,
                    const FieldRules& rules) {
  plan.left = kAnyReading & (rules.commas ? ~0U : ~unsigned{kCommaNumbers});
  const std::int64_t most = std::ssize(text.view) < kSmallFile ? kFewRecords : kHeadRecords;
  visit_column(text, data, column, n_columns, [&](std::string_view field, std::int64_t row) {
    if (row >= most) return;
    unsigned readings = readings_of(field, rules);
    if ((readings & (kNumbers | kCommaNumbers)) != 0 && readings != kAnyReading && !rules.keeps_digits(field)) {
      readings = kText;
    }
    plan.left &= readings;
  });
  take_next_reading(plan, rules);
}

// A declared column of numbers may have commas as decimal marks, if the file may.
void guess_decimal(ColumnPlan& plan, const Text& text, const Head& data, std::size_t column, std::size_t n_columns,
                   const FieldRules& rules) {
  plan.decimal = rules.dialect.decimal;
  if (!rules.commas) return;
  unsigned readings = kNumbers | kCommaNumbers;
  visit_column(text, data, column, n_columns,
               [&](std::string_view field, std::int64_t) { readings &= readings_of(field, rules); });
  if (readings == kCommaNumbers) {
    plan.decimal = ',';
  } else if ((readings & kCommaNumbers) != 0) {
    plan.left = kCommaNumbers;
  }
}

// Collects the values at the head, in final order: if no others follow, the codes given while parsing are already
// final.
void collect_values(ColumnPlan& plan, const Text& text, const Head& data, std::size_t column, std::size_t n_columns,
                    const FieldRules& rules, NominalOrder order) {
  std::vector<std::pair<std::string, std::int64_t>> found;
  std::unordered_set<std::string> seen;
  visit_column(text, data, column, n_columns, [&](std::string_view field, std::int64_t row) {
    std::string value = content_of(field);
    if (value.empty() || (!is_quoted(field) && rules.is_token(value))) return;
    if (seen.insert(value).second) found.emplace_back(std::move(value), row);
  });
  if (found.empty() || (found.size() > kHeadValues && order == NominalOrder::sorted)) return;
  if (order == NominalOrder::sorted) std::sort(found.begin(), found.end());
  plan.known = std::make_unique<KnownValues>();
  plan.known->values.reserve(found.size());
  plan.known->first_rows.reserve(found.size());
  for (auto& [value, row] : found) {
    plan.known->values.push_back(std::move(value));
    plan.known->first_rows.push_back(row);
  }
}

// An export often begins with a title, whose line is filled with separators.
std::string title_doubt(const HeadRecord& first) {
  constexpr std::size_t kFewest = 3;
  const auto named = std::count_if(first.fields.begin(), first.fields.end(),
                                   [](const HeadField& field) { return field.end > field.begin; });
  if (named != 1 || first.fields.size() < kFewest) return "";
  return "the first record names 1 of " + counted(std::ssize(first.fields), "column") + ", so it may be a title";
}

// R writes the names of rows below a header that has no name for their column: every record has a field more than the
// first. A record that ends with a separator has one more, too, and loses nothing with it.
bool lacks_a_name(const HeadRecord& first, const Head& head) {
  constexpr std::int64_t kFewest = 2;
  const std::size_t n_names = first.fields.size();
  std::int64_t n_records = 0;
  bool all_empty = true;
  for (const HeadRecord& record : head) {
    if (record.blank || record.begin <= first.begin) continue;
    if (record.fields.size() != n_names + 1) return false;
    all_empty = all_empty && record.fields.back().begin == record.fields.back().end;
    ++n_records;
  }
  return n_names > 1 && n_records >= kFewest && !all_empty;
}

[[noreturn]] void refuse_unnamed(const Text& text, const HeadRecord& first) {
  Place place = place_of(text, first.next);
  place.option = "names";
  const std::size_t n = first.fields.size();
  throw Error(ErrorCode::unsupported,
              "all records have " + counted(std::ssize(first.fields) + 1, "field") + ", and the first one " +
                  std::to_string(n) + ": R writes row names so, whose column has no name",
              place);
}

Head take_header(Plan& plan, Names& kind, const Text& text, const ReadOptions& options, Head head) {
  const HeadRecord& first = *first_record(head);
  std::size_t n_columns = first.fields.size();
  const HeaderDecision decision = decide_header(text, head, plan.rules, options);
  plan.header_doubt = decision.doubt;
  if (decision.header && lacks_a_name(first, head)) {
    if (options.names.size() != ++n_columns) refuse_unnamed(text, first);
  }
  std::vector<std::string> names;
  // A table of one column without a header begins at the top: an empty line there is a missing value.
  if (decision.header) {
    check_characters(text, 0, first.next);
    if (options.names.empty()) {
      name_columns(plan, text, first, decision.guessed);
      if (decision.guessed) plan.title_doubt = title_doubt(first);
    }
    plan.data_begin = first.next;
    kind = Names::given;
  } else {
    names.reserve(n_columns);
    for (std::size_t i = 0; i < n_columns; ++i) names.push_back(std::to_string(i + 1));
  }
  if (!options.names.empty()) {
    check_names(options.names, static_cast<std::int64_t>(n_columns));
    names = options.names;
    kind = Names::given;
  }
  if (!names.empty()) plan.columns.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) plan.columns[i].name = std::move(names[i]);
  head.erase(head.begin(),
             std::find_if(head.begin(), head.end(), [&](const HeadRecord& r) { return r.begin >= plan.data_begin; }));
  return head;
}

// Without a complete first record nothing can be planned: this says what is wrong with it.
void check_first_record(const Text& text, const Head& head, std::int64_t at, const Dialect& dialect) {
  if (text.view.empty()) throw Error(ErrorCode::invalid_data, "the file is empty", {text.name});
  if (first_record(head) != nullptr) return;
  if (at >= static_cast<std::int64_t>(text.view.size())) {
    throw Error(ErrorCode::invalid_data, "the file holds no record", {text.name});
  }
  const Record record = scan_record(text.view, at, dialect, [](std::int64_t, std::int64_t) {});
  check_status(text, record);
}

}  // namespace

void take_next_reading(ColumnReading& column, const FieldRules& rules) {
  const unsigned reading = column.left & (~column.left + 1);  // the lowest bit
  column.left &= ~reading;
  column.decimal = reading == kCommaNumbers ? ',' : rules.dialect.decimal;
  column.kind = reading == kDates ? Kind::date : reading == kText ? Kind::nominal : Kind::numeric;
  if (column.declared) return;
  column.type = column.kind == Kind::date      ? ValueType::date
                : column.kind == Kind::nominal ? ValueType::polynominal
                                               : ValueType::real;
}

Plan make_plan(const Text& text, const ReadOptions& options, const Schema* schema, const CancelToken& cancel) {
  const auto n = static_cast<std::int64_t>(text.view.size());
  // An archive or an image has a NUL near its beginning; saying so beats complaining about its first "record".
  const std::size_t nul = text.view.substr(0, 4096).find('\0');
  if (nul != std::string_view::npos)
    check_characters(text, 0, std::min<std::int64_t>(n, static_cast<std::int64_t>(nul) + 1));

  Plan plan;
  ReadHead read;
  const Dialect dialect = dialect_of(text, options, cancel, read);
  const bool default_tokens = options.missing == ReadOptions{}.missing;
  plan.rules = schema != nullptr && schema->missing_token.has_value() && default_tokens
                   ? make_rules(dialect, {*schema->missing_token})
                   : make_rules(dialect, options.missing);
  const bool comma_is_free = options.thousands != ',' && options.thousands != '.';
  plan.rules.commas = options.decimal == '\0' && dialect.separator == ';' && comma_is_free;

  const bool long_enough = first_record(read.head) != nullptr && (read.next >= kHeadBytes || read.next >= n);
  if (!long_enough) read.head = read_head(text, dialect, kHeadRecords, kHeadBytes, cancel, &read.next);
  check_first_record(text, read.head, read.next, dialect);
  Names kind = Names::positions;
  const Head data = take_header(plan, kind, text, options, std::move(read.head));
  try {
    apply_declarations(plan, kind, options, schema, text.name);
  } catch (const Error& error) {
    if (plan.title_doubt.empty() || error.code() != ErrorCode::invalid_data) throw;
    Place place = error.place();
    place.option = "skip_lines";
    throw Error(error.code(), error.message() + "; " + plan.title_doubt, place);
  }
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    if (i % kPollColumns == 0) poll_step(cancel);
    ColumnPlan& column = plan.columns[i];
    if (!column.declared) guess_readings(column, text, data, i, plan.columns.size(), plan.rules);
    if (column.declared && column.kind == Kind::numeric) {
      guess_decimal(column, text, data, i, plan.columns.size(), plan.rules);
    }
    if (column.kind == Kind::nominal && !column.listed) {
      collect_values(column, text, data, i, plan.columns.size(), plan.rules, options.nominal_order);
    }
  }
  return plan;
}

}  // namespace stope::io::csv
