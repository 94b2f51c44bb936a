// Times what reading a model file costs: its checksum, and a k-NN model whose columns are copied or used in place.
// Prints one JSON object.
//
//   model_bench megabytes= (256) threads= (0) repeats= (5) folder= (/tmp)
//
//   table_gbs, clmul_gbs   one thread: eight table look-ups at a time; carry-less multiplication
//   checksum_gbs           the checksum as a reader computes it, on `threads` threads
//   copied_ms, shared_ms   read_model() from a file in the page cache
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "base/random.hpp"
#include "base/simd/cpu.hpp"
#include "model/checksum.hpp"
#include "model/crc64.hpp"
#include "stope/model.hpp"
#include "support/words.hpp"

namespace {

using namespace stope;

// The fastest of the repetitions.
double seconds_of(std::int64_t repeats, const std::function<void()>& work) {
  double best = 1e300;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

Model model_of(std::int64_t bytes) {
  constexpr std::int64_t kColumns = 16;
  Table table;
  table.n_rows = bytes / (8 * kColumns);
  Random random(1);
  for (std::int64_t c = 0; c < kColumns; ++c) {
    Buffer<double> values(table.n_rows);
    for (double& value : values) value = random.uniform();
    table.columns.push_back({"x" + std::to_string(c), ValueType::real, Role::regular, values, {}});
  }
  return {outline(table), make_neighbors_model(table)};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    bench::Words words(argc, argv, 1);
    const std::int64_t size = words.integer("megabytes", 256) * 1'000'000;
    const std::int64_t repeats = words.integer("repeats", 5);
    RunOptions run;
    run.threads = static_cast<int>(words.integer("threads", 0));
    const std::string path = words.text("folder", "/tmp") + "/model_bench.stope";
    words.done();

    std::string bytes;
    const Model model = model_of(size);
    write_model([&bytes](std::string_view piece) { bytes += piece; }, model);
    OutputFile file(path);
    write_model(file, model);
    file.commit();

    const double gb = static_cast<double>(bytes.size()) / 1e9;
    std::uint64_t table = 0, clmul = 0, together = 0;
    const double table_s = seconds_of(repeats, [&] { table = ~model::crc_by_table(~std::uint64_t{0}, bytes); });
    const double clmul_s = seconds_of(
        repeats, [&] { clmul = simd::has_clmul() ? ~model::crc_by_clmul(~std::uint64_t{0}, bytes) : table; });
    const double together_s = seconds_of(repeats, [&] { together = model::checksum(bytes, run); });
    const double copied_s = seconds_of(repeats, [&] { read_model(path, run); });
    const double shared_s = seconds_of(repeats, [&] { read_model(path, run, Tables::shared); });
    std::remove(path.c_str());
    const bool right = table == clmul && table == together;
    std::printf(
        "{\"bytes\": %zu, \"threads\": %d, \"table_gbs\": %.2f, \"clmul_gbs\": %.2f, \"checksum_gbs\": %.2f, "
        "\"copied_ms\": %.1f, \"shared_ms\": %.1f, \"right\": %s}\n",
        bytes.size(), run.threads > 0 ? run.threads : available_threads(), gb / table_s, gb / clmul_s, gb / together_s,
        1e3 * copied_s, 1e3 * shared_s, right ? "true" : "false");
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model_bench: %s\n", error.what());
    return 1;
  }
}
