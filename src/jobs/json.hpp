// JSON as jobs and the C ABI return it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "stope/table.hpp"

namespace stope::jobs {

using Json = nlohmann::ordered_json;

/// Without line ends. Bytes that are no UTF-8 become U+FFFD.
inline std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A list of {"name", "type", "role", "values"}, one a column.
Json columns_json(const Table& table);

}  // namespace stope::jobs
