// Columns that outlast the memory which a caller has lent (Buffer::borrow).
#pragma once

#include "stope/table.hpp"

namespace stope {

/// Copies the column's values if nothing owns their memory (Buffer::owned); they may be gone when the job has returned.
void make_lasting(Column& column, Storage storage = Storage::memory);

}  // namespace stope
