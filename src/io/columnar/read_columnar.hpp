// Parquet and Arrow IPC to tables, through the plug-in for files.
#pragma once

#include "io/bytes.hpp"
#include "io/columnar/plugin_file.hpp"
#include "stope/io.hpp"

namespace stope::io {

/// Reads a Parquet file (Format::parquet) or an Arrow IPC file or stream (Format::arrow). Columns that the options or
/// the schema ignore are not decoded, and are not in the table; `options` and `schema` lose them. Roles are applied
/// afterwards, as for the readers of readers.hpp.
Table read_columnar(const Bytes& bytes, Format format, ReadOptions& options, Schema* schema, const RunOptions& run);

/// Reads an Arrow stream as it comes.
Table read_arrow_stream(columnar::ReadBytes read, const std::string& name, ReadOptions& options, Schema* schema,
                        const RunOptions& run);

/// Whether content begins as an Arrow stream does.
bool begins_arrow_stream(std::string_view content);

}  // namespace stope::io
