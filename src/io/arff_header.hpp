// The header of an ARFF file: what its attributes are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/arff_date.hpp"
#include "io/arff_scanner.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io {

enum class ArffKind { number, integer, nominal, string, date };

struct ArffAttribute {
  std::string name;
  ArffKind kind = ArffKind::number;
  std::unique_ptr<const DatePattern> dates = nullptr;  ///< of a date attribute
  std::vector<std::string> values = {};                ///< values of a nominal attribute, in the order of the file
};

/// The header of an ARFF file.
struct ArffHeader {
  std::vector<ArffAttribute> attributes;
  bool keel = false;  ///< has what only KEEL writes: @inputs, @outputs, ranges; its missing value is <null>
};

/// Whether two attributes may have the same name: where the caller gives other names to all.
enum class SameNames { refused, allowed };

/// Counts what attributes and values will hold in memory, and polls: a small file can name millions of either.
class ArffMeter {
 public:
  ArffMeter(std::int64_t budget, const CancelToken& cancel, std::string file)
      : budget_(budget), cancel_(cancel), file_(std::move(file)) {}

  /// These throw out_of_memory beyond the budget, and cancelled.
  void attribute() { add(kColumnBytes); }
  void value(std::string_view text) { add(bytes_of(text)); }
  std::int64_t bytes() const { return bytes_; }

  /// What a value costs in the dictionary: its node, its bucket, and its entry in the final list.
  static std::int64_t bytes_of(std::string_view value) {
    return static_cast<std::int64_t>(2 * (value.size() + sizeof(std::string)) + 48);
  }

 private:
  void add(std::int64_t bytes);

  std::int64_t budget_;
  const CancelToken& cancel_;
  std::string file_;
  std::int64_t bytes_ = 0, n_ = 0;
};

/// Reads up to and including the `@data` line. Throws invalid_data with the place (unknown keywords, duplicate names or
/// values, no `@data`, no attribute), unsupported (relational attributes, other date formats, attribute weights), and
/// what the meter throws.
ArffHeader read_arff_header(ArffScanner& scanner, ArffMeter& meter, SameNames same_names);

}  // namespace stope::io
