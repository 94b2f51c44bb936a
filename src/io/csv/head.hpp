// The first records of a CSV file, from which separator, header and types are guessed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv/record.hpp"
#include "io/csv/text.hpp"
#include "stope/run.hpp"

namespace stope::io::csv {

struct HeadField {
  std::int64_t begin, end;
};

struct HeadRecord {
  std::vector<HeadField> fields;
  std::int64_t begin = 0, next = 0;
  bool blank = false;
  std::int64_t n = 1;  ///< how many blank records in a row it stands for; 1 for any other record
};

using Head = std::vector<HeadRecord>;

/// Reads records, blank ones too but no comments, up to the first malformed one or a limit. At least one is not blank,
/// if there is such a record. Blank ones in a row become one: a file may begin with millions. `next` is where the
/// reading stopped. Throws out_of_memory for a record with more columns than the text's budget has room for.
Head read_head(const Text& text, const Dialect& dialect, std::int64_t max_records, std::int64_t max_bytes,
               const CancelToken& cancel, std::int64_t* next = nullptr);

/// The first record that is not blank; nullptr if there is none.
const HeadRecord* first_record(const Head& head);

/// A trimmed field, quotes included.
std::string_view field_text(const Text& text, const HeadField& field);
/// The content of a trimmed field, without its quotes.
std::string content_of(std::string_view trimmed);

/// Calls visit(field, row) for the fields of one column in `data`, whose first record is row 0. Blank records in a row
/// are visited once. A record may have too few fields.
template <class Visit>
void visit_column(const Text& text, const Head& data, std::size_t column, std::size_t n_columns, const Visit& visit) {
  std::int64_t row = 0;
  for (const HeadRecord& record : data) {
    if (record.blank && n_columns > 1) continue;
    if (column < record.fields.size()) visit(field_text(text, record.fields[column]), row);
    row += record.n;
  }
}

/// A head, and where its reading stopped.
struct ReadHead {
  Head head;
  std::int64_t next = 0;
};

/// The separator that the file was most probably written with. `read` becomes the head that it was found in; it is
/// empty where no separator was found.
char find_separator(const Text& text, const Dialect& dialect, const CancelToken& cancel, ReadHead& read);

}  // namespace stope::io::csv
