// Explained predictions: which training rows decided, and what their distances consist of; what the coefficients of
// least squares add.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "report/session.hpp"
#include "stope/io.hpp"
#include "stope/predictor.hpp"

namespace stope::cli {

/// Explains the predictions of k-NN for every row of `table`. A file of records has one per neighbour and attribute,
/// the `n_attributes` with the largest shares of the distance; one per neighbour where the measure has no such shares.
/// A .txt file and stdout have the first rows as text for people.
void write_explanations(Session& session, OutputFile& file, const Predictor& predictor, const Table& table,
                        std::int64_t n_attributes);

/// "3 + 8.2 (age) - 1.3 (income) + 2.6 (7 others)": the intercept, then the contributions, largest first.
std::string linear_reason(const LinearModel& model, std::span<const double> contributions);

}  // namespace stope::cli
