// What the command line adds to messages of the library: the option that does what a message advises.
#pragma once

#include <string>
#include <string_view>

#include "stope/error.hpp"

namespace stope::cli {

/// " (--impute mean ...)" for an error of the command; empty where there is nothing to add.
std::string hint_for(const Error& error, std::string_view command);
/// The same for a warning of that code (stope/warning.hpp).
std::string hint_for(std::string_view warning_code);

/// The name that an option of the API has on the command line: "impute" for the "missing" of pca.
std::string_view option_name(std::string_view option, std::string_view command);

}  // namespace stope::cli
