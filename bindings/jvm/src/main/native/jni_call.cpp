#include "jni_call.hpp"

#include <cstring>
#include <limits>

namespace stope_jni {
namespace {

// The class org.stope.Native and its function failure(). Set in JNI_OnLoad, before any other function can be called.
// The reference is weak: a strong one would keep the class loader, and so the whole plug-in, for ever. While one of the
// functions runs, the class lives.
jweak native_class = nullptr;
jmethodID failure = nullptr;

constexpr std::int64_t kDouble = static_cast<std::int64_t>(sizeof(double));

}  // namespace

bool find_classes(JNIEnv* env, jclass native) {
  native_class = env->NewWeakGlobalRef(native);
  if (native_class == nullptr) return false;
  failure = env->GetStaticMethodID(native, "failure", "(I[B[B[BJJJJ)Lorg/stope/StopeException;");
  return failure != nullptr;
}

void forget_classes(JNIEnv* env) {
  if (native_class != nullptr) env->DeleteWeakGlobalRef(native_class);
  native_class = nullptr;
}

void raise(JNIEnv* env, const stope_error& error) noexcept {
  // Where memory is so short that the exception cannot be made, the OutOfMemoryError of the attempt stays pending.
  try {
    jbyteArray message = bytes_of(env, error.message);
    jbyteArray option = bytes_of(env, error.option);
    jbyteArray feature = bytes_of(env, error.feature);
    const jclass native = static_cast<jclass>(env->NewLocalRef(native_class));
    if (native == nullptr) return;
    jobject exception = env->CallStaticObjectMethod(
        native, failure, static_cast<jint>(error.code), message, option, feature, static_cast<jlong>(error.row),
        static_cast<jlong>(error.line), static_cast<jlong>(error.column), static_cast<jlong>(error.bytes));
    check(env);
    env->Throw(static_cast<jthrowable>(exception));
  } catch (const Pending&) {
    return;
  }
}

void raise(JNIEnv* env, stope_code code, const char* message) noexcept {
  if (env->ExceptionCheck() != JNI_FALSE) return;
  stope_error error{};
  error.code = code;
  error.row = error.bytes = -1;
  std::strncpy(error.message, message, sizeof error.message - 1);
  raise(env, error);
}

std::string text_of(JNIEnv* env, jbyteArray bytes) {
  if (bytes == nullptr) refuse(env, "a text is null");
  std::string text(static_cast<std::size_t>(env->GetArrayLength(bytes)), '\0');
  env->GetByteArrayRegion(bytes, 0, static_cast<jsize>(text.size()), reinterpret_cast<jbyte*>(text.data()));
  check(env);
  return text;
}

std::vector<std::string> texts_of(JNIEnv* env, jobjectArray texts) {
  std::vector<std::string> all;
  if (texts == nullptr) return all;
  const jsize n = env->GetArrayLength(texts);
  all.reserve(static_cast<std::size_t>(n));
  for (jsize i = 0; i < n; ++i) {
    const jobject item = env->GetObjectArrayElement(texts, i);
    check(env);
    all.push_back(text_of(env, static_cast<jbyteArray>(item)));
    env->DeleteLocalRef(item);
  }
  return all;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

jbyteArray bytes_of(JNIEnv* env, const char* text) {
  if (text == nullptr) return nullptr;
  const std::size_t n = std::strlen(text);
  if (n > static_cast<std::size_t>(std::numeric_limits<jsize>::max())) refuse(env, "a text does not fit an array");
  const jbyteArray bytes = env->NewByteArray(static_cast<jsize>(n));
  check(env);
  env->SetByteArrayRegion(bytes, 0, static_cast<jsize>(n), reinterpret_cast<const jbyte*>(text));
  check(env);
  return bytes;
}

void doubles_of(JNIEnv* env, jdoubleArray array, jsize offset, std::size_t n, double* to) {
  if (array == nullptr) refuse(env, "an array is null");
  const jsize length = env->GetArrayLength(array);
  if (offset < 0 || offset > length || n > static_cast<std::size_t>(length - offset)) {
    refuse(env, "an array is shorter than the rows and columns that it should have");
  }
  env->GetDoubleArrayRegion(array, offset, static_cast<jsize>(n), to);
  check(env);
}

double* doubles_in(JNIEnv* env, jobject buffer, jint offset, jint limit, std::size_t n) {
  if (buffer == nullptr) refuse(env, "the buffer is null");
  char* const base = static_cast<char*>(env->GetDirectBufferAddress(buffer));
  if (base == nullptr) refuse(env, "the buffer is not direct");
  const jlong capacity = env->GetDirectBufferCapacity(buffer);
  if (offset < 0 || limit < offset || limit > capacity ||
      n > static_cast<std::size_t>(limit - offset) / sizeof(double)) {
    refuse(env, "the buffer is shorter than the rows and columns that it should have");
  }
  char* const begin = base + offset;
  if (reinterpret_cast<std::uintptr_t>(begin) % alignof(double) != 0) {
    refuse(env, "the buffer's position is not aligned to 8 bytes");
  }
  return reinterpret_cast<double*>(begin);
}

std::size_t product(JNIEnv* env, jint rows, jint columns) {
  if (rows < 0 || columns < 0) refuse(env, "the number of rows or columns is negative");
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

stope_array row_major(const double* data, std::int64_t n_rows, std::int64_t n_columns) {
  stope_array array{};
  array.data = data;
  array.n_rows = n_rows;
  array.n_columns = n_columns;
  array.row_stride = kDouble * n_columns;
  array.column_stride = kDouble;
  array.type = STOPE_FLOAT64;
  array.gpu = -1;
  return array;
}

stope_array column_major(const double* data, std::int64_t n_rows, std::int64_t n_columns) {
  stope_array array = row_major(data, n_rows, n_columns);
  array.row_stride = kDouble;
  array.column_stride = kDouble * n_rows;
  return array;
}

}  // namespace stope_jni
