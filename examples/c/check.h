/* What the C examples share: an error ends the program, options are set in pairs, a block of doubles is a stope_array.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "stope/stope.h"

static stope_error error = {.size = sizeof(stope_error)};

/* Says what went wrong and ends the program. A server would look at error.code and go on. */
static inline void check(stope_code code) {
  if (code == STOPE_OK) return;
  fprintf(stderr, "%s\n", error.message);
  exit(1);
}

/* Memory for n elements; the program ends where there is none. */
static inline void* new_array(int64_t n, size_t size) {
  void* memory = calloc((size_t)n + 1, size);
  if (memory != NULL) return memory;
  fprintf(stderr, "out of memory\n");
  exit(1);
}

/* Options from names and values in turn, ended by NULL: options("metric", "gower", NULL). */
static inline stope_options* options(const char* name, ...) {
  stope_options* made;
  va_list more;
  check(stope_options_new(&made, &error));
  va_start(more, name);
  for (; name != NULL; name = va_arg(more, const char*)) {
    check(stope_options_set(made, name, va_arg(more, const char*), &error));
  }
  va_end(more);
  return made;
}

/* Doubles that lie row by row. */
static inline stope_array array_of(const double* data, int64_t n_rows, int64_t n_columns) {
  stope_array array = {.data = data, .n_rows = n_rows, .n_columns = n_columns, .type = STOPE_FLOAT64, .gpu = -1};
  array.row_stride = n_columns * (int64_t)sizeof *data;
  array.column_stride = sizeof *data;
  return array;
}

/* All values of a table, row by row, for the caller to free. */
static inline double* values_of(const stope_table* table) {
  const int64_t n_rows = stope_table_rows(table), n_columns = stope_table_columns(table);
  double* values = new_array(n_rows * n_columns, sizeof *values);
  const stope_array to = array_of(values, n_rows, n_columns);
  check(stope_table_copy(table, 0, 0, &to, &error));
  return values;
}

/* A file with its label; a table to which a model is applied may lack it. */
static inline stope_table* read_file(const char* path, const char* target, stope_run* run) {
  stope_options* read = options("target", target, "target_is_nominal", "true", "unknown_columns", "skip", NULL);
  stope_table* table;
  check(stope_table_from_file(path, read, run, &table, &error));
  stope_options_free(read);
  return table;
}

#endif
