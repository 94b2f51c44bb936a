#include "device/cuda_plugin.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>

#include "base/environment.hpp"
#include "base/fault.hpp"
#include "base/own_folder.hpp"
#include "stope/error.hpp"

namespace stope::device {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string problem_text(const cuda_abi::Machine& machine) {
  switch (machine.problem) {
    case cuda_abi::Problem::none: return "";
    case cuda_abi::Problem::no_driver: return "there is no NVIDIA driver";
    case cuda_abi::Problem::old_driver:
      return "the NVIDIA driver is too old: it supports CUDA " + version_text(machine.driver_version) +
             ", stope needs " + version_text(machine.runtime_version);
    case cuda_abi::Problem::no_gpu: {
      constexpr auto kVisible = environment::Variable::visible_gpus;
      const std::string visible(environment::text(kVisible));
      return std::string("the NVIDIA driver shows no GPU") +
             (environment::is_set(kVisible) ? " (CUDA_VISIBLE_DEVICES='" + visible + "')" : "");
    }
    case cuda_abi::Problem::other: break;
  }
  return std::string("the NVIDIA driver refuses: ") + machine.problem_text;
}

// "sm_90a" -> 9, 0, specific; "compute_120" -> 12, 0.
struct Arch {
  int major = 0, minor = 0;
  bool intermediate = false;  // PTX: the driver compiles it for anything newer
  bool specific = false;      // sm_90a runs on 9.0 alone

  explicit Arch(std::string_view text) {
    intermediate = text.starts_with("compute_");
    text.remove_prefix(std::min(text.size(), text.find('_') + 1));
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    specific = error == std::errc() && end != text.data() + text.size();
    major = number / 10;
    minor = number % 10;
  }
  bool runs_on(int gpu_major, int gpu_minor) const {
    if (specific) return gpu_major == major && gpu_minor == minor;
    if (intermediate) return gpu_major > major || (gpu_major == major && gpu_minor >= minor);
    return gpu_major == major && gpu_minor >= minor;
  }
};

GpuInfo gpu_info(const cuda_abi::Machine& machine, int index, const char* archs) {
  const cuda_abi::Gpu& gpu = machine.gpus[index];
  GpuInfo info;
  info.index = index;
  info.name = gpu.name;
  info.uuid = gpu.uuid;
  info.arch = "sm_" + std::to_string(gpu.major) + std::to_string(gpu.minor);
  info.multiprocessors = gpu.multiprocessors;
  info.memory_total = gpu.memory_bytes;
  info.driver = "CUDA " + version_text(machine.driver_version);
  info.reason = arch_problem(archs, gpu.major, gpu.minor);
  info.available = info.reason.empty();
  return info;
}

Cuda find_and_load() {
  const std::string named(environment::text(environment::Variable::cuda_plugin));
  if (!named.empty()) return load_cuda(named);
  const std::string folder = own_folder();
  const std::string places[] = {folder, folder + "/../" STOPE_LIBRARY_FOLDER};
  for (const std::string& place : places) {
    const std::string path = place + "/" + cuda_abi::kFileName;
    if (::access(path.c_str(), F_OK) == 0) return load_cuda(path);
  }
  Cuda off;
#if STOPE_WITH_CUDA
  off.reason = std::string("the plug-in ") + cuda_abi::kFileName + " is not in " + places[0] + " or " + places[1] +
               " (STOPE_CUDA_PLUGIN names another place)";
#else
  off.reason = "not built into this version (STOPE_CUDA_PLUGIN names a plug-in)";
#endif
  return off;
}

// How the plug-in's tables of functions differ from those that this library calls; empty if they do not differ.
std::string table_problem(const cuda_abi::Functions& functions) {
  if (functions.version != cuda_abi::kVersion) {
    return "has version " + std::to_string(functions.version) + ", this library needs " +
           std::to_string(cuda_abi::kVersion);
  }
  const std::string same_version = " (both have version " + std::to_string(cuda_abi::kVersion) + ")";
  // Only now are the members after `bytes` known to be where this library looks for them.
  if (functions.bytes != sizeof(cuda_abi::Functions)) {
    return "has a main table of " + std::to_string(functions.bytes) + " bytes, this library needs " +
           std::to_string(sizeof(cuda_abi::Functions)) + same_version;
  }
  using Sizes = cuda_abi::TableSizes;
  struct Table {
    const char* name;
    std::uint32_t Sizes::* size;
  };
  static constexpr Table kTables[] = {{"knn", &Sizes::knn},   {"arrays", &Sizes::arrays},
                                      {"gram", &Sizes::gram}, {"stats", &Sizes::stats},
                                      {"tree", &Sizes::tree}, {"discretize", &Sizes::discretize}};
  static_assert(sizeof kTables / sizeof(Table) * sizeof(std::uint32_t) == sizeof(Sizes), "every table is compared");
  for (const Table& table : kTables) {
    const std::uint32_t there = functions.table_sizes.*table.size, needed = cuda_abi::kTableSizes.*table.size;
    if (there == needed) continue;
    return "has " + std::to_string(there) + " functions in its table '" + table.name + "', this library needs " +
           std::to_string(needed) + same_version;
  }
  return "";
}

}  // namespace

