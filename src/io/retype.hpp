// The values of a column under another type: numbers become nominal, texts become numbers or dates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stope/io.hpp"

namespace stope::io {

/// Gives columns of a table their declared types, within the memory budget.
class Retyper {
 public:
  /// The arguments outlive this object. The input and its table hold `held` bytes of the budget of `run`.
  Retyper(const Table& table, NominalOrder order, const RunOptions& run, std::int64_t held)
      : table_(table), order_(order), run_(run), held_(held) {}

  /// Gives `column` the type and the value list of `spec`. Throws invalid_data for a value that does not fit,
  /// out_of_memory and cancelled.
  void apply(Column& column, const ColumnSpec& spec);

 private:
  struct NumberNames;

  NumberNames collect_names(const Column& column);
  void make_nominal(Column& column, const ColumnSpec& spec);
  void make_numeric(Column& column, ValueType type);
  void reorder_values(Column& column, const Values& values);
  template <class T>
  Buffer<T> values_for(const Column& column);
  void take(const Column& column, std::int64_t bytes);
  void poll(std::int64_t i) const;
  std::int64_t budget();
  [[noreturn]] void fail_value(const Column& column, std::int64_t row, const std::string& what) const;

  const Table& table_;
  NominalOrder order_;
  const RunOptions& run_;
  std::int64_t held_, used_ = 0, budget_ = -1;
};

}  // namespace stope::io
