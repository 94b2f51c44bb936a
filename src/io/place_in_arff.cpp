// Where a cell of an ARFF file stands: every row has a line of its own.
#include <algorithm>

#include "io/arff_header.hpp"
#include "io/csv/text.hpp"
#include "io/number.hpp"
#include "io/raw_columns.hpp"
#include "io/readers.hpp"

namespace stope::io {
namespace {

// Moves to the value of that attribute in a row `{index value, ...}`; stays at the row's begin if it is left out.
std::int64_t sparse_column(ArffScanner& scanner, std::int64_t wanted) {
  const std::int64_t begin = scanner.column();
  scanner.skip();  // '{'
  while (scanner.peek() != '}' && scanner.peek() != ArffScanner::kLineEnd) {
    double index = -1;
    parse_number(scanner.word().text, index);
    scanner.separator();
    const std::int64_t column = scanner.column();
    if (index == static_cast<double>(wanted)) return column;
    if (scanner.peek() == '}' || scanner.peek() == ArffScanner::kLineEnd) break;
    scanner.word();
    scanner.separator();
  }
  return begin;
}

std::int64_t dense_column(ArffScanner& scanner, std::int64_t wanted) {
  const std::int64_t begin = scanner.column();
  for (std::int64_t c = 0; c < wanted; ++c) {
    const int next = scanner.peek();
    if (next == ArffScanner::kLineEnd || next == ',') return begin;
    scanner.word();
    scanner.separator();
  }
  return scanner.column();
}

}  // namespace

Place place_in_arff(const Bytes& bytes, const ReadOptions& options, std::int64_t row, std::string_view feature,
                    const RunOptions& run) {
  constexpr std::int64_t kPollRows = 4096;
  const std::int64_t budget = table_budget(bytes, run);
  const csv::Text text = csv::text_of(bytes, options.encoding, budget);
  ArffScanner scanner(text.view, bytes.name);
  std::int64_t wanted = 0;  // for an unknown name the place of the row
  ArffMeter meter(budget, run.cancel, bytes.name);
  const std::vector<ArffAttribute> attributes = read_arff_header(scanner, meter, SameNames::allowed).attributes;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const std::string& name = i < options.names.size() ? options.names[i] : attributes[i].name;
    if (name == feature) wanted = static_cast<std::int64_t>(i);
  }
  for (std::int64_t at = 0; scanner.next_line(); ++at) {
    if (at % kPollRows == 0) run.cancel.check();
    if (at < row) continue;
    const bool sparse = scanner.peek() == '{';
    return scanner.place(sparse ? sparse_column(scanner, wanted) : dense_column(scanner, wanted));
  }
  return {};
}

}  // namespace stope::io
