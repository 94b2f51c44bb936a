// The border between the core and the CUDA plug-in (docs/adr/0006-cuda-plug-in.md): plain structs and one table of
// functions. No exception and no owning object crosses it. Neither side needs a CUDA header to read it.
#pragma once

#include <cstdint>

namespace stope::knn::cuda_abi {
struct Functions;  // src/knn/cuda_abi.hpp
}

namespace stope::gram::cuda_abi {
struct Functions;  // src/gram/cuda_abi.hpp
}

namespace stope::stats::cuda_abi {
struct Functions;  // src/stats/cuda_abi.hpp
}

namespace stope::discretize::cuda_abi {
struct Functions;  // src/discretize/cuda_abi.hpp
}

namespace stope::tree::cuda_abi {
struct Functions;  // src/tree/cuda_abi.hpp
}

namespace stope::cuda_abi {

struct ArrayFunctions;  // src/device/array_abi.hpp

/// This number is raised with every change of this file or of a job's cuda_abi.hpp. The core refuses a plug-in of
/// another version.
inline constexpr std::uint32_t kVersion = 21;
inline constexpr char kEntryName[] = "stope_cuda_plugin";
inline constexpr char kFileName[] = "libstope_cuda.so";

/// What went wrong. A function that does not return 0 fills it in.
struct Failure {
  std::int32_t code;  ///< an ErrorCode
  char text[1020];
};

/// What the core lends the plug-in: its fault hooks (base/fault.hpp).
struct Host {
  bool (*alloc_fails)();
  bool (*device_fails)();
};

/// Why no GPU can be used.
enum class Problem : std::int32_t { none, no_driver, old_driver, no_gpu, other };

struct Gpu {
  char name[256];
  char uuid[48];              ///< as nvidia-smi prints it: "GPU-" or "MIG-" and 36 characters; may be empty
  std::int32_t major, minor;  ///< compute capability
  std::int32_t multiprocessors;
  std::int32_t unused;
  std::int64_t memory_bytes;
};

inline constexpr std::int32_t kMostGpus = 64;

/// What the plug-in sees of the machine. CUDA writes a version as one number, such as 13000 for 13.0.
struct Machine {
  Problem problem;
  std::int32_t runtime_version;  ///< the runtime that the plug-in was built with
  std::int32_t driver_version;   ///< the newest that the driver supports; 0: there is no driver
  std::int32_t n_gpus;
  char problem_text[256];  ///< the runtime's words for Problem::other
  Gpu gpus[kMostGpus];
};

/// The number of functions in each job's table.
struct TableSizes {
  std::uint32_t knn, arrays, gram, stats, discretize, tree;
};

/// Each header that declares a table asserts its number. The core also compares these numbers with the plug-in's. A
/// table that grew or shrank is refused even if nobody raised kVersion.
inline constexpr TableSizes kTableSizes = {.knn = 32, .arrays = 4, .gram = 9, .stats = 5, .discretize = 9, .tree = 9};

/// Tables hold pointers to functions and nothing else.
template <class Table>
inline constexpr std::uint32_t kFunctionsIn = sizeof(Table) / sizeof(void (*)());

struct Functions {
  std::uint32_t version;  ///< kVersion; these two members never move
  std::uint32_t bytes;    ///< sizeof(Functions)
  TableSizes table_sizes;
  /// The architectures that the plug-in has code for, such as "sm_80 sm_90a compute_120".
  const char* archs;
  void (*look)(Machine* machine);
  int (*free_memory)(std::int32_t gpu, std::int64_t* bytes, Failure* failure);
  /// Allocates host memory from which every GPU copies at full speed. `gpu` is one that the job uses anyway.
  int (*pin)(std::int32_t gpu, std::int64_t bytes, void** memory, Failure* failure);
  void (*unpin)(void* memory);
  const knn::cuda_abi::Functions* knn;
  const ArrayFunctions* arrays;
  const gram::cuda_abi::Functions* gram;
  const stats::cuda_abi::Functions* stats;
  const discretize::cuda_abi::Functions* discretize;
  const tree::cuda_abi::Functions* tree;
};

/// The one symbol that a plug-in exports. The table lives as long as the program, and `host` must, too.
using Entry = const Functions* (*)(const Host* host);

}  // namespace stope::cuda_abi
