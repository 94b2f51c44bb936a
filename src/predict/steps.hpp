// The steps of chains applied: what each gives, and what a table becomes on its way through them.
#pragma once

#include <cstddef>
#include <string>

#include "stope/predictor.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::predict {

/// Whether the model gives a table.
bool gives_table(const Model& model);

/// The table that a model makes of a table. Throws what the model's own job throws.
Table transform(const Model& model, const Table& table, const RunOptions& run);

/// Throws invalid_argument unless the chain has steps, few enough, that give what the next one takes: tables of as many
/// rows. Columns are not compared.
void require_steps(const ChainModel& chain);

/// The same, and throws unless a table of these columns passes the steps.
void require_chain(const ChainModel& chain, const Table& columns);

/// What is said of step i in messages: "step 2 (cuts)".
std::string name_of_step(const ChainModel& chain, std::size_t i);

/// The table with the roles of features and ignored columns that the step's own table had. What one step ignores may be
/// a feature of the next one.
Table as_taken(const Model& step, Table table);

/// A table on its way, and the run options for what follows: a memory limit shrinks by what the steps have made.
struct Prepared {
  Table table;
  RunOptions run;
};

/// The table as the last step takes it.
Prepared through(const ChainModel& chain, const Table& table, const RunOptions& run);

}  // namespace stope::predict
