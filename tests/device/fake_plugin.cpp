// The fake plug-in itself: GPUs, memory, arrays, and the functions that the loader looks up.
#include "device/fake_plugin.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "device/array_abi.hpp"

/// For tests that look them up (fake_counts.hpp): the number of times that memory was pinned, of what is alive
/// (fake::Alive), the bytes that would have crossed the bus, and batches queued while two others were under way.
extern "C" {
std::atomic<int> stope_fake_pins = 0;
std::atomic<int> stope_fake_alive = 0;
std::atomic<std::int64_t> stope_fake_to_host = 0, stope_fake_to_gpu = 0, stope_fake_third_batches = 0;
}

namespace stope::fake {

const cuda_abi::Host* the_host = nullptr;

Alive::Alive() {
  ++stope_fake_alive;
}
Alive::~Alive() {
  --stope_fake_alive;
}

bool plays(const char* role) {
  const char* text = std::getenv("STOPE_FAKE");
  return text != nullptr && std::strcmp(text, role) == 0;
}
bool filters() {
  return plays("filters") || plays("byte filters") || plays("no clusters") || plays("useless clusters");
}
bool searches() {
  return plays("works") || filters() || plays("differences") || plays("boxes");
}

int fail(cuda_abi::Failure* failure, ErrorCode code, const char* text) {
  failure->code = static_cast<std::int32_t>(code);
  std::strcpy(failure->text, text);
  return 1;
}

void count_to_host(std::int64_t bytes) {
  stope_fake_to_host += bytes;
}
void count_to_gpu(std::int64_t bytes) {
  stope_fake_to_gpu += bytes;
}
void count_third_batch() {
  ++stope_fake_third_batches;
}

namespace {

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
  std::strcpy(machine->gpus[0].uuid, "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6");
  std::strcpy(machine->gpus[1].name, "New Card");
  std::strcpy(machine->gpus[1].uuid, "GPU-89a1b2c3-d72c-4106-c12f-20bd9faed9f6");
  machine->gpus[1].major = plays("old gpus") ? 6 : 9;
  for (int i = 0; i < 2; ++i) machine->gpus[i].memory_bytes = std::int64_t{80} << 30;
}

int free_memory(std::int32_t, std::int64_t* bytes, cuda_abi::Failure* failure) {
  if (!searches()) return fail(failure, ErrorCode::device_lost, "the GPU was lost while it was looked at");
  *bytes = std::int64_t{1} << 30;
  return 0;
}

int pin(std::int32_t, std::int64_t bytes, void** memory, cuda_abi::Failure* failure) {
  if (the_host->alloc_fails()) return fail(failure, ErrorCode::out_of_memory, "cannot pin");
  ++stope_fake_pins;
  *memory = std::malloc(static_cast<std::size_t>(bytes));
  return 0;
}

// All memory belongs to GPU 1, unless STOPE_FAKE_OWNER names another owner; so do all streams but one.
int owner(const void*, std::int32_t* gpu, cuda_abi::Failure*) {
  const char* text = std::getenv("STOPE_FAKE_OWNER");
  *gpu = text == nullptr ? 1 : std::atoi(text);
  return 0;
}

int check_stream(std::int32_t, void* stream, cuda_abi::Failure* failure) {
  return stream == &the_host ? fail(failure, ErrorCode::invalid_argument, "the stream is not one of GPU 1") : 0;
}

int download(std::int32_t gpu, void*, const cuda_abi::Rows* rows, void* to, cuda_abi::Failure* failure) {
  if (the_host->device_fails() || gpu != 1) return fail(failure, ErrorCode::device_lost, "lost while copying");
  count_to_host(rows->n * rows->bytes);
  for (std::int64_t i = 0; i < rows->n; ++i) {
    std::memcpy(static_cast<char*>(to) + i * rows->bytes, static_cast<const char*>(rows->first) + i * rows->stride,
                static_cast<std::size_t>(rows->bytes));
  }
  return 0;
}

int upload(std::int32_t gpu, void*, const void* from, std::int64_t bytes, void* to, cuda_abi::Failure* failure) {
  if (the_host->device_fails() || gpu != 1) return fail(failure, ErrorCode::device_lost, "lost while copying");
  count_to_gpu(bytes);
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
  return 0;
}

const cuda_abi::ArrayFunctions kArrays = {
    .owner = &owner,
    .check_stream = &check_stream,
    .download = &download,
    .upload = &upload,
};

const abi::Functions& knn_functions() {
  static const abi::Functions functions = [] {
    abi::Functions made{};
    add_reference(made);
    add_filter(made);
    add_differences(made);
    add_table_rows(made);
    return made;
  }();
  return functions;
}

}  // namespace
}  // namespace stope::fake

extern "C" const stope::cuda_abi::Functions* stope_cuda_plugin(const stope::cuda_abi::Host* host) {
  using namespace stope;
  using namespace stope::fake;
  the_host = host;
  if (plays("nothing")) return nullptr;
  static cuda_abi::Functions functions;
  functions = {
      .version = cuda_abi::kVersion,
      .bytes = sizeof(cuda_abi::Functions),
      .table_sizes = cuda_abi::kTableSizes,
      .archs = "sm_80 sm_90a",
      .look = &look,
      .free_memory = &free_memory,
      .pin = &pin,
      .unpin = &std::free,
      .knn = &knn_functions(),
      .arrays = &kArrays,
      .gram = &gram_functions(),
      .stats = &stats_functions(),
      .discretize = &discretize_functions(),
      .tree = &tree_functions(),
  };
  if (plays("other version")) functions.version = cuda_abi::kVersion + 1;
  if (plays("other main table")) functions.bytes += 8;
  if (plays("other knn table")) ++functions.table_sizes.knn;
  if (plays("other arrays table")) ++functions.table_sizes.arrays;
  if (plays("other gram table")) ++functions.table_sizes.gram;
  if (plays("other stats table")) ++functions.table_sizes.stats;
  if (plays("other discretize table")) ++functions.table_sizes.discretize;
  if (plays("other tree table")) ++functions.table_sizes.tree;
  return &functions;
}
