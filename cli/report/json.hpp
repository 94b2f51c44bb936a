// The JSON of --json: members in the order they were added; NaN and infinities, which JSON lacks, are null.
#pragma once

#include <nlohmann/json.hpp>

namespace stope::cli {

using Json = nlohmann::ordered_json;

}  // namespace stope::cli
