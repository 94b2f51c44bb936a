// The fields of one column of a batch become its values: what every field passes through, whichever way it is found.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv/dictionary.hpp"
#include "io/csv/kernels.hpp"
#include "io/csv/plan.hpp"

namespace stope::io::csv {

/// The first field of a column of some kind, if there is one.
struct FirstField {
  std::int64_t offset = -1;  ///< in the text; -1: none
  std::string text = {};

  void note(std::int64_t at, std::string_view field) {
    if (offset < 0 || at < offset) *this = {at, std::string(field)};
  }
};

/// A field that a declared column cannot take.
struct BadValue {
  std::int64_t offset = -1;  ///< in the text; -1: none
  std::int64_t column = 0;
  std::string text = {};
};

/// Fields that warnings tell of, by column; most columns have none.
struct OddFields {
  std::map<std::size_t, FirstField> lost_digits, offset_times;
};

/// What the fields of a column have shown, besides their values.
struct ColumnNotes {
  bool all_whole = true;
  bool any_present = false;
  FirstField lost_digits;  ///< the first number of a declared column whose digits a double does not give back
  FirstField offset_time;  ///< the first time with an offset from UTC
};

/// Whether fields fit the reading of their column.
enum class Fit {
  yes,
  no,  ///< another reading is left
  bad  ///< none is left: see ColumnParser::misfit
};

/// Fields of one column. Offsets in the text count from that of slice.base.
struct Fields {
  ColumnSlice slice;
  std::int64_t text_offset = 0;

  std::int64_t offset_of(std::string_view field) const { return text_offset + (field.data() - slice.base); }
};

/// Parses the fields of columns. One for each thread.
class ColumnParser {
 public:
  /// For slices of up to `max_rows` rows.
  ColumnParser(const FieldRules& rules, const Kernels& kernels, std::int64_t max_rows);

  /// Fills in out[r] for field r. Where the fields do not fit, the values are of no use.
  Fit numbers(const Fields& fields, const ColumnReading& reading, double* out, ColumnNotes& notes);
  Fit dates(const Fields& fields, const ColumnReading& reading, double* out, ColumnNotes& notes);
  /// `row` is that of field 0. A list of values has the codes below `n_listed`.
  Fit codes(const Fields& fields, const ColumnReading& reading, std::int64_t row, std::int64_t n_listed,
            Dictionary& dictionary, std::int32_t* out);
  /// As codes(), for a column without a list. Keeps the texts of rows in `texts` instead of looking them up; only those
  /// that are not in the file as they are get a code of the dictionary.
  void texts(const Fields& fields, std::int64_t row, Dictionary& dictionary, std::string_view* texts,
             std::int32_t* out);

  /// The first field of the last slice that no reading takes.
  const FirstField& misfit() const { return misfit_; }

 private:
  Fit take_leading_zeros(const Fields& fields, const ColumnReading& reading, ColumnNotes& notes);
  Fit take_number(const Fields& fields, const ColumnReading& reading, std::string_view field, ColumnNotes& notes);
  Fit refuse(const Fields& fields, const ColumnReading& reading, std::string_view field);
  std::int32_t code_of(std::string_view field, Dictionary& dictionary, std::int64_t row);

  const FieldRules& rules_;
  const Kernels& kernels_;
  std::vector<std::uint32_t> rest_;
  std::vector<Dictionary::Key> keys_;
  std::string scratch_;
  FirstField misfit_;
};

}  // namespace stope::io::csv
