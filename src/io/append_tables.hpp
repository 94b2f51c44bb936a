// Tables of several files, one below the other.
#pragma once

#include <string>
#include <vector>

#include "stope/io.hpp"
#include "stope/table.hpp"

namespace stope::io {

/// What happens where a column is numeric in one table and nominal in another. error: files that declare their types
/// contradict each other. nominal: the numbers become names, as in a sheet whose cells each have a type.
enum class MixedTypes { error, nominal };

/// One table of the rows of all, which have the same column names in the same order; `name` is its source. Value lists
/// are merged: sorted if all of them are sorted and `options` say so, else new values follow those of the tables
/// before. Whole numbers below numbers become numbers. A column without values fits any type. The tables are emptied
/// one by one. Throws invalid_data, naming both files, for columns that differ.
Table append_tables(std::vector<Table> tables, const std::string& name, MixedTypes mixed, const ReadOptions& options,
                    const RunOptions& run);

}  // namespace stope::io
