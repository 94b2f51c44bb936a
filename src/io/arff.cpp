// ARFF, the format of WEKA and RapidMiner (docs/FORMATS.md). Two walks over the memory-mapped text: the first counts
// the rows, so that every column is allocated once, at its size.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/name_index.hpp"
#include "base/progress.hpp"
#include "base/rank_texts.hpp"
#include "base/thread_pool.hpp"
#include "io/arff_blocks.hpp"
#include "io/csv/text.hpp"
#include "io/number.hpp"
#include "io/raw_columns.hpp"
#include "io/readers.hpp"
#include "stope/warning.hpp"
#include "table/array_columns.hpp"
#include "table/column_memory.hpp"

namespace stope::io {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kPollCells = 65536;  // values between two polls of the cancel token: some milliseconds
// Values of a block, whose text and index fit a second-level cache. A block of long rows fills a line of each column.
constexpr std::int64_t kBlockCells = std::int64_t{1} << 14, kBlockRows = 8;

class ArffReader {
 public:
  ArffReader(const Bytes& bytes, const ReadOptions& options, const RunOptions& run)
      : bytes_(bytes),
        options_(options),
        run_(run),
        budget_(table_budget(bytes, run)),
        text_(csv::text_of(bytes, options.encoding, budget_)),
        scanner_(text_.view, bytes.name),
        pool_(run.threads) {}

  Table read() {
    const RunningJob running(run_);
    prepare();
    read_blocks();
    if (!lost_digits_.empty() && run_.warn) run_.warn(warning::kDigitsLost, lost_digits_);
    return table();
  }

 private:
  // All threads read the blocks of plain rows. The others follow in the order of the file, so that the first mistake is
  // the one that is reported.
  void read_blocks() {
    PhaseProgress progress(run_, "read", static_cast<std::int64_t>(text_.view.size()), scanner_.position());
    std::vector<std::uint8_t> done(blocks_.size());
    const ArffBlockReader::Cell lost = read_plain_blocks(done, progress);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (done[b] != 0) continue;
      poll();
      scanner_.go_to(blocks_[b]);
      row_ = blocks_[b].first_row;
      for (std::int64_t r = 0; r < blocks_[b].n_rows; ++r, ++row_) read_row();
      progress.add(blocks_[b].bytes);
    }
    progress.reach(static_cast<std::int64_t>(text_.view.size()));
    if (lost < first_lost_) say_lost_digits(lost);
  }

  // Returns the first number there whose digits are lost.
  ArffBlockReader::Cell read_plain_blocks(std::vector<std::uint8_t>& done, PhaseProgress& progress) {
    ArffBlockReader::Cell lost = ArffBlockReader::kNoCell;
    const bool strings = std::any_of(cells_.begin(), cells_.end(),
                                     [](const ArffCells& cells) { return cells.attribute.kind == ArffKind::string; });
    if (strings) return lost;  // their codes depend on the rows before
    std::vector<std::optional<ArffBlockReader>> readers(static_cast<std::size_t>(pool_.size()));
    pool_.parallel_for(
        std::ssize(blocks_), run_.cancel,
        [&](std::int64_t i, int worker) {
          const auto b = static_cast<std::size_t>(i);
          auto& reader = readers[static_cast<std::size_t>(worker)];
          if (!reader.has_value()) reader.emplace(text_.view, scanner_, cells_, keel_);
          done[b] = reader->read(blocks_[b]) ? 1 : 0;
          if (done[b] != 0) progress.add(blocks_[b].bytes);
        },
        &progress);
    for (const auto& reader : readers) {
      if (reader.has_value()) lost = std::min(lost, reader->lost_digits());
    }
    return lost;
  }

  void read_row() {
    scanner_.next_line();
    if (unpolled_ >= kPollCells) poll();
    if (scanner_.peek() == '{') {
      sparse_row();
    } else {
      dense_row();
    }
  }

  void poll() {
    unpolled_ = 0;
    run_.cancel.check();
  }

