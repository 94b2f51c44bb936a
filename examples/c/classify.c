/* k-NN classification with the C ABI: reads two CSV files and prints the predicted class of every row of the second.
 *
 *   cc -std=c99 classify.c -lstope -o classify && ./classify train.csv test.csv species */
#include <stdio.h>
#include <stdlib.h>

#include "stope/stope.h"

static stope_error error;

static void check(stope_code code) {
  if (code == STOPE_OK) return;
  fprintf(stderr, "classify: %s\n", error.message);
  exit(1);
}

int main(int argc, char** argv) {
  stope_options *read, *knn, *proba;
  stope_table *train, *test, *predicted;
  stope_model* model;
  stope_run* run;
  int64_t n_rows, row;
  double* codes;
  stope_array column = {0};

  if (argc != 4) {
    fprintf(stderr, "usage: classify TRAIN TEST TARGET\n");
    return 2;
  }
  error.size = sizeof error;
  check(stope_run_new(&run, &error));
  check(stope_options_new(&read, &error));
  check(stope_options_set(read, "target", argv[3], &error));
  check(stope_options_set(read, "target_is_nominal", "true", &error));
  check(stope_table_from_file(argv[1], read, run, &train, &error));
  check(stope_options_set(read, "unknown_columns", "skip", &error)); /* the second file may lack the label */
  check(stope_table_from_file(argv[2], read, run, &test, &error));

  check(stope_options_new(&knn, &error));
  check(stope_options_set(knn, "n_neighbors", "5", &error));
  check(stope_options_set(knn, "normalize", "range", &error));
  check(stope_fit("classify", train, knn, run, &model, &error));
  check(stope_options_new(&proba, &error));
  check(stope_options_set(proba, "proba", "true", &error));
  check(stope_apply(model, test, proba, run, &predicted, &error));

  n_rows = stope_table_rows(predicted);
  codes = malloc((size_t)n_rows * sizeof *codes + 1);
  if (codes == NULL) return 1;
  column.data = codes;
  column.n_rows = n_rows;
  column.n_columns = 1;
  column.row_stride = column.column_stride = sizeof *codes;
  column.type = STOPE_FLOAT64;
  column.gpu = -1;
  check(stope_table_copy(predicted, 0, 0, &column, &error));
  printf("%s\n", stope_table_schema(predicted)); /* names the classes of the codes below */
  for (row = 0; row < n_rows; ++row) printf("%.0f\n", codes[row]);
  fprintf(stderr, "%s\n", stope_run_report(run));

  free(codes);
  stope_table_free(predicted);
  stope_model_free(model);
  stope_table_free(test);
  stope_table_free(train);
  stope_options_free(proba);
  stope_options_free(knn);
  stope_options_free(read);
  stope_run_free(run);
  return 0;
}
