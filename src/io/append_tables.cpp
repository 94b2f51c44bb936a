#include "io/append_tables.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "io/retype.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope::io {
namespace {

bool is_empty(const Column& column) {
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (!column.missing(row)) return false;
  }
  return true;
}

[[noreturn]] void refuse_column(const Table& table, std::size_t i, const std::string& wanted) {
  const std::string& name = table.columns[i].name;
  throw Error(ErrorCode::invalid_data,
              "its column " + std::to_string(i + 1) + " is '" + name + "', that of the first part is '" + wanted +
                  "': all parts need the same columns in the same order",
              {.file = table.source, .feature = name});
}

void check_columns(const Table& first, const Table& other) {
  if (other.columns.size() != first.columns.size()) {
    throw Error(ErrorCode::invalid_data,
                "has " + counted(std::ssize(other.columns), "column") + ", and '" + first.source + "' " +
                    std::to_string(first.columns.size()),
                {.file = other.source});
  }
  for (std::size_t i = 0; i < first.columns.size(); ++i) {
    const std::string &name = other.columns[i].name, &wanted = first.columns[i].name;
    if (name != wanted) refuse_column(other, i, wanted);
  }
}

ValueType joined_type(ValueType a, ValueType b) {
  if (a == b) return a;
  return is_nominal(a) ? ValueType::polynominal : ValueType::real;
}

class Appender {
 public:
  Appender(std::vector<Table> tables, MixedTypes mixed, const ReadOptions& options, const RunOptions& run)
      : tables_(std::move(tables)), mixed_(mixed), options_(options), run_(run) {}

  Table append(const std::string& name) {
    Table result;
    result.source = name;
    for (const Table& table : tables_) {
      check_columns(tables_.front(), table);
      result.n_rows = checked::add(result.n_rows, table.n_rows);
    }
    const std::int64_t n_columns = std::ssize(tables_.front().columns);
    const std::int64_t bytes = checked::mul(checked::mul(result.n_rows, n_columns), std::int64_t{sizeof(double)});
    std::int64_t held = 0;
    for (const Table& table : tables_) held += table.bytes_in_memory();
    const Storage storage = storage_within(bytes, std::max<std::int64_t>(0, memory_budget(run_) - held));
    PhaseProgress progress(run_, "join", n_columns);
    result.columns.reserve(static_cast<std::size_t>(n_columns));
    for (std::size_t c = 0; c < static_cast<std::size_t>(n_columns); ++c) {
      run_.cancel.check();
      result.columns.push_back(column(c, result.n_rows, storage));
      progress.reach(static_cast<std::int64_t>(c) + 1);
    }
    return result;
  }

 private:
  // A column without values says nothing of its type.
  void settle_types(std::size_t c) {
    bool numeric = false, nominal = false;
    const Table* first = nullptr;
    ValueType number = ValueType::real;
    for (const Table& table : tables_) {
      const Column& column = table.columns[c];
      if (is_empty(column)) continue;
      const bool differs = first != nullptr && (column.nominal() ? numeric : nominal);
      const bool dates = first != nullptr && !column.nominal() && numeric &&
                         (column.type == ValueType::date) != (number == ValueType::date);
      if ((differs && mixed_ == MixedTypes::error) || dates) {
        throw Error(ErrorCode::invalid_data,
                    "column '" + column.name + "' is " + std::string(to_string(column.type)) + ", in '" +
                        first->source + "' it is " + std::string(to_string(first->columns[c].type)),
                    {.file = table.source, .feature = column.name});
      }
      (column.nominal() ? nominal : numeric) = true;
      if (!column.nominal()) number = column.type;
      if (first == nullptr) first = &table;
    }
    if (!numeric && !nominal) nominal = tables_.front().columns[c].nominal();
    for (Table& table : tables_) {
      Column& column = table.columns[c];
      if (column.nominal() == nominal) continue;
      const ValueType type = nominal ? ValueType::polynominal : number;
      Retyper(table, options_.nominal_order, run_, 0).apply(column, {column.name, type, column.role, {}});
    }
  }

  Values merged_values(std::size_t c) const {
    const Values& first = tables_.front().columns[c].values;
    const auto same = [&](const Table& table) { return table.columns[c].values == first; };
    if (std::all_of(tables_.begin(), tables_.end(), same)) return first;
    const bool sorted = options_.nominal_order == NominalOrder::sorted &&
                        std::all_of(tables_.begin(), tables_.end(), [&](const Table& table) {
                          const Values& values = table.columns[c].values;
                          return std::is_sorted(values.begin(), values.end());
                        });
    std::vector<std::string> names;
    std::unordered_map<std::string_view, bool> seen;
    for (const Table& table : tables_) {
      for (const std::string& name : table.columns[c].values) {
        if (seen.emplace(name, true).second) names.push_back(name);
      }
    }
    if (sorted) std::sort(names.begin(), names.end());
    return names;
  }

  Column column(std::size_t c, std::int64_t n_rows, Storage storage) {
    settle_types(c);
    Column result = tables_.front().columns[c];
    bool single = true;
    for (const Table& table : tables_) {
      result.type = joined_type(result.type, table.columns[c].type);
      single = single && std::holds_alternative<Buffer<float>>(table.columns[c].data);
    }
    if (result.nominal()) {
      result.values = merged_values(c);
      if (result.type == ValueType::binominal && result.values.size() > 2) result.type = ValueType::polynominal;
      fill_codes(result, c, n_rows, storage);
    } else if (single) {
      fill_numbers<float>(result, c, n_rows, storage);
    } else {
      fill_numbers<double>(result, c, n_rows, storage);
    }
    return result;
  }

  void fill_codes(Column& result, std::size_t c, std::int64_t n_rows, Storage storage) {
    Buffer<std::int32_t> codes(n_rows, storage);
    std::int64_t at = 0;
    for (Table& table : tables_) {
      Column& from = table.columns[c];
      std::vector<std::int32_t> map;
      map.reserve(from.values.size());
      for (const std::string& name : from.values) map.push_back(result.values.code_of(name));
      for (const std::int32_t code : from.codes()) codes[at++] = code < 0 ? code : map[static_cast<std::size_t>(code)];
      from.data = Buffer<std::int32_t>();
      run_.cancel.check();
    }
    result.data = std::move(codes);
  }

  template <class T>
  void fill_numbers(Column& result, std::size_t c, std::int64_t n_rows, Storage storage) {
    Buffer<T> numbers(n_rows, storage);
    std::int64_t at = 0;
    for (Table& table : tables_) {
      Column& from = table.columns[c];
      for (std::int64_t row = 0; row < table.n_rows; ++row) numbers[at++] = static_cast<T>(from.at(row));
      from.data = Buffer<double>();
      run_.cancel.check();
    }
    result.data = std::move(numbers);
  }

  std::vector<Table> tables_;
  MixedTypes mixed_;
  const ReadOptions& options_;
  const RunOptions& run_;
};

}  // namespace

Table append_tables(std::vector<Table> tables, const std::string& name, MixedTypes mixed, const ReadOptions& options,
                    const RunOptions& run) {
  return Appender(std::move(tables), mixed, options, run).append(name);
}

}  // namespace stope::io
