// Statistics on GPUs: one test body for real GPUs and for the fake one. Bits are compared with the CPU's.
#pragma once

#include "effort.hpp"
#include "stats/stats_cases.hpp"
#include "stope/error.hpp"

namespace stope::stats_cases {

/// Sends every column to the GPU, however short.
class EveryRow : public ForcedVariable {
 public:
  EveryRow() : ForcedVariable("STOPE_STATS_GPU_ROWS", "1") {}
};

inline void expect_same(const ArrayView& array, const RunOptions& gpu, StatsOptions::Depth depth) {
  StatsOptions options;
  options.depth = depth;
  RunOptions cpu;
  cpu.device = "cpu";
  const Statistics want = describe(array, options, cpu), got = describe(array, options, gpu);
  if (array.n_rows > 0) {
    EXPECT_EQ(got.report.backend, "cuda") << got.report.reason;
  }
  for (std::size_t c = 0; c < want.columns.size(); ++c) {
    ASSERT_EQ(bits_of(got.columns[c]), bits_of(want.columns[c])) << "column " << c;
  }
}

/// Compares columns one by one and matrices of both layouts, whole and in pieces of a leaf, on the devices of the list.
template <class T>
void expect_the_processors_bits(const std::vector<std::string>& devices, const std::vector<std::int64_t>& sizes) {
  const EveryRow every;
  std::int64_t number = 0;
  for (const std::string& device : devices) {
    for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{4} * 8192 * 8 * 32}) {
      RunOptions run;
      run.device = device;
      run.memory_limit = limit;
      for (const std::int64_t n : sizes) {
        for (const std::string& kind : kinds()) {
          if (!chosen(number++)) continue;
          SCOPED_TRACE(kind + ", " + std::to_string(n) + " rows, " + device + ", limit " + std::to_string(limit));
          const auto values = column_of<T>(kind, n, 21);
          const ArrayView array = {values.data(), element_type<T>(), n};
          expect_same(array, run, StatsOptions::Depth::all);
          if (n < 1000) expect_same(array, run, StatsOptions::Depth::extremes);
          if (testing::Test::HasFatalFailure()) return;
        }
        for (const std::int64_t columns : {std::int64_t{2}, std::int64_t{4}, std::int64_t{23}, std::int64_t{24}}) {
          if (n > 40000 && columns != 24) continue;
          for (const std::int64_t pad : {0, 1, 4}) {
            if (n == 0 || (pad > 0 && columns == 23) || !chosen(number++)) continue;
            SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(columns) + ", pad " + std::to_string(pad) + ", " +
                         device + ", limit " + std::to_string(limit));
            const std::int64_t by_row = columns + pad, by_column = n + pad;
            std::vector<T> rows(static_cast<std::size_t>(by_row * n)),
                stacked(static_cast<std::size_t>(by_column * columns));
            for (std::int64_t c = 0; c < columns; ++c) {
              const auto values =
                  column_of<T>(kinds()[static_cast<std::size_t>(c) % kinds().size()], n, static_cast<std::uint64_t>(c));
              for (std::int64_t r = 0; r < n; ++r) {
                rows[static_cast<std::size_t>(r * by_row + c)] = values[static_cast<std::size_t>(r)];
                stacked[static_cast<std::size_t>(c * by_column + r)] = values[static_cast<std::size_t>(r)];
              }
            }
            expect_same({rows.data(), element_type<T>(), n, columns, by_row, 1}, run, StatsOptions::Depth::all);
            expect_same({stacked.data(), element_type<T>(), n, columns, 1, by_column}, run, StatsOptions::Depth::all);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace stope::stats_cases
