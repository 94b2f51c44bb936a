/* k-NN classification: reads two files and prints the class of every row of the second, with a confidence of each
 * class.
 *
 *   cc -std=c99 classify.c -lstope -o classify
 *   ./classify train.csv test.csv species */
#include "print_table.h"

static void print_report(stope_run* run) {
  const int64_t size = stope_run_report(run, NULL, 0);
  char* text = malloc((size_t)size);
  if (text == NULL) return;
  stope_run_report(run, text, size);
  fprintf(stderr, "report: %s\n", text);
  free(text);
}

int main(int argc, char** argv) {
  stope_table *train, *test, *predicted;
  stope_options *knn, *proba;
  stope_model* model;
  stope_run* run;

  if (argc != 4) {
    fprintf(stderr, "usage: classify TRAIN TEST TARGET\n");
    return 2;
  }
  /* A run says how: threads, memory, device. Afterwards it tells what happened. */
  check(stope_run_new(&run, &error));
  check(stope_run_set(run, "memory_limit", "1GB", &error));
  train = read_file(argv[1], argv[3], run);
  test = read_file(argv[2], argv[3], run);

  knn = options("n_neighbors", "3", "metric", "gower", "normalize", "range", NULL);
  check(stope_fit("classify", train, knn, run, &model, &error));
  proba = options("proba", "true", NULL);
  check(stope_apply(model, test, proba, run, &predicted, &error));
  print_table(predicted);
  fprintf(stderr, "model: %s\n", stope_model_info(model));
  print_report(run);

  stope_table_free(predicted);
  stope_options_free(proba);
  stope_model_free(model);
  stope_options_free(knn);
  stope_table_free(test);
  stope_table_free(train);
  stope_run_free(run);
  return 0;
}
