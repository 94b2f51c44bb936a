// JSON as the functions of the C ABI return it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace stope::capi {

using Json = nlohmann::ordered_json;

/// Without line ends. Bytes that are no UTF-8 become U+FFFD.
inline std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace stope::capi
