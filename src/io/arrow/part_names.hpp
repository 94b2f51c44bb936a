// A nominal column that comes in parts, each read by whichever thread is free. Every part has a list of values of its
// own; joining the lists in the order of the parts gives the list that one thread would have made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/arrow/chunk.hpp"
#include "io/csv/dictionary.hpp"
#include "stope/io.hpp"
#include "stope/run.hpp"

namespace stope::io::arrow {

/// Consecutive rows of a nominal column, batch after batch.
class PartNames {
 public:
  /// `declared` is what the file calls the column: a dictionary's values count although no row has them, those of
  /// strings do not, however the batches bring them. It outlives this object, and so does the meter.
  PartNames(const Field& declared, csv::MemoryMeter& meter);

  /// Writes the part's codes of a chunk's rows to `codes`. `row0` is the column's row of the first. Throws as
  /// read_names (names.hpp).
  void read(const Field& came_as, const Chunk& chunk, std::int64_t row0, const CancelToken& cancel,
            std::int32_t* codes);

  const csv::Dictionary& dictionary() const { return dictionary_; }

 private:
  void read_strings(const Field& came_as, const Chunk& chunk, std::int64_t row0, const CancelToken& cancel,
                    std::int32_t* codes);
  void read_booleans(const Chunk& chunk, std::int64_t row0, std::int32_t* codes);
  void read_indices(const Field& came_as, const Chunk& chunk, std::int64_t row0, const CancelToken& cancel,
                    std::int32_t* codes);
  template <class Index>
  void translate(const Field& came_as, const Chunk& chunk, std::int64_t row0, const CancelToken& cancel,
                 std::int32_t* codes);

  const Field& declared_;
  csv::Dictionary dictionary_;
  std::int32_t checked_ = 0;       // values that are known to be UTF-8
  std::vector<std::int32_t> map_;  // from indices of the chunk's dictionary to codes
  const void* mapped_ = nullptr;   // that dictionary's text
  std::int64_t mapped_length_ = 0, mapped_offset_ = 0;
};

/// The values of all parts, and for each part what its codes become; an empty map leaves them as they are.
struct JoinedNames {
  std::vector<std::string> values;
  std::vector<std::vector<std::int32_t>> maps;
};

/// Which values come first in a joined list.
struct ValueOrder {
  const std::vector<std::string>* listed = nullptr;  ///< these, whether a row has them or not
  bool sorted = false;                               ///< all, by bytes
};

JoinedNames join_names(const std::vector<std::unique_ptr<PartNames>>& parts, const ValueOrder& order,
                       csv::MemoryMeter& meter, const CancelToken& cancel);

}  // namespace stope::io::arrow
