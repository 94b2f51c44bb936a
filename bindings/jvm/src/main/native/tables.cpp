// Tables: made of files, arrays and Arrow structures, asked, copied and written.
#include <array>

#include "jni_call.hpp"

namespace stope_jni {
namespace {

jlong table_read(JNIEnv* env, jclass, jbyteArray path, jlong options, jlong run) {
  return guarded(env, [&] {
    const std::string file = text_of(env, path);
    stope_table* table = nullptr;
    Outcome outcome(env);
    outcome.require(stope_table_from_file(file.c_str(), from<stope_options>(options), from<stope_run>(run), &table,
                                          outcome.error()));
    return give(table);
  });
}

void free_doubles(void* values) {
  const std::unique_ptr<double[]> owned(static_cast<double*>(values));
}

jlong table_of_columns(JNIEnv* env, jclass, jobjectArray names, jobjectArray columns, jlong rows, jlong run) {
  return guarded(env, [&] {
    const std::vector<std::string> name_texts = texts_of(env, names);
    if (columns == nullptr || rows < 0) refuse(env, "there are no columns, or the number of rows is negative");
    const jsize n = env->GetArrayLength(columns);
    if (name_texts.size() != static_cast<std::size_t>(n)) refuse(env, "there are not as many names as columns");
    auto values = uninitialized<double>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(n));
    for (jsize c = 0; c < n; ++c) {
      const jobject column = env->GetObjectArrayElement(columns, c);
      check(env);
      doubles_of(env, static_cast<jdoubleArray>(column), 0, static_cast<std::size_t>(rows), values.get() + rows * c);
      env->DeleteLocalRef(column);
    }
    const stope_array array = column_major(values.get(), rows, n);
    const std::vector<const char*> pointers = pointers_to(name_texts);
    stope_table* table = nullptr;
    Outcome outcome(env);
    double* const given = values.release();  // The table shares and frees it, also where the call fails.
    outcome.require(stope_table_from_array(&array, pointers.data(), &free_doubles, given, from<stope_run>(run), &table,
                                           outcome.error()));
    return give(table);
  });
}

jlong table_of_arrow_stream(JNIEnv* env, jclass, jlong stream, jlong options, jlong run) {
  return guarded(env, [&] {
    stope_table* table = nullptr;
    Outcome outcome(env);
    outcome.require(stope_table_from_arrow(from<ArrowArrayStream>(stream), from<stope_options>(options),
                                           from<stope_run>(run), &table, outcome.error()));
    return give(table);
  });
}
jlong table_of_arrow(JNIEnv* env, jclass, jlong schema, jlong array, jlong options, jlong run) {
  return guarded(env, [&] {
    stope_table* table = nullptr;
    Outcome outcome(env);
    outcome.require(stope_table_from_arrow_array(from<ArrowSchema>(schema), from<ArrowArray>(array),
                                                 from<stope_options>(options), from<stope_run>(run), &table,
                                                 outcome.error()));
    return give(table);
  });
}
void table_to_arrow(JNIEnv* env, jclass, jlong table, jlong schema, jlong array) {
  guarded(env, [&] {
    Outcome outcome(env);
    outcome.require(stope_table_to_arrow(from<stope_table>(table), from<ArrowSchema>(schema), from<ArrowArray>(array),
                                         outcome.error()));
  });
}

jlong table_rows(JNIEnv*, jclass, jlong table) {
  return stope_table_rows(from<stope_table>(table));
}
jlong table_columns(JNIEnv*, jclass, jlong table) {
  return stope_table_columns(from<stope_table>(table));
}
jbyteArray table_schema(JNIEnv* env, jclass, jlong table) {
  return guarded(env, [&] { return bytes_of(env, stope_table_schema(from<stope_table>(table))); });
}
jlong table_with_role(JNIEnv* env, jclass, jlong table, jbyteArray column, jint role) {
  return guarded(env, [&] {
    const std::string name = text_of(env, column);
    stope_table* with = nullptr;
    Outcome outcome(env);
    outcome.require(stope_table_with_role(from<stope_table>(table), name.c_str(), role, &with, outcome.error()));
    return give(with);
  });
}

void table_copy(JNIEnv* env, jclass, jlong table, jlong first_row, jlong first_column, jint rows, jint columns,
                jdoubleArray to, jint offset) {
  guarded(env, [&] {
    if (to == nullptr) refuse(env, "an array is null");
    const std::size_t n = product(env, rows, columns);
    const jsize length = env->GetArrayLength(to);
    if (offset < 0 || offset > length || n > static_cast<std::size_t>(length - offset)) {
      refuse(env, "the array is shorter than the rows and columns that it should take");
    }
    const auto values = uninitialized<double>(n);
    const stope_array out = row_major(values.get(), rows, columns);
    Outcome outcome(env);
    outcome.require(stope_table_copy(from<stope_table>(table), first_row, first_column, &out, outcome.error()));
    env->SetDoubleArrayRegion(to, offset, static_cast<jsize>(n), values.get());
    check(env);
  });
}
void table_copy_direct(JNIEnv* env, jclass, jlong table, jlong first_row, jlong first_column, jint rows, jint columns,
                       jobject to, jint offset, jint limit) {
  guarded(env, [&] {
    const double* const place = doubles_in(env, to, offset, limit, product(env, rows, columns));
    const stope_array out = row_major(place, rows, columns);
    Outcome outcome(env);
    outcome.require(stope_table_copy(from<stope_table>(table), first_row, first_column, &out, outcome.error()));
  });
}
void table_write(JNIEnv* env, jclass, jlong table, jbyteArray path, jlong run) {
  guarded(env, [&] {
    const std::string file = text_of(env, path);
    Outcome outcome(env);
    outcome.require(stope_table_to_file(from<stope_table>(table), file.c_str(), from<stope_run>(run), outcome.error()));
  });
}

const std::array kFunctions = {
    native("tableRead", "([BJJ)J", &table_read),
    native("tableOfColumns", "([[B[[DJJ)J", &table_of_columns),
    native("tableOfArrowStream", "(JJJ)J", &table_of_arrow_stream),
    native("tableOfArrow", "(JJJJ)J", &table_of_arrow),
    native("tableToArrow", "(JJJ)V", &table_to_arrow),
    native("tableRows", "(J)J", &table_rows),
    native("tableColumns", "(J)J", &table_columns),
    native("tableSchema", "(J)[B", &table_schema),
    native("tableWithRole", "(J[BI)J", &table_with_role),
    native("tableCopy", "(JJJII[DI)V", &table_copy),
    native("tableCopyDirect", "(JJJIILjava/nio/ByteBuffer;II)V", &table_copy_direct),
    native("tableWrite", "(J[BJ)V", &table_write),
};

}  // namespace

std::span<const JNINativeMethod> table_functions() {
  return kFunctions;
}

}  // namespace stope_jni
