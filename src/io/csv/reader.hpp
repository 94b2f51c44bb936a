// The CSV reader with its tuning parameters, for tests and benchmarks. Everybody else calls read_csv (readers.hpp).
#pragma once

#include <cstdint>

#include "io/csv/kernels.hpp"
#include "io/readers.hpp"

namespace stope::io::csv {

/// None of these changes a result.
struct Tuning {
  std::int64_t chunk_bytes = 0;      ///< 0 = the environment's STOPE_CSV_CHUNK, else 1 MiB
  std::int64_t batch_fields = 0;     ///< 0 = 4096, more for long records
  std::int64_t tile_width = 0;       ///< columns of a tile, for tables of any shape; 0 = as suits; -1 = no tiles
  std::int64_t kept_texts = 0;       ///< distinct values from which on rows keep texts (row_texts.hpp); 0 = as suits
  const Kernels* kernels = nullptr;  ///< nullptr = the best that this CPU can run
};

Table read(const Bytes& bytes, const ReadOptions& options, const Schema* schema, const RunOptions& run,
           const Tuning& tuning);

}  // namespace stope::io::csv
