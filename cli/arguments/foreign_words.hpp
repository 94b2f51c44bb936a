// What other programs call things: words that stope does not know, but can explain.
#pragma once

#include <string_view>

namespace stope::cli {

/// The option, perhaps with its value, that someone means who writes `option`; empty if nothing is known.
std::string_view option_meant_by(std::string_view option);

/// What to do instead of giving `command` an option that it lacks, or, if `option` is empty, one argument more; empty
/// if nothing is known.
std::string_view advice_on(std::string_view command, std::string_view option);

/// The value of an option that someone means who writes `value`: "z" for "standard"; empty if nothing is known.
std::string_view value_meant_by(std::string_view value);

}  // namespace stope::cli
