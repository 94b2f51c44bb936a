// The machine, runs and options.
#include <array>

#include "jni_call.hpp"

namespace stope_jni {
namespace {

void free_handle(JNIEnv*, jclass, jint kind, jlong handle) {
  take_back(kind, handle);
}

jint abi(JNIEnv*, jclass) {
  return static_cast<jint>(stope_abi());
}
jbyteArray version(JNIEnv* env, jclass) {
  return guarded(env, [&] { return bytes_of(env, stope_version()); });
}
jbyteArray devices(JNIEnv* env, jclass) {
  return guarded(env, [&] { return bytes_of(env, stope_devices()); });
}
jbyteArray metrics(JNIEnv* env, jclass) {
  return guarded(env, [&] { return bytes_of(env, stope_metrics()); });
}
jbyteArray describe_options(JNIEnv* env, jclass, jbyteArray job) {
  return guarded(env, [&] { return bytes_of(env, stope_describe_options(text_of(env, job).c_str())); });
}

jlong run_new(JNIEnv* env, jclass) {
  return guarded(env, [&] {
    stope_run* run = nullptr;
    Outcome outcome(env);
    outcome.require(stope_run_new(&run, outcome.error()));
    return give(run);
  });
}
void run_set(JNIEnv* env, jclass, jlong run, jbyteArray name, jbyteArray value) {
  guarded(env, [&] {
    const std::string name_text = text_of(env, name), value_text = text_of(env, value);
    Outcome outcome(env);
    outcome.require(stope_run_set(from<stope_run>(run), name_text.c_str(), value_text.c_str(), outcome.error()));
  });
}
void run_cancel(JNIEnv*, jclass, jlong run) {
  stope_run_cancel(from<stope_run>(run));
}
void run_resume(JNIEnv* env, jclass, jlong run) {
  guarded(env, [&] {
    Outcome outcome(env);
    outcome.require(stope_run_resume(from<stope_run>(run), outcome.error()));
  });
}
void run_reset(JNIEnv* env, jclass, jlong run) {
  guarded(env, [&] {
    Outcome outcome(env);
    outcome.require(stope_run_reset(from<stope_run>(run), outcome.error()));
  });
}
jint run_progress(JNIEnv* env, jclass, jlong run, jbyteArray phase, jlongArray done_and_total) {
  return guarded(env, [&] {
    std::array<char, 32> name{};
    std::int64_t done = 0, total = 0;
    const std::int32_t running = stope_run_progress(from<stope_run>(run), name.data(), &done, &total);
    if (phase == nullptr || env->GetArrayLength(phase) < static_cast<jsize>(name.size()) || done_and_total == nullptr ||
        env->GetArrayLength(done_and_total) < 2) {
      refuse(env, "an array is null or too short");
    }
    env->SetByteArrayRegion(phase, 0, static_cast<jsize>(name.size()), reinterpret_cast<const jbyte*>(name.data()));
    check(env);
    const std::array<jlong, 2> numbers = {done, total};
    env->SetLongArrayRegion(done_and_total, 0, static_cast<jsize>(numbers.size()), numbers.data());
    check(env);
    return static_cast<jint>(running);
  });
}

// A text that the C ABI copies out. A job of another thread may end meanwhile and leave a longer text, so that the size
// is asked for until it fits.
jbyteArray copied(JNIEnv* env, stope_run* run, std::int64_t (*copy)(stope_run*, char*, std::int64_t)) {
  std::vector<char> text;
  std::int64_t size = copy(run, nullptr, 0);
  while (size > static_cast<std::int64_t>(text.size())) {
    text.resize(static_cast<std::size_t>(size));
    size = copy(run, text.data(), size);
  }
  if (size >= 0) return bytes_of(env, text.data());
  if (stope_run_progress(run, nullptr, nullptr, nullptr) >= 0) throw std::bad_alloc();
  refuse(env, "the run is no handle of stope, or was freed");
}

jbyteArray run_report(JNIEnv* env, jclass, jlong run) {
  return guarded(env, [&] { return copied(env, from<stope_run>(run), &stope_run_report); });
}
jbyteArray run_warnings(JNIEnv* env, jclass, jlong run) {
  return guarded(env, [&] { return copied(env, from<stope_run>(run), &stope_run_warnings); });
}

jlong options_new(JNIEnv* env, jclass) {
  return guarded(env, [&] {
    stope_options* options = nullptr;
    Outcome outcome(env);
    outcome.require(stope_options_new(&options, outcome.error()));
    return give(options);
  });
}
void options_set(JNIEnv* env, jclass, jlong options, jbyteArray name, jbyteArray value) {
  guarded(env, [&] {
    const std::string name_text = text_of(env, name), value_text = text_of(env, value);
    Outcome outcome(env);
    outcome.require(
        stope_options_set(from<stope_options>(options), name_text.c_str(), value_text.c_str(), outcome.error()));
  });
}
void options_set_doubles(JNIEnv* env, jclass, jlong options, jbyteArray name, jdoubleArray values) {
  guarded(env, [&] {
    const std::string name_text = text_of(env, name);
    if (values == nullptr) refuse(env, "an array is null");
    std::vector<double> numbers(static_cast<std::size_t>(env->GetArrayLength(values)));
    doubles_of(env, values, 0, numbers.size(), numbers.data());
    Outcome outcome(env);
    outcome.require(stope_options_set_doubles(from<stope_options>(options), name_text.c_str(), numbers.data(),
                                              static_cast<std::int64_t>(numbers.size()), outcome.error()));
  });
}

const std::array kFunctions = {
    native("free", "(IJ)V", &free_handle),
    native("abi", "()I", &abi),
    native("version", "()[B", &version),
    native("devices", "()[B", &devices),
    native("metrics", "()[B", &metrics),
    native("describeOptions", "([B)[B", &describe_options),
    native("runNew", "()J", &run_new),
    native("runSet", "(J[B[B)V", &run_set),
    native("runCancel", "(J)V", &run_cancel),
    native("runResume", "(J)V", &run_resume),
    native("runReset", "(J)V", &run_reset),
    native("runProgress", "(J[B[J)I", &run_progress),
    native("runReport", "(J)[B", &run_report),
    native("runWarnings", "(J)[B", &run_warnings),
    native("optionsNew", "()J", &options_new),
    native("optionsSet", "(J[B[B)V", &options_set),
    native("optionsSetDoubles", "(J[B[D)V", &options_set_doubles),
};

}  // namespace

std::span<const JNINativeMethod> machine_functions() {
  return kFunctions;
}

}  // namespace stope_jni
