// Which format a path's suffix stands for.
#include <array>
#include <string>
#include <utility>

#include "base/guarded.hpp"
#include "stope/io.hpp"

namespace stope {

Format format_of(std::string_view path) try {
  std::string lower(path);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (lower.ends_with(packed)) {
      lower.resize(lower.size() - packed.size());
      break;  // only one compression: x.csv.gz.zst is no CSV file after one decompression
    }
  }
  constexpr std::array<std::pair<std::string_view, Format>, 17> kSuffixes = {{{".csv", Format::csv},
                                                                              {".tsv", Format::tsv},
                                                                              {".arff", Format::arff},
                                                                              {".npy", Format::npy},
                                                                              {".fvecs", Format::fvecs},
                                                                              {".bvecs", Format::bvecs},
                                                                              {".ivecs", Format::ivecs},
                                                                              {".raw", Format::raw},
                                                                              {".parquet", Format::parquet},
                                                                              {".pq", Format::parquet},
                                                                              {".arrow", Format::arrow},
                                                                              {".feather", Format::arrow},
                                                                              {".ipc", Format::arrow},
                                                                              {".arrows", Format::arrow},
                                                                              {".xlsx", Format::sheet},
                                                                              {".xlsm", Format::sheet},
                                                                              {".ods", Format::sheet}}};
  for (const auto& [suffix, format] : kSuffixes) {
    if (lower.ends_with(suffix)) return format;
  }
  return Format::automatic;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
