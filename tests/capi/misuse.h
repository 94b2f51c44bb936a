/* What the generated calls of make_misuse.py work with: good objects of every kind, which each call finds fresh, and
 * handles that were freed. */
#ifndef STOPE_MISUSE_H
#define STOPE_MISUSE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stope/stope.h"

/* The structures of Arrow, as its specification has them. */
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
struct ArrowDeviceArray {
  struct ArrowArray array;
  int64_t device_id;
  int32_t device_type;
  void* sync_event;
  int64_t reserved[3];
};
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema*);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray*);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

static const char *file_path, *out_path, *model_path, *model_file, *now = "prepare";
static int64_t n_calls, n_wrong, n_streams_released;
static stope_run *good_run, *freed_run;
static stope_options *good_options, *freed_options;
static stope_table *good_table, *freed_table;
static stope_builder *good_builder, *freed_builder;
static stope_model *good_model, *good_tree, *freed_model;
static stope_lists *good_lists, *freed_lists;
static void* out;
static stope_error error;
static struct ArrowSchema schema;
static struct ArrowArray batch;
static struct ArrowDeviceArray device_batch;
static struct ArrowArrayStream stream;
static int64_t done, total, n_released, n_bytes, indices[64], merged_indices[64], offsets[64];
static int32_t codes[64];
static double doubles[64], merged_distances[64], rows_of_array[8] = {1, 2, 3, 4, 5, 6, 7, 9};
static char phase[32];
static void* bytes;
static const char* names[4] = {"x0", "x1", "x2", "x3"};
/* 4 rows of 2 columns; what a copy writes; 4 x 4 distances. */
static stope_array array = {rows_of_array, 4, 2, 16, 8, STOPE_FLOAT64, -1, NULL, NULL};
static stope_array target = {doubles, 4, 1, 8, 8, STOPE_FLOAT64, -1, NULL, NULL};
static stope_array square = {doubles, 4, 4, 32, 8, STOPE_FLOAT64, -1, NULL, NULL};

static void wrong(const char* what) {
  ++n_wrong;
  printf("FAIL %s: %s (%s)\n", now, what, error.message);
}

#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) wrong(#condition); \
  } while (0)
#define EXPECT_CODE(code) EXPECT(result == (code))
/* The structure says what the call says; a failure has a message, and gives nothing out. */
#define CHECK_ERROR()                                           \
  do {                                                          \
    EXPECT(error.code == result);                               \
    EXPECT((result == STOPE_OK) == (error.message[0] == '\0')); \
    EXPECT(result == STOPE_OK || out == NULL);                  \
  } while (0)
