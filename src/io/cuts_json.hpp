// Cuts from the text of a JSON file (stope/cuts_file.hpp).
#pragma once

#include <string>
#include <string_view>

#include "stope/cuts_file.hpp"

namespace stope::io {

CutSet parse_cuts(std::string_view json, const std::string& name, std::int64_t budget = INT64_MAX);
std::string cuts_text(const CutSet& cuts);

}  // namespace stope::io
