/* stope: the C ABI. Plain C99. No callback but the release of lent memory, and no structure whose size changes but
 * stope_error, which says its own.
 *
 * Handles: a handle is a number in the clothes of a pointer, and is never followed. A handle that was freed, or that
 * stope has not made, is refused: STOPE_INVALID_ARGUMENT, or the answer that a function states. Freeing NULL does
 * nothing. Tables and models never change once they are made, so that several threads may use one at once, and one may
 * free it while another still uses it. A run, a builder and a set of options belong to one thread at a time.
 * stope_run_cancel() and stope_run_progress() may be called from any thread at any time, and stope_run_cancel() from a
 * signal handler, too.
 *
 * Options: they have the names of the C++ API, most of them scikit-learn's: "n_neighbors", "metric", "metric.p". An
 * option that is not set has the core's default. stope_describe_options() lists them.
 *
 * Errors: every function that can fail returns a stope_code and fills *error; error may be NULL. Where it fails, *out
 * becomes NULL. There is no thread-local state.
 *
 * Text: UTF-8, ended by NUL. What a function returns lives as long as its handle, unless it says otherwise.
 *
 * Arrow: an Arrow structure is moved in: its release is called when the last table that shares its buffers goes, and
 * also where the call fails.
 *
 * Results: they are tables, and leave by the same interfaces. Hot paths write to arrays of the caller.
 *
 * stope_abi() says which version is loaded. A function never changes its meaning within one major version, which is the
 * number of the shared object. A minor version adds functions, constants, options, columns of results and keys of JSON
 * objects. */
#ifndef STOPE_H
#define STOPE_H

#include <stddef.h>
#include <stdint.h>

#define STOPE_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ---------------------------------------------------------------------------------------------------- */

#define STOPE_ABI_MAJOR 1
#define STOPE_ABI_MINOR 0

/* STOPE_ABI_MAJOR << 16 | STOPE_ABI_MINOR of the library that is loaded. */
STOPE_API uint32_t stope_abi(void);
/* The version of the library, for instance "0.1.0". */
STOPE_API const char* stope_version(void);

/* ---- errors ----------------------------------------------------------------------------------------------------- */

typedef int32_t stope_code;
enum {
  STOPE_OK = 0,
  STOPE_INVALID_ARGUMENT = 1,   /* the caller asked for something impossible */
  STOPE_INVALID_DATA = 2,       /* malformed or inconsistent data */
  STOPE_UNSUPPORTED = 3,        /* well-formed, but not something stope can do */
  STOPE_OUT_OF_MEMORY = 4,      /* the bytes needed exceed the memory limit or the machine */
  STOPE_DEVICE_UNAVAILABLE = 5, /* the back end that was asked for is not available */
  STOPE_DEVICE_LOST = 6,        /* a GPU failed in the middle of a job */
  STOPE_CANCELLED = 7,
  STOPE_IO = 8,      /* the operating system refused to open, read, write or rename */
  STOPE_INTERNAL = 9 /* a defect of stope */
};

typedef struct stope_error {
  uint32_t size; /* in: sizeof(stope_error) as the caller was compiled with; no byte beyond it is written */
  stope_code code;
  int64_t line;       /* of a file, from 1; 0 = not known */
  int64_t column;     /* byte of the line, from 1; 0 = not known */
  int64_t row;        /* of a table, from 0; -1 = not known */
  int64_t bytes;      /* out of memory: a limit that would do, as far as is known; -1 = not known */
  char option[64];    /* the option or argument that is wrong; "" = none */
  char feature[256];  /* the column concerned, cut to what fits; "" = none */
  char message[1024]; /* one sentence: "file:line:column: what is wrong", cut to what fits */
} stope_error;

/* ---- a run: threads, memory, device; progress, cancellation; what happened ----------------------------------------
 */

typedef struct stope_run stope_run;

