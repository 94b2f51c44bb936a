#include "io/arrow/part_names.hpp"

#include "base/rank_texts.hpp"
#include "io/arrow/names.hpp"
#include "io/arrow/text.hpp"

namespace stope::io::arrow {
namespace {

constexpr std::int64_t kCancelRows = std::int64_t{1} << 16;
constexpr std::int32_t kNotYet = -3;  // an index whose value no row has had so far

bool is_identity(const std::vector<std::int32_t>& map) {
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] != static_cast<std::int32_t>(i)) return false;
  }
  return true;
}

}  // namespace

PartNames::PartNames(const Field& declared, csv::MemoryMeter& meter) : declared_(declared), dictionary_(meter) {}

void PartNames::read(const Field& came_as, const Chunk& chunk, std::int64_t row0, const CancelToken& cancel,
                     std::int32_t* codes) {
  if (came_as.type.kind == Kind::boolean) {
    read_booleans(chunk, row0, codes);
  } else if (came_as.codes.has_value()) {
    read_indices(came_as, chunk, row0, cancel, codes);
  } else {
    read_strings(came_as, chunk, row0, cancel, codes);
  }
  check_utf8(dictionary_, checked_, declared_);
  checked_ = dictionary_.size();
}

void PartNames::read_strings(const Field& came_as, const Chunk& chunk, std::int64_t row0, const CancelToken& cancel,
                             std::int32_t* codes) {
  if (chunk.length == 0) return;
  const Strings strings(came_as, chunk, row0);
  for (std::int64_t i = 0; i < chunk.length; ++i) {
    if (i % kCancelRows == 0) cancel.check();
    codes[i] = chunk.valid(i) ? code_of(dictionary_, strings.at(i), row0 + i) : kMissingCode;
  }
}

void PartNames::read_booleans(const Chunk& chunk, std::int64_t row0, std::int32_t* codes) {
  if (dictionary_.size() == 0) {
    code_of(dictionary_, "false", row0);
    code_of(dictionary_, "true", row0);
  }
  if (chunk.length == 0) return;
  const auto* const bits = static_cast<const std::uint8_t*>(chunk.array->buffers[1]);
  for (std::int64_t i = 0; i < chunk.length; ++i) {
    const std::int64_t bit = chunk.begin + i;
    codes[i] = chunk.valid(i) ? (bits[bit / 8] >> (bit % 8)) & 1 : kMissingCode;
  }
}

void PartNames::read_indices(const Field& came_as, const Chunk& chunk, std::int64_t row0, const CancelToken& cancel,
                             std::int32_t* codes) {
  const ArrowArray& values = *chunk.array->dictionary;
  const void* const text = values.n_buffers > 1 && values.buffers != nullptr ? values.buffers[1] : nullptr;
  // A row group has one dictionary, whose batches share its buffers. The caller keeps the array before alive until this
  // one has been read, so that an address is not that of another dictionary.
  if (text == nullptr || text != mapped_ || values.length != mapped_length_ || values.offset != mapped_offset_) {
    const Chunk dictionary = dictionary_of(chunk, came_as);
    map_.assign(static_cast<std::size_t>(dictionary.length), kNotYet);
    if (declared_.codes.has_value()) {
      const Strings strings(came_as, dictionary, 0);
      for (std::int64_t i = 0; i < dictionary.length; ++i) {
        const bool there = dictionary.valid(i);
        map_[static_cast<std::size_t>(i)] = there ? code_of(dictionary_, strings.at(i), i) : kMissingCode;
      }
    }
    mapped_ = text;
    mapped_length_ = values.length;
    mapped_offset_ = values.offset;
  }
  switch (came_as.codes.value_or(Type{}).kind) {
    case Kind::int8: return translate<std::int8_t>(came_as, chunk, row0, cancel, codes);
    case Kind::uint8: return translate<std::uint8_t>(came_as, chunk, row0, cancel, codes);
    case Kind::int16: return translate<std::int16_t>(came_as, chunk, row0, cancel, codes);
    case Kind::uint16: return translate<std::uint16_t>(came_as, chunk, row0, cancel, codes);
    case Kind::int32: return translate<std::int32_t>(came_as, chunk, row0, cancel, codes);
    case Kind::uint32: return translate<std::uint32_t>(came_as, chunk, row0, cancel, codes);
    case Kind::int64: return translate<std::int64_t>(came_as, chunk, row0, cancel, codes);
    default: return translate<std::uint64_t>(came_as, chunk, row0, cancel, codes);
  }
}

template <class Index>
void PartNames::translate(const Field& came_as, const Chunk& chunk, std::int64_t row0, const CancelToken& cancel,
                          std::int32_t* codes) {
  if (chunk.length == 0) return;
  const Chunk dictionary = dictionary_of(chunk, came_as);
  const Strings strings(came_as, dictionary, 0);
  for (std::int64_t i = 0; i < chunk.length; ++i) {
    if (i % kCancelRows == 0) cancel.check();
    if (!chunk.valid(i)) {
      codes[i] = kMissingCode;
      continue;
    }
    const auto index = chunk.value<Index>(1, i);
    // A negative index becomes a large one.
    if (static_cast<std::uint64_t>(index) >= map_.size()) {
      came_as.refuse(
          "index " + std::to_string(index) + " is outside its dictionary of " + std::to_string(map_.size()) + " values",
          row0 + i);
    }
    std::int32_t& code = map_[static_cast<std::size_t>(index)];
    if (code == kNotYet) {
      const auto at = static_cast<std::int64_t>(static_cast<std::uint64_t>(index));
      code = dictionary.valid(at) ? code_of(dictionary_, strings.at(at), row0 + i) : kMissingCode;
    }
    codes[i] = code;
  }
}

JoinedNames join_names(const std::vector<std::unique_ptr<PartNames>>& parts, const ValueOrder& order,
                       csv::MemoryMeter& meter, const CancelToken& cancel) {
  JoinedNames joined;
  csv::Dictionary all(meter);
  if (order.listed != nullptr) {
    for (const std::string& value : *order.listed) code_of(all, value, 0);
  }
  joined.maps.reserve(parts.size());
  for (const std::unique_ptr<PartNames>& part : parts) {
    cancel.check();
    const csv::Dictionary& own = part->dictionary();
    std::vector<std::int32_t> map(static_cast<std::size_t>(own.size()));
    for (std::int32_t code = 0; code < own.size(); ++code) {
      if (code % (1 << 16) == 0) cancel.check();
      map[static_cast<std::size_t>(code)] = code_of(all, own.value(code), own.first_row(code));
    }
    joined.maps.push_back(std::move(map));
  }
  joined.values = values_of(all);
  const std::vector<std::int32_t> places =
      order.sorted ? sort_texts(joined.values, cancel) : std::vector<std::int32_t>();
  if (!places.empty()) {
    for (std::vector<std::int32_t>& map : joined.maps) {
      for (std::int32_t& code : map) code = places[static_cast<std::size_t>(code)];
    }
  }
  for (std::vector<std::int32_t>& map : joined.maps) {
    if (is_identity(map)) map.clear();
  }
  return joined;
}

}  // namespace stope::io::arrow
