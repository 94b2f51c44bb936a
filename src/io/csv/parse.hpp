// Parses segments of CSV text into columns: the part of the reader that touches every byte.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/csv/dictionary.hpp"
#include "io/csv/kernels.hpp"
#include "io/csv/plan.hpp"
#include "io/csv/segments.hpp"

namespace stope::io::csv {

/// Where a column's values go. For a column that is being parsed, one of the two is set.
struct ColumnOutput {
  double* numbers = nullptr;
  std::int32_t* codes = nullptr;
};

/// A field that a declared column cannot take. Offsets are offsets in the text.
struct BadValue {
  std::int64_t offset = -1;  ///< -1: none
  std::int64_t column = 0;
  std::string text;
};

/// The first field of a column of some kind, if there is one.
struct FirstField {
  std::int64_t offset = -1;  ///< in the text; -1: none
  std::string text;

  void note(std::int64_t at, std::string_view field) {
    if (offset < 0 || at < offset) *this = {at, std::string(field)};
  }
};

/// Records that have not as many fields as the table has columns.
struct RaggedRecords {
  std::int64_t n_short = 0, n_long = 0;
  std::int64_t first_short = -1, first_long = -1;  ///< offsets in the text; -1: none

  void add(const RaggedRecords& other);
  void note_short(std::int64_t offset);
  void note_long(std::int64_t offset);
};

/// What all workers share while they parse.
struct ParseJob {
  const Text& text;
  const Layout& layout;
  const Plan& plan;
  const Kernels& kernels;
  std::int64_t batch_fields = 0;      ///< fields indexed before columns are filled; at least one record
  std::vector<std::size_t> columns;   ///< the columns to fill
  std::vector<ColumnOutput> outputs;  ///< one per column of the plan
  std::int64_t tail_begin = 0;        ///< from here on the text is in `tail`, followed by kPadding readable bytes
  Buffer<char> tail;
  std::int64_t tail_size = 0;
  std::vector<std::atomic<bool>>
      misfits;  ///< per column: whether a field does not fit its reading, and others are left
};

/// Copies the last segment into job.tail and ends it with a line feed if it has no end.
void make_tail(ParseJob& job, const Segment& last);

enum class ParseStatus {
  done,
  irregular,  ///< the segment is not as guessed: exact_segments must decide
  bad_value   ///< see Worker::bad_value
};

/// One thread's state: its dictionaries and what it has learnt about the columns.
class Worker {
 public:
  Worker(ParseJob& job, MemoryMeter& meter);

  ParseStatus parse(const Segment& segment);

  const BadValue& bad_value() const { return bad_value_; }
  const Dictionary& dictionary(std::size_t column) const { return *columns_[column].dictionary; }
  bool all_whole(std::size_t column) const { return columns_[column].all_whole; }
  bool any_present(std::size_t column) const { return columns_[column].any_present; }
  /// The first number of a declared column whose digits a double does not give back.
  const FirstField& lost_digits(std::size_t column) const { return columns_[column].lost_digits; }
  const RaggedRecords& ragged() const { return ragged_; }
  /// The first time of a column with an offset from UTC.
  const FirstField& offset_time(std::size_t column) const { return columns_[column].offset_time; }

 private:
  struct ColumnState {
    std::unique_ptr<Dictionary> dictionary;
    bool all_whole = true;
    bool any_present = false;
    FirstField lost_digits, offset_time;
  };
  struct Batch {
    const char* base;          // the batch's first byte
    std::int64_t text_offset;  // where that byte is in the text
    std::int64_t size;         // bytes to the segment's end
    std::int64_t row;          // row of its first record in the table
    std::int64_t n_rows = 0;
    std::int64_t consumed = 0;
    const std::uint32_t* begins = nullptr;
    const std::uint32_t* ends = nullptr;
    std::uint32_t skip = 0;
    bool suspicious = false;
  };

  bool index(Batch& batch);
  bool index_fast(Batch& batch);
  bool index_by_grammar(Batch& batch);
  bool fit_record(const Batch& batch, const Record& record, std::int64_t at, std::int64_t row);
  void fill(const Batch& batch);
  void fill_numbers(const Batch& batch, const ColumnSlice& slice, std::size_t column);
  void fill_dates(const Batch& batch, const ColumnSlice& slice, std::size_t column);
  void fill_codes(const Batch& batch, const ColumnSlice& slice, std::size_t column);
  std::int32_t code_of(std::string_view field, Dictionary& dictionary, std::int64_t row);
  bool take_leading_zeros(const Batch& batch, const ColumnSlice& slice, std::size_t column);
  bool take_number(const Batch& batch, std::size_t column, std::string_view field);
  void note_rounding(const Batch& batch, std::size_t column, std::string_view field, double value);
  void refuse(const Batch& batch, std::size_t column, std::string_view field);
  void note_numbers(std::size_t column, const double* values, std::int64_t n, const PlainNumbers& plain);
  std::int64_t offset_of(const Batch& batch, std::string_view field) const {
    return batch.text_offset + (field.data() - batch.base);
  }
  void note_bad(const Batch& batch, std::size_t column, std::string_view field);

  ParseJob& job_;
  std::int64_t max_rows_;
  std::vector<ColumnState> columns_;
  std::vector<std::uint32_t> begins_, ends_, rest_;
  std::vector<Dictionary::Key> keys_;
  std::string scratch_;
  BadValue bad_value_;
  RaggedRecords ragged_;
};

}  // namespace stope::io::csv