STOPE_API stope_code stope_run_new(stope_run** out, stope_error* error);
/* "threads" ("4"), "memory_limit" ("2GB" or bytes), "device" ("auto", "cpu", "cuda", "cuda:0,1", "cuda:GPU-<uuid>"). */
STOPE_API stope_code stope_run_set(stope_run* run, const char* name, const char* value, stope_error* error);
/* Jobs of this run, now and later, end with STOPE_CANCELLED within half a second. Ignores what is no run. */
STOPE_API void stope_run_cancel(stope_run* run);
/* The run can be used again: a cancel is taken back. */
STOPE_API stope_code stope_run_resume(stope_run* run, stope_error* error);
/* The same, and the run has no report and no warnings any more. */
STOPE_API stope_code stope_run_reset(stope_run* run, stope_error* error);
/* 1 while a job runs, 0 if none does, -1 for what is no run. `phase` takes a name of at most 31 bytes; `done` and
 * `total` are in the phase's own unit, and total is 0 if it is not known. Each may be NULL. */
STOPE_API int32_t stope_run_progress(stope_run* run, char phase[32], int64_t* done, int64_t* total);
/* The report of the last job that has succeeded as a JSON object ("{}" before the first), and all warnings so far as a
 * JSON list of {"code", "text"}. Copies at most `size` bytes into `to`, ended by NUL, and returns how many are needed;
 * `to` may be NULL. -1 for what is no run, and where memory is short. Any thread may ask, also while a job runs. */
STOPE_API int64_t stope_run_report(stope_run* run, char* to, int64_t size);
STOPE_API int64_t stope_run_warnings(stope_run* run, char* to, int64_t size);
STOPE_API void stope_run_free(stope_run* run);

/* In every function below `run` may be NULL: then a run with defaults, which nobody can ask, does the work. A run does
 * one job at a time; a second one is refused. */

/* ---- options of a job ---------------------------------------------------------------------------------------------
 */

typedef struct stope_options stope_options;

STOPE_API stope_code stope_options_new(stope_options** out, stope_error* error);
/* Numbers and lists are spelled as on the command line: "0.5", "true", "red,green". Names and values are checked by the
 * job that gets them. Setting a name again replaces its value; a NULL value takes the name back. */
STOPE_API stope_code stope_options_set(stope_options* options, const char* name, const char* value, stope_error* error);
/* For "feature_weights": one number a feature. */
STOPE_API stope_code stope_options_set_doubles(stope_options* options, const char* name, const double* values,
                                               int64_t n, stope_error* error);
STOPE_API void stope_options_free(stope_options* options);
/* The options of a job or of a kind of model, and of "run", "read", "arrow", "apply", "search" (neighbours) and
 * "pairwise_distances", as a JSON list of {"name", "type", "default", "choices", "help"}. NULL if there is no such job.
 * Lives until the process ends. */
STOPE_API const char* stope_describe_options(const char* job);

/* In every function below `options` may be NULL: no option is set. */

/* ---- plain arrays -------------------------------------------------------------------------------------------------
 */

enum {
  STOPE_FLOAT64 = 0,
  STOPE_FLOAT32 = 1,
  STOPE_INT8 = 2,
  STOPE_INT16 = 3,
  STOPE_INT32 = 4,
  STOPE_INT64 = 5,
  STOPE_UINT8 = 6,
  STOPE_UINT16 = 7,
  STOPE_UINT32 = 8,
  STOPE_BOOLEAN = 9 /* one byte, 0 or 1 */
};

/* Element (r, c) is at data + r * row_stride + c * column_stride. Strides are in bytes, multiples of the element's
 * size, and may be negative. In the host's memory `data` is aligned to its type. In floating-point arrays NaN is
 * missing. */
typedef struct stope_array {
  const void* data;
  int64_t n_rows, n_columns;
  int64_t row_stride, column_stride;
  int32_t type;
  int32_t gpu;    /* -1: the host's memory; else the number of the GPU whose memory it is */
  void* stream;   /* of that GPU: a cudaStream_t; NULL = the default stream */
  void* reserved; /* NULL */
} stope_array;

/* ---- tables -------------------------------------------------------------------------------------------------------
 */

struct ArrowSchema;
struct ArrowArray;
struct ArrowDeviceArray;
struct ArrowArrayStream;

