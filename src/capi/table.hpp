// A table behind a handle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "capi/handles.hpp"
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

/// Throws invalid_argument if both columns are the label, the id or the weight: a table has one of each.
void require_role_free(Role taken, const std::string& by, Role wanted, const std::string& name);

}  // namespace stope::capi
