// The usual rows of ARFF, block by block: plain words apart by commas. Whatever else a block holds, it is left to the
// scanner (io/arff_scanner.hpp), which knows the whole grammar and words every error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/arff_header.hpp"
#include "io/csv/kernels.hpp"
#include "stope/buffer.hpp"

namespace stope::io {

struct ArffTextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};
using ArffDictionary = std::unordered_map<std::string, std::int32_t, ArffTextHash, std::equal_to<>>;

/// One attribute with its column under construction.
struct ArffCells {
  // Few values are compared one by one: that takes no memory a column.
  static constexpr std::size_t kFewValues = 8;

  ArffAttribute attribute;
  Buffer<double> numbers = {};                           // number, integer, date
  Buffer<std::int32_t> codes = {};                       // nominal, string
  std::unique_ptr<ArffDictionary> dictionary = nullptr;  // string, and nominal of many values

  bool coded() const { return attribute.kind == ArffKind::nominal || attribute.kind == ArffKind::string; }
  bool hashed() const { return attribute.kind == ArffKind::string || attribute.values.size() > kFewValues; }
  /// The code of a value, or -1.
  std::int32_t code_of(std::string_view text) const;
};

/// Reads blocks. One for each thread.
class ArffBlockReader {
 public:
  /// `text` is the whole file. No attribute is a string: codes of those depend on the rows before.
  ArffBlockReader(std::string_view text, const ArffScanner& scanner, std::vector<ArffCells>& cells, bool keel);

  /// Fills in the block's rows. False if the scanner has to read them; some cells may be filled in then.
  bool read(const ArffBlock& block);

  /// Row and attribute of the first number whose digits a double does not give back, among the blocks read.
  using Cell = std::pair<std::int64_t, std::int64_t>;
  static constexpr Cell kNoCell{INT64_MAX, 0};
  Cell lost_digits() const { return lost_; }

 private:
  bool take_lines(const ArffBlock& block);
  bool index(std::int64_t n, bool last);
  bool fill(ArffCells& cells, std::int64_t first_row, std::int64_t attribute, std::int64_t i);
  bool fill_numbers(ArffCells& cells, const csv::ColumnSlice& slice, std::int64_t first_row, std::int64_t attribute);
  bool word(const csv::ColumnSlice& slice, std::int64_t r, std::string_view& text) const;
  bool missing(std::string_view word) const { return word == "?" || (keel_ && word == "<null>"); }

  std::string_view text_;
  ArffScanner scanner_;
  std::vector<ArffCells>& cells_;
  bool keel_;
  const csv::Kernels& kernels_ = csv::best_kernels();
  std::vector<std::string_view> lines_;
  std::vector<const char*> at_;  // by line: where the next field begins
  std::string padded_;           // the lines at the file's end
  bool blanks_ = false;          // some line has blanks
  std::int64_t stride_ = 0;
  std::vector<std::uint32_t> ends_, rest_;
  Cell lost_ = kNoCell;
};

}  // namespace stope::io
