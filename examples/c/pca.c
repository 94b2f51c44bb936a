/* Principal components of numbers that the program has in memory, and the scores of its rows. The values are lent, not
 * copied: stope calls release() when nothing needs them any more.
 *
 *   cc -std=c99 pca.c -lstope -o pca
 *   ./pca table.csv 4 */
#include "print_table.h"

static int n_released;

static void release(void* values) {
  ++n_released;
  free(values);
}

/* The first columns of a file as a block of doubles, column by column, as a program might have it. */
static double* columns_of_file(const char* path, int64_t n_columns, int64_t* n_rows) {
  stope_table* table;
  stope_array to;
  double* values;
  check(stope_table_from_file(path, NULL, NULL, &table, &error));
  *n_rows = stope_table_rows(table);
  values = new_array(*n_rows * n_columns, sizeof *values);
  to = array_of(values, *n_rows, n_columns);
  to.row_stride = sizeof *values;
  to.column_stride = *n_rows * (int64_t)sizeof *values;
  check(stope_table_copy(table, 0, 0, &to, &error));
  stope_table_free(table);
  return values;
}

int main(int argc, char** argv) {
  stope_table *table, *scores, *components;
  stope_options* two;
  stope_model* model;
  stope_array array;
  double* values;
  int64_t n_rows, n_columns;

  if (argc != 3) {
    fprintf(stderr, "usage: pca TABLE N_COLUMNS\n");
    return 2;
  }
  n_columns = atoi(argv[2]);
  values = columns_of_file(argv[1], n_columns, &n_rows);
  array = array_of(values, n_rows, n_columns);
  array.row_stride = sizeof *values;
  array.column_stride = n_rows * (int64_t)sizeof *values;
  /* Whether it fails or not, `values` belongs to stope from here on. */
  check(stope_table_from_array(&array, NULL, release, values, NULL, &table, &error));

  two = options("n_components", "2", NULL);
  check(stope_fit("pca", table, two, NULL, &model, &error));
  check(stope_apply(model, table, NULL, NULL, &scores, &error));
  print_table(scores);
  check(stope_model_table(model, "components", &components, &error));
  fprintf(stderr, "columns of the components: %s\n", stope_table_schema(components));

  stope_table_free(components);
  stope_table_free(scores);
  stope_model_free(model);
  stope_options_free(two);
  stope_table_free(table); /* the last one that needs the values */
  return n_released == 1 ? 0 : 1;
}
