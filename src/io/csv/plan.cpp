#include "io/csv/plan.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "io/csv/segments.hpp"
#include "io/roles.hpp"

namespace stope::io::csv {
namespace {

// Enough rows to meet the usual values and to see whether a column holds text, yet few compared with the smallest
// chunk.
constexpr std::int64_t kHeadRecords = 1000;
constexpr std::int64_t kHeadBytes = std::int64_t{256} << 10;
constexpr std::size_t kHeadValues = 500;  // a column with more at the head has mostly distinct ones: names, keys

struct HeadField {
  std::int64_t begin, end;
};
struct HeadRecord {
  std::vector<HeadField> fields;
  std::int64_t begin = 0, next = 0;
  bool blank = false;
};

std::string_view field_text(const Text& text, const HeadField& field) {
  return text.view.substr(static_cast<std::size_t>(field.begin), static_cast<std::size_t>(field.end - field.begin));
}

std::string content_of(std::string_view trimmed) {
  if (!is_quoted(trimmed)) return std::string(trimmed);
  std::string content;
  unquote(trimmed, content);
  return content;
}

// Reads the records at the head, blank ones too, up to the first malformed one. At least one is not blank, if there is
// such a record.
std::vector<HeadRecord> read_head(const Text& text, char separator, std::int64_t max_records, std::int64_t max_bytes) {
  std::vector<HeadRecord> head;
  const auto n = static_cast<std::int64_t>(text.view.size());
  bool found = false;
  for (std::int64_t at = 0; at < n;) {
    if (found && (at >= max_bytes || static_cast<std::int64_t>(head.size()) >= max_records)) break;
    HeadRecord record;
    const Record scanned = scan_record(
        text.view, at, separator, [&](std::int64_t begin, std::int64_t end) { record.fields.push_back({begin, end}); });
    if (scanned.status != RecordStatus::complete) break;
    record.begin = at;
    record.next = scanned.next;
    record.blank = scanned.blank;
    at = record.next;
    found = found || !record.blank;
    head.push_back(std::move(record));
  }
  return head;
}

// Finds the separator: among the candidates that occur equally often in every record, the most frequent. If there is
// none, the most frequent in the first record, so that the error about the other records makes sense.
char sniff_separator(const Text& text, char decimal) {
  char best = ',';
  std::int64_t best_score = 0;
  for (const char candidate : {',', ';', '\t', '|'}) {
    if (candidate == decimal) continue;
    std::size_t first = 0;
    bool consistent = true;
    for (const HeadRecord& record : read_head(text, candidate, 100, std::int64_t{64} << 10)) {
      if (record.blank) continue;
      if (first == 0) first = record.fields.size();
      consistent = consistent && record.fields.size() == first;
    }
    if (first <= 1) continue;
    const std::int64_t score = static_cast<std::int64_t>(first) + (consistent ? std::int64_t{1} << 40 : 0);
    if (score > best_score) {
      best = candidate;
      best_score = score;
    }
  }
  return best;
}

Dialect dialect_of(const Text& text, const ReadOptions& options) {
  const auto refuse = [](std::string_view what, char c) {
    throw Error(ErrorCode::invalid_argument, "'" + std::string(1, c) + "' cannot be the " + std::string(what));
  };
  Dialect dialect{options.separator, options.decimal};
  if (dialect.separator == '\0') {
    dialect.separator = options.format == Format::tsv ? '\t' : sniff_separator(text, dialect.decimal);
  }
  for (const char c : {dialect.separator, dialect.decimal}) {
    if (c == '"' || c == '\n' || c == '\r' || (c & 0x80) != 0)
      refuse(c == dialect.decimal ? "decimal mark" : "separator", c);
  }
  const char d = dialect.decimal;
  const bool alphanumeric = (d >= '0' && d <= '9') || (d >= 'a' && d <= 'z') || (d >= 'A' && d <= 'Z');
  if (alphanumeric || d == '-' || d == '+' || d == ' ' || d == '\0') refuse("decimal mark", d);
  if (dialect.separator == dialect.decimal) {
    throw Error(ErrorCode::invalid_argument,
                "'" + std::string(1, d) + "' cannot be both the separator and the decimal mark");
  }
  return dialect;
}

// Quotes tell a header of numbers ("1", "2", ... of an array) from data: our own writer quotes such names, but no
// number below them. If all that follows is quoted too, somebody quotes everything.
bool is_quoted_header(const Text& text, const std::vector<HeadRecord>& head, const HeadRecord& first) {
  const auto all_quoted = [&](const HeadRecord& record) {
    return std::all_of(record.fields.begin(), record.fields.end(),
                       [&](const HeadField& field) { return is_quoted(field_text(text, field)); });
  };
  if (!all_quoted(first)) return false;
  bool followed = false;
  for (const HeadRecord& record : head) {
    if (record.begin <= first.begin || record.blank) continue;
    if (!all_quoted(record)) return true;
    followed = true;
  }
  return !followed;
}

// If the caller gives names, the file has no header, as in pandas. Names are rarely given for a file with a header, and
// otherwise the first row of a file without one would be lost silently.
bool is_header(const Text& text, const std::vector<HeadRecord>& head, const HeadRecord& first, const FieldRules& rules,
               const ReadOptions& options) {
  if (options.header != Header::automatic) return options.header == Header::yes;
  if (!options.names.empty()) return false;
  const bool named = std::any_of(first.fields.begin(), first.fields.end(), [&](const HeadField& field) {
    double value = 0;
    return rules.number(field_text(text, field), value) == Meaning::other;
  });
  return named || is_quoted_header(text, head, first);
}

std::vector<std::string> header_names(const Text& text, const HeadRecord& record) {
  std::vector<std::string> names;
  names.reserve(record.fields.size());  // so that views of them stay valid
  std::unordered_set<std::string_view> seen;
  seen.reserve(record.fields.size());
  for (const HeadField& field : record.fields) {
    std::string& name = names.emplace_back(content_of(field_text(text, field)));
    if (name.empty()) name = std::to_string(names.size());
    if (!seen.insert(name).second) {
      throw Error(ErrorCode::invalid_file, "a second column is named '" + name + "'", place_of(text, field.begin));
    }
  }
  return names;
}

void declare(ColumnPlan& column, Kind kind, ValueType type) {
  column.kind = kind;
  column.declared = true;
  if (is_nominal(column.type) != is_nominal(type) || !is_nominal(type)) {
    column.type = type;
    column.values.clear();
    column.listed = false;
  }
}

Kind kind_of(ValueType type) {
  return type == ValueType::date ? Kind::date : is_nominal(type) ? Kind::nominal : Kind::numeric;
}

void apply_declarations(Plan& plan, Names kind, const ReadOptions& options, const Schema* schema,
                        const std::string& source) {
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
      column.values = spec.values;
      column.listed = !spec.values.empty();
    }
  }
  const ColumnNames known(std::move(names), options.unknown_columns, source);
  const auto declare_named = [&](const std::string& text, std::string_view option, ValueType type) {
    const std::int64_t index = known.find(text, option);
    if (index < 0) return;
    ColumnPlan& column = plan.columns[static_cast<std::size_t>(index)];
    if (column.declared && is_nominal(column.type) == is_nominal(type)) return;  // the schema says it more precisely
    declare(column, kind_of(type), type);
  };
  for (const std::string& text : options.nominal) declare_named(text, "nominal", ValueType::polynominal);
  for (const std::string& text : options.numeric) declare_named(text, "numeric", ValueType::real);
  const std::string target = target_name(options, schema);
  if (options.target_is_nominal && !target.empty()) declare_named(target, "target", ValueType::polynominal);
  if (!options.sample_weight.empty()) declare_named(options.sample_weight, "sample weight", ValueType::real);
}

