/* A decision tree: grows it, writes its model file, prints its rules, and says what it predicts.
 *
 *   cc -std=c99 tree.c -lstope -o tree
 *   ./tree train.csv test.csv species tree.stope */
#include "print_table.h"

int main(int argc, char** argv) {
  stope_table *train, *test, *predicted;
  stope_options *leaves, *proba;
  stope_model* model;
  const char* rules;

  if (argc != 5) {
    fprintf(stderr, "usage: tree TRAIN TEST TARGET MODEL\n");
    return 2;
  }
  train = read_file(argv[1], argv[3], NULL);
  test = read_file(argv[2], argv[3], NULL);
  leaves = options("min_samples_leaf", "3", "criterion", "gini", NULL);
  check(stope_fit("tree", train, leaves, NULL, &model, &error));
  check(stope_model_write(model, argv[4], NULL, &error)); /* for `stope predict`, or stope_model_read() */
  stope_options_free(leaves);
  stope_table_free(train);

  rules = stope_model_text(model, "rules"); /* also "text", "json", "dot" and "svg"; lives as long as the model */
  if (rules == NULL) return 1;
  fprintf(stderr, "%s", rules);
  proba = options("proba", "true", NULL);
  check(stope_apply(model, test, proba, NULL, &predicted, &error));
  print_table(predicted);

  stope_table_free(predicted);
  stope_options_free(proba);
  stope_model_free(model);
  stope_table_free(test);
  return 0;
}
