// The loader of the CUDA plug-in: its messages where something is missing, and what becomes of a plug-in's errors. No
// GPU is needed.
#include "device/cuda_plugin.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "device/backend.hpp"
#include "environment.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

class CudaPlugin : public testing::Test {
 protected:
  ~CudaPlugin() override { unsetenv("STOPE_FAKE"); }
  static device::Cuda load(const char* role) {
    setenv("STOPE_FAKE", role, 1);
    return device::load_cuda(STOPE_FAKE_PLUGIN);
  }
  static void expect_off(const device::Cuda& cuda, const std::string& words) {
    EXPECT_EQ(cuda.functions, nullptr);
    EXPECT_NE(cuda.reason.find(words), std::string::npos) << cuda.reason;
  }
};

TEST_F(CudaPlugin, SaysWhyItIsOff) {
  expect_off(device::load_cuda("/nowhere/libstope_cuda.so"), "/nowhere/libstope_cuda.so: cannot open");
  expect_off(device::load_cuda("libm.so.6"), "is not a plug-in of stope");
  expect_off(load("nothing"), "is not a plug-in of stope");
  expect_off(load("other version"), "has version " + std::to_string(cuda_abi::kVersion + 1) + ", this library needs " +
                                        std::to_string(cuda_abi::kVersion));
  expect_off(load("no driver"), "there is no NVIDIA driver");
  expect_off(load("old driver"), "too old: it supports CUDA 12.4, stope needs 13.0");
  expect_off(load("no gpu"), "the NVIDIA driver shows no GPU");
  expect_off(load("broken"), "initialization error");
  expect_off(load("old gpus"), "Old Card: compute capability 7.0 is not supported (this plug-in is built for sm_80");
}

TEST_F(CudaPlugin, SaysWhichTableOfFunctionsDiffers) {
  const std::string version = std::to_string(cuda_abi::kVersion);
  const auto words = [&](const std::string& what, std::uint32_t there, std::uint32_t needed) {
    return "has " + std::to_string(there) + " functions in its table '" + what + "', this library needs " +
           std::to_string(needed) + " (both have version " + version + ")";
  };
  const std::string bytes = std::to_string(sizeof(cuda_abi::Functions));
  expect_off(load("other main table"), "has a main table of " + std::to_string(sizeof(cuda_abi::Functions) + 8) +
                                           " bytes, this library needs " + bytes + " (both have version " + version);
  constexpr cuda_abi::TableSizes kSizes = cuda_abi::kTableSizes;
  expect_off(load("other knn table"), words("knn", kSizes.knn + 1, kSizes.knn));
  expect_off(load("other arrays table"), words("arrays", kSizes.arrays + 1, kSizes.arrays));
  expect_off(load("other gram table"), words("gram", kSizes.gram + 1, kSizes.gram));
  expect_off(load("other stats table"), words("stats", kSizes.stats + 1, kSizes.stats));
  expect_off(load("other discretize table"), words("discretize", kSizes.discretize + 1, kSizes.discretize));
  expect_off(load("other tree table"), words("tree", kSizes.tree + 1, kSizes.tree));
}

TEST_F(CudaPlugin, TakesTheGpusItHasCodeFor) {
  const device::Cuda cuda = load("");
  ASSERT_NE(cuda.functions, nullptr);
  EXPECT_EQ(cuda.reason, "New Card, sm_90");
  ASSERT_EQ(cuda.gpus.size(), 2U);
  EXPECT_FALSE(cuda.gpus[0].available);
  EXPECT_TRUE(cuda.gpus[1].available);
  EXPECT_EQ(cuda.gpus[1].index, 1);
  EXPECT_EQ(cuda.gpus[1].driver, "CUDA 13.1");
  EXPECT_EQ(cuda.gpus[1].memory_total, std::int64_t{80} << 30);
}

TEST(CudaArch, CodeRunsWhereNvidiaSaysItDoes) {
  const auto runs = [](const char* archs, int major, int minor) {
    return device::arch_problem(archs, major, minor).empty();
  };
  EXPECT_TRUE(runs("sm_80", 8, 0));
  EXPECT_TRUE(runs("sm_80", 8, 9));
  EXPECT_FALSE(runs("sm_86", 8, 0));
  EXPECT_FALSE(runs("sm_80", 9, 0));
  EXPECT_TRUE(runs("sm_80 sm_90a", 9, 0));
  EXPECT_FALSE(runs("sm_90a", 9, 1));
  EXPECT_FALSE(runs("sm_90a", 10, 0));
  EXPECT_TRUE(runs("compute_120", 12, 1));
  EXPECT_TRUE(runs("sm_75 compute_90", 10, 3));
  EXPECT_FALSE(runs("compute_120", 10, 0));
  EXPECT_FALSE(runs("", 9, 0));
}

