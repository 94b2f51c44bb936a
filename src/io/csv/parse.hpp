// Parses segments of CSV text into columns: the part of the reader that touches every byte.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/csv/column_parser.hpp"
#include "io/csv/padded_text.hpp"
#include "io/csv/row_texts.hpp"

namespace stope::io::csv {

/// Where a column's values go. For a column that is being parsed, one of the two is set.
struct ColumnOutput {
  double* numbers = nullptr;
  std::int32_t* codes = nullptr;
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
  const PaddedText& padded;
  RowTexts& row_texts;
  std::vector<std::atomic<bool>>
      misfits;  ///< per column: whether a field does not fit its reading, and others are left
};

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
  const ColumnNotes& notes(std::size_t column) const { return columns_[column].notes; }
  const RaggedRecords& ragged() const { return ragged_; }

 private:
  struct ColumnState {
    std::unique_ptr<Dictionary> dictionary;
    ColumnNotes notes;
    std::int64_t n_hashed = 0;          // rows looked up in the dictionary
    std::string_view* texts = nullptr;  // of all rows, once the worker keeps them
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
  Fit fill_column(const Batch& batch, const Fields& fields, std::size_t column);
  Fit fill_codes(const Batch& batch, const Fields& fields, std::size_t column);
  void note_bad(std::size_t column);

  ParseJob& job_;
  MemoryMeter& meter_;
  std::int64_t max_rows_;
  std::vector<ColumnState> columns_;
  ColumnParser parser_;
  std::vector<std::uint32_t> begins_, ends_;
  BadValue bad_value_;
  RaggedRecords ragged_;
};

}  // namespace stope::io::csv
