// Nominal columns from Arrow: strings of three layouts, dictionaries of them, booleans.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/arrow/chunk.hpp"
#include "io/csv/dictionary.hpp"
#include "stope/io.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io::arrow {

/// The code of a string, which need not be followed by anything readable. A new one is added, with its row.
std::int32_t code_of(csv::Dictionary& dictionary, std::string_view value, std::int64_t row);

/// The values of a dictionary, by code.
std::vector<std::string> values_of(const csv::Dictionary& dictionary);

/// Throws invalid_data, with the row, if a value from code `first` on is not UTF-8.
void check_utf8(const csv::Dictionary& dictionary, std::int32_t first, const Field& field);

/// The codes of one chunk that may be used where they lie, with the values they stand for.
struct SharedCodes {
  const std::int32_t* codes = nullptr;  ///< null: they have to be translated
  std::vector<std::string> values;
};

/// Whether a column's codes can be shared: one chunk of int32 or uint32 indices, aligned, without nulls, whose
/// dictionary has no null and no value twice. All indices are compared with the dictionary's length, and all its values
/// are read. Throws as read_names.
SharedCodes shared_codes(const Field& field, const Chunk& chunk, csv::MemoryMeter& meter);

/// Reads a nominal column into `column`, whose buffer has a code for every row of the chunks. Nulls, also those in a
/// dictionary, become kMissingCode. Dictionaries keep their order, unused values included; a value that stands twice,
/// or in several dictionaries, has one code. Strings are sorted by bytes or stay in the order of their first row.
/// Throws invalid_data for indices outside their dictionary, lengths that are negative, offsets that fall, and text
/// that is no UTF-8.
void read_names(const Field& field, const std::vector<Chunk>& chunks, NominalOrder order, csv::MemoryMeter& meter,
                const CancelToken& cancel, Column& column);

}  // namespace stope::io::arrow
