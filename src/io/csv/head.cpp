#include "io/csv/head.hpp"

#include <algorithm>
#include <utility>

#include "base/memory.hpp"
#include "base/progress.hpp"
#include "io/number.hpp"
#include "stope/table.hpp"

namespace stope::io::csv {
namespace {

constexpr std::int64_t kRecords = 100;
constexpr std::int64_t kBytes = std::int64_t{64} << 10;
constexpr std::int64_t kPollRecords = 4096;
constexpr std::size_t kManyFields = std::size_t{1} << 16;

// Whether commas only stand in numbers, as decimal marks ("1,5").
bool commas_are_decimal_marks(const Text& text, const Head& head) {
  double value = 0;
  bool found = false;
  for (const HeadRecord& record : head) {
    for (const HeadField& field : record.fields) {
      const std::string content = content_of(field_text(text, field));
      if (content.find(',') == std::string::npos) continue;
      if (!parse_number(content, value, ',')) return false;
      found = true;
    }
  }
  return found;
}

// There may be any number of further columns, so the bytes that would do are not known.
[[noreturn]] void refuse_columns(const Text& text, std::int64_t n_columns) {
  refuse_memory_from("its columns, without their values, need", n_columns * kColumnBytes, text.budget, {text.name});
}

// Makes room for the rest of a line as long as its beginning lets expect. Growing step by step would write to twice the
// memory.
void reserve_fields(std::vector<HeadField>& fields, std::string_view text, std::int64_t begin, std::int64_t at,
                    std::int64_t most) {
  const std::size_t found = text.find('\n', static_cast<std::size_t>(at));
  const double line = static_cast<double>(std::min(found, text.size()) - static_cast<std::size_t>(begin));
  const double expected = 1.1 * static_cast<double>(fields.size()) * line / static_cast<double>(at - begin);
  fields.reserve(std::max(fields.size(), static_cast<std::size_t>(std::min(expected, static_cast<double>(most) + 1))));
}

}  // namespace

std::string_view field_text(const Text& text, const HeadField& field) {
  return text.view.substr(static_cast<std::size_t>(field.begin), static_cast<std::size_t>(field.end - field.begin));
}

std::string content_of(std::string_view trimmed) {
  if (!is_quoted(trimmed)) return std::string(trimmed);
  std::string content;
  unquote(trimmed, content);
  return content;
}

Head read_head(const Text& text, const Dialect& dialect, std::int64_t max_records, std::int64_t max_bytes,
               const CancelToken& cancel, std::int64_t* next) {
  const std::int64_t most_fields = text.budget / kColumnBytes;
  Head head;
  const auto n = static_cast<std::int64_t>(text.view.size());
  bool found = false;
  std::int64_t at = 0, n_records = 0, n_lines = 0;
  while (at < n) {
    if (found && (at >= max_bytes || n_records >= max_records)) break;
    if (++n_lines % kPollRecords == 0) poll_step(cancel);
    HeadRecord record;
    const Record scanned = scan_record(text.view, at, dialect, [&](std::int64_t begin, std::int64_t end) {
      if (record.fields.size() == kManyFields) reserve_fields(record.fields, text.view, at, end, most_fields);
      record.fields.push_back({begin, end});
      if (std::ssize(record.fields) > most_fields) refuse_columns(text, std::ssize(record.fields));
    });
    if (scanned.status != RecordStatus::complete) break;
    record.begin = at;
    record.next = scanned.next;
    record.blank = scanned.blank;
    at = record.next;
    if (scanned.comment) continue;
    found = found || !record.blank;
    ++n_records;
    if (record.blank && !head.empty() && head.back().blank) {
      ++head.back().n;
      head.back().next = at;
      continue;
    }
    head.push_back(std::move(record));
  }
  if (next != nullptr) *next = at;
  return head;
}

const HeadRecord* first_record(const Head& head) {
  const auto first = std::find_if(head.begin(), head.end(), [](const HeadRecord& r) { return !r.blank; });
  return first == head.end() ? nullptr : &*first;
}

// Among the candidates that occur equally often in every record, the most frequent. If there is none, the most frequent
// in the first record, so that the error about the other records makes sense. In "1,5;2,5" the comma is a decimal mark,
// although it occurs more often.
char find_separator(const Text& text, const Dialect& dialect, const CancelToken& cancel, ReadHead& read) {
  char best = ',';
  std::int64_t best_score = 0;
  std::string_view plain;  // records without a quote, which end at the same places for every candidate
  for (const char candidate : {',', ';', '\t', '|'}) {
    if (candidate == dialect.decimal || candidate == dialect.comment) continue;
    if (!plain.empty() && plain.find(candidate) == std::string_view::npos) continue;  // every record has one field
    std::int64_t next = 0;
    Head head = read_head(text, {candidate, dialect.decimal, dialect.comment}, kRecords, kBytes, cancel, &next);
    const std::string_view seen = text.view.substr(0, static_cast<std::size_t>(next));
    if (seen.find('"') == std::string_view::npos) plain = seen;
    std::size_t first = 0;
    bool consistent = true;
    for (const HeadRecord& record : head) {
      if (record.blank) continue;
      if (first == 0) first = record.fields.size();
      consistent = consistent && record.fields.size() == first;
    }
    if (first <= 1) continue;
    std::int64_t score = static_cast<std::int64_t>(first) + (consistent ? std::int64_t{1} << 40 : 0);
    if (candidate == ';' && consistent && commas_are_decimal_marks(text, head)) score += std::int64_t{1} << 41;
    if (score > best_score) {
      best = candidate;
      best_score = score;
      read = {std::move(head), next};
    }
  }
  return best;
}

}  // namespace stope::io::csv
