// Fills the missing values of a table: blocks of rows, the donors of their values, the result's columns.
#pragma once

#include "impute/fitted.hpp"
#include "stope/impute.hpp"

namespace stope::impute {

/// See Imputer::apply.
Table fill(const Fitted& fitted, const Table& table, const RunOptions& run, const FilledSink& filled,
           ImputeReport& report);

}  // namespace stope::impute