std::string arch_problem(std::string_view archs, int major, int minor) {
  for (std::size_t begin = 0; begin < archs.size();) {
    const std::size_t end = std::min(archs.find(' ', begin), archs.size());
    if (Arch(archs.substr(begin, end - begin)).runs_on(major, minor)) return "";
    begin = end + 1;
  }
  return "compute capability " + std::to_string(major) + "." + std::to_string(minor) +
         " is not supported (this plug-in is built for " + std::string(archs) + ")";
}

Cuda load_cuda(const std::string& path) {
  Cuda cuda;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
    cuda.reason = "the plug-in cannot be loaded: " + std::string(why == nullptr ? path : why);
    return cuda;
  }
  // From here on the plug-in is never unloaded: CUDA's runtime registers functions for the end of the program.
  const auto entry = reinterpret_cast<cuda_abi::Entry>(dlsym(library, cuda_abi::kEntryName));
  static constexpr cuda_abi::Host kHost = {&fault::alloc_fails, &fault::device_fails};
  const cuda_abi::Functions* functions = entry == nullptr ? nullptr : entry(&kHost);
  if (functions == nullptr) {
    cuda.reason = path + " is not a plug-in of stope";
    return cuda;
  }
  if (const std::string problem = table_problem(*functions); !problem.empty()) {
    cuda.reason = "the plug-in " + path + " " + problem;
    return cuda;
  }
  cuda_abi::Machine machine{};
  functions->look(&machine);
  cuda.reason = problem_text(machine);
  if (machine.problem != cuda_abi::Problem::none) return cuda;
  for (int i = 0; i < machine.n_gpus; ++i) cuda.gpus.push_back(gpu_info(machine, i, functions->archs));
  for (const GpuInfo& gpu : cuda.gpus) {
    if (gpu.available && cuda.functions == nullptr) {
      cuda.functions = functions;
      cuda.reason = gpu.name + ", " + gpu.arch;
    }
  }
  if (cuda.functions == nullptr) cuda.reason = cuda.gpus.front().name + ": " + cuda.gpus.front().reason;
  return cuda;
}

const Cuda& cuda() {
  struct Found {
    Cuda cuda;
    pid_t process;
  };
  static const Found found = {find_and_load(), ::getpid()};
  if (found.cuda.functions == nullptr || found.process == ::getpid()) return found.cuda;
  static const Cuda forked = {nullptr,
                              "this process was forked from one that had already used CUDA, which does not survive a "
                              "fork (fork before the first use, or start the process anew)",
                              {}};
  return forked;
}

const cuda_abi::Functions& plugin() {
  const Cuda& found = cuda();
  if (found.functions == nullptr) throw Error(ErrorCode::device_unavailable, "CUDA is off: " + found.reason);
  return *found.functions;
}

namespace {
std::atomic<bool> was_used{false};  // kept for the process, as cuda() is: it describes the driver, not a job
}

bool cuda_was_used() {
  return was_used.load(std::memory_order_relaxed);
}
void note_cuda_use() {
  was_used.store(true, std::memory_order_relaxed);
}

void throw_failure(const cuda_abi::Failure& failure) {
  throw Error(static_cast<ErrorCode>(failure.code), failure.text);
}

}  // namespace stope::device
