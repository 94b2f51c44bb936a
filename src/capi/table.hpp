// A table behind a handle.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "capi/handles.hpp"
#include "capi/json.hpp"
#include "capi/once.hpp"
#include "stope/table.hpp"

namespace stope::capi {

struct HeldTable {
  explicit HeldTable(Table given) : table(std::move(given)) {}
  const Table table;
  OnceText schema;  // JSON
};
template <>
struct KindOf<HeldTable> {
  static constexpr Kind value = Kind::table;
};

inline stope_table* give_table(Table table) {
  return give<stope_table>(std::make_shared<HeldTable>(std::move(table)));
}

/// Throws invalid_argument for a number that is no role.
Role role_of(std::int32_t role);

/// A list of {"name", "type", "role", "values"}, one a column.
Json columns_json(const Table& table);

}  // namespace stope::capi
