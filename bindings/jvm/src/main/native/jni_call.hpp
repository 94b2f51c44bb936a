// What every native function needs: exceptions that end at the border, handles, and text, arrays and buffers of Java.
//
// JNI lets native code crash the JVM in three ways, and this header closes them: a C++ exception never crosses the
// border (guarded), no JNI function is called while a Java exception is pending (check), and no pointer into the Java
// heap is held (arrays are copied by regions, which check their bounds).
#pragma once

#include <jni.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "stope/stope.h"

namespace stope_jni {

// A Java exception is pending: the native function returns at once.
struct Pending {};

// Throws Pending if the last JNI function has left an exception.
inline void check(JNIEnv* env) {
  if (env->ExceptionCheck() != JNI_FALSE) throw Pending{};
}

// Makes a StopeException pending.
void raise(JNIEnv* env, const stope_error& error) noexcept;
void raise(JNIEnv* env, stope_code code, const char* message) noexcept;

template <class Body>
auto guarded(JNIEnv* env, const Body& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const Pending&) {
    return decltype(body())();
  } catch (const std::bad_alloc&) {
    raise(env, STOPE_OUT_OF_MEMORY, "memory for the call itself is short");
  } catch (const std::exception& error) {
    raise(env, STOPE_INTERNAL, error.what());
  } catch (...) {
    raise(env, STOPE_INTERNAL, "an exception of an unknown type reached the border to Java");
  }
  return decltype(body())();
}

// Where a function of the C ABI says what went wrong; require() turns it into a StopeException.
class Outcome {
 public:
  explicit Outcome(JNIEnv* env) : env_(env) { error_.size = sizeof error_; }
  stope_error* error() { return &error_; }
  void require(stope_code code) {
    if (code == STOPE_OK) return;
    error_.code = code;
    raise(env_, error_);
    throw Pending{};
  }

 private:
  JNIEnv* env_;
  stope_error error_{};
};

[[noreturn]] inline void refuse(JNIEnv* env, const char* message) {
  raise(env, STOPE_INVALID_ARGUMENT, message);
  throw Pending{};
}

template <class Handle>
Handle* from(jlong number) {
  return std::bit_cast<Handle*>(number);
}

// Numbers of handles for Java, as org.stope.Native has the kinds. The handles that were given and not taken back are
// remembered, so that those of a dropped class loader can be freed (handles.cpp).
enum Kind : jint { kRun = 0, kOptions = 1, kTable = 2, kBuilder = 3, kModel = 4, kLists = 5 };
jlong give(stope_run* run);
jlong give(stope_options* options);
jlong give(stope_table* table);
jlong give(stope_builder* builder);
jlong give(stope_model* model);
jlong give(stope_lists* lists);
// Frees a handle. Ignores what is none of that kind.
void take_back(jint kind, jlong number);
// Frees what was given and not taken back.
void take_back_all();

// UTF-8 bytes of Java as a text that ends with NUL. A null array is refused.
std::string text_of(JNIEnv* env, jbyteArray bytes);
std::vector<std::string> texts_of(JNIEnv* env, jobjectArray texts);
std::vector<const char*> pointers_to(const std::vector<std::string>& texts);
// A text of the engine as bytes; null for null.
jbyteArray bytes_of(JNIEnv* env, const char* text);

// Memory without a first value, and with no limit but the machine's.
template <class T>
std::unique_ptr<T[]> uninitialized(std::size_t n) {
  return std::unique_ptr<T[]>(new T[n]);
}

// n values of an array of Java from `offset` on, or a refusal if there are fewer.
void doubles_of(JNIEnv* env, jdoubleArray array, jsize offset, std::size_t n, double* to);

// The place of n doubles in a direct buffer from byte `offset` to before byte `limit`; refused if they do not fit.
double* doubles_in(JNIEnv* env, jobject buffer, jint offset, jint limit, std::size_t n);

// The product of two numbers of Java that must not be negative.
std::size_t product(JNIEnv* env, jint rows, jint columns);

// n_rows x n_columns doubles, row after row or column after column.
stope_array row_major(const double* data, std::int64_t n_rows, std::int64_t n_columns);
stope_array column_major(const double* data, std::int64_t n_rows, std::int64_t n_columns);

// The functions of each source, for RegisterNatives.
std::span<const JNINativeMethod> machine_functions();
std::span<const JNINativeMethod> table_functions();
std::span<const JNINativeMethod> builder_functions();
std::span<const JNINativeMethod> model_functions();
std::span<const JNINativeMethod> neighbor_functions();

// Looks up what raise() needs. False, with a Java exception pending, if a class is not as expected.
bool find_classes(JNIEnv* env, jclass native);
void forget_classes(JNIEnv* env);

// Registered functions are void pointers.
template <class Function>
JNINativeMethod native(const char* name, const char* signature, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function)};
}

}  // namespace stope_jni
