#include "io/arrow/chunk.hpp"

#include <bit>

#include "stope/error.hpp"

namespace stope::io::arrow {
namespace {

// The widest element: a decimal of 256 bits. Offsets beyond this cannot be addresses.
constexpr std::int64_t kMostElements = INT64_MAX / 32;

// What a message is about: a column, its dictionary, or a batch.
struct Site {
  std::string where;
  Place place;
};

[[noreturn]] void refuse(const Site& site, const std::string& what) {
  throw Error(ErrorCode::invalid_data, site.where + ": " + what, site.place);
}

void check_extent(const ArrowArray& array, const Site& site) {
  if (array.release == nullptr) refuse(site, "its Arrow array has been released");
  if (array.length < 0 || array.offset < 0) {
    refuse(site, "length " + std::to_string(array.length) + " and offset " + std::to_string(array.offset) +
                     " of its Arrow array must not be negative");
  }
  if (array.length > kMostElements || array.offset > kMostElements - array.length) {
    refuse(site, "length " + std::to_string(array.length) + " and offset " + std::to_string(array.offset) +
                     " of its Arrow array exceed the address space");
  }
  if (array.null_count < -1 || array.null_count > array.length) {
    refuse(site, std::to_string(array.null_count) + " nulls in an Arrow array of " + std::to_string(array.length) +
                     " elements");
  }
}

void check_buffers(const ArrowArray& array, const Type& type, const Site& site) {
  const bool is_view = type.kind == Kind::utf8_view;
  const std::int64_t wanted = type.kind == Kind::null ? 0 : is_string(type.kind) ? 3 : 2;
  // polars gives an array of nulls the buffer of a bitmap. There is nothing to read in it.
  if (type.kind == Kind::null && array.n_buffers == 1) return;
  // A view has any number of buffers with text between its own three: validity, views, sizes of the others.
  if (is_view ? array.n_buffers < wanted : array.n_buffers != wanted) {
    refuse(site, "an Arrow array of the type " + std::string(name_of(type.kind)) + " has " + std::to_string(wanted) +
                     (is_view ? " buffers or more, not " : " buffers, not ") + std::to_string(array.n_buffers));
  }
  if (wanted == 0) return;
  if (array.buffers == nullptr) refuse(site, "the buffers of its Arrow array are a null pointer");
  if (array.length > 0 && array.buffers[1] == nullptr) {
    refuse(site, "an Arrow array of " + std::to_string(array.length) + " elements has a null pointer for its values");
  }
  if (array.null_count > 0 && array.buffers[0] == nullptr) {
    refuse(site, std::to_string(array.null_count) + " nulls in an Arrow array without a validity buffer");
  }
  if (is_view && array.n_buffers > wanted && array.buffers[array.n_buffers - 1] == nullptr) {
    refuse(site, "a string view has a null pointer for the sizes of its buffers");
  }
}

std::int64_t count_set(const std::uint8_t* bits, std::int64_t begin, std::int64_t end) {
  std::int64_t count = 0;
  std::int64_t bit = begin;
  for (; bit < end && bit % 8 != 0; ++bit) count += (bits[bit / 8] >> (bit % 8)) & 1;
  for (; bit + 8 <= end; bit += 8) count += std::popcount(bits[bit / 8]);
  for (; bit < end; ++bit) count += (bits[bit / 8] >> (bit % 8)) & 1;
  return count;
}

// Elements [skip, skip + length) of an array.
Chunk checked_chunk(const ArrowArray& array, const Type& type, std::int64_t skip, std::int64_t length,
                    const Site& site) {
  check_extent(array, site);
  check_buffers(array, type, site);
  if (array.n_children != 0) {
    refuse(site, "its Arrow array has " + std::to_string(array.n_children) + " children, its type none");
  }
  if (array.length < skip || array.length - skip < length) {
    refuse(site, "its Arrow array has " + std::to_string(array.length) + " elements, its batch needs " +
                     std::to_string(length) + " from element " + std::to_string(skip));
  }
  Chunk chunk{&array, array.offset + skip, length, nullptr};
  if (type.kind == Kind::null || array.null_count == 0 || length == 0) return chunk;
  const auto* const bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  if (bits != nullptr && count_set(bits, chunk.begin, chunk.begin + length) < length) chunk.validity = bits;
  return chunk;
}

bool has_null_rows(const ArrowArray& batch) {
  if (batch.null_count >= 0) return batch.null_count > 0;
  const auto* const bits = static_cast<const std::uint8_t*>(batch.buffers[0]);
  return bits != nullptr && count_set(bits, batch.offset, batch.offset + batch.length) < batch.length;
}

}  // namespace

std::vector<Chunk> chunks_of(const ArrowArray& batch, const std::vector<Field>& fields, const std::string& source) {
  const Site site{"an Arrow batch", {.file = source}};
  check_extent(batch, site);
  if (batch.n_children != static_cast<std::int64_t>(fields.size())) {
    refuse(site, std::to_string(batch.n_children) + " columns, the schema has " + std::to_string(fields.size()));
  }
  if (batch.n_children > 0 && batch.children == nullptr) refuse(site, "its columns are a null pointer");
  if (batch.dictionary != nullptr) refuse(site, "it has a dictionary");
  if (batch.n_buffers != 1 || batch.buffers == nullptr) {
    refuse(site, "a struct array has 1 buffer, not " + std::to_string(batch.n_buffers) + ", or its buffers are null");
  }
  if (has_null_rows(batch)) {
    throw Error(ErrorCode::unsupported, "an Arrow batch has rows that are null as a whole; a table has none",
                site.place);
  }
  std::vector<Chunk> chunks;
  chunks.reserve(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    const ArrowArray* const child = batch.children[i];
    if (child == nullptr) field.refuse("its Arrow array is a null pointer");
    const Type& stored = field.codes.has_value() ? *field.codes : field.type;
    chunks.push_back(checked_chunk(*child, stored, batch.offset, batch.length, {field.where(), field.place()}));
    if ((child->dictionary != nullptr) != field.codes.has_value()) {
      field.refuse(field.codes.has_value() ? "its Arrow array lacks the dictionary that the schema declares"
                                           : "its Arrow array has a dictionary, the schema declares none");
    }
  }
  return chunks;
}

Chunk dictionary_of(const Chunk& codes, const Field& field) {
  const ArrowArray& dictionary = *codes.array->dictionary;
  const Site site{field.where() + ", dictionary", field.place()};
  if (dictionary.dictionary != nullptr) refuse(site, "it has a dictionary of its own");
  return checked_chunk(dictionary, field.type, 0, dictionary.length, site);
}

}  // namespace stope::io::arrow