typedef struct stope_table stope_table;
enum { STOPE_REGULAR = 0, STOPE_LABEL = 1, STOPE_ID = 2, STOPE_WEIGHT = 3, STOPE_IGNORE = 4 };

/* Options: "target", "id", "sample_weight", "target_is_nominal", "ignore", "nominal", "numeric", "memory" ("shared":
 * nobody changes the buffers while the table lives; "copied"). */
STOPE_API stope_code stope_table_from_arrow(struct ArrowArrayStream* stream, const stope_options* options,
                                            stope_run* run, stope_table** out, stope_error* error);
STOPE_API stope_code stope_table_from_arrow_array(struct ArrowSchema* schema, struct ArrowArray* batch,
                                                  const stope_options* options, stope_run* run, stope_table** out,
                                                  stope_error* error);
STOPE_API stope_code stope_table_from_arrow_device(struct ArrowSchema* schema, struct ArrowDeviceArray* batch,
                                                   const stope_options* options, stope_run* run, stope_table** out,
                                                   stope_error* error);
/* A matrix of numeric columns; names NULL = x0, x1, ... With `release`, column-major float64 and float32 are shared:
 * nobody may change them, and release(context) is called once, from any thread, when nothing needs them, also where the
 * call fails. Without it the values are copied before the call returns. */
STOPE_API stope_code stope_table_from_array(const stope_array* values, const char* const* names,
                                            void (*release)(void* context), void* context, stope_run* run,
                                            stope_table** out, stope_error* error);
/* Reads a file as `stope info` does; the options are those of the job "read". */
STOPE_API stope_code stope_table_from_file(const char* path, const stope_options* options, stope_run* run,
                                           stope_table** out, stope_error* error);

/* Rows that come in blocks of numbers: NaN is missing, nominal columns hold codes. */
typedef struct stope_builder stope_builder;
typedef struct stope_model stope_model;

/* n_rows_expected 0 = not known. */
STOPE_API stope_code stope_builder_new(int64_t n_rows_expected, stope_run* run, stope_builder** out,
                                       stope_error* error);
/* A builder whose columns are the features of a model, in the model's order and with the model's codes: what is built
 * is matched with the model without comparing a name or a value. */
STOPE_API stope_code stope_builder_for_model(const stope_model* model, int64_t n_rows_expected, stope_run* run,
                                             stope_builder** out, stope_error* error);
/* Adds a column, before the first rows. `type`: "real", "integer", "date", "nominal", "polynominal" or "binominal";
 * `values` names the codes of a nominal column. */
STOPE_API stope_code stope_builder_column(stope_builder* builder, const char* name, int32_t role, const char* type,
                                          const char* const* values, int64_t n_values, stope_error* error);
/* Where it fails, no row was added and the builder can be used further. */
STOPE_API stope_code stope_builder_append(stope_builder* builder, const stope_array* rows, stope_error* error);
/* Afterwards the builder has no rows, and takes rows of the same columns again. */
STOPE_API stope_code stope_builder_finish(stope_builder* builder, stope_table** out, stope_error* error);
STOPE_API void stope_builder_free(stope_builder* builder);

/* The same values with another role of one column. */
STOPE_API stope_code stope_table_with_role(const stope_table* table, const char* column, int32_t role,
                                           stope_table** out, stope_error* error);
/* -1 for what is no table. */
STOPE_API int64_t stope_table_rows(const stope_table* table);
STOPE_API int64_t stope_table_columns(const stope_table* table);
/* The name of a column, and the name of a code of a nominal one. NULL where there is no such table, column or code. */
STOPE_API const char* stope_table_column_name(const stope_table* table, int64_t column);
STOPE_API const char* stope_table_value(const stope_table* table, int64_t column, int64_t code);
/* A JSON list of {"name", "type", "role", "values"}, one a column. NULL for what is no table. */
STOPE_API const char* stope_table_schema(const stope_table* table);
/* Shares the table's memory, which lives as long as the consumer keeps the structures. Missing values become nulls. */
STOPE_API stope_code stope_table_to_arrow(const stope_table* table, struct ArrowSchema* schema,
                                          struct ArrowArray* batch, stope_error* error);
