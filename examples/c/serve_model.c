/* A model served by many threads: it is stored to bytes, loaded where they lie, and applied by all threads at once.
 * Then one thread stops the job of another.
 *
 *   cc -std=c99 serve_model.c -lstope -lpthread -o serve_model
 *   ./serve_model train.csv test.csv species 4 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "print_table.h"

enum { MOST_THREADS = 64 };

typedef struct {
  const stope_model* model; /* models and tables never change: all threads use the same */
  const stope_table* rows;
  stope_table* predicted;
  stope_error error; /* every thread has its own */
} request;

/* A run belongs to one thread at a time, so every thread makes one. */
static void* serve(void* argument) {
  request* mine = argument;
  stope_run* run;
  mine->error.size = sizeof mine->error;
  if (stope_run_new(&run, &mine->error) != STOPE_OK) return NULL;
  if (stope_run_set(run, "threads", "1", &mine->error) == STOPE_OK) { /* the program has threads of its own */
    stope_apply(mine->model, mine->rows, NULL, run, &mine->predicted, &mine->error);
  }
  stope_run_free(run);
  return NULL;
}

static void start(pthread_t* thread, void* (*work)(void*), void* argument) {
  if (pthread_create(thread, NULL, work, argument) == 0) return;
  fprintf(stderr, "there is no thread to be had\n");
  exit(1);
}

/* Fits a model and makes one of its bytes. They could come from a file, a socket or a database: release() says when
 * they are no longer needed, and nobody may change them until then. */
static stope_model* model_of_bytes(const stope_table* train) {
  stope_options* knn = options("n_neighbors", "5", NULL);
  stope_model *fitted, *loaded;
  int64_t n;
  void* bytes;
  check(stope_fit("classify", train, knn, NULL, &fitted, &error));
  check(stope_model_bytes(fitted, &n, &error));
  bytes = new_array(n, 1);
  check(stope_model_store(fitted, bytes, n, &error));
  check(stope_model_load(bytes, n, free, bytes, NULL, &loaded, &error));
  stope_model_free(fitted);
  stope_options_free(knn);
  return loaded;
}

/* Whether all threads say the same; prints what they say. */
static int serve_all(const stope_model* model, const stope_table* rows, int n_threads) {
  pthread_t threads[MOST_THREADS];
  request requests[MOST_THREADS];
  double *first = NULL, *values;
  int i, same = 1;
  for (i = 0; i < n_threads; ++i) {
    requests[i] = (request){.model = model, .rows = rows};
    start(&threads[i], serve, &requests[i]);
  }
  for (i = 0; i < n_threads; ++i) {
    pthread_join(threads[i], NULL);
    error = requests[i].error;
    check(error.code);
    values = values_of(requests[i].predicted);
    if (first == NULL) first = values;
    same = same && memcmp(first, values, (size_t)stope_table_rows(rows) * sizeof *values) == 0;
    if (i == 0) print_table(requests[0].predicted);
    stope_table_free(requests[i].predicted);
    if (values != first) free(values);
  }
  free(first);
  return same;
}

/* The nearest of 200,000 rows to each of them: a job of many seconds. */
static void* long_job(void* run) {
  enum { N = 200000, COLUMNS = 20 };
  stope_options* nearest = options("n_neighbors", "1", NULL);
  double* values = new_array((int64_t)N * COLUMNS, sizeof *values);
  const stope_array array = array_of(values, N, COLUMNS);
  stope_error mine = {.size = sizeof mine};
  stope_table *table, *pairs;
  int64_t i;
  for (i = 0; i < (int64_t)N * COLUMNS; ++i) values[i] = (double)(i * 7919 % 104729);
  if (stope_table_from_array(&array, NULL, NULL, NULL, run, &table, &mine) == STOPE_OK) {
    stope_compute("pairwise", table, NULL, nearest, run, &pairs, &mine);
    stope_table_free(pairs); /* NULL where the job failed */
    stope_table_free(table);
  }
  stope_options_free(nearest);
  free(values);
  return mine.code == STOPE_CANCELLED ? run : NULL;
}

/* Whether the job of another thread ends when it is told to. A signal handler may say so, too. */
static int cancels(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  char phase[32] = "";
  int64_t done = 0, total = 0;
  stope_run* run;
  pthread_t worker;
  void* cancelled;
  int i;
  check(stope_run_new(&run, &error));
  start(&worker, long_job, run);
  for (i = 0; i < 10000 && (stope_run_progress(run, phase, &done, &total) != 1 || done == 0); ++i) {
    nanosleep(&pause, NULL); /* the job has not begun */
  }
  stope_run_cancel(run);
  pthread_join(worker, &cancelled);
  fprintf(stderr, "stopped at %s, %lld of %lld\n", phase, (long long)done, (long long)total);
  stope_run_free(run);
  return cancelled != NULL;
}

int main(int argc, char** argv) {
  stope_table *train, *test;
  stope_model* model;
  int n_threads, good;
  if (argc != 5 || (n_threads = atoi(argv[4])) < 1 || n_threads > MOST_THREADS) {
    fprintf(stderr, "usage: serve_model TRAIN TEST TARGET THREADS\n");
    return 2;
  }
  train = read_file(argv[1], argv[3], NULL);
  test = read_file(argv[2], argv[3], NULL);
  model = model_of_bytes(train);
  stope_table_free(train);
  good = serve_all(model, test, n_threads) && cancels();
  stope_model_free(model);
  stope_table_free(test);
  if (!good) fprintf(stderr, "the threads differ, or the job did not stop\n");
  return good ? 0 : 1;
}
