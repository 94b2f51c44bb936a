// Builders: tables of rows that come in blocks.
#include <array>

#include "jni_call.hpp"

namespace stope_jni {
namespace {

jlong builder_new(JNIEnv* env, jclass, jlong rows, jlong run) {
  return guarded(env, [&] {
    stope_builder* builder = nullptr;
    Outcome outcome(env);
    outcome.require(stope_builder_new(rows, from<stope_run>(run), &builder, outcome.error()));
    return give(builder);
  });
}
jlong builder_for_model(JNIEnv* env, jclass, jlong model, jlong rows, jlong run) {
  return guarded(env, [&] {
    stope_builder* builder = nullptr;
    Outcome outcome(env);
    outcome.require(
        stope_builder_for_model(from<stope_model>(model), rows, from<stope_run>(run), &builder, outcome.error()));
    return give(builder);
  });
}
void builder_column(JNIEnv* env, jclass, jlong builder, jbyteArray name, jint role, jbyteArray type,
                    jobjectArray values) {
  guarded(env, [&] {
    const std::string name_text = text_of(env, name), type_text = text_of(env, type);
    const std::vector<std::string> value_texts = texts_of(env, values);
    const std::vector<const char*> pointers = pointers_to(value_texts);
    Outcome outcome(env);
    outcome.require(stope_builder_column(from<stope_builder>(builder), name_text.c_str(), role, type_text.c_str(),
                                         pointers.data(), static_cast<std::int64_t>(pointers.size()), outcome.error()));
  });
}

void append(JNIEnv* env, jlong builder, const stope_array& rows) {
  Outcome outcome(env);
  outcome.require(stope_builder_append(from<stope_builder>(builder), &rows, outcome.error()));
}

void builder_append(JNIEnv* env, jclass, jlong builder, jdoubleArray rows, jint n_rows, jint n_columns) {
  guarded(env, [&] {
    const std::size_t n = product(env, n_rows, n_columns);
    const auto values = uninitialized<double>(n);
    doubles_of(env, rows, 0, n, values.get());
    append(env, builder, row_major(values.get(), n_rows, n_columns));
  });
}
void builder_append_direct(JNIEnv* env, jclass, jlong builder, jobject rows, jint offset, jint limit, jint n_rows,
                           jint n_columns) {
  guarded(env, [&] {
    const double* const values = doubles_in(env, rows, offset, limit, product(env, n_rows, n_columns));
    append(env, builder, row_major(values, n_rows, n_columns));
  });
}
void builder_append_columns(JNIEnv* env, jclass, jlong builder, jobjectArray columns, jlong n_rows) {
  guarded(env, [&] {
    if (columns == nullptr || n_rows < 0) refuse(env, "there are no columns, or the number of rows is negative");
    const jsize n = env->GetArrayLength(columns);
    const auto values = uninitialized<double>(static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(n));
    for (jsize c = 0; c < n; ++c) {
      const jobject column = env->GetObjectArrayElement(columns, c);
      check(env);
      doubles_of(env, static_cast<jdoubleArray>(column), 0, static_cast<std::size_t>(n_rows),
                 values.get() + n_rows * c);
      env->DeleteLocalRef(column);
    }
    append(env, builder, column_major(values.get(), n_rows, n));
  });
}
jlong builder_finish(JNIEnv* env, jclass, jlong builder) {
  return guarded(env, [&] {
    stope_table* table = nullptr;
    Outcome outcome(env);
    outcome.require(stope_builder_finish(from<stope_builder>(builder), &table, outcome.error()));
    return give(table);
  });
}

const std::array kFunctions = {
    native("builderNew", "(JJ)J", &builder_new),
    native("builderForModel", "(JJJ)J", &builder_for_model),
    native("builderColumn", "(J[BI[B[[B)V", &builder_column),
    native("builderAppend", "(J[DII)V", &builder_append),
    native("builderAppendDirect", "(JLjava/nio/ByteBuffer;IIII)V", &builder_append_direct),
    native("builderAppendColumns", "(J[[DJ)V", &builder_append_columns),
    native("builderFinish", "(J)J", &builder_finish),
};

}  // namespace

std::span<const JNINativeMethod> builder_functions() {
  return kFunctions;
}

}  // namespace stope_jni