  /// Reads the header, counts the rows and allocates the columns.
  void prepare() {
    if (const std::int64_t offset = csv::find_invalid_utf8(text_.view); offset >= 0) {
      throw Error(ErrorCode::invalid_data, "invalid UTF-8 (is the file in another encoding?)",
                  csv::place_of(text_, offset));
    }
    ArffMeter meter(budget_, run_.cancel, bytes_.name);
    const SameNames same_names = options_.names.empty() ? SameNames::refused : SameNames::allowed;
    ArffHeader header = read_arff_header(scanner_, meter, same_names);
    keel_ = header.keel;
    cells_.reserve(header.attributes.size());
    for (ArffAttribute& attribute : header.attributes) cells_.push_back({std::move(attribute)});
    blocks_ = scanner_.blocks(std::max(kBlockRows, kBlockCells / std::ssize(cells_)), run_.cancel);
    n_rows_ = blocks_.empty() ? 0 : blocks_.back().first_row + blocks_.back().n_rows;
    std::int64_t row_bytes = 0;
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      row_bytes += cells_[c].coded() ? 4 : 8;
      if (cells_[c].coded() && cells_[c].attribute.values.empty()) missing_by_default_.push_back(c);
    }
    plan(checked::add(text_.converted.size(), meter.bytes()));
    const std::int64_t value_bytes = checked::mul(n_rows_, row_bytes);
    storage_ = storage_within(value_bytes, budget_ - planned_bytes_);
    if (storage_ == Storage::memory) plan(value_bytes);
    // Zeros that nobody overwrites take no memory, but they come in pages of their own. Where no row leaves values out,
    // and the rows are long enough for a character and a separator a value, all are overwritten.
    const bool sparse = std::any_of(blocks_.begin(), blocks_.end(), [](const ArffBlock& b) { return b.sparse; });
    const std::int64_t n_cells = checked::mul(n_rows_, std::ssize(cells_));
    const bool full = !sparse && n_cells <= std::ssize(text_.view) / 2;
    ColumnMemory memory(storage_, n_rows_, static_cast<std::int64_t>(cells_.size()), row_bytes,
                        full ? Fill::none : Fill::zero);
    for (ArffCells& cells : cells_) {
      if (cells.coded()) {
        cells.codes = memory.take<std::int32_t>();
        if (!cells.hashed()) continue;
        ArffDictionary& dictionary = *(cells.dictionary = std::make_unique<ArffDictionary>());
        for (const std::string& value : cells.attribute.values) {
          if (dictionary.size() % kPollCells == 0) poll_step(run_.cancel);
          dictionary.emplace(value, static_cast<std::int32_t>(dictionary.size()));
        }
      } else {
        cells.numbers = memory.take<double>();
      }
    }
  }

  /// Counts bytes that will be held; throws if they exceed the budget.
  void plan(std::int64_t bytes) {
    planned_bytes_ = checked::add(planned_bytes_, bytes);
    require_memory(planned_bytes_, budget_, bytes_.name);
  }

  void dense_row() {
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      if (c > 0 && !scanner_.separator()) {
        if (scanner_.peek() == ArffScanner::kLineEnd) fail_ragged(c);
        scanner_.fail("expected ',' between two values");
      }
      const int next = scanner_.peek();
      if (next == ArffScanner::kLineEnd || next == '{') fail_ragged(c);
      if (next == ',') scanner_.fail("an empty field (a missing value is written ?)");
      set(cells_[c], scanner_.word());
    }
    unpolled_ += std::ssize(cells_);
    end_of_row();
  }

  [[noreturn]] void fail_ragged(std::size_t there) {
    scanner_.fail("the row has " + std::to_string(there) + (there == 1 ? " value" : " values") +
                  ", the header declares " + std::to_string(cells_.size()) +
                  (cells_.size() == 1 ? " attribute" : " attributes"));
  }

  /// A value that a sparse row leaves out is 0, which is the first value of a nominal attribute: the columns hold zeros
  /// already, and a page that nobody writes to takes no memory. A string attribute has no first value until rows name
  /// some, so it is missing there.
  void sparse_row() {
    if (!missing_by_default_.empty()) fill_missing_by_default();
    ++unpolled_;
    scanner_.skip();  // '{'
    std::int64_t last = -1;
    while (scanner_.peek() != '}') {
      last = sparse_index(last);
      if (!scanner_.separator()) scanner_.fail("expected a value after the index " + std::to_string(last));
      if (scanner_.peek() == '}' || scanner_.peek() == ArffScanner::kLineEnd) {
        scanner_.fail("expected a value after the index " + std::to_string(last));
      }
      set(cells_[static_cast<std::size_t>(last)], scanner_.word());
      ++unpolled_;
      if (!scanner_.separator() && scanner_.peek() != '}') scanner_.fail("expected ',' or '}' in the sparse row");
    }
    scanner_.skip();
    end_of_row();
  }

  /// Writes the gaps of this row and of all below, column by column: values of one row lie far apart, and a row at a
  /// time would wait for memory at each. Dense rows below write over them.
  void fill_missing_by_default() {
    for (const std::size_t c : missing_by_default_) {
      run_.cancel.check();
      std::fill(cells_[c].codes.begin() + row_, cells_[c].codes.end(), kMissingCode);
    }
    missing_by_default_.clear();
  }

  std::int64_t sparse_index(std::int64_t last) {
    if (scanner_.peek() == ArffScanner::kLineEnd) scanner_.fail("a sparse row without its closing '}'");
    const ArffWord word = scanner_.word();
    double index = 0;
    if (!parse_number(word.text, index) || !(index >= 0) || index != std::floor(index)) {
      scanner_.fail("the index " + shown(word.text) + " of a sparse value is not a whole number from 0", word.column);
    }
    if (index >= static_cast<double>(cells_.size())) {
      scanner_.fail("the sparse index " + shown(word.text) + " is beyond the last attribute, " +
                        std::to_string(cells_.size() - 1),
                    word.column);
    }
    if (index <= static_cast<double>(last)) {
      scanner_.fail("the sparse index " + shown(word.text) + " does not ascend: it follows " + std::to_string(last),
                    word.column);
    }
    return static_cast<std::int64_t>(index);
  }

  void set(ArffCells& cells, const ArffWord& word) {
    const bool missing = !word.quoted && (word.text == "?" || (keel_ && word.text == "<null>"));
    if (cells.coded()) {
      cells.codes[row_] = missing ? kMissingCode : code(cells, word);
    } else if (missing) {
      cells.numbers[row_] = kMissing;
    } else if (cells.attribute.kind == ArffKind::date) {
      const DatePattern& dates = *cells.attribute.dates;
      if (!dates.read(word.text, cells.numbers[row_])) {
        fail_value(cells, word, "not a date of the form " + dates.text());
      }
    } else if (!parse_number(word.text, cells.numbers[row_])) {
      fail_value(cells, word, "not a number");
    } else if (loses_digits(word.text) || is_rounded_off(word.text, cells.numbers[row_])) {
      note_lost_digits(cells, word);
    }
  }

  [[noreturn]] void fail_value(const ArffCells& cells, const ArffWord& word, const std::string& what) const {
    scanner_.fail("the value " + shown(word.text) + " of attribute " + shown(cells.attribute.name) + " is " + what,
                  word.column);
  }

  /// The first number whose digits a double does not give back is worth a warning.
  void note_lost_digits(const ArffCells& cells, const ArffWord& word) {
    if (!lost_digits_.empty()) return;
    first_lost_ = {row_, &cells - cells_.data()};
    std::string number;
    append_number(number, cells.numbers[row_]);
    lost_digits_ = "attribute " + shown(cells.attribute.name) + " is numeric as declared, which changes " +
                   shown(word.text) + " (" + bytes_.name + ":" + std::to_string(scanner_.line()) + ":" +
                   std::to_string(word.column) + ") to " + number;
  }

  /// Reads the word of a cell in a plain block again: only it knows its place.
  void say_lost_digits(const ArffBlockReader::Cell& lost) {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), lost.first,
                                        [](std::int64_t row, const ArffBlock& block) { return row < block.first_row; });
    const ArffBlock& block = *(after - 1);
    scanner_.go_to(block);
    for (std::int64_t row = block.first_row; row <= lost.first; ++row) scanner_.next_line();
    ArffWord word = scanner_.word();
    for (std::int64_t c = 0; c < lost.second; ++c) {
      scanner_.separator();
      word = scanner_.word();
    }
    row_ = lost.first;
    lost_digits_.clear();
    note_lost_digits(cells_[static_cast<std::size_t>(lost.second)], word);
  }

  std::int32_t code(ArffCells& cells, const ArffWord& word) {
    const std::int32_t known = cells.code_of(word.text);
    if (known >= 0) return known;
    if (cells.attribute.kind == ArffKind::nominal) fail_value(cells, word, "not in its list");
    ArffDictionary& dictionary = *cells.dictionary;  // a string attribute has it
    if (dictionary.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      scanner_.fail("attribute " + shown(cells.attribute.name) + " has more than 2^31-1 different values", word.column,
                    ErrorCode::unsupported);
    }
    // Distinct strings cost several times their text: a column of identifiers must not outgrow the budget unnoticed.
    plan(ArffMeter::bytes_of(word.text));
    const auto code = static_cast<std::int32_t>(dictionary.size());
    dictionary.emplace(std::string(word.text), code);
    return code;
  }

  /// Reads what may follow the values: nothing, or the row's weight in braces.
  void end_of_row() {
    double weight = 1;
    if (scanner_.peek() != ArffScanner::kLineEnd) {
      scanner_.separator();
      const int next = scanner_.peek();
      if (next == ArffScanner::kLineEnd) scanner_.fail("a comma after the last value");
      if (next != '{') scanner_.fail("more than " + std::to_string(cells_.size()) + " values in the row");
      weight = row_weight();
      if (weights_.empty()) {
        if (storage_ == Storage::memory) plan(checked::mul(n_rows_, 8));
        weights_ = Buffer<double>(n_rows_, storage_);
        std::fill(weights_.begin(), weights_.end(), 1.0);
      }
    }
    if (!weights_.empty()) weights_[row_] = weight;
  }

  double row_weight() {
    scanner_.skip();  // '{'
    if (scanner_.peek() == ArffScanner::kLineEnd) scanner_.fail("a row weight without its closing '}'");
    const ArffWord word = scanner_.word();
    double weight = 0;
    if (!parse_number(word.text, weight) || !std::isfinite(weight)) {
      scanner_.fail("the row weight " + shown(word.text) + " is not a finite number", word.column);
    }
    if (scanner_.peek() != '}') scanner_.fail("expected '}' after the row weight");
    scanner_.skip();
    scanner_.expect_line_end("the row weight");
    return weight;
  }

  Table table() {
    Table table;
    table.source = bytes_.name;
    table.n_rows = n_rows_;
    table.columns.reserve(cells_.size() + 1);
    for (ArffCells& cells : cells_) {
      if (cells.attribute.kind == ArffKind::string) order_values(cells);
      Column& column = table.columns.emplace_back();
      column.name = std::move(cells.attribute.name);
      if (cells.coded()) {
        column.type = ValueType::nominal;
        column.data = std::move(cells.codes);
        column.values = std::move(cells.attribute.values);
      } else {
        if (cells.attribute.kind == ArffKind::integer) column.type = ValueType::integer;
        if (cells.attribute.kind == ArffKind::date) column.type = ValueType::date;
        column.data = std::move(cells.numbers);
      }
      cells.dictionary.reset();
    }
    if (!weights_.empty()) table.columns.push_back({weight_name(table), ValueType::real, Role::weight, weights_, {}});
    return table;
  }

  /// Puts the values of a string attribute in the order asked for, and renumbers its codes to match.
  void order_values(ArffCells& cells) const {
    std::vector<std::string>& values = cells.attribute.values;
    values.resize(cells.dictionary->size());
    for (const auto& [text, code] : *cells.dictionary) values[static_cast<std::size_t>(code)] = text;
    cells.dictionary.reset();  // gives way to what the sort needs
    if (options_.nominal_order != NominalOrder::sorted) return;
    const std::vector<std::int32_t> places = sort_texts(values, run_.cancel);
    if (places.empty()) return;
    for (std::int32_t& code : cells.codes) {
      if (code != kMissingCode) code = places[static_cast<std::size_t>(code)];
    }
  }

  static std::string weight_name(const Table& table) {
    NameIndex names(table.columns.size());
    names.add_all(table.columns, [](const Column& column) -> std::string_view { return column.name; });
    std::string name = "weight";
    for (int i = 2; names.contains(name); ++i) name = "weight_" + std::to_string(i);
    return name;
  }

  const Bytes& bytes_;
  const ReadOptions& options_;
  const RunOptions& run_;
  std::int64_t budget_;
  csv::Text text_;
  ArffScanner scanner_;
  ThreadPool pool_;
  std::vector<ArffCells> cells_;
  std::vector<ArffBlock> blocks_;
  Buffer<double> weights_;  // empty until a row has one
  bool keel_ = false;
  std::string lost_digits_;                                      // the warning, empty for none
  ArffBlockReader::Cell first_lost_ = ArffBlockReader::kNoCell;  // what it tells of
  std::int64_t n_rows_ = 0;
  std::int64_t row_ = 0;
  Storage storage_ = Storage::memory;  // where the values go
  std::int64_t planned_bytes_ = 0;
  std::vector<std::size_t> missing_by_default_;  // columns where a sparse row without them has a gap; empty once filled
  std::int64_t unpolled_ = 0;                    // values since the last poll
};

}  // namespace

Table read_arff(const Bytes& bytes, const ReadOptions& options, const RunOptions& run) {
  return ArffReader(bytes, options, run).read();
}

}  // namespace stope::io