#define MUST(call)                        \
  do {                                    \
    if ((call) != STOPE_OK) wrong(#call); \
  } while (0)

static void release(void* context) {
  ++n_released;
  EXPECT(context == NULL || context == &n_released);
}

static stope_table* make_table(void) {
  stope_table *plain, *labelled;
  MUST(stope_table_from_array(&array, NULL, NULL, NULL, NULL, &plain, &error));
  stope_table_free(plain);
  MUST(stope_builder_new(0, NULL, &good_builder, &error));
  MUST(stope_builder_column(good_builder, "x0", STOPE_REGULAR, "real", NULL, 0, &error));
  MUST(stope_builder_column(good_builder, "x1", STOPE_LABEL, "nominal", names, 4, &error));
  {
    const double rows[8] = {1, 0, 2, 1, 3, 0, 4, 1};
    stope_array given = array;
    given.data = rows;
    MUST(stope_builder_append(good_builder, &given, &error));
  }
  MUST(stope_builder_finish(good_builder, &labelled, &error));
  stope_builder_free(good_builder);
  return labelled;
}

static void make_objects(void) {
  stope_options* few;
  stope_model* searcher;
  MUST(stope_run_new(&good_run, &error));
  MUST(stope_options_new(&good_options, &error));
  good_table = make_table();
  MUST(stope_options_new(&few, &error));
  MUST(stope_options_set(few, "n_neighbors", "2", &error));
  MUST(stope_fit("classify", good_table, few, NULL, &good_model, &error));
  MUST(stope_fit("tree", good_table, NULL, NULL, &good_tree, &error));
  MUST(stope_fit("neighbors", good_table, few, NULL, &searcher, &error));
  MUST(stope_radius_neighbors(searcher, good_table, 1.0, NULL, NULL, &good_lists, &error));
  MUST(stope_builder_new(0, NULL, &good_builder, &error));
  MUST(stope_builder_column(good_builder, "a", STOPE_REGULAR, "real", NULL, 0, &error));
  MUST(stope_builder_column(good_builder, "b", STOPE_REGULAR, "real", NULL, 0, &error));
  stope_model_free(searcher);
  stope_options_free(few);
}

static void free_objects(void) {
  stope_run_free(good_run);
  stope_options_free(good_options);
  stope_table_free(good_table);
  stope_builder_free(good_builder);
  stope_model_free(good_model);
  stope_model_free(good_tree);
  stope_lists_free(good_lists);
}

static int stream_schema(struct ArrowArrayStream* from, struct ArrowSchema* to) {
  struct ArrowArray unused;
  (void)from;
  MUST(stope_table_to_arrow(good_table, to, &unused, NULL));
  unused.release(&unused);
  return 0;
}
static int stream_next(struct ArrowArrayStream* from, struct ArrowArray* to) {
  struct ArrowSchema unused;
  memset(to, 0, sizeof *to);
  if (from->private_data != NULL) return 0;
  from->private_data = &stream;
  MUST(stope_table_to_arrow(good_table, &unused, to, NULL));
  unused.release(&unused);
  return 0;
}
static const char* stream_error(struct ArrowArrayStream* from) {
  (void)from;
  return NULL;
}
static void stream_release(struct ArrowArrayStream* from) {
  ++n_streams_released;
  from->release = NULL;
}
static void fill_stream(void) {
  const struct ArrowArrayStream fresh = {stream_schema, stream_next, stream_error, stream_release, NULL};
  stream = fresh;
}
static void fill_batch(void) {
  MUST(stope_table_to_arrow(good_table, &schema, &batch, NULL));
  device_batch.device_type = 1; /* the CPU */
  device_batch.device_id = -1;
}

static void begin(const char* call) {
  ++n_calls;
  now = call;
  make_objects();
  memset(&error, 0, sizeof error);
  error.size = sizeof error;
  out = NULL;
}

/* Frees what the call gave out, whatever it is: other kinds of handles are ignored. What was moved in is gone. */
static void end(void) {
  stope_run_free(out);
  stope_options_free(out);
  stope_table_free(out);
  stope_builder_free(out);
  stope_model_free(out);
  stope_lists_free(out);
  if (schema.release != NULL) schema.release(&schema);
  if (batch.release != NULL) batch.release(&batch);
  if (device_batch.array.release != NULL) device_batch.array.release(&device_batch.array);
  if (stream.release != NULL) stream.release(&stream);
  free_objects();
}

static int prepare(int argc, char** argv) {
  static char paths[4][1024];
  int i;
  if (argc != 2) {
    fprintf(stderr, "usage: misuse FOLDER\n");
    return 0;
  }
  for (i = 0; i < 4; ++i) {
    static const char* const kNames[4] = {"table.csv", "out.csv", "out.stope", "model.stope"};
    snprintf(paths[i], sizeof paths[i], "%s/%s", argv[1], kNames[i]);
  }
  file_path = paths[0];
  out_path = paths[1];
  model_path = paths[2];
  model_file = paths[3];
  error.size = sizeof error;
  make_objects();
  MUST(stope_table_to_file(good_table, file_path, NULL, &error));
  MUST(stope_model_write(good_model, model_file, NULL, &error));
  MUST(stope_model_bytes(good_model, &n_bytes, &error));
  bytes = malloc((size_t)n_bytes);
  MUST(stope_model_store(good_model, bytes, n_bytes, &error));
  free_objects();
  freed_run = good_run;
  freed_options = good_options;
  freed_table = good_table;
  freed_builder = good_builder;
  freed_model = good_model;
  freed_lists = good_lists;
  return n_wrong == 0;
}

static int finish(int64_t n_expected) {
  free(bytes);
  now = "all";
  EXPECT(n_calls == n_expected);
  EXPECT(n_released > 0);
  EXPECT(n_streams_released > 0);
  printf("%lld calls, %lld wrong\n", (long long)n_calls, (long long)n_wrong);
  return n_wrong == 0 ? 0 : 1;
}

#endif
