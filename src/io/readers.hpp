// The readers, one function per format, from bytes to a table. read_table (stope/io.hpp) chooses among them by suffix.
// Readers know no roles: read_table applies schema, target, id and ignore afterwards (roles.hpp). Only CSV needs the
// column types beforehand; `ReadOptions` and `Schema` tell it.
#pragma once

#include "io/bytes.hpp"
#include "stope/io.hpp"

namespace stope::io {

Table read_csv(const Bytes& bytes, const ReadOptions& options, const Schema* schema, const RunOptions& run);
Table read_arff(const Bytes& bytes, const ReadOptions& options, const RunOptions& run);
Table read_npy(const Bytes& bytes, const RunOptions& run);
/// fvecs (float32), bvecs (uint8) or ivecs (int32) rows, each with its own int32 length in front.
Table read_vecs(const Bytes& bytes, Format format, const RunOptions& run);
/// A bare array of `options.n_features` columns of `options.dtype`.
Table read_raw(const Bytes& bytes, const ReadOptions& options, const RunOptions& run);

/// Where a cell stands in the text of a file; the place has no line if there is no such cell.
Place place_in_csv(const Bytes& bytes, const ReadOptions& options, const Schema* schema, std::int64_t row,
                   std::string_view feature, const RunOptions& run);
Place place_in_arff(const Bytes& bytes, const ReadOptions& options, std::int64_t row, std::string_view feature,
                    const RunOptions& run);

/// Schema JSON (docs/FORMATS.md) from its text; `name` is for error messages.
Schema parse_schema(std::string_view json, std::string_view part, const std::string& name,
                    std::int64_t budget = INT64_MAX);

}  // namespace stope::io