// Visits the fields of one column at the head of the data, with their rows.
template <class Visit>
void visit_head(const Text& text, const std::vector<HeadRecord>& data, std::size_t column, std::size_t n_columns,
                const Visit& visit) {
  std::int64_t row = 0;
  for (const HeadRecord& record : data) {
    if (record.blank && n_columns > 1) continue;
    if (record.fields.size() != n_columns) return;
    visit(field_text(text, record.fields[column]), row++);
  }
}

void guess_kind(ColumnPlan& plan, const Text& text, const std::vector<HeadRecord>& data, std::size_t column,
                std::size_t n_columns, const FieldRules& rules) {
  visit_head(text, data, column, n_columns, [&](std::string_view field, std::int64_t) {
    double value = 0;
    if (rules.number(field, value) == Meaning::other) plan.kind = Kind::nominal;
  });
  if (plan.kind == Kind::nominal) plan.type = ValueType::polynominal;
}

// Collects the values at the head, in final order: if no others follow, the codes given while parsing are already
// final.
void collect_values(ColumnPlan& plan, const Text& text, const std::vector<HeadRecord>& data, std::size_t column,
                    std::size_t n_columns, const FieldRules& rules, NominalOrder order) {
  std::vector<std::pair<std::string, std::int64_t>> found;
  std::unordered_set<std::string> seen;
  visit_head(text, data, column, n_columns, [&](std::string_view field, std::int64_t row) {
    std::string value = content_of(field);
    if (value.empty() || (!is_quoted(field) && rules.is_token(value))) return;
    if (seen.insert(value).second) found.emplace_back(std::move(value), row);
  });
  if (found.size() > kHeadValues && order == NominalOrder::sorted) return;
  if (order == NominalOrder::sorted) std::sort(found.begin(), found.end());
  for (auto& [value, row] : found) {
    plan.values.push_back(std::move(value));
    plan.first_rows.push_back(row);
  }
}

