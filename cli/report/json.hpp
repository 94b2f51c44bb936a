// The JSON of --json: members in the order they were added; NaN and infinities, which JSON lacks, are null.
#pragma once

#include <nlohmann/json.hpp>

#include "report/json_members.hpp"

namespace stope::cli {

using Json = nlohmann::basic_json<JsonMembers>;

}  // namespace stope::cli
