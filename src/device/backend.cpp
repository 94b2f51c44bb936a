#include "device/backend.hpp"

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/memory.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope {
namespace device {
namespace {

struct Row {
  Backend backend;
  const char* name;
  bool (*available)();
  const char* reason;   ///< what it is
  const char* lacking;  ///< why it is not here
};

bool everywhere() {
  return true;
}
bool nowhere() {
  return false;
}
#if defined(__x86_64__)
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
bool has_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#else
constexpr auto has_avx2 = nowhere;
constexpr auto has_avx512 = nowhere;
constexpr auto has_vnni = nowhere;
#endif

// The one global of the library, the slowest first.
constexpr Row kBackends[] = {
    {Backend::reference, "reference", everywhere, "double precision on all cores; every machine has it", ""},
    {Backend::scalar, "scalar", everywhere, "filters with the instructions every machine has", ""},
    {Backend::avx2, "avx2", has_avx2, "filters with AVX2 and FMA", "the processor lacks AVX2, FMA or BMI2"},
    {Backend::avx512, "avx512", has_avx512, "filters with AVX-512", "the processor lacks AVX-512 F, BW, VL or DQ"},
    {Backend::avx512vnni, "avx512vnni", has_vnni, "filters with AVX-512, in bytes where that is exact enough",
     "the processor lacks AVX-512 VNNI"},
    {Backend::cuda, "cuda", nowhere, "", "not built into this version"},
};

BackendChoice demanded(std::string_view name, const std::string& by) {
  std::vector<std::string> known;
  for (const Row& row : kBackends) {
    known.emplace_back(row.name);
    if (name != row.name) continue;
    if (!row.available()) {
      throw Error(ErrorCode::device_unavailable,
                  "the back end '" + std::string(name) + "' (" + by + ") is not available: " + row.lacking);
    }
    return {row.backend, row.name, by, true};
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
  const Row* best = kBackends;
  for (const Row& row : kBackends) {
    if (row.backend != Backend::cuda && row.available()) best = &row;
  }
  return {best->backend, best->name, best->reason, false};
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
  for (const device::Row& row : device::kBackends) {
    const bool available = row.available();
    info.backends.push_back({row.name, available, available ? row.reason : row.lacking});
  }
  return info;
}

}  // namespace stope
