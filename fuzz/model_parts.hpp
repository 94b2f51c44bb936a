// A model file in parts, for the mutator: read without any check but that lengths fit, and written again with whatever
// the parts say. One length or count of them may lie.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/checksum.hpp"
#include "model/container.hpp"

namespace stope::fuzz {

struct ColumnPart {
  std::string name;
  std::uint8_t type = 0, role = 0, storage = 0;
  std::vector<std::string> values;
  std::string data;

  std::size_t width() const { return storage == 0 ? 8 : 4; }
};

struct TablePart {
  std::string name;
  std::int64_t n_rows = 0;
  std::vector<ColumnPart> columns;
};

struct ModelParts {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<TablePart> tables;
};

inline constexpr std::size_t kModelHead = 24, kModelSum = 8;

/// Makes mark, size and checksum valid, so that a reader goes on behind their checks.
inline std::string resealed(std::string bytes) {
  if (bytes.size() < kModelHead + kModelSum) return bytes;
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::memcpy(bytes.data(), model::kMagic.data(), model::kMagic.size());
  std::memcpy(bytes.data() + 16, &size, sizeof size);
  model::Crc64 sum;
  sum.add(std::string_view(bytes).substr(0, bytes.size() - kModelSum));
  const std::uint64_t value = sum.value();
  std::memcpy(bytes.data() + bytes.size() - kModelSum, &value, sizeof value);
  return bytes;
}

namespace detail {

struct Misfit {};

class PartsReader {
 public:
  explicit PartsReader(std::string_view body) : body_(body) {}

  ModelParts parts() {
    ModelParts parts;
    take(kModelHead);
    parts.kind = text();
    for (std::uint64_t left = number<std::uint64_t>(); left > 0; --left) {
      std::string name = text();
      parts.options.emplace_back(std::move(name), text());
    }
    for (std::uint64_t left = number<std::uint64_t>(); left > 0; --left) parts.tables.push_back(table());
    return parts;
  }

 private:
  std::string_view take(std::size_t n) {
    if (n > body_.size() - at_) throw Misfit{};
    at_ += n;
    return body_.substr(at_ - n, n);
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }

  TablePart table() {
    TablePart table;
    table.name = text();
    table.n_rows = number<std::int64_t>();
    for (std::uint64_t left = number<std::uint64_t>(); left > 0; --left) {
      ColumnPart column;
      column.name = text();
      column.type = number<std::uint8_t>();
      column.role = number<std::uint8_t>();
      column.storage = number<std::uint8_t>();
      for (std::uint64_t values = number<std::uint64_t>(); values > 0; --values) column.values.push_back(text());
      take((8 - at_ % 8) % 8);
      if (table.n_rows < 0 || static_cast<std::uint64_t>(table.n_rows) > body_.size()) throw Misfit{};
      column.data = take(static_cast<std::size_t>(table.n_rows) * column.width());
      table.columns.push_back(std::move(column));
    }
    return table;
  }

  std::string_view body_;
  std::size_t at_ = 0;
};

class PartsWriter {
 public:
  /// The length or count number `lie_at` is written as `lie`.
  PartsWriter(std::size_t lie_at, std::uint64_t lie) : lie_at_(lie_at), lie_(lie) {}

  std::string bytes(const ModelParts& parts) {
    number(std::string(model::kMagic));
    made_.resize(kModelHead, '\0');
    made_[8] = static_cast<char>(model::kVersion);
    text(parts.kind);
    count<std::uint64_t>(parts.options.size());
    for (const auto& [name, value] : parts.options) {
      text(name);
      text(value);
    }
    count<std::uint64_t>(parts.tables.size());
    for (const TablePart& part : parts.tables) table(part);
    made_.append(kModelSum, '\0');
    return resealed(std::move(made_));
  }
  /// How many lengths and counts have been written.
  std::size_t n_counts() const { return n_counts_; }

 private:
  void number(std::string_view bytes) { made_ += bytes; }
  template <class T>
  void count(std::uint64_t true_count) {
    const auto value = static_cast<T>(n_counts_++ == lie_at_ ? lie_ : true_count);
    number({reinterpret_cast<const char*>(&value), sizeof value});
  }
  void text(const std::string& value) {
    count<std::uint32_t>(value.size());
    made_ += value;
  }
  void table(const TablePart& table) {
    text(table.name);
    count<std::uint64_t>(static_cast<std::uint64_t>(table.n_rows));
    count<std::uint64_t>(table.columns.size());
    for (const ColumnPart& column : table.columns) {
      text(column.name);
      for (const std::uint8_t code : {column.type, column.role, column.storage}) made_ += static_cast<char>(code);
      count<std::uint64_t>(column.values.size());
      for (const std::string& value : column.values) text(value);
      made_.append((8 - made_.size() % 8) % 8, '\0');
      made_ += column.data;
    }
  }

  std::size_t lie_at_, n_counts_ = 0;
  std::uint64_t lie_;
  std::string made_;
};

}  // namespace detail

/// The parts of a model file; none where a length leaves the bytes.
inline std::optional<ModelParts> parts_of(std::string_view bytes) {
  if (bytes.size() < kModelHead + kModelSum) return std::nullopt;
  try {
    return detail::PartsReader(bytes.substr(0, bytes.size() - kModelSum)).parts();
  } catch (const detail::Misfit&) {
    return std::nullopt;
  }
}

/// The file of these parts, sealed.
inline std::string bytes_of(const ModelParts& parts) {
  return detail::PartsWriter(SIZE_MAX, 0).bytes(parts);
}

/// The same, but the length or count `which` (of so many that any number chooses one) is `lie`.
inline std::string bytes_with_a_lie(const ModelParts& parts, std::uint64_t which, std::uint64_t lie) {
  detail::PartsWriter honest(SIZE_MAX, 0);
  honest.bytes(parts);
  return detail::PartsWriter(static_cast<std::size_t>(which % honest.n_counts()), lie).bytes(parts);
}

}  // namespace stope::fuzz
