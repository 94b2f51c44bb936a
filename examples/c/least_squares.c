/* Least squares: the coefficients of a line through the rows of a file, and what it predicts for another file. The
 * second half shows rows that come one by one: a builder takes them in the model's order.
 *
 *   cc -std=c99 least_squares.c -lstope -o least_squares
 *   ./least_squares train.csv test.csv petal_width */
#include "print_table.h"

static stope_table* numbers_of_file(const char* path, const char* target) {
  stope_options* read = options("target", target, "ignore", "species", "unknown_columns", "skip", NULL);
  stope_table* table;
  check(stope_table_from_file(path, read, NULL, &table, &error));
  stope_options_free(read);
  return table;
}

/* Predicts a row that the program has just made: `values` has one number a feature, and NaN where one is missing. */
static double predict_one(const stope_model* model, const double* values, int64_t n_features) {
  const stope_array row = array_of(values, 1, n_features);
  stope_builder* builder;
  stope_table *rows, *predicted;
  double* prediction;
  double result;

  check(stope_builder_for_model(model, 1, NULL, &builder, &error));
  check(stope_builder_append(builder, &row, &error));
  check(stope_builder_finish(builder, &rows, &error));
  check(stope_apply(model, rows, NULL, NULL, &predicted, &error));
  prediction = values_of(predicted);
  result = prediction[0];
  free(prediction);
  stope_table_free(predicted);
  stope_table_free(rows);
  stope_builder_free(builder); /* it could take more rows instead */
  return result;
}

int main(int argc, char** argv) {
  static const double flower[] = {5.1, 3.5, 1.4};
  stope_table *train, *test, *coefficients, *predicted;
  stope_options* errors;
  stope_model* model;

  if (argc != 4) {
    fprintf(stderr, "usage: least_squares TRAIN TEST TARGET\n");
    return 2;
  }
  train = numbers_of_file(argv[1], argv[3]);
  test = numbers_of_file(argv[2], argv[3]);
  errors = options("standard_errors", "true", NULL);
  check(stope_fit("lsq", train, errors, NULL, &model, &error));
  check(stope_model_table(model, "coefficients", &coefficients, &error));
  print_table(coefficients);
  check(stope_apply(model, test, NULL, NULL, &predicted, &error));
  print_table(predicted);
  fprintf(stderr, "a flower of 5.1, 3.5 and 1.4 cm: %.3f\n", predict_one(model, flower, 3));

  stope_table_free(predicted);
  stope_table_free(coefficients);
  stope_model_free(model);
  stope_options_free(errors);
  stope_table_free(test);
  stope_table_free(train);
  return 0;
}
