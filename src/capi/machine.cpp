// The version, the machine and the measures for the C ABI.
#include <algorithm>
#include <string>
#include <string_view>

#include "jobs/json.hpp"
#include "stope/device.hpp"
#include "stope/metric.hpp"
#include "stope/stope.h"
#include "stope/version.hpp"

namespace stope::capi {
namespace {

using jobs::Json;

Json devices_json() {
  const DeviceInfo info = device_info();
  Json json = {{"cpu", info.cpu},
               {"threads", info.threads},
               {"memory_total", info.memory_total},
               {"memory_available", info.memory_available},
               {"backends", Json::array()},
               {"gpus", Json::array()}};
  for (const BackendInfo& one : info.backends) {
    json["backends"].push_back({{"name", one.name}, {"available", one.available}, {"reason", one.reason}});
  }
  for (const GpuInfo& one : info.gpus) {
    json["gpus"].push_back({{"index", one.index},
                            {"name", one.name},
                            {"uuid", one.uuid},
                            {"arch", one.arch},
                            {"driver", one.driver},
                            {"memory_total", one.memory_total},
                            {"multiprocessors", one.multiprocessors},
                            {"available", one.available},
                            {"reason", one.reason}});
  }
  return json;
}

Json words(std::string_view text) {
  Json list = Json::array();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) list.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

Json metrics_json() {
  Json json = Json::array();
  for (const MetricInfo& one : metrics()) {
    json.push_back({{"name", one.name},
                    {"family", one.family},
                    {"rapidminer", one.rapidminer},
                    {"aliases", words(one.aliases)},
                    {"accepts", to_string(one.accepts)},
                    {"params", words(one.params)},
                    {"summary", one.summary},
                    {"scales_itself", one.scales_itself},
                    {"allows_missing", one.allows_missing},
                    {"symmetric", one.symmetric}});
  }
  return json;
}

}  // namespace
}  // namespace stope::capi

uint32_t stope_abi(void) {
  return (STOPE_ABI_MAJOR << 16) | STOPE_ABI_MINOR;
}

const char* stope_version(void) {
  static_assert(STOPE_ABI_MAJOR < 0x8000);
  return STOPE_VERSION;
}

const char* stope_devices(void) {
  try {
    static const std::string text = stope::jobs::json_text(stope::capi::devices_json());
    return text.c_str();
  } catch (...) {
    return nullptr;
  }
}

const char* stope_metrics(void) {
  try {
    static const std::string text = stope::jobs::json_text(stope::capi::metrics_json());
    return text.c_str();
  } catch (...) {
    return nullptr;
  }
}
