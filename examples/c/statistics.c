/* Statistics of every column of a file, and a histogram of every numeric one.
 *
 *   cc -std=c99 statistics.c -lstope -o statistics
 *   ./statistics table.csv */
#include "print_table.h"

/* A bar for every bin; the table has a row a bin: "column", "low", "high", "count". */
static void print_bars(const stope_table* histogram) {
  const int64_t n = stope_table_rows(histogram);
  double* values = values_of(histogram);
  int64_t row;
  int i;
  for (row = 0; row < n; ++row) {
    const double* bin = values + 4 * row;
    printf("# column %2.0f  %8g to %8g  %4.0f ", bin[0], bin[1], bin[2], bin[3]);
    for (i = 0; i < bin[3]; i += 2) printf("*");
    printf("\n");
  }
  free(values);
}

/* The options of a job are data: name, type, default, choices, help. */
static void explain(const char* job) {
  const char* described = stope_describe_options(job);
  fprintf(stderr, "options of %s: %s\n", job, described == NULL ? "there is no such job" : described);
}

int main(int argc, char** argv) {
  stope_table *table, *statistics, *histogram;
  stope_options *stats, *bins;
  stope_run* run;

  if (argc != 2) {
    fprintf(stderr, "usage: statistics TABLE\n");
    return 2;
  }
  explain("stats");
  check(stope_run_new(&run, &error));
  check(stope_table_from_file(argv[1], NULL, run, &table, &error));

  stats = options("distinct", "true", "quantiles", "0.25,0.5,0.75", NULL);
  check(stope_compute("stats", table, NULL, stats, run, &statistics, &error));
  print_table(statistics);

  bins = options("bins", "5", NULL);
  check(stope_compute("histogram", table, NULL, bins, run, &histogram, &error));
  print_bars(histogram);

  stope_table_free(histogram);
  stope_options_free(bins);
  stope_table_free(statistics);
  stope_options_free(stats);
  stope_table_free(table);
  stope_run_free(run);
  return 0;
}
