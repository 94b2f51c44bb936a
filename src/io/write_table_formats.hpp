// The writers, one function per format, from a table to bytes. write_table (stope/io.hpp) chooses among them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stope/io.hpp"

namespace stope::io {

/// Takes the bytes of a file, in order, in pieces of any size.
using ByteSink = std::function<void(std::string_view)>;

/// Where a file is written in parts, only the first has a header.
enum class Part { first, later };

/// Appends the record of column names. Quotes tell a header of numbers (the "1", "2", ... of arrays) from data.
void append_csv_header(std::string& out, const Table& table, char separator);

void write_csv(const Table& table, char separator, const RunOptions& run, const ByteSink& sink,
               Part part = Part::first);
void write_arff(const Table& table, const RunOptions& run, const ByteSink& sink, Part part = Part::first);
/// `dtype`: float32, float64, int32, int64 or uint8.
void write_npy(const Table& table, const std::string& dtype, const RunOptions& run, const ByteSink& sink);
void write_vecs(const Table& table, Format format, const RunOptions& run, const ByteSink& sink);
void write_raw(const Table& table, const std::string& dtype, const RunOptions& run, const ByteSink& sink);

}  // namespace stope::io
