// Root may read and write every file. Here it may not: permissions hold for it as for a file's owner.
#pragma once

#include <gtest/gtest.h>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace stope {

/// Works on a thread that has given up the capabilities by which root passes over a file's mode. A thread cannot take
/// them back, and no other thread loses them.
template <class Work>
void without_root(const Work& work) {
  std::thread([&work] {
    constexpr unsigned kLost = (1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH);
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct held[2] = {};  // of 32 capabilities each
    EXPECT_EQ(::syscall(SYS_capget, &header, held), 0);
    held[0].effective &= ~kLost;
    held[0].permitted &= ~kLost;  // access() asks for these
    EXPECT_EQ(::syscall(SYS_capset, &header, held), 0);
    work();
  }).join();
}

}  // namespace stope
