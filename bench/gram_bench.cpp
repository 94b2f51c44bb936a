// Times the gram operator on one matrix that it makes: prints one JSON object with every sample in milliseconds of
//   gram       z = A^T (A x), one pass; cpu is the CPU time of the process, for a machine that is not idle
//   two        y = A x, then z = A^T y, two passes
//   several    z of 8 vectors, one pass
//   read       the same array, read once by as many threads (sums of its words): the floor
//   kernels    on a GPU: passes from x to z in its memory, back to back
//   fresh      a new operator and its first pass, on a GPU with the copy of A; first_ms is the very first, with the
//              start of the driver
// and checks z against the serial computation if CHECK is 1.
//
//   gram_bench ROWS COLUMNS float32|float64 DEVICE THREADS REPEATS CHECK [FILE]   (STOPE_BACKEND chooses the back end)
//
// FILE receives the matrix as it lies in memory, followed by x, for others to multiply.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "gram/gpu_rows.hpp"
#include "gram/shape.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"
#include "stope/gram.hpp"

namespace {

using stope::ElementType;

double processor_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Samples {
  std::vector<double> wall, cpu;
};

Samples time(int repeats, const std::function<void()>& work) {
  Samples samples;
  work();  // touches the memory first, and makes the first copy to a GPU
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu = processor_seconds();
    work();
    samples.wall.push_back(1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    samples.cpu.push_back(1e3 * (processor_seconds() - cpu));
  }
  return samples;
}

void print(const char* name, const Samples& samples) {
  for (const auto& [what, values] : {std::pair{"ms", &samples.wall}, {"cpu_ms", &samples.cpu}}) {
    std::printf("\"%s_%s\": [", name, what);
    for (std::size_t i = 0; i < values->size(); ++i) std::printf("%s%.5f", i > 0 ? ", " : "", (*values)[i]);
    std::printf("], ");
  }
}

struct Matrix {
  std::int64_t rows, columns;
  ElementType dtype;
  stope::Buffer<char> values;
  std::vector<double> x;

  Matrix(std::int64_t n_rows, std::int64_t n_columns, ElementType type)
      : rows(n_rows), columns(n_columns), dtype(type), values(n_rows * n_columns * size_of(type)) {
    stope::ThreadPool pool(0);
    pool.parallel_for(rows, {}, [&](std::int64_t row, int) {
      stope::Random random(static_cast<std::uint64_t>(row) * 0x9e3779b9 + 1);
      for (std::int64_t c = 0; c < columns; ++c) {
        const float v = static_cast<float>(random.next() >> 40) * 0x1.0p-23F - 1.0F;
        const std::int64_t at = row * columns + c;
        if (dtype == ElementType::float32) {
          reinterpret_cast<float*>(values.data())[at] = v;
        } else {
          reinterpret_cast<double*>(values.data())[at] = static_cast<double>(v);
        }
      }
    });
    stope::Random random(7);
    for (std::int64_t c = 0; c < columns; ++c) {
      x.push_back(static_cast<double>(static_cast<float>(random.next() >> 40) * 0x1.0p-23F - 1.0F));
    }
  }
  stope::ArrayView view() const { return {values.data(), dtype, rows, columns}; }
};

// The sums are independent, so that they wait only for memory.
std::uint64_t read_all(const stope::Buffer<char>& values, stope::ThreadPool& pool) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 20, kSums = 32;
  const std::int64_t pieces = (values.size() + kPiece - 1) / kPiece;
  std::vector<std::uint64_t> found(static_cast<std::size_t>(pieces));
  pool.parallel_for(pieces, {}, [&](std::int64_t piece, int) {
    const std::int64_t end = std::min(values.size(), (piece + 1) * kPiece) / 8;
    const auto* words = reinterpret_cast<const std::uint64_t*>(values.data());
    std::uint64_t sums[kSums] = {};
    std::int64_t i = piece * kPiece / 8;
    for (; i + kSums <= end; i += kSums) {
      for (std::int64_t k = 0; k < kSums; ++k) sums[k] += words[i + k];
    }
    for (const std::uint64_t sum : sums) found[static_cast<std::size_t>(piece)] += sum;
  });
  std::uint64_t all = 0;
  for (const std::uint64_t sum : found) all += sum;
  return all;
}