/* Copies rows first, first + 1, ... of out->n_columns columns from `column` on into `out`: float64 or float32 take any
 * column (a nominal one gives its codes, and NaN for a missing value), int32 takes nominal ones (-1 = missing). */
STOPE_API stope_code stope_table_copy(const stope_table* table, int64_t first, int64_t column, const stope_array* out,
                                      stope_error* error);
/* Writes the format of the path's suffix. The file is absent, old or complete. */
STOPE_API stope_code stope_table_to_file(const stope_table* table, const char* path, stope_run* run,
                                         stope_error* error);
STOPE_API void stope_table_free(stope_table* table);

/* ---- jobs that make a table of tables ------------------------------------------------------------------------------
 *   "stats"           a row a column, and with "by" a row a class and column
 *   "correlation"     a row a pair of numeric columns, those of the label first: "column", "other", "correlation",
 *                     "rows"
 *   "histogram"       a row a bin of every numeric column: "column", "low", "high", "count"
 *   "value_counts"    a row a value of every nominal column: "column", "value", "count"
 *   "best_cuts"       a row an attribute, the best cut first
 *   "find_cuts"       a row a cut: "name", "number", "value"
 *   "evaluate"        a row a k with its scores, or a row for the "model" tree or lsq; with several "metrics" or
 *                     "normalizations" a row for each of them and k
 *   "confusion"       a row a cell that is not 0: "k", "truth", "prediction", "count"; options as those of "evaluate"
 *   "feature_ranges"  a row a numeric feature: "name", "low", "high"
 *   "pairwise"        a row a pair of a row of `table` and a row of `other`: "request", "document", "distance"; rows
 *                     count from 0
 * Only "pairwise" takes `other`; NULL means the same table. */
STOPE_API stope_code stope_compute(const char* job, const stope_table* table, const stope_table* other,
                                   const stope_options* options, stope_run* run, stope_table** out, stope_error* error);
/* The distances of all rows of `table` (rows of `out`, float64) to all rows of `other` (its columns). Options as those
 * of "pairwise", but "n_neighbors" and "search_for". */
STOPE_API stope_code stope_pairwise_distances(const stope_table* table, const stope_table* other,
                                              const stope_options* options, stope_run* run, const stope_array* out,
                                              stope_error* error);

/* ---- models --------------------------------------------------------------------------------------------------------
 * "neighbors", "classify", "regress", "pca", "lsq", "tree", "cuts", "normalize", "impute". */
STOPE_API stope_code stope_fit(const char* kind, const stope_table* train, const stope_options* options, stope_run* run,
                               stope_model** out, stope_error* error);
/* What the model says of every row: "prediction" and, with "proba", "confidence(CLASS)"; scores of components, codes of
 * cuts, normalised or filled columns; a row a neighbour ("row", "pos", "train_index", "distance") for a k-NN model
 * without a label. Options: "proba", and "n_neighbors" and "weights" in place of those of a k-NN model. */
STOPE_API stope_code stope_apply(const stope_model* model, const stope_table* rows, const stope_options* options,
                                 stope_run* run, stope_table** out, stope_error* error);
/* A JSON object: "kind", "gives", "classes", "options", "columns", "tables". NULL for what is no model. */
STOPE_API const char* stope_model_info(const stope_model* model);
/* A part of a model by its name in docs/formats/models.md: "train", "components", "coefficients", "cuts", "nodes", ...
 */
STOPE_API stope_code stope_model_table(const stope_model* model, const char* name, stope_table** out,
                                       stope_error* error);
/* A tree as "text", "json", "dot", "svg" or "rules". NULL for what is no tree, and for another format. */
STOPE_API const char* stope_model_text(const stope_model* model, const char* format);

/* A model as bytes, the same as in a file. First the size, then the bytes. */
STOPE_API stope_code stope_model_bytes(const stope_model* model, int64_t* n, stope_error* error);
STOPE_API stope_code stope_model_store(const stope_model* model, void* to, int64_t n, stope_error* error);
/* With `release` the columns stay in the bytes, which nobody may change, until release(context) is called, once, also
 * where the call fails. Without it they are copied. */
