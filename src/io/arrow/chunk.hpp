// The rows of one column in one batch: an ArrowArray whose structure has been checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "io/arrow/schema.hpp"
#include "stope/arrow.hpp"

namespace stope::io::arrow {

/// Consecutive elements of an array. Slices keep the whole array's buffers, so that element 0 lies at `begin` in them.
struct Chunk {
  const ArrowArray* array = nullptr;
  std::int64_t begin = 0;
  std::int64_t length = 0;
  const std::uint8_t* validity = nullptr;  ///< bit begin + i says whether element i is there; null: all are

  bool valid(std::int64_t i) const {
    const std::int64_t bit = begin + i;
    return validity == nullptr || ((validity[bit / 8] >> (bit % 8)) & 1) != 0;
  }
  const char* buffer(std::int64_t index) const { return static_cast<const char*>(array->buffers[index]); }
  /// Element i of a buffer of T, which need not be aligned.
  template <class T>
  T value(std::int64_t buffer_index, std::int64_t i) const {
    T value;
    std::memcpy(&value, buffer(buffer_index) + (begin + i) * static_cast<std::int64_t>(sizeof(T)), sizeof value);
    return value;
  }
};

/// The chunks of a batch, one for each field. Throws invalid_data unless lengths, offsets, null counts, numbers of
/// buffers and of children, dictionaries and pointers fit the fields and each other. The buffers' contents are not read
/// but for the bits of nulls.
std::vector<Chunk> chunks_of(const ArrowArray& batch, const std::vector<Field>& fields, const std::string& source);

/// The chunk of a dictionary: the values that its indices name. Throws invalid_data, as above.
Chunk dictionary_of(const Chunk& codes, const Field& field);

}  // namespace stope::io::arrow
