// The border to the plug-in for files (plugins/files, a Rust crate): C structures and one table of functions. Rows
// cross it by the Arrow C interfaces (include/stope/arrow.hpp). plugins/files/src/border.rs says the same in Rust:
// whoever changes one changes the other, and kStopeFilesVersion with them.
//
// Every function returns 0, or a code and its reason in `failure`. None throws, prints or ends the process.
#ifndef STOPE_FILES_ABI_H
#define STOPE_FILES_ABI_H

#include <stdint.h>

struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream;

#ifdef __cplusplus
extern "C" {
#endif

enum { kStopeFilesVersion = 1 };

// What a function found. The core makes an error of it, and adds the file's name.
enum StopeFilesCode {
  kStopeFilesOk = 0,
  kStopeFilesInvalid = 1,      // the data contradict themselves
  kStopeFilesUnsupported = 2,  // well-formed, but not read
  kStopeFilesMemory = 3,       // more than the limit
  kStopeFilesStopped = 4,      // a callback of the core asked to stop, and knows why
  kStopeFilesInternal = 5
};

struct StopeFilesFailure {
  int32_t code;
  char text[508];  // UTF-8, one line, ends with a NUL
};

// Formats that `open` and `create` take.
enum StopeFilesFormat { kStopeFilesParquet = 1, kStopeFilesArrow = 2, kStopeFilesArrowStream = 3 };

// The content of a file. `release` is called once, from any thread, when the last array that lies in it has gone.
struct StopeFilesBytes {
  const uint8_t* data;
  uint64_t size;
  void* owner;
  void (*release)(void* owner);
};

// Bytes that come one after the other. `read` gives up to `size` bytes, 0 at the end, -1 to stop.
struct StopeFilesSource {
  void* context;
  int64_t (*read)(void* context, uint8_t* to, int64_t size);
};

// Where written bytes go. Returns 0, or anything else to stop.
struct StopeFilesSink {
  void* context;
  int32_t (*write)(void* context, const uint8_t* data, uint64_t size);
};

// What `prepare` found out about the chosen columns.
struct StopeFilesFacts {
  int64_t held_bytes;    // what one reader of one column holds at most, batches aside
  int64_t largest_page;  // bytes of the largest page or buffer once it is decompressed
  int32_t whole_batch;   // 1: one batch that lies in the file as it is, so that nothing is decoded
  int32_t padding;
};

struct StopeFilesWriteOptions {
  int64_t group_rows;  // Parquet: rows of a row group
};

struct StopeFilesFile;  // an open file; the functions that take it as const may run in several threads
struct StopeFilesWriter;

struct StopeFilesFunctions {
  uint32_t version;     // kStopeFilesVersion
  uint32_t bytes;       // sizeof(StopeFilesFunctions)
  const char* formats;  // what it reads, for people: "Parquet, Arrow IPC"
  const char* parts;    // whose readers: "parquet 60.1.0"

  // Takes the bytes over, also where it fails. Nothing but the schema and the list of groups is read.
  int32_t (*open)(int32_t format, struct StopeFilesBytes bytes, struct StopeFilesFile** file,
                  struct StopeFilesFailure* failure);
  // An Arrow stream whose bytes come one after the other. Its schema is read.
  int32_t (*open_source)(struct StopeFilesSource source, struct StopeFilesFile** file,
                         struct StopeFilesFailure* failure);
  void (*close)(struct StopeFilesFile* file);
  // The columns as the file declares them, chosen or not.
  int32_t (*schema)(const struct StopeFilesFile* file, struct ArrowSchema* schema, struct StopeFilesFailure* failure);
  // Row groups of Parquet, batches of Arrow; -1 for a stream, which does not tell.
  int64_t (*n_groups)(const struct StopeFilesFile* file);
  int64_t (*rows_of)(const struct StopeFilesFile* file, int64_t group);
  // Chooses columns, in ascending order, and checks what they declare against the bytes that are there and `limit`, the
  // bytes that one page may become. Once, before `read`.
  int32_t (*prepare)(struct StopeFilesFile* file, const int64_t* columns, int64_t n_columns, int64_t limit,
                     struct StopeFilesFacts* facts, struct StopeFilesFailure* failure);
  // The rows of these groups, as batches of at most `batch_rows` rows (Arrow: as the file has them). A stream is read
  // once, all of it, whatever groups are named. Strings may come as dictionaries of strings, and the other way round.
  // A dictionary that comes again has the same buffers.
  int32_t (*read)(const struct StopeFilesFile* file, int64_t first_group, int64_t n_groups, const int64_t* columns,
                  int64_t n_columns, int64_t batch_rows, struct ArrowArrayStream* rows,
                  struct StopeFilesFailure* failure);

  // Writes batches of one schema. `create` takes the schema over, `append` the batch, `finish` ends the file; `drop`
  // frees the writer, finished or not.
  int32_t (*create)(int32_t format, struct ArrowSchema* schema, const struct StopeFilesWriteOptions* options,
                    struct StopeFilesSink sink, struct StopeFilesWriter** writer, struct StopeFilesFailure* failure);
  int32_t (*append)(struct StopeFilesWriter* writer, struct ArrowArray* batch, struct StopeFilesFailure* failure);
  int32_t (*finish)(struct StopeFilesWriter* writer, struct StopeFilesFailure* failure);
  void (*drop)(struct StopeFilesWriter* writer);

  // The sheet reader's slot; null where the plug-in has none.
  int32_t (*read_sheet)(struct StopeFilesBytes bytes, const char* options, int64_t limit, struct ArrowArrayStream* rows,
                        struct StopeFilesFailure* failure);
};

// The one symbol of the plug-in.
#define STOPE_FILES_ENTRY "stope_files"
typedef const struct StopeFilesFunctions* (*StopeFilesEntry)(void);

#ifdef __cplusplus
}
#endif
#endif