// The process's own plug-in is the fake one. GPU 0 is too old for it, GPU 1 is not.
class FakeGpus : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("STOPE_FAKE", "", 1);
    setenv("STOPE_CUDA_PLUGIN", STOPE_FAKE_PLUGIN, 1);
  }
  static device::BackendChoice choose(const char* device) {
    RunOptions run;
    run.device = device;
    return device::choose_backend(run);
  }
  static std::string refusal(const char* device, ErrorCode code) {
    try {
      choose(device);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    ADD_FAILURE() << device << " was accepted";
    return "";
  }
};

TEST_F(FakeGpus, DevicesAreChosenByNumber) {
  EXPECT_EQ(choose("cuda").gpus, std::vector<int>{1});
  EXPECT_EQ(choose("cuda").reason, "device cuda: New Card, sm_90");
  EXPECT_EQ(choose("cuda:1,1").gpus, (std::vector<int>{1, 1}));
  EXPECT_NE(choose("auto").backend, device::Backend::cuda);
  EXPECT_NE(choose("cpu").backend, device::Backend::cuda);
  EXPECT_NE(refusal("cuda:0", ErrorCode::device_unavailable).find("GPU 0, Old Card: compute"), std::string::npos);
  EXPECT_NE(refusal("cuda:1,2", ErrorCode::device_unavailable).find("there is no GPU 2: this machine has 2 GPUs"),
            std::string::npos);
  for (const char* wrong : {"cuda:", "cuda:0,", "cuda:,0", "cuda:0,,1", "cuda:-1", "cuda:1x", "cuda:99999999999"}) {
    refusal(wrong, ErrorCode::invalid_argument);
  }
}

TEST_F(FakeGpus, ADeviceIsRefusedBeforeAnyJob) {
  RunOptions run;
  run.device = "cuda:1";
  EXPECT_NO_THROW(require_backend(run));
  run.device = "cuda:2";
  expect_error(ErrorCode::device_unavailable, "there is no GPU 2", [&] { require_backend(run); });
}

TEST_F(FakeGpus, DevicesAreChosenByUuid) {
  EXPECT_EQ(choose("cuda:GPU-89a1b2c3-d72c-4106-c12f-20bd9faed9f6").gpus, std::vector<int>{1});
  EXPECT_EQ(choose("cuda:GPU-89a").gpus, std::vector<int>{1}) << "a beginning that only one has";
  EXPECT_EQ(choose("cuda:GPU-89A1,1").gpus, (std::vector<int>{1, 1}));
  EXPECT_NE(refusal("cuda:GPU-8932", ErrorCode::device_unavailable).find("GPU 0, Old Card: compute"),
            std::string::npos);
  const std::string both = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, GPU-89a1b2c3-d72c-4106-c12f-20bd9faed9f6";
  EXPECT_EQ(refusal("cuda:GPU-89", ErrorCode::invalid_argument),
            "'GPU-89' is the beginning of several GPUs' UUIDs: " + both);
  EXPECT_EQ(refusal("cuda:MIG-89a1", ErrorCode::device_unavailable),
            "there is no GPU 'MIG-89a1': this machine has " + both);
  EXPECT_EQ(device_info().gpus[1].uuid, "GPU-89a1b2c3-d72c-4106-c12f-20bd9faed9f6");
  refusal("cuda:gpu-89a1", ErrorCode::invalid_argument);
}

// A child of fork() has no CUDA once its parent had it.
TEST_F(FakeGpus, AForkedProcessIsToldThatCudaIsGone) {
  ASSERT_NE(device::cuda().functions, nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string words = refusal("cuda", ErrorCode::device_unavailable);
    const bool told = words.find("was forked from one that had already used CUDA") != std::string::npos;
    const bool cpu = choose("cpu").backend != device::Backend::cuda && choose("auto").backend != device::Backend::cuda;
    _exit(told && cpu && device_info().gpus.empty() && !device::cuda_lives() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(device::cuda_lives());
}

TEST_F(FakeGpus, DeviceInfoListsThem) {
  const DeviceInfo info = device_info();
  ASSERT_EQ(info.gpus.size(), 2U);
  EXPECT_EQ(info.backends.back().name, "cuda");
  EXPECT_TRUE(info.backends.back().available);
  EXPECT_EQ(info.backends.back().reason, "New Card, sm_90");
  std::ifstream file("/proc/cpuinfo");
  std::string model;
  while (!model.starts_with("model name") && std::getline(file, model)) {
  }
  if (!model.starts_with("model name")) GTEST_SKIP() << "this machine does not say its CPU's name";
  EXPECT_TRUE(!info.cpu.empty() && model.ends_with(": " + info.cpu)) << info.cpu;
}

TEST_F(FakeGpus, AnUnknownBackEndIsTakenForAMisspeltOne) {
  const ForcedVariable forced("STOPE_BACKEND", "avx22");
  EXPECT_EQ(refusal("auto", ErrorCode::invalid_argument),
            "unknown back end 'avx22' (STOPE_BACKEND) (did you mean 'avx2'?)");
}

}  // namespace
}  // namespace stope
