/* The nearest rows, in arrays of the program: first for the rows of a table, then for rows that lie in an array. Both
 * ways give the same bits.
 *
 *   cc -std=c99 neighbors.c -lstope -o neighbors
 *   ./neighbors train.csv query.csv */
#include <string.h>

#include "check.h"

enum { K = 3, N_FEATURES = 4 };

/* The example's columns are numbers; those that are none are left out. */
static stope_table* numbers_of_file(const char* path) {
  stope_options* read = options("ignore", "species", "unknown_columns", "skip", NULL);
  stope_table* table;
  check(stope_table_from_file(path, read, NULL, &table, &error));
  stope_options_free(read);
  return table;
}

/* A row a neighbour. A list is shorter than K where there are fewer rows: its rest is -1 and NaN. */
static void print_lists(int64_t n_rows, const int64_t* indices, const double* distances) {
  int64_t i;
  printf("row,pos,train_index,distance\n");
  for (i = 0; i < n_rows * K; ++i) {
    if (indices[i] < 0) continue;
    printf("%lld,%lld,%lld,%.17g\n", (long long)(i / K), (long long)(i % K), (long long)indices[i], distances[i]);
  }
}

/* Whether the search of an array gives the same lists: no table is made, and no value is copied. */
static int same_for_array(const stope_model* model, const stope_table* queries, const int64_t* indices,
                          const double* distances) {
  const int64_t n_rows = stope_table_rows(queries), n = n_rows * K;
  double* values = values_of(queries);
  int64_t* found = new_array(n, sizeof *found);
  double* at = new_array(n, sizeof *at);
  stope_array rows = array_of(values, n_rows, stope_table_columns(queries));
  int same;

  rows.n_columns = N_FEATURES; /* the features, in the model's order; the step from row to row leaves the species out */
  check(stope_neighbors_of_array(model, &rows, K, NULL, NULL, found, at, &error));
  same = memcmp(found, indices, (size_t)n * sizeof *found) == 0 && memcmp(at, distances, (size_t)n * sizeof *at) == 0;
  free(at);
  free(found);
  free(values);
  return same;
}

/* Neighbours within a distance: their number is not known before, so the lists have a handle. */
static void print_within(const stope_model* model, const stope_table* queries, double radius) {
  stope_lists* lists;
  check(stope_radius_neighbors(model, queries, radius, NULL, NULL, &lists, &error));
  fprintf(stderr, "%lld rows have %lld neighbours within %g\n", (long long)stope_lists_rows(lists),
          (long long)stope_lists_entries(lists), radius);
  stope_lists_free(lists);
}

int main(int argc, char** argv) {
  stope_table *train, *queries;
  stope_model* model;
  int64_t* indices;
  double* distances;
  int64_t n_rows;
  int same;

  if (argc != 3) {
    fprintf(stderr, "usage: neighbors TRAIN QUERY\n");
    return 2;
  }
  train = numbers_of_file(argv[1]);
  queries = numbers_of_file(argv[2]);
  check(stope_fit("neighbors", train, NULL, NULL, &model, &error));
  stope_table_free(train); /* the model keeps what it needs */

  n_rows = stope_table_rows(queries);
  indices = new_array(n_rows * K, sizeof *indices);
  distances = new_array(n_rows * K, sizeof *distances);
  check(stope_neighbors(model, queries, K, NULL, NULL, indices, distances, &error));
  print_lists(n_rows, indices, distances);
  print_within(model, queries, 0.5);
  same = same_for_array(model, queries, indices, distances);
  if (!same) fprintf(stderr, "the array's rows have other neighbours\n");

  free(distances);
  free(indices);
  stope_model_free(model);
  stope_table_free(queries);
  return same ? 0 : 1;
}
