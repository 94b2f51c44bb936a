#include "gram/auto_device.hpp"

#include <algorithm>
#include <iterator>

#include "device/auto_gpu.hpp"

namespace stope::gram {
namespace {

// Measured and rounded. `bench/prior_works.py --work 002 --constants` prints the constants. bench/results/gram_*.json
// has the times of the back ends and of several vectors. A case that was not measured has the numbers of the most
// similar one.

/// Nanoseconds that one thread takes.
struct ProcessorCost {
  device::Backend backend;
  double element;      // an element of A, for the first vector
  double more_vector;  // an element, for each further vector
};
constexpr double kNano = 1e-9;
constexpr double kByte = 0.11 * kNano;  // one thread reads a byte of A: the least that it can cost
constexpr ProcessorCost kProcessors[] = {
    {device::Backend::avx512vnni, 0.50 * kNano, 0.34 * kNano}, {device::Backend::avx512, 0.50 * kNano, 0.34 * kNano},
    {device::Backend::avx2, 0.60 * kNano, 0.46 * kNano},       {device::Backend::scalar, 0.73 * kNano, 0.73 * kNano},
    {device::Backend::reference, 1.5 * kNano, 1.5 * kNano},
};

struct GpuCost {
  std::string_view arch;
  double start;      // seconds: loads the driver, in a process that has not used the GPU
  double first;      // seconds: allocates memory for a matrix and for its pieces on the way
  double call;       // seconds: a product of next to nothing
  double load_rate;  // bytes a second from the host's memory
  double read_rate;  // bytes a second that the GPU reads of A
};
constexpr GpuCost kGpus[] = {
    {"sm_90", device::kDriverSeconds, 0.02, 0.04e-3, 18e9, 4.0e12},
};

double bytes_of(const OperatorSize& size) {
  return static_cast<double>(size.n_rows) * static_cast<double>(size.n_columns) *
         static_cast<double>(size.element_bytes);
}

const GpuCost& cost_of(std::string_view arch) {
  return *std::find_if(std::begin(kGpus), std::end(kGpus) - 1, [&](const GpuCost& row) { return row.arch == arch; });
}

}  // namespace

double processor_seconds(const OperatorSize& size, device::Backend backend, int threads, std::int64_t n_vectors) {
  const auto& cost = *std::find_if(std::begin(kProcessors), std::end(kProcessors) - 1,
                                   [&](const ProcessorCost& row) { return row.backend == backend; });
  const double bytes = bytes_of(size), elements = bytes / static_cast<double>(size.element_bytes);
  const double first = std::max(elements * cost.element, bytes * kByte);
  return (first + elements * cost.more_vector * static_cast<double>(n_vectors - 1)) / threads;
}

// Seconds of one pass for each vector.
double gpu_seconds(const OperatorSize& size, std::string_view arch, std::int64_t n_vectors) {
  const GpuCost& cost = cost_of(arch);
  const double rate = size.resident ? cost.read_rate : cost.load_rate;
  return static_cast<double>(n_vectors) * (cost.call + bytes_of(size) / rate);
}

double gpu_load_seconds(const OperatorSize& size, std::string_view arch) {
  const GpuCost& cost = cost_of(arch);
  return (size.started ? 0.0 : cost.start) + cost.first + (size.resident ? bytes_of(size) / cost.load_rate : 0.0);
}

bool gpu_pays(double on_processor, double load, double on_gpu) {
  return device::kGpuMargin * (load + on_gpu) < on_processor;
}

}  // namespace stope::gram
