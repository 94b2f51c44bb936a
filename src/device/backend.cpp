#include "device/backend.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "base/simd/cpu.hpp"
#include "device/cuda_plugin.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope {
namespace device {
namespace {

struct Row {
  Backend backend;
  const char* name;
  bool (*available)();
  const char* reason;   ///< what the back end is
  const char* lacking;  ///< why it is not available
};

bool everywhere() {
  return true;
}
bool has_cuda() {
  return cuda().functions != nullptr;
}

// Every back end, the slowest first.
constexpr Row kBackends[] = {
    {Backend::reference, "reference", everywhere, "double precision on all cores; available on every machine", ""},
    {Backend::scalar, "scalar", everywhere, "filters with the instructions every machine has", ""},
    {Backend::avx2, "avx2", simd::has_avx2, "filters with AVX2 and FMA",
     "the CPU lacks AVX2, FMA, BMI1, BMI2, LZCNT or POPCNT"},
    {Backend::avx512, "avx512", simd::has_avx512, "filters with AVX-512", "the CPU lacks AVX-512 F, BW, VL or DQ"},
    {Backend::avx512vnni, "avx512vnni", simd::has_avx512_vnni,
     "filters with AVX-512, in bytes where that is exact enough", "the CPU lacks AVX-512 VNNI"},
    {Backend::cuda, "cuda", has_cuda, "", ""},  // cuda() words both
};

std::string words(const Row& row, bool available) {
  if (row.backend == Backend::cuda) return cuda().reason;
  return available ? row.reason : row.lacking;
}

BackendChoice demanded(std::string_view name, const std::string& by) {
  std::vector<std::string> known;
  for (const Row& row : kBackends) {
    known.emplace_back(row.name);
    if (name != row.name) continue;
    if (!row.available()) {
      throw Error(ErrorCode::device_unavailable,
                  "the back end '" + std::string(name) + "' (" + by + ") is not available: " + words(row, false));
    }
    return {row.backend, row.name, by};
  }
  throw Error(ErrorCode::invalid_argument,
              "unknown back end '" + std::string(name) + "' (" + by + ")" + did_you_mean(name, known));
}

// A GPU as --device names it: by number, or by the beginning of its UUID.
struct GpuName {
  int number = 0;
  std::string uuid;  // if not empty
};

// Reads the names in "0,1" or "GPU-8932f937,GPU-1"; throws for anything else. Only the list's form is checked.
std::vector<GpuName> gpu_names(std::string_view list, const std::string& device) {
  std::vector<GpuName> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view word = list.substr(begin, end - begin);
    GpuName name;
    if (word.starts_with("GPU-") || word.starts_with("MIG-")) {
      name.uuid = word;
    } else {
      const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), name.number);
      if (error != std::errc() || stop != word.data() + word.size() || name.number < 0) {
        throw Error(ErrorCode::invalid_argument,
                    "'" + device + "' is not a list of GPUs such as cuda:0,1 or cuda:GPU-8932f937",
                    {.option = "device"});
      }
    }
    names.push_back(std::move(name));
    begin = end + 1;
  }
  return names;
}

// Returns the number of the GPU whose UUID begins so. nvidia-smi and CUDA_VISIBLE_DEVICES take such beginnings, too.
int number_of(const std::string& uuid, const std::vector<GpuInfo>& there) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  int found = -1, n_found = 0;
  std::string known;
  for (const GpuInfo& gpu : there) {
    known += (known.empty() ? "" : ", ") + gpu.uuid;
    if (uuid.size() > gpu.uuid.size() || !std::equal(uuid.begin(), uuid.end(), gpu.uuid.begin(), same)) continue;
    found = gpu.index;
    ++n_found;
  }
  if (n_found == 1) return found;
  if (n_found > 1) {
    throw Error(ErrorCode::invalid_argument, "'" + uuid + "' is the beginning of several GPUs' UUIDs: " + known,
                {.option = "device"});
  }
  throw Error(ErrorCode::device_unavailable, "there is no GPU '" + uuid + "': this machine has " + known,
              {.option = "device"});
}

// What "auto", "cpu", "cuda" or "cuda:0,1" asks for.
struct Wish {
  bool cuda = false;
  std::vector<GpuName> gpus;  // empty: the first that can be used
};

Wish wish_of(const std::string& device) {
  constexpr std::string_view kNamed = "cuda:";
  if (device == "auto" || device == "cpu") return {};
  if (device == "cuda") return {true, {}};
  if (device.starts_with(kNamed)) return {true, gpu_names(std::string_view(device).substr(kNamed.size()), device)};
  throw Error(ErrorCode::invalid_argument,
              "unknown device '" + device + "' (auto, cpu, cuda, cuda:0,1 or cuda:GPU-UUID)", {.option = "device"});
}

void add_gpus(const Wish& wish, BackendChoice& choice) {
  if (choice.backend != Backend::cuda) return;
  const std::vector<GpuInfo>& there = cuda().gpus;
  for (const GpuName& gpu : wish.gpus) {
    choice.gpus.push_back(gpu.uuid.empty() ? gpu.number : number_of(gpu.uuid, there));
  }
  for (const GpuInfo& gpu : there) {
    if (choice.gpus.empty() && gpu.available) choice.gpus.push_back(gpu.index);
  }
  std::string names;
  for (const int number : choice.gpus) {
    if (number >= static_cast<int>(there.size())) {
      throw Error(ErrorCode::device_unavailable,
                  "there is no GPU " + std::to_string(number) + ": this machine has " + std::to_string(there.size()) +
                      (there.size() == 1 ? " GPU" : " GPUs"),
                  {.option = "device"});
    }
    const GpuInfo& gpu = there[static_cast<std::size_t>(number)];
    if (!gpu.available) {
      throw Error(ErrorCode::device_unavailable, "GPU " + std::to_string(number) + ", " + gpu.name + ": " + gpu.reason,
                  {.option = "device"});
    }
    names += (names.empty() ? "" : "; ") + gpu.name + ", " + gpu.arch;
  }
  choice.reason += ": " + names;
}

// The back end that STOPE_BACKEND forces; empty if there is none.
std::string_view forced_backend() {
  return environment::text(environment::Variable::backend);
}

}  // namespace

BackendChoice choose_cpu_backend(const std::string& reason) {
  const Row* best = kBackends;
  for (const Row& row : kBackends) {
    if (row.backend != Backend::cuda && row.available()) best = &row;
  }
  return {best->backend, best->name, reason.empty() ? best->reason : reason};
}

bool is_automatic(const RunOptions& run) {
  return run.device == "auto" && forced_backend().empty();
}

BackendChoice choose_backend(const RunOptions& run) {
  const Wish wish = wish_of(run.device);
  const std::string_view forced = forced_backend();
  const bool is_forced = !forced.empty();
  if (!is_forced && !wish.cuda) return choose_cpu_backend("");
  BackendChoice choice = is_forced ? demanded(forced, "STOPE_BACKEND") : demanded("cuda", "device " + run.device);
  choice.forced = is_forced;
  add_gpus(wish, choice);
  return choice;
}

}  // namespace device

void require_backend(const RunOptions& run) try { device::choose_backend(run); } catch (...) {
  rethrow_as_error();
}

DeviceInfo device_info() try {
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
    info.backends.push_back({row.name, available, device::words(row, available)});
  }
  info.gpus = device::cuda().gpus;
  return info;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
