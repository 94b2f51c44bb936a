// Limits of control groups, read from trees of files as Linux, containers and Kubernetes show them.
#include "base/cgroup.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/memory.hpp"
#include "environment.hpp"
#include "stope/run.hpp"

namespace stope {
namespace {

constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;

// A folder that has /proc and /sys for one test.
class System {
 public:
  System() : root_(std::filesystem::path(testing::TempDir()) / ("cgroup_" + name())) {
    std::filesystem::remove_all(root_);
  }
  ~System() { std::filesystem::remove_all(root_); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  void file(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = root_.string() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << '\n';
  }
  std::string root() const { return root_.string(); }

  void unified(const std::string& group, const std::string& mounted = "/") const {
    file("/proc/self/cgroup", "0::" + group);
    file("/proc/self/mountinfo",
         "22 1 0:20 / /proc rw - proc proc rw\n"
         "31 23 0:28 " +
             mounted + " /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw");
  }

 private:
  static std::string name() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }
  std::filesystem::path root_;
};

TEST(Cgroup, NoFilesAreNoLimits) {
  const System system;
  EXPECT_TRUE(std::isinf(cgroup_cpus(system.root())));
  EXPECT_EQ(cgroup_memory(system.root()).limit, CgroupMemory::kNone);
  EXPECT_EQ(cgroup_memory(system.root()).left, CgroupMemory::kNone);
}

TEST(Cgroup, TheSmallestLimitOfAllGroupsAroundTheProcessCounts) {
  const System system;
  system.unified("/kubepods/pod1/container");
  system.file("/sys/fs/cgroup/kubepods/cpu.max", "800000 100000");
  system.file("/sys/fs/cgroup/kubepods/pod1/cpu.max", "150000 100000");
  system.file("/sys/fs/cgroup/kubepods/pod1/container/cpu.max", "max 100000");
  system.file("/sys/fs/cgroup/kubepods/memory.max", std::to_string(8 * kGigabyte));
  system.file("/sys/fs/cgroup/kubepods/memory.current", std::to_string(7 * kGigabyte));
  system.file("/sys/fs/cgroup/kubepods/pod1/memory.max", std::to_string(4 * kGigabyte));
  system.file("/sys/fs/cgroup/kubepods/pod1/memory.current", std::to_string(kGigabyte));
  system.file("/sys/fs/cgroup/kubepods/pod1/container/memory.max", "max");
  EXPECT_DOUBLE_EQ(cgroup_cpus(system.root()), 1.5);
  EXPECT_EQ(cgroup_memory(system.root()).limit, 4 * kGigabyte);
  EXPECT_EQ(cgroup_memory(system.root()).left, kGigabyte) << "the group around has less left";
}

TEST(Cgroup, CachedFilesCountAsFree) {
  const System system;
  system.unified("/");
  system.file("/sys/fs/cgroup/memory.max", std::to_string(4 * kGigabyte));
  system.file("/sys/fs/cgroup/memory.current", std::to_string(4 * kGigabyte));
  system.file("/sys/fs/cgroup/memory.stat", "anon 17\ninactive_file " + std::to_string(3 * kGigabyte));
  EXPECT_EQ(cgroup_memory(system.root()).left, 3 * kGigabyte);
}

TEST(Cgroup, AContainerMaySeeItsGroupAsTheRootOfTheMount) {
  const System system;
  system.unified("/docker/0123/inner", "/docker/0123");
  system.file("/sys/fs/cgroup/cpu.max", "400000 100000");
  system.file("/sys/fs/cgroup/inner/cpu.max", "200000 100000");
  EXPECT_DOUBLE_EQ(cgroup_cpus(system.root()), 2.0);
  system.unified("/elsewhere", "/docker/0123");  // a group that cannot be seen
  EXPECT_DOUBLE_EQ(cgroup_cpus(system.root()), 4.0);
  system.unified("/../../outside");
  EXPECT_DOUBLE_EQ(cgroup_cpus(system.root()), 4.0);
}

TEST(Cgroup, Version1HasAMountForEachController) {
  const System system;
  system.file("/proc/self/cgroup", "4:memory:/box\n2:cpu,cpuacct:/box\n0::/other");
  system.file("/proc/self/mountinfo",
              "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
              "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
              "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
  system.file("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "300000");
  system.file("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000");
  system.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
  system.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  system.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  system.file("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", std::to_string(2 * kGigabyte));
  system.file("/sys/fs/cgroup/memory/box/memory.usage_in_bytes", std::to_string(kGigabyte));
  system.file("/sys/fs/cgroup/unified/other/cpu.max", "100000 100000");
  EXPECT_DOUBLE_EQ(cgroup_cpus(system.root()), 3.0);
  EXPECT_EQ(cgroup_memory(system.root()).limit, 2 * kGigabyte);
  EXPECT_EQ(cgroup_memory(system.root()).left, kGigabyte);
}

TEST(Cgroup, NonsenseIsNoLimit) {
  const System system;
  system.unified("/a");
  system.file("/sys/fs/cgroup/a/cpu.max", "0 0");
  system.file("/sys/fs/cgroup/cpu.max", "lots");
  system.file("/sys/fs/cgroup/a/memory.max", "-5");
  EXPECT_TRUE(std::isinf(cgroup_cpus(system.root())));
  EXPECT_EQ(cgroup_memory(system.root()).limit, CgroupMemory::kNone);
  system.file("/proc/self/cgroup", "no colons\n::\n0:");
  system.file("/proc/self/mountinfo", "- -\n1 2 3 - \n");
  EXPECT_TRUE(std::isinf(cgroup_cpus(system.root())));
}

TEST(Cgroup, ThreadsAndBudgetsKeepToTheLimits) {
  const System system;
  system.unified("/job");
  system.file("/proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB");
  const ForcedVariable root("STOPE_SYSTEM_ROOT", system.root());
  EXPECT_EQ(memory_total_bytes(), 16 * kGigabyte);
  EXPECT_EQ(memory_available_bytes(), 8 * kGigabyte);
  system.file("/sys/fs/cgroup/job/cpu.max", "50000 100000");
  system.file("/sys/fs/cgroup/job/memory.max", std::to_string(2 * kGigabyte));
  system.file("/sys/fs/cgroup/job/memory.current", std::to_string(kGigabyte));
  EXPECT_EQ(available_threads(), 1);
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  system.file("/sys/fs/cgroup/job/cpu.max", "150000 100000");
  EXPECT_EQ(available_threads(), std::min(2, CPU_COUNT(&set))) << "one and a half CPUs are work for two threads";
  EXPECT_EQ(memory_total_bytes(), 2 * kGigabyte);
  EXPECT_EQ(memory_budget(RunOptions()), kGigabyte / 5 * 4);
}

TEST(Cgroup, AGroupThatIsTheRootOfTheMountHasItsLimits) {
  const System system;
  system.unified("/docker/0123", "/docker/0123");
  system.file("/sys/fs/cgroup/cpu.max", "400000 100000");
  system.file("/sys/fs/cgroup/4/cpu.max", "100000 100000");
  EXPECT_DOUBLE_EQ(cgroup_cpus(system.root()), 4.0);
  system.unified("/docker/01234", "/docker/0123");  // its name only begins with the root's
  EXPECT_DOUBLE_EQ(cgroup_cpus(system.root()), 4.0);
}

TEST(Cgroup, TheFirstLineOfVersion2Counts) {
  const System system;
  system.unified("/a");
  system.file("/proc/self/cgroup", "0::/a\n0::/b");
  system.file("/sys/fs/cgroup/a/cpu.max", "300000 100000");
  system.file("/sys/fs/cgroup/b/cpu.max", "100000 100000");
  EXPECT_DOUBLE_EQ(cgroup_cpus(system.root()), 3.0);
}

TEST(Cgroup, ALimitCountsWhereNobodySaysWhatIsUsed) {
  const System system;
  system.unified("/a");
  system.file("/sys/fs/cgroup/a/memory.max", std::to_string(2 * kGigabyte));
  system.file("/sys/fs/cgroup/a/cpu.max", "100000 0");
  EXPECT_EQ(cgroup_memory(system.root()).limit, 2 * kGigabyte);
  EXPECT_EQ(cgroup_memory(system.root()).left, CgroupMemory::kNone);
  EXPECT_TRUE(std::isinf(cgroup_cpus(system.root()))) << "a period of zero is none";
}

TEST(Cgroup, AMachineThatDoesNotSayItsMemoryHasAGigabyteOrTheLimit) {
  const System system;
  const ForcedVariable root("STOPE_SYSTEM_ROOT", system.root());
  EXPECT_EQ(memory_total_bytes(), kGigabyte);
  EXPECT_EQ(memory_available_bytes(), kGigabyte);
  system.unified("/a");
  system.file("/sys/fs/cgroup/a/memory.max", std::to_string(3 * kGigabyte));
  system.file("/sys/fs/cgroup/a/memory.current", std::to_string(kGigabyte));
  EXPECT_EQ(memory_total_bytes(), 3 * kGigabyte);
  const ForcedVariable again("STOPE_SYSTEM_ROOT", system.root() + "/");  // another name: nothing is remembered
  EXPECT_EQ(memory_available_bytes(), 2 * kGigabyte);
}

}  // namespace
}  // namespace stope
