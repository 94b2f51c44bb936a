// A shared library for tests alone: import_arrow and export_arrow for a Python program that has pyarrow and ctypes.
// Functions that can fail give null or false; arrow_error() says why.
#include <cstdint>
#include <exception>
#include <string>

#include "stope/arrow.hpp"

using stope::Table;

namespace {

std::string& last_error() {
  static std::string error;
  return error;
}

// Runs work() and keeps what it throws as text: "code: message".
template <class Work>
bool succeeds(const Work& work) noexcept {
  try {
    work();
    return true;
  } catch (const stope::Error& error) {
    last_error() = std::string(to_string(error.code())) + ": " + error.what();
  } catch (const std::exception& error) {
    last_error() = std::string("not an Error: ") + error.what();
  }
  return false;
}

const stope::Column& column_of(const Table* table, std::int64_t column) {
  return table->columns[static_cast<std::size_t>(column)];
}

}  // namespace

extern "C" {

const char* arrow_error() {
  return last_error().c_str();
}

Table* arrow_import_stream(ArrowArrayStream* stream, std::int32_t by_appearance, std::int32_t copied) {
  stope::ArrowOptions options;
  if (by_appearance != 0) options.nominal_order = stope::NominalOrder::appearance;
  if (copied != 0) options.memory = stope::ArrowMemory::copied;
  Table* table = nullptr;
  succeeds([&] { table = new Table(stope::import_arrow(stream, options)); });
  return table;
}

Table* arrow_import_batch(ArrowSchema* schema, ArrowArray* batch) {
  Table* table = nullptr;
  succeeds([&] { table = new Table(stope::import_arrow(schema, batch)); });
  return table;
}

Table* arrow_import_device(ArrowSchema* schema, ArrowDeviceArray* batch) {
  Table* table = nullptr;
  succeeds([&] { table = new Table(stope::import_arrow(schema, batch)); });
  return table;
}

bool arrow_export_stream(const Table* table, ArrowArrayStream* stream, std::int64_t batch_rows) {
  return succeeds([&] { stope::export_arrow(*table, stream, batch_rows); });
}

bool arrow_export_batch(const Table* table, ArrowSchema* schema, ArrowArray* batch) {
  return succeeds([&] { stope::export_arrow(*table, schema, batch); });
}

void arrow_free(Table* table) {
  delete table;
}

std::int64_t arrow_n_rows(const Table* table) {
  return table->n_rows;
}
std::int64_t arrow_n_columns(const Table* table) {
  return static_cast<std::int64_t>(table->columns.size());
}
const char* arrow_name(const Table* table, std::int64_t column) {
  return column_of(table, column).name.c_str();
}
const char* arrow_type(const Table* table, std::int64_t column) {
  return to_string(column_of(table, column).type).data();
}
void arrow_set_role(Table* table, std::int64_t column, std::int32_t role) {
  table->columns[static_cast<std::size_t>(column)].role = static_cast<stope::Role>(role);
}
std::int32_t arrow_role(const Table* table, std::int64_t column) {
  return static_cast<std::int32_t>(column_of(table, column).role);
}
/// Where the column's values lie: to be compared with the producer's address.
const void* arrow_address(const Table* table, std::int64_t column) {
  return std::visit([](const auto& buffer) { return static_cast<const void*>(buffer.data()); },
                    column_of(table, column).data);
}
/// Bytes of one value: 8 (float64) or 4 (float32, codes).
std::int64_t arrow_width(const Table* table, std::int64_t column) {
  return std::visit([](const auto& buffer) { return static_cast<std::int64_t>(sizeof *buffer.data()); },
                    column_of(table, column).data);
}
/// The column's values as doubles, as Column::at gives them; `to` has a place for every row.
void arrow_values(const Table* table, std::int64_t column, double* to) {
  for (std::int64_t row = 0; row < table->n_rows; ++row) to[row] = column_of(table, column).at(row);
}
std::int64_t arrow_n_values(const Table* table, std::int64_t column) {
  return static_cast<std::int64_t>(column_of(table, column).values.size());
}
const char* arrow_value_name(const Table* table, std::int64_t column, std::int64_t code, std::int64_t* size) {
  const std::string& name = column_of(table, column).values[code];
  *size = static_cast<std::int64_t>(name.size());
  return name.data();
}
}
