#include "device/backend.hpp"

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/memory.hpp"
#include "base/nearest_name.hpp"
#include "stope/error.hpp"

namespace stope {
namespace device {
namespace {

struct Row {
  Backend backend;
  const char* name;
  bool available;
  const char* reason;
};

// The one global of the library. A back end that gets built sets `available` by looking at the machine.
constexpr Row kBackends[] = {
    {Backend::reference, "reference", true, "double precision on all cores; every machine has it"},
    {Backend::scalar, "scalar", false, "not built into this version"},
    {Backend::avx2, "avx2", false, "not built into this version"},
    {Backend::avx512, "avx512", false, "not built into this version"},
    {Backend::avx512vnni, "avx512vnni", false, "not built into this version"},
    {Backend::cuda, "cuda", false, "not built into this version"},
};

BackendChoice demanded(std::string_view name, const std::string& by) {
  std::vector<std::string> known;
  for (const Row& row : kBackends) {
    known.emplace_back(row.name);
    if (name != row.name) continue;
    if (!row.available) {
      throw Error(ErrorCode::device_unavailable,
                  "the back end '" + std::string(name) + "' (" + by + ") is not available: " + row.reason);
    }
    return {row.backend, row.name, by};
  }
  throw Error(ErrorCode::invalid_argument,
              "unknown back end '" + std::string(name) + "' (" + by + ")" + did_you_mean(name, known));
}

// "cuda" or "cuda:0,1": device numbers separated by commas.
bool names_cuda(std::string_view text) {
  if (text == "cuda") return true;
  if (!text.starts_with("cuda:") || text.size() == 5) return false;
  char previous = ',';
  for (const char c : text.substr(5)) {
    if (c != ',' && (c < '0' || c > '9')) return false;
    if (c == ',' && previous == ',') return false;
    previous = c;
  }
  return previous != ',';
}

}  // namespace

BackendChoice choose_backend(const RunOptions& run) {
  const bool cuda = names_cuda(run.device);
  if (!cuda && run.device != "auto" && run.device != "cpu") {
    throw Error(ErrorCode::invalid_argument, "unknown device '" + run.device + "' (auto, cpu, cuda or cuda:0,1)");
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the library never changes the environment
  if (const char* forced = std::getenv("STOPE_BACKEND"); forced != nullptr && *forced != '\0') {
    return demanded(forced, "STOPE_BACKEND");
  }
  if (cuda) return demanded("cuda", "--device " + run.device);
  return {Backend::reference, "reference", "the only back end of this version"};
}

}  // namespace device

void require_backend(const RunOptions& run) {
  device::choose_backend(run);
}

DeviceInfo device_info() {
  DeviceInfo info;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) info.cpu = line.substr(colon + 2);
    break;
  }
  info.threads = available_threads();
  info.memory_total = memory_total_bytes();
  info.memory_available = memory_available_bytes();
  for (const device::Row& row : device::kBackends) info.backends.push_back({row.name, row.available, row.reason});
  return info;
}

}  // namespace stope
