// This file is compiled into the CUDA plug-in, too (cmake/StopeCuda.cmake): it uses only the standard library and
// stope::Error.
#include "base/environment.hpp"

#include <charconv>
#include <cstdlib>
#include <string>

#include "stope/error.hpp"

namespace stope::environment {
namespace {

constexpr auto kUsers = Audience::users, kTests = Audience::tests;

constexpr Row kTable[] = {
    {Variable::cuda_plugin, "STOPE_CUDA_PLUGIN", Form::text, kUsers, "a file",
     "The CUDA plug-in is loaded from this file."},
    {Variable::files_plugin, "STOPE_FILES_PLUGIN", Form::text, kUsers, "a file",
     "The plug-in for Parquet and Arrow files is loaded from this file."},
    {Variable::temporary_folder, "TMPDIR", Form::text, kUsers, "a folder",
     "Tables that exceed the memory limit go to files here; without it, to /var/tmp."},
    {Variable::visible_gpus, "CUDA_VISIBLE_DEVICES", Form::text, kUsers, "numbers of GPUs",
     "The NVIDIA driver shows only these GPUs; stope quotes it if there is no GPU."},
    {Variable::gpu_kept, "STOPE_GPU_KEPT", Form::word, kUsers, "none",
     "No memory of a GPU, and no pinned memory, is kept from one call to the next."},
    {Variable::backend, "STOPE_BACKEND", Form::text, kTests, "reference, scalar, avx2, avx512, avx512vnni, cuda",
     "Every job uses this back end, however small it is."},
    {Variable::scan, "STOPE_SCAN", Form::word, kTests, "differences, products, nibbles, bytes, formula",
     "A filter compares images of rows in this way. formula: no search has a filter."},
    {Variable::block_order, "STOPE_BLOCK_ORDER", Form::word, kTests, "table, near",
     "A filter puts the rows into blocks in this order."},
    {Variable::visit, "STOPE_VISIT", Form::word, kTests, "tiles, queries",
     "Where blocks hold near rows, the queries of a tile visit them together or each by itself. On GPUs: never "
     "through boxes, or always."},
    {Variable::cuda_scan, "STOPE_CUDA_SCAN", Form::word, kTests, "halves, bytes, few, sm75, sm80, sm90",
     "The tensor filter's images are made of halves or bytes; any other word names its scan of halves."},
    {Variable::tile_rows, "STOPE_TILE_ROWS", Form::count, kTests, "rows",
     "A search holds its distances to this many training rows at once."},
    {Variable::tile_queries, "STOPE_TILE_QUERIES", Form::count, kTests, "rows",
     "A search answers this many queries at once."},
    {Variable::part_rows, "STOPE_PART_ROWS", Form::count, kTests, "rows",
     "The training table is encoded in parts of this many rows; no index holds encoded rows."},
    {Variable::device_rows, "STOPE_DEVICE_ROWS", Form::count, kTests, "rows",
     "A GPU holds at most this many rows of a table."},
    {Variable::blocks_under_way, "STOPE_BLOCKS_UNDER_WAY", Form::count, kTests, "blocks",
     "A GPU has at most this many blocks of queries at once, or batches where the table comes in parts."},
    {Variable::cluster_pairs, "STOPE_CLUSTER_PAIRS", Form::count, kTests, "pairs",
     "After searches of so many pairs a GPU looks for clusters in a table, after twice as many it makes them."},
    {Variable::stats_gpu_rows, "STOPE_STATS_GPU_ROWS", Form::count, kTests, "rows",
     "A GPU computes statistics of columns with at least this many rows, however small the table is."},
    {Variable::stats_thread_values, "STOPE_STATS_THREAD_VALUES", Form::count, kTests, "values",
     "Statistics start another thread for this many values."},
    {Variable::csv_chunk, "STOPE_CSV_CHUNK", Form::count, kTests, "bytes",
     "The CSV reader cuts a file into chunks of this size."},
    {Variable::system_root, "STOPE_SYSTEM_ROOT", Form::text, kTests, "a folder",
     "The limits of memory and CPUs are read from proc and sys in this folder."},
    {Variable::progress_delay, "STOPE_PROGRESS_DELAY", Form::count, kTests, "milliseconds",
     "The command line shows progress after this time, and as often if that is shorter than usual."},
    {Variable::fault_alloc, "STOPE_FAULT_ALLOC", Form::count, kTests, "n",
     "The n-th large allocation fails, in memory or on a GPU."},
    {Variable::fault_io, "STOPE_FAULT_IO", Form::count, kTests, "n", "The n-th operation on a file fails."},
    {Variable::fault_device, "STOPE_FAULT_DEVICE", Form::count, kTests, "n",
     "The GPU is lost at the n-th call of the plug-in."},
};

constexpr bool in_order() {
  std::size_t i = 0;
  for (const Row& row : kTable) {
    if (static_cast<std::size_t>(row.variable) != i++) return false;
  }
  return true;
}
static_assert(in_order(), "the table has the order of enum Variable");

const char* value_of(Variable variable) noexcept {
  return std::getenv(row_of(variable).name);  // NOLINT(concurrency-mt-unsafe): stope never changes the environment
}

Error bad_value(Variable variable, std::string_view value, const std::string& problem) {
  return {ErrorCode::invalid_argument,
          std::string(row_of(variable).name) + "='" + std::string(value) + "' is " + problem};
}

bool has_word(std::string_view words, std::string_view wanted) {
  constexpr std::string_view kBetween = ", ";
  for (;;) {
    const std::size_t end = words.find(kBetween);
    if (words.substr(0, end) == wanted) return true;
    if (end == std::string_view::npos) return false;
    words.remove_prefix(end + kBetween.size());
  }
}

}  // namespace

std::span<const Row> table() noexcept {
  return kTable;
}

const Row& row_of(Variable variable) noexcept {
  return kTable[static_cast<std::size_t>(variable)];
}

bool is_set(Variable variable) noexcept {
  return value_of(variable) != nullptr;
}

std::string_view text(Variable variable) noexcept {
  const char* const value = value_of(variable);
  return value == nullptr ? std::string_view() : value;
}

std::string_view word(Variable variable) {
  const std::string_view value = text(variable), words = row_of(variable).values;
  if (value.empty() || has_word(words, value)) return value;
  throw bad_value(variable, value, "none of " + std::string(words));
}

std::int64_t count(Variable variable) {
  const std::string_view value = text(variable);
  if (value.empty()) return 0;
  const char* const end = value.data() + value.size();
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc() && stop == end && number > 0) return number;
  throw bad_value(variable, value, "not a positive whole number");
}

}  // namespace stope::environment
