// Jobs that make a table, and models: fitted, applied, asked, stored and loaded.
#include <array>
#include <limits>

#include "jni_call.hpp"

namespace stope_jni {
namespace {

jlong compute(JNIEnv* env, jclass, jbyteArray job, jlong table, jlong other, jlong options, jlong run) {
  return guarded(env, [&] {
    const std::string name = text_of(env, job);
    stope_table* result = nullptr;
    Outcome outcome(env);
    outcome.require(stope_compute(name.c_str(), from<stope_table>(table), from<stope_table>(other),
                                  from<stope_options>(options), from<stope_run>(run), &result, outcome.error()));
    return give(result);
  });
}
void pairwise_distances(JNIEnv* env, jclass, jlong table, jlong other, jlong options, jlong run, jint n_rows,
                        jint n_columns, jdoubleArray to) {
  guarded(env, [&] {
    const std::size_t n = product(env, n_rows, n_columns);
    if (to == nullptr || static_cast<std::size_t>(env->GetArrayLength(to)) != n) {
      refuse(env, "the array does not have one entry for each pair of rows");
    }
    const auto values = uninitialized<double>(n);
    const stope_array out = row_major(values.get(), n_rows, n_columns);
    Outcome outcome(env);
    outcome.require(stope_pairwise_distances(from<stope_table>(table), from<stope_table>(other),
                                             from<stope_options>(options), from<stope_run>(run), &out,
                                             outcome.error()));
    env->SetDoubleArrayRegion(to, 0, static_cast<jsize>(n), values.get());
    check(env);
  });
}
jlong fit(JNIEnv* env, jclass, jbyteArray kind, jlong train, jlong options, jlong run) {
  return guarded(env, [&] {
    const std::string name = text_of(env, kind);
    stope_model* model = nullptr;
    Outcome outcome(env);
    outcome.require(stope_fit(name.c_str(), from<stope_table>(train), from<stope_options>(options),
                              from<stope_run>(run), &model, outcome.error()));
    return give(model);
  });
}
jlong apply(JNIEnv* env, jclass, jlong model, jlong rows, jlong options, jlong run) {
  return guarded(env, [&] {
    stope_table* result = nullptr;
    Outcome outcome(env);
    outcome.require(stope_apply(from<stope_model>(model), from<stope_table>(rows), from<stope_options>(options),
                                from<stope_run>(run), &result, outcome.error()));
    return give(result);
  });
}
jbyteArray model_info(JNIEnv* env, jclass, jlong model) {
  return guarded(env, [&] { return bytes_of(env, stope_model_info(from<stope_model>(model))); });
}
jbyteArray model_text(JNIEnv* env, jclass, jlong model, jbyteArray format) {
  return guarded(
      env, [&] { return bytes_of(env, stope_model_text(from<stope_model>(model), text_of(env, format).c_str())); });
}
jlong model_table(JNIEnv* env, jclass, jlong model, jbyteArray part) {
  return guarded(env, [&] {
    const std::string name = text_of(env, part);
    stope_table* table = nullptr;
    Outcome outcome(env);
    outcome.require(stope_model_table(from<stope_model>(model), name.c_str(), &table, outcome.error()));
    return give(table);
  });
}

jbyteArray model_bytes(JNIEnv* env, jclass, jlong model) {
  return guarded(env, [&] {
    std::int64_t n = 0;
    Outcome outcome(env);
    outcome.require(stope_model_bytes(from<stope_model>(model), &n, outcome.error()));
    if (n > std::numeric_limits<jsize>::max() - 8) {
      raise(env, STOPE_UNSUPPORTED, "the model's bytes do not fit an array of Java: write it to a file");
      throw Pending{};
    }
    const auto bytes = uninitialized<char>(static_cast<std::size_t>(n));
    outcome.require(stope_model_store(from<stope_model>(model), bytes.get(), n, outcome.error()));
    const jbyteArray array = env->NewByteArray(static_cast<jsize>(n));
    check(env);
    env->SetByteArrayRegion(array, 0, static_cast<jsize>(n), reinterpret_cast<const jbyte*>(bytes.get()));
    check(env);
    return array;
  });
}

void free_bytes(void* bytes) {
  const std::unique_ptr<char[]> owned(static_cast<char*>(bytes));
}

jlong model_of_bytes(JNIEnv* env, jclass, jbyteArray bytes, jlong run) {
  return guarded(env, [&] {
    if (bytes == nullptr) refuse(env, "the bytes are null");
    const jsize n = env->GetArrayLength(bytes);
    auto copy = uninitialized<char>(static_cast<std::size_t>(n));
    env->GetByteArrayRegion(bytes, 0, n, reinterpret_cast<jbyte*>(copy.get()));
    check(env);
    stope_model* model = nullptr;
    Outcome outcome(env);
    char* const given = copy.release();  // The model's columns stay in it; it is freed also where the call fails.
    outcome.require(stope_model_load(given, n, &free_bytes, given, from<stope_run>(run), &model, outcome.error()));
    return give(model);
  });
}
jlong model_read(JNIEnv* env, jclass, jbyteArray path, jboolean map, jlong run) {
  return guarded(env, [&] {
    const std::string file = text_of(env, path);
    stope_model* model = nullptr;
    Outcome outcome(env);
    outcome.require(
        stope_model_read(file.c_str(), map == JNI_FALSE ? 0 : 1, from<stope_run>(run), &model, outcome.error()));
    return give(model);
  });
}
void model_write(JNIEnv* env, jclass, jlong model, jbyteArray path, jlong run) {
  guarded(env, [&] {
    const std::string file = text_of(env, path);
    Outcome outcome(env);
    outcome.require(stope_model_write(from<stope_model>(model), file.c_str(), from<stope_run>(run), outcome.error()));
  });
}
void model_release_devices(JNIEnv* env, jclass, jlong model) {
  guarded(env, [&] {
    Outcome outcome(env);
    outcome.require(stope_model_release_devices(from<stope_model>(model), outcome.error()));
  });
}

const std::array kFunctions = {
    native("compute", "([BJJJJ)J", &compute),
    native("pairwiseDistances", "(JJJJII[D)V", &pairwise_distances),
    native("fit", "([BJJJ)J", &fit),
    native("apply", "(JJJJ)J", &apply),
    native("modelInfo", "(J)[B", &model_info),
    native("modelText", "(J[B)[B", &model_text),
    native("modelTable", "(J[B)J", &model_table),
    native("modelBytes", "(J)[B", &model_bytes),
    native("modelOfBytes", "([BJ)J", &model_of_bytes),
    native("modelRead", "([BZJ)J", &model_read),
    native("modelWrite", "(J[BJ)V", &model_write),
    native("modelReleaseDevices", "(J)V", &model_release_devices),
};

}  // namespace

std::span<const JNINativeMethod> model_functions() {
  return kFunctions;
}

}  // namespace stope_jni