STOPE_API stope_code stope_model_load(const void* bytes, int64_t n, void (*release)(void* context), void* context,
                                      stope_run* run, stope_model** out, stope_error* error);
/* map = 1: a large plain file is mapped and its columns are used where they lie; the file may be replaced, not changed.
 */
STOPE_API stope_code stope_model_read(const char* path, int32_t map, stope_run* run, stope_model** out,
                                      stope_error* error);
STOPE_API stope_code stope_model_write(const stope_model* model, const char* path, stope_run* run, stope_error* error);
/* Frees what searches have left in the memory of GPUs; later searches make it again. */
STOPE_API stope_code stope_model_release_devices(const stope_model* model, stope_error* error);
STOPE_API void stope_model_free(stope_model* model);

/* ---- neighbours ----------------------------------------------------------------------------------------------------
 * The model is a k-NN model. Lists have n_neighbors entries a row, nearest first, row-major, in memory of the caller;
 * the rest of a shorter list is index -1 and distance NaN. Options: "exclude_self" (the rows are the training rows),
 * "first_query" (row i is training row first_query + i), "exclude_group" (a column of both tables, which is no
 * feature). */
STOPE_API stope_code stope_neighbors(const stope_model* model, const stope_table* rows, int64_t n_neighbors,
                                     const stope_options* options, stope_run* run, int64_t* indices, double* distances,
                                     stope_error* error);
/* Rows in an array, as the model's features, without a normalisation. With rows->gpu >= 0 the lists are in that GPU. */
STOPE_API stope_code stope_neighbors_of_array(const stope_model* model, const stope_array* rows, int64_t n_neighbors,
                                              const stope_options* options, stope_run* run, int64_t* indices,
                                              double* distances, stope_error* error);

/* What a model with a label predicts for such rows: a code a row (an index into "classes", -1 = missing) and, unless
 * `values` is NULL, the confidences, rows x classes; or a number a row in `values`, and no code. With rows->gpu >= 0
 * all lie in that GPU. Options: "n_neighbors" and "weights" in place of the model's. */
STOPE_API stope_code stope_predict_of_array(const stope_model* model, const stope_array* rows,
                                            const stope_options* options, stope_run* run, int32_t* codes,
                                            double* values, stope_error* error);

/* All training rows within a radius: n_rows + 1 offsets, and as many entries as the last offset says. */
typedef struct stope_lists stope_lists;
STOPE_API stope_code stope_radius_neighbors(const stope_model* model, const stope_table* rows, double radius,
                                            const stope_options* options, stope_run* run, stope_lists** out,
                                            stope_error* error);
/* The number of lists and of entries; -1 for what is no lists. */
STOPE_API int64_t stope_lists_rows(const stope_lists* lists);
STOPE_API int64_t stope_lists_entries(const stope_lists* lists);
/* Copies offsets, indices and distances; each may be NULL. */
STOPE_API stope_code stope_lists_copy(const stope_lists* lists, int64_t* offsets, int64_t* indices, double* distances,
                                      stope_error* error);
STOPE_API void stope_lists_free(stope_lists* lists);
/* Merges the lists that n_parts parts of one training table have given for the same queries, indices those of the whole
 * table: bit for bit those of one index of the whole. Part p begins at indices + p * stride. */
STOPE_API stope_code stope_merge_neighbors(int64_t n_parts, int64_t stride, int64_t n_queries, int64_t n_neighbors,
                                           const int64_t* indices, const double* distances, int64_t* merged_indices,
                                           double* merged_distances, stope_error* error);

/* ---- the machine ---------------------------------------------------------------------------------------------------
 */

/* JSON: CPU, threads, memory, back ends, GPUs, with reasons; and the measures of distance. They live until the process
 * ends. NULL if memory is short. */
STOPE_API const char* stope_devices(void);
STOPE_API const char* stope_metrics(void);

#ifdef __cplusplus
}
#endif
#endif
