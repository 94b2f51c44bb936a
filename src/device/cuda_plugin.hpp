// Whether CUDA can be used: finds and loads the plug-in, asks it for GPUs, and says why CUDA is off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/cuda_abi.hpp"
#include "stope/device.hpp"

namespace stope::device {

struct Cuda {
  const cuda_abi::Functions* functions = nullptr;  ///< null where CUDA is off
  std::string reason;                              ///< what it runs on, or why it is off
  std::vector<GpuInfo> gpus;                       ///< all that the driver shows, usable or not
};

/// Loads the plug-in at `path` and looks at the machine. Never throws, whatever it finds. A plug-in stays loaded.
Cuda load_cuda(const std::string& path);

/// The result of load_cuda() for this installation's plug-in: the file that STOPE_CUDA_PLUGIN names, else the one in
/// the folder of the library (or of the program that it is linked into), else the one in the installation's library
/// folder. The first call loads it, and it is kept.
///
/// CUDA does not survive a fork. In a process forked from one that had CUDA on, it is off, with that reason. What the
/// plug-in made there is dead: owners do not hand it back (cuda_lives).
const Cuda& cuda();

/// Returns the plug-in's functions; throws device_unavailable with the reason if CUDA is off.
const cuda_abi::Functions& plugin();

/// Whether what the plug-in made may be given back to it; false in a forked process.
inline bool cuda_lives() {
  return cuda().functions != nullptr;
}

/// Whether this process has had work for a GPU, so that its driver has started; note_cuda_use() says so.
bool cuda_was_used();
void note_cuda_use();

/// Why code for `archs` (cuda_abi::Functions) cannot run on a GPU of this compute capability; empty if it can.
std::string arch_problem(std::string_view archs, int major, int minor);

/// Throws the error that a function of the plug-in reported.
[[noreturn]] void throw_failure(const cuda_abi::Failure& failure);

/// Calls a function of the plug-in, as call(Failure*), and throws the error it reports.
template <class Call>
void checked_call(const Call& call) {
  cuda_abi::Failure failure{};
  if (call(&failure) != 0) throw_failure(failure);
}

}  // namespace stope::device