void leave(const Matrix& matrix, const char* path) {
  std::FILE* file = std::fopen(path, "wb");
  const auto bytes = static_cast<std::size_t>(matrix.values.size());
  if (file == nullptr || std::fwrite(matrix.values.data(), 1, bytes, file) != bytes ||
      std::fwrite(matrix.x.data(), sizeof(double), matrix.x.size(), file) != matrix.x.size() ||
      std::fclose(file) != 0) {
    throw stope::Error(stope::ErrorCode::io, std::string("cannot write ") + path);
  }
}

// Times a pass on the GPU alone, from x to sums in its memory.
void print_kernels(const Matrix& matrix, const stope::RunOptions& run, int repeats) {
  using namespace stope::gram;
  const auto rows = make_row_source(matrix.view(), stope::gram::Reads::during_call, {});
  const std::int64_t groups = n_groups(matrix.rows, matrix.columns);
  const auto block = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(groups)));
  GpuRows gpu(0, *rows, {0, groups, block}, nullptr, 1, run);
  if (!gpu.resident()) return;
  std::vector<double> sums(static_cast<std::size_t>(padded_columns(matrix.columns)));
  gpu.begin({cuda_abi::Mode::gram, 1, matrix.x.data(), nullptr});
  gpu.run(0, run);
  gpu.finish(nullptr, sums.data());
  std::printf("\"kernels_ms\": [");
  for (int i = 0; i < repeats; ++i) std::printf("%s%.5f", i > 0 ? ", " : "", static_cast<double>(gpu.measure(20)));
  std::printf("], ");
}

int bench(int argc, char** argv) {
  const Matrix matrix(std::atoll(argv[1]), std::atoll(argv[2]),
                      std::string(argv[3]) == "float64" ? ElementType::float64 : ElementType::float32);
  stope::RunOptions run;
  run.device = argv[4];
  run.threads = std::atoi(argv[5]);
  const int repeats = std::atoi(argv[6]);
  if (argc > 8) leave(matrix, argv[8]);

  std::vector<double> z(matrix.x.size()), y(static_cast<std::size_t>(matrix.rows));
  const auto fresh = [&] { stope::GramOperator(matrix.view(), {}, run).gram(matrix.x, z); };
  const auto start = std::chrono::steady_clock::now();
  fresh();
  const double first = 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<double> x8, z8(8 * matrix.x.size());
  for (int v = 0; v < 8; ++v) x8.insert(x8.end(), matrix.x.begin(), matrix.x.end());
  std::printf("{\"first_ms\": %.3f, ", first);
  print("fresh", time(std::min(repeats, 3), fresh));
  stope::GramOperator by(matrix.view(), {}, run);
  print("gram", time(repeats, [&] { by.gram(matrix.x, z); }));
  print("two", time(repeats, [&] {
          by.multiply(matrix.x, y);
          by.multiply_transposed(y, z);
        }));
  print("several", time(std::min(repeats, 3), [&] { by.gram(x8, z8, 8); }));
  stope::ThreadPool pool(run.threads);
  std::uint64_t sum = 0;
  print("read", time(repeats, [&] { sum += read_all(matrix.values, pool); }));
  if (by.report().backend == "cuda") print_kernels(matrix, run, repeats);
  bool right = true;
  if (std::atoi(argv[7]) != 0) {
    const std::vector<float> x(matrix.x.begin(), matrix.x.end()), found(z.begin(), z.end());
    right = stope::check_gram(matrix.view(), x, found, run).n_wrong == 0;
  }
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const double v : z) hash = (hash ^ std::bit_cast<std::uint64_t>(v)) * 0x100000001b3ULL;
  std::printf("\"backend\": \"%s\", \"method\": \"%s\", \"threads\": %d, \"bytes\": %lld, \"answer\": \"%016llx\", ",
              by.report().backend.c_str(), by.report().method.c_str(), by.report().threads,
              static_cast<long long>(matrix.values.size()), static_cast<unsigned long long>(hash));
  std::printf("\"checksum\": \"%016llx\", \"right\": %s}\n", static_cast<unsigned long long>(sum),
              right ? "true" : "false");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8) {
    std::fputs("gram_bench ROWS COLUMNS float32|float64 DEVICE THREADS REPEATS CHECK [FILE]\n", stderr);
    return 2;
  }
  try {
    return bench(argc, argv);
  } catch (const stope::Error& error) {
    std::fprintf(stderr, "gram_bench: %s\n", error.what());
    return 1;
  }
}
