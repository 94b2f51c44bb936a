#include "gram/auto_device.hpp"

#include <algorithm>

namespace stope::gram {
namespace {

// Measured and rounded. `bench/prior_works.py --work 002 --constants` prints the constants. bench/results/gram_*.json
// has the times of the back ends and of several vectors. A case that was not measured has the numbers of the most
// similar one.

constexpr double kNano = 1e-9;

/// Seconds that one thread takes.
struct CpuCost {
  double element;      ///< an element of A, for the first vector
  double more_vector;  ///< an element, for each further vector
};
constexpr CpuCost cpu_cost(device::Backend backend) {
  switch (backend) {
    case device::Backend::avx512:
    case device::Backend::avx512vnni: return {0.40 * kNano, 0.18 * kNano};
    case device::Backend::avx2: return {0.50 * kNano, 0.23 * kNano};
    case device::Backend::scalar: return {7.3 * kNano, 7.2 * kNano};  // fused multiply-adds without an instruction
    default: return {1.5 * kNano, 1.5 * kNano};
  }
}
constexpr double kByte = 0.11 * kNano;  // one thread reads a byte of A: the least that it can cost

/// Costs of a GPU, measured on sm_90. Every other architecture counts as that one.
struct GpuCost {
  double first;      ///< seconds: makes an operator; memory for its pieces on the way is kept from call to call
  double call;       ///< seconds: a product of next to nothing
  double load_rate;  ///< bytes a second from the host's memory
  double read_rate;  ///< bytes a second that the GPU reads of A
};
constexpr GpuCost kGpu = {.first = 0.002, .call = 0.04e-3, .load_rate = 18e9, .read_rate = 4.0e12};

double bytes_of(const OperatorSize& size) {
  return static_cast<double>(size.n_rows) * static_cast<double>(size.n_columns) *
         static_cast<double>(size.element_bytes);
}

}  // namespace

double cpu_seconds(const OperatorSize& size, device::Backend backend, int threads, std::int64_t n_vectors) {
  const CpuCost cost = cpu_cost(backend);
  const double bytes = bytes_of(size), elements = bytes / static_cast<double>(size.element_bytes);
  const double first = std::max(elements * cost.element, bytes * kByte);
  return (first + elements * cost.more_vector * static_cast<double>(n_vectors - 1)) / threads;
}

double gpu_seconds(const OperatorSize& size, std::int64_t n_vectors) {
  const double rate = size.resident ? kGpu.read_rate : kGpu.load_rate;
  return static_cast<double>(n_vectors) * (kGpu.call + bytes_of(size) / rate);
}

double gpu_load_seconds(const OperatorSize& size) {
  return kGpu.first + (size.resident ? bytes_of(size) / kGpu.load_rate : 0.0);
}

}  // namespace stope::gram
