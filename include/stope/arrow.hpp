// Tables of other programs through the Arrow C data interface, without an Arrow library: pandas, polars, DuckDB, R,
// Spark. Columns share the memory of the other side where both have the same layout. docs/formats/arrow.md maps the
// types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stope/io.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

// The structures of the C data, C device and C stream interfaces, as the Arrow project publishes them. The guards are
// Arrow's, so that a source may include other copies of them, too.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}
#endif

#ifndef ARROW_C_DEVICE_DATA_INTERFACE
#define ARROW_C_DEVICE_DATA_INTERFACE

#define ARROW_DEVICE_CPU 1

extern "C" {

typedef int32_t ArrowDeviceType;

struct ArrowDeviceArray {
  struct ArrowArray array;
  int64_t device_id;
  ArrowDeviceType device_type;
  void* sync_event;
  int64_t reserved[3];
};
}
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
}
#endif

#pragma GCC visibility push(default)
namespace stope {

/// Whether an imported table may share the memory of the other side. shared: nobody may change that memory as long as
/// a copy of the table lives. copied: the other side gets all of it back before the call returns.
enum class ArrowMemory { shared, copied };

/// Options of import_arrow. Roles and types are named as in ReadOptions; they win over the roles that export_arrow left
/// in the schema.
struct ArrowOptions {
  std::string target = {}, id = {}, sample_weight = {};  ///< roles; empty = none
  bool target_is_nominal = false;                        ///< classification: a numeric target becomes nominal
  std::vector<std::string> select = {}, ignore = {}, nominal = {}, numeric = {};  ///< names, numbers or patterns
  NominalOrder nominal_order = NominalOrder::sorted;       ///< for strings; a dictionary gives its own order
  UnknownColumns unknown_columns = UnknownColumns::error;  ///< for target, id, sample_weight, ignore, nominal, numeric
  ArrowMemory memory = ArrowMemory::shared;
  std::string source = {};  ///< what messages call the data: a file, a frame's name
};

/// Takes all batches of a stream as one table. The call owns the stream: it releases it, also if it throws, and leaves
/// `stream->release` null. Batches are released when the table no longer needs them, from any thread.
///
/// Shared without a copy, where one batch has all rows: float64 and float32 without nulls, and dictionary codes of
/// int32 or uint32 without nulls whose dictionary has no null and no value twice. All else is copied once, on as many
/// threads as pay. While it is copied, the batches and the table are in memory together; a table beyond half of the
/// memory budget goes to a mapped temporary file.
///
/// Throws invalid_argument for null pointers and released structures; unsupported, with the column and the type, for
/// what a table cannot hold (nested types, binary, times, durations, intervals) and, with the row, for integers beyond
/// 2^53 and decimals of more digits than a double keeps; invalid_data for structures that contradict themselves: wrong
/// numbers of buffers or children, null buffers, negative lengths, offsets that fall, codes outside their dictionary,
/// a name twice; io with the producer's message if the producer fails; out_of_memory, also if the producer has none
/// left (ENOMEM); cancelled. The interface does not tell how long buffers are: a producer that lies about lengths
/// cannot be seen through.
Table import_arrow(ArrowArrayStream* stream, const ArrowOptions& options = {}, const RunOptions& run = {});
/// Takes one batch, a struct array. The call owns both structures, as above.
Table import_arrow(ArrowSchema* schema, ArrowArray* batch, const ArrowOptions& options = {},
                   const RunOptions& run = {});
/// Takes one batch from the memory of a device, which has to be the CPU: any other is unsupported.
Table import_arrow(ArrowSchema* schema, ArrowDeviceArray* batch, const ArrowOptions& options = {},
                   const RunOptions& run = {});

/// Gives a table away as one batch; the caller releases both structures. Numbers and codes share the table's memory,
/// which lives as long as the batch. NaN and missing codes become nulls, at the cost of one pass. Nominal columns
/// become dictionary<int32, utf8>. Dates become date32 or the coarsest timestamp that reads back as the same numbers,
/// else float64. Roles, and types that Arrow lacks, stand in the fields' metadata (`stope.role`, `stope.type`). Throws
/// invalid_argument for null pointers, for a table that is not valid and for codes outside their values, unseen ones
/// included; both structures then stay released. O(rows x columns) on as many threads as pay.
void export_arrow(const Table& table, ArrowSchema* schema, ArrowArray* batch, const RunOptions& run = {});
/// Gives a table away as a stream of batches of `batch_rows` rows (0: one batch), which share its memory. The batches
/// may outlive the stream. A table without rows gives one batch without rows.
void export_arrow(const Table& table, ArrowArrayStream* stream, std::int64_t batch_rows = 0,
                  const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
