// Fault hooks: let a test make the n-th large allocation, the n-th file operation or the n-th call of a GPU fail, as a
// full memory, a full disk or a lost device would. Off (one relaxed load) unless armed by a test or by
// STOPE_FAULT_ALLOC, STOPE_FAULT_IO or STOPE_FAULT_DEVICE.
#pragma once

#include <cstdint>

namespace stope::fault {

/// The n-th next allocation (n >= 1) fails once; 0 disarms.
void arm_alloc(std::int64_t n) noexcept;
/// The n-th next file operation fails once with `error_number` (an errno value); n = 0 disarms.
void arm_io(std::int64_t n, int error_number) noexcept;

/// From the n-th next call of a GPU on every call fails, as after a sticky error; 0 disarms.
void arm_device(std::int64_t n) noexcept;

/// True if this allocation is to fail.
bool alloc_fails() noexcept;
/// The errno with which this file operation (open, read, write, sync, rename, map) is to fail, or 0.
int io_fails() noexcept;
/// True if the device is to be lost at this call or was before.
bool device_fails() noexcept;

}  // namespace stope::fault
