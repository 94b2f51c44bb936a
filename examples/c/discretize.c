/* Cuts of numeric columns: which column separates the classes best, where to cut each, and another file in codes.
 *
 *   cc -std=c99 discretize.c -lstope -o discretize
 *   ./discretize train.csv test.csv species */
#include "print_table.h"

/* The best cut of every column, the best column first; permutations of the classes tell which are chance. */
static void print_ranking(const stope_table* train) {
  stope_options* tested = options("n_permutations", "200", "seed", "1", NULL);
  stope_table* ranking;
  check(stope_compute("best_cuts", train, NULL, tested, NULL, &ranking, &error));
  print_table(ranking);
  stope_table_free(ranking);
  stope_options_free(tested);
}

/* A table of cuts for a person to look at; the model below has the same. */
static void print_cuts(const stope_model* model) {
  stope_table* cuts;
  check(stope_model_table(model, "cuts", &cuts, &error));
  print_table(cuts);
  stope_table_free(cuts);
}

/* A misspelt option is an error that says which: the program can show it, or ask again. */
static void show_a_mistake(const stope_table* train) {
  stope_options* wrong = options("methd", "mdlp", NULL);
  stope_model* model;
  const stope_code code = stope_fit("cuts", train, wrong, NULL, &model, &error);
  fprintf(stderr, "code %d, option '%s': %s\n", (int)code, error.option, error.message);
  stope_options_free(wrong);
}

int main(int argc, char** argv) {
  stope_table *train, *test, *coded;
  stope_options* mdlp;
  stope_model* model;

  if (argc != 4) {
    fprintf(stderr, "usage: discretize TRAIN TEST TARGET\n");
    return 2;
  }
  train = read_file(argv[1], argv[3], NULL);
  test = read_file(argv[2], argv[3], NULL);
  print_ranking(train);
  show_a_mistake(train);

  mdlp = options("method", "mdlp", "style", "labels", NULL);
  check(stope_fit("cuts", train, mdlp, NULL, &model, &error));
  print_cuts(model);
  check(stope_apply(model, test, NULL, NULL, &coded, &error));
  print_table(coded);

  stope_table_free(coded);
  stope_model_free(model);
  stope_options_free(mdlp);
  stope_table_free(test);
  stope_table_free(train);
  return 0;
}