std::vector<HeadRecord> take_header(Plan& plan, Names& kind, const Text& text, const ReadOptions& options,
                                    std::vector<HeadRecord> head) {
  const HeadRecord& first = *std::find_if(head.begin(), head.end(), [](const HeadRecord& r) { return !r.blank; });
  const std::size_t n_columns = first.fields.size();
  std::vector<std::string> names;
  // A table of one column without a header begins at the top: an empty line there is a missing value.
  if (is_header(text, head, first, plan.rules, options)) {
    check_characters(text, 0, first.next);
    names = header_names(text, first);
    plan.data_begin = first.next;
    kind = Names::given;
  } else {
    for (std::size_t i = 0; i < n_columns; ++i) names.push_back(std::to_string(i + 1));
  }
  if (!options.names.empty()) {
    check_names(options.names, static_cast<std::int64_t>(n_columns));
    names = options.names;
    kind = Names::given;
  }
  for (std::string& name : names) {
    ColumnPlan column;
    column.name = std::move(name);
    plan.columns.push_back(std::move(column));
  }
  head.erase(head.begin(),
             std::find_if(head.begin(), head.end(), [&](const HeadRecord& r) { return r.begin >= plan.data_begin; }));
  return head;
}

// Without a complete first record nothing can be planned: this says what is wrong with it.
void check_first_record(const Text& text, const std::vector<HeadRecord>& head, char separator) {
  if (text.view.empty()) throw Error(ErrorCode::invalid_file, "the file is empty", {text.name});
  const bool found = std::any_of(head.begin(), head.end(), [](const HeadRecord& record) { return !record.blank; });
  const auto n = static_cast<std::int64_t>(text.view.size());
  const std::int64_t at = head.empty() ? 0 : head.back().next;
  if (found) return;
  if (at >= n) throw Error(ErrorCode::invalid_file, "the file holds no record", {text.name});
  const Record record = scan_record(text.view, at, separator, [](std::int64_t, std::int64_t) {});
  check_status(text, record);
}

}  // namespace

Plan make_plan(const Text& text, const ReadOptions& options, const Schema* schema) {
  const auto n = static_cast<std::int64_t>(text.view.size());
  // An archive or an image has a NUL near its beginning; saying so beats complaining about its first "record".
  const std::size_t nul = text.view.substr(0, 4096).find('\0');
  if (nul != std::string_view::npos)
    check_characters(text, 0, std::min<std::int64_t>(n, static_cast<std::int64_t>(nul) + 1));

  Plan plan;
  const Dialect dialect = dialect_of(text, options);
  const bool default_tokens = options.missing == ReadOptions{}.missing;
  plan.rules = schema != nullptr && schema->missing_token.has_value() && default_tokens
                   ? make_rules(dialect, {*schema->missing_token})
                   : make_rules(dialect, options.missing);

  std::vector<HeadRecord> head = read_head(text, dialect.separator, kHeadRecords, kHeadBytes);
  check_first_record(text, head, dialect.separator);
  Names kind = Names::positions;
  const std::vector<HeadRecord> data = take_header(plan, kind, text, options, std::move(head));
  apply_declarations(plan, kind, options, schema, text.name);
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    ColumnPlan& column = plan.columns[i];
    if (!column.declared) guess_kind(column, text, data, i, plan.columns.size(), plan.rules);
    if (column.kind == Kind::nominal && !column.listed) {
      collect_values(column, text, data, i, plan.columns.size(), plan.rules, options.nominal_order);
    }
  }
  return plan;
}

}  // namespace stope::io::csv
