// Fault hooks. A test makes the n-th large allocation, file operation or GPU call fail, as if memory or disk were full
// or the device lost. A test arms them, or STOPE_FAULT_ALLOC, STOPE_FAULT_IO or STOPE_FAULT_DEVICE. Unarmed, a hook
// costs one relaxed load.
#pragma once

#include <cstdint>

namespace stope::fault {

/// The n-th next allocation (n >= 1) fails once; 0 disarms.
void arm_alloc(std::int64_t n) noexcept;
/// The n-th next file operation fails once with `error_number` (an errno value); n = 0 disarms.
void arm_io(std::int64_t n, int error_number) noexcept;

/// Every call of a GPU fails from the n-th next one on, as after a sticky error; 0 disarms.
void arm_device(std::int64_t n) noexcept;

/// True if this allocation is to fail.
bool alloc_fails() noexcept;
/// The errno with which this file operation (open, read, write, sync, rename, map) is to fail, or 0.
int io_fails() noexcept;
/// True if the device is to be lost at this call or was before.
bool device_fails() noexcept;

}  // namespace stope::fault
