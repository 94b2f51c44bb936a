// join_parts (io/csv/join_parts.hpp). A copy of the text costs little beside parsing it. In return types, headers,
// values and messages come from the one reader, as if the parts had been one file.
#include "io/csv/join_parts.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "io/csv/head.hpp"
#include "io/csv/header.hpp"
#include "io/csv/plan.hpp"
#include "io/csv/segments.hpp"
#include "io/csv/text.hpp"
#include "io/foreign_format.hpp"
#include "table/column_memory.hpp"

namespace stope::io::csv {
namespace {

// More than the head from which the reader guesses, so that both see the same.
constexpr std::int64_t kSampleBytes = std::int64_t{512} << 10;

using RecordTexts = std::vector<std::string>;

struct Part {
  std::string path;
  std::optional<Bytes> bytes;  // none if the part is loaded again for its copy
  Text text;
  std::int64_t size = 0;   // of the text
  std::int64_t begin = 0;  // of its records
  std::int64_t first_line = 1;
  char separator = '\0';  // by a line sep=
};

struct FirstRecord {
  RecordTexts fields;
  std::int64_t next = 0;
};

class Joiner {
 public:
  Joiner(std::string name, const ReadOptions& options, const RunOptions& run)
      : name_(std::move(name)), options_(options), run_(run), budget_(memory_budget(run)) {}

  JoinedParts join(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) add(path);
    ReadOptions joined = options_;
    joined.encoding = Encoding::utf8;
    joined.skip_lines = 0;
    if (parts_.empty()) return {{"", nullptr, name_, 0}, joined};
    joined.separator = separator_of_all();
    find_headers();
    return {copy(), joined};
  }

 private:
  // The memory that is left for the next part.
  RunOptions rest_of_run() const {
    RunOptions run = run_;
    if (run.memory_limit > 0) run.memory_limit = std::max<std::int64_t>(1, run.memory_limit - held_);
    return run;
  }

  void load(Part& part, const RunOptions& run) const {
    part.bytes = load_bytes(part.path, run);
    refuse_foreign(part.bytes->view, part.path,
                   options_.format == Format::automatic ? Foreign::any : Foreign::with_magic_number);
    part.text = open_text(*part.bytes, options_, std::max<std::int64_t>(0, memory_budget(run) - part.bytes->held));
  }

  void add(const std::string& path) {
    Part part{.path = path, .bytes = {}, .text = {}};
    load(part, rest_of_run());
    part.size = static_cast<std::int64_t>(part.text.view.size());
    part.first_line = part.text.first_line;
    part.separator = part.text.separator;
    // Later on, a blank line is a row of a table of one column.
    if (part.size == 0 || (parts_.empty() && record_begin(part.text.view) == part.size)) return;
    parts_.push_back(std::move(part));
    Part& last = parts_.back();
    const std::int64_t held = (last.bytes ? last.bytes->held : 0) + last.text.converted.size();
    if (held_ + held <= budget_ / 4) {
      held_ += held;
    } else {
      heads_.emplace_back(parts_.size() - 1, head_of(last));
      last.bytes.reset();
      last.text = {};
    }
  }

  // Where the first record begins, behind blank lines and comments; without a record: the text's end.
  std::int64_t record_begin(std::string_view text) const {
    Dialect dialect;
    dialect.comment = options_.comment;
    for (std::int64_t at = 0; at < std::ssize(text);) {
      const Record record = scan_record(text, at, dialect, [](std::int64_t, std::int64_t) {});
      if (!record.comment && !record.blank) return at;
      at = record.next;
    }
    return std::ssize(text);
  }

  // What the decision about headers needs of a part that is not kept. Comments in front are part of it.
  std::string head_of(const Part& part) const {
    const std::int64_t begin = std::min(record_begin(part.text.view), budget_ / 2);
    std::string_view head = part.text.view.substr(0, static_cast<std::size_t>(begin + kSampleBytes));
    if (head.size() < part.text.view.size()) head = head.substr(0, head.rfind('\n') + 1);
    return std::string(head);
  }

  // The beginning of a part's text, whether it is kept or not.
  Text head_text(std::size_t i) const {
    Text text;
    text.name = parts_[i].path;
    text.first_line = parts_[i].first_line;
    text.budget = budget_;
    text.separator = parts_[i].separator;
    if (parts_[i].bytes.has_value()) {
      text.view = parts_[i].text.view;
      return text;
    }
    const auto kept = std::find_if(heads_.begin(), heads_.end(), [i](const auto& one) { return one.first == i; });
    text.view = kept->second;
    return text;
  }

  char separator_of_all() const {
    if (options_.separator != '\0') return options_.separator;
    const char first = parts_.front().separator;
    for (const Part& part : parts_) {
      if (part.separator == first) continue;
      throw Error(ErrorCode::invalid_data,
                  "a line sep= names another separator than in '" + parts_.front().path + "': name it for all",
                  {.file = part.path, .option = "separator"});
    }
    return first;
  }

  ReadOptions plain_options() const {
    ReadOptions options = options_;
    options.select = options.ignore = options.nominal = options.numeric = options.date = {};
    options.target = options.id = options.sample_weight = {};
    options.target_is_nominal = false;
    return options;
  }

  std::optional<FirstRecord> first_of(const Text& text) const {
    const Head head = read_head(text, dialect_, 1, 1, run_.cancel);
    const HeadRecord* first = first_record(head);
    if (first == nullptr) return std::nullopt;
    FirstRecord record{{}, first->next};
    for (const HeadField& field : first->fields) record.fields.push_back(content_of(field_text(text, field)));
    return record;
  }

