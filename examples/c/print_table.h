/* Prints a table as CSV. The numbers and codes come by stope_table_copy(), the names by the Arrow C data interface. */
#ifndef PRINT_TABLE_H
#define PRINT_TABLE_H

#include <math.h>
#include <string.h>

#include "check.h"

/* The structures as the Arrow project publishes them, with its guard. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
#endif

/* A CSV field is quoted where it holds a comma, a quote or a line end. */
static inline void print_field(const char* text, size_t n) {
  size_t i = 0;
  while (i < n && strchr(",\"\n", text[i]) == NULL) ++i;
  if (i == n) {
    fwrite(text, 1, n, stdout);
    return;
  }
  putchar('"');
  for (i = 0; i < n; ++i) {
    if (text[i] == '"') putchar('"');
    putchar(text[i]);
  }
  putchar('"');
}

/* Nominal columns are dictionaries of UTF-8: buffer 1 holds offsets, buffer 2 the text. */
static inline void print_value(const struct ArrowArray* names, int64_t code) {
  const int32_t* offsets = names->buffers[1];
  const char* text = names->buffers[2];
  print_field(text + offsets[code], (size_t)(offsets[code + 1] - offsets[code]));
}

static inline void print_table(const stope_table* table) {
  const int64_t n_rows = stope_table_rows(table), n_columns = stope_table_columns(table);
  double *values = values_of(table), *value = values;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  int64_t row, c;

  check(stope_table_to_arrow(table, &schema, &batch, &error));
  for (c = 0; c < n_columns; ++c) {
    if (c > 0) printf(",");
    print_field(schema.children[c]->name, strlen(schema.children[c]->name));
  }
  printf("\n");
  for (row = 0; row < n_rows; ++row) {
    for (c = 0; c < n_columns; ++c, ++value) {
      const struct ArrowArray* names = batch.children[c]->dictionary;
      if (c > 0) printf(",");
      if (isnan(*value)) continue; /* missing */
      if (names != NULL) {
        print_value(names, (int64_t)*value);
      } else {
        printf("%.17g", *value);
      }
    }
    printf("\n");
  }
  schema.release(&schema);
  batch.release(&batch);
  free(values);
}

#endif
