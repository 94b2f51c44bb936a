// A plug-in for tests of the loader and of what the core does without a GPU: STOPE_FAKE says what it finds.
#include <cstdlib>
#include <cstring>

#include "device/cuda_abi.hpp"
#include "knn/cuda_abi.hpp"
#include "stope/error.hpp"

namespace {

using namespace stope;

bool plays(const char* role) {
  const char* text = std::getenv("STOPE_FAKE");
  return text != nullptr && std::strcmp(text, role) == 0;
}

void look(cuda_abi::Machine* machine) {
  machine->runtime_version = 13000;
  machine->driver_version = plays("no driver") ? 0 : plays("old driver") ? 12040 : 13010;
  machine->problem = plays("no driver")    ? cuda_abi::Problem::no_driver
                     : plays("old driver") ? cuda_abi::Problem::old_driver
                     : plays("no gpu")     ? cuda_abi::Problem::no_gpu
                     : plays("broken")     ? cuda_abi::Problem::other
                                           : cuda_abi::Problem::none;
  std::strcpy(machine->problem_text, "initialization error");
  if (machine->problem != cuda_abi::Problem::none) return;
  machine->n_gpus = 2;
  std::strcpy(machine->gpus[0].name, "Old Card");
  machine->gpus[0].major = 7;
  std::strcpy(machine->gpus[1].name, "New Card");
  machine->gpus[1].major = plays("old gpus") ? 6 : 9;
  for (int i = 0; i < 2; ++i) machine->gpus[i].memory_bytes = std::int64_t{80} << 30;
}

int fail(cuda_abi::Failure* failure) {
  failure->code = static_cast<std::int32_t>(ErrorCode::device_lost);
  std::strcpy(failure->text, "the GPU was lost while it was looked at");
  return 1;
}

int free_memory(std::int32_t, std::int64_t*, cuda_abi::Failure* failure) {
  return fail(failure);
}

bool has_measure(const char*, std::int64_t) {
  return !plays("no measure");
}

// The rest is never reached: free_memory fails first.
knn::cuda_abi::Functions knn_functions() {
  knn::cuda_abi::Functions functions{};
  functions.has_measure = &has_measure;
  return functions;
}
const knn::cuda_abi::Functions kKnn = knn_functions();

}  // namespace

extern "C" const cuda_abi::Functions* stope_cuda_plugin(const cuda_abi::Host*) {
  if (plays("nothing")) return nullptr;
  static cuda_abi::Functions functions;
  functions = {cuda_abi::kVersion, sizeof(cuda_abi::Functions), "sm_80 sm_90a", &look, &free_memory, &kKnn};
  if (plays("other version")) functions.version = cuda_abi::kVersion + 1;
  return &functions;
}
