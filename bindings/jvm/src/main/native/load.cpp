// What the JVM calls when the library is loaded and when its class loader is gone. The functions are registered, so
// that no name of the library is visible but these two.
#include <array>

#include "jni_call.hpp"

namespace {

JNIEnv* environment(JavaVM* vm) {
  void* env = nullptr;
  return vm->GetEnv(&env, JNI_VERSION_1_8) == JNI_OK ? static_cast<JNIEnv*>(env) : nullptr;
}

bool register_all(JNIEnv* env, jclass native) {
  for (const auto functions :
       {stope_jni::machine_functions(), stope_jni::table_functions(), stope_jni::builder_functions(),
        stope_jni::model_functions(), stope_jni::neighbor_functions()}) {
    if (env->RegisterNatives(native, functions.data(), static_cast<jint>(functions.size())) != JNI_OK) return false;
  }
  return true;
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  JNIEnv* const env = environment(vm);
  if (env == nullptr) return JNI_ERR;
  // The class loader is that of the class that loads the library.
  const jclass native = env->FindClass("org/stope/Native");
  if (native == nullptr || !stope_jni::find_classes(env, native) || !register_all(env, native)) return JNI_ERR;
  env->DeleteLocalRef(native);
  return JNI_VERSION_1_8;
}

extern "C" JNIEXPORT void JNICALL JNI_OnUnload(JavaVM* vm, void*) {
  stope_jni::take_back_all();  // No object of Java is left that could use a handle.
  if (JNIEnv* const env = environment(vm)) stope_jni::forget_classes(env);
}
