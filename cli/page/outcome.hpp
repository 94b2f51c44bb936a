// A part of a report, or why there is none. A part that fails does not take the others with it.
#pragma once

#include <optional>
#include <string>

#include "page/markup.hpp"
#include "stope/error.hpp"

namespace stope::cli::page {

template <class Found>
struct Outcome {
  std::optional<Found> found;
  std::string why;  ///< where nothing was found; empty where the part does not apply
};

/// Runs `find`. What the table or the memory does not allow becomes words; cancelling, a lost device and defects of the
/// program end the report.
template <class Find>
auto attempt(const Find& find) -> Outcome<decltype(find())> {
  try {
    return {find(), {}};
  } catch (const Error& error) {
    const ErrorCode code = error.code();
    if (code != ErrorCode::invalid_data && code != ErrorCode::invalid_argument && code != ErrorCode::unsupported &&
        code != ErrorCode::out_of_memory) {
      throw;
    }
    // The user gave it to this part alone, so it is a mistake and no property of the table.
    if (error.option() == "metric_params") throw;
    return {std::nullopt, error.message()};
  }
}

/// Writes the words that stand in place of a part.
void write_absence(Markup& out, const std::string& why);

}  // namespace stope::cli::page
