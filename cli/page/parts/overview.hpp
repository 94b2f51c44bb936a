// What the table is: its classes or the spread of its label, its kinds of columns, and the columns that serve no model.
#pragma once

#include "page/markup.hpp"
#include "page/subject.hpp"
#include "stope/run.hpp"

namespace stope::cli::page {

void write_overview(Markup& out, const Subject& subject, const RunOptions& run);

}  // namespace stope::cli::page