  void find_headers() {
    const Text first = head_text(0);
    const ReadOptions plain = plain_options();
    // The first part may be a header alone; then it is the others that say what the columns are.
    const Plan plan = make_plan(first, plain, nullptr, run_.cancel);
    dialect_ = plan.rules.dialect;
    // A part that is not kept has no whole record in its head if its first line is longer.
    const std::optional<FirstRecord> found = first_of(first);
    if (!found.has_value()) return;
    const FirstRecord& names = *found;
    if (!has_header(first, names, plain)) return;
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      const Text text = head_text(i);
      const std::optional<FirstRecord> record = first_of(text);
      if (!record.has_value()) continue;
      if (record->fields == names.fields) {
        parts_[i].begin = record->next;
        parts_[i].first_line = place_of(text, record->next).line;
      } else if (options_.header == Header::yes || is_other_header(text, names, plan.rules)) {
        refuse_header(parts_[i], *record, names);
      }
    }
  }

  // What the reader will decide from the head of the joined text: the sample is that head, without repeated headers.
  bool has_header(const Text& first, const FirstRecord& names, const ReadOptions& plain) const {
    if (options_.header != Header::automatic) return options_.header == Header::yes;
    std::string joined;
    Text sample = first;
    if (static_cast<std::int64_t>(first.view.size()) < kSampleBytes) {
      joined = first.view;
      for (std::size_t i = 1; i < parts_.size() && std::ssize(joined) < kSampleBytes; ++i) {
        if (!joined.ends_with('\n')) joined += '\n';
        const Text text = head_text(i);
        const std::optional<FirstRecord> record = first_of(text);
        const bool repeats = record.has_value() && record->fields == names.fields;
        std::string_view rest = text.view.substr(repeats ? static_cast<std::size_t>(record->next) : 0);
        if (std::ssize(rest) > kSampleBytes) rest = rest.substr(0, rest.rfind('\n', kSampleBytes) + 1);
        joined += rest;
      }
      sample.view = joined;
    }
    return make_plan(sample, plain, nullptr, run_.cancel).data_begin > 0;
  }

  // A part may go on without a header, as `split` cuts files; or its header may name other columns.
  bool is_other_header(const Text& text, const FirstRecord& names, const FieldRules& rules) const {
    constexpr std::int64_t kRecords = 1000, kBytes = std::int64_t{256} << 10;
    return looks_like_names(text, read_head(text, dialect_, kRecords, kBytes, run_.cancel), rules, names.fields);
  }

  [[noreturn]] static void refuse_header(const Part& part, const FirstRecord& record, const FirstRecord& names) {
    std::size_t i = 0;
    while (i < record.fields.size() && i < names.fields.size() && record.fields[i] == names.fields[i]) ++i;
    const auto said = [i](const RecordTexts& fields) {
      return i < fields.size() ? "'" + fields[i] + "'" : std::string("missing");
    };
    throw Error(ErrorCode::invalid_data,
                "its column " + std::to_string(i + 1) + " is " + said(record.fields) + ", that of the first part is " +
                    said(names.fields) + ": all parts need the same columns in the same order",
                {.file = part.path, .line = part.first_line, .option = "header"});
  }

  // A quote that a part never closes would swallow the beginning of the next.
  void check_quotes(const Text& text) const {
    if (std::count(text.view.begin(), text.view.end(), '"') % 2 == 0) return;
    for (std::int64_t at = 0, steps = 0; at < static_cast<std::int64_t>(text.view.size()); ++steps) {
      const Record record = scan_record(text.view, at, dialect_, [](std::int64_t, std::int64_t) {});
      check_status(text, record);
      at = record.next;
      if (steps % 4096 == 0) run_.cancel.check();
    }
  }

  Bytes copy() {
    std::int64_t size = 0;
    for (const Part& part : parts_) size = checked::add(size, part.size - part.begin + 1);
    const Storage storage = storage_within(size, std::max<std::int64_t>(0, budget_ - held_));
    auto joined = std::make_shared<Buffer<char>>(size, storage);
    auto places = std::make_shared<std::vector<BytesPart>>();
    places->reserve(parts_.size());
    char* to = joined->data();
    PhaseProgress progress(run_, "join", size);
    for (Part& part : parts_) {
      run_.cancel.check();
      if (!part.bytes.has_value()) load(part, rest_of_run());
      if (static_cast<std::int64_t>(part.text.view.size()) != part.size) {
        throw Error(ErrorCode::io, "changed while it was read", {part.path});
      }
      if (parts_.size() > 1) check_quotes(part.text);
      const std::string_view records = part.text.view.substr(static_cast<std::size_t>(part.begin));
      places->push_back({to - joined->data(), part.path, part.first_line});
      std::memcpy(to, records.data(), records.size());
      to += records.size();
      const bool open = !records.empty() && records.back() != '\n' && records.back() != '\r';
      if (open && &part != &parts_.back()) *to++ = '\n';
      part.bytes.reset();
      part.text = {};
      progress.reach(to - joined->data());
    }
    Bytes bytes{{joined->data(), static_cast<std::size_t>(to - joined->data())}, nullptr, name_, 0, places};
    bytes.held = storage == Storage::memory ? joined->size() : 0;
    bytes.owner = std::move(joined);
    return bytes;
  }

  std::string name_;
  const ReadOptions& options_;
  const RunOptions& run_;
  std::int64_t budget_, held_ = 0;
  std::vector<Part> parts_;
  std::vector<std::pair<std::size_t, std::string>> heads_;  // of the parts that are not kept
  Dialect dialect_;
};

}  // namespace

JoinedParts join_parts(const std::vector<std::string>& paths, const std::string& name, const ReadOptions& options,
                       const RunOptions& run) {
  return Joiner(name, options, run).join(paths);
}

}  // namespace stope::io::csv
