// The handles that Java has. Java frees what is closed or collected; what a dropped class loader never closed is freed
// when the JVM unloads its copy of the library.
#include <mutex>
#include <unordered_map>

#include "jni_call.hpp"

namespace stope_jni {
namespace {

void free_one(jint kind, jlong number) noexcept {
  switch (kind) {
    case kRun: return stope_run_free(from<stope_run>(number));
    case kOptions: return stope_options_free(from<stope_options>(number));
    case kTable: return stope_table_free(from<stope_table>(number));
    case kBuilder: return stope_builder_free(from<stope_builder>(number));
    case kModel: return stope_model_free(from<stope_model>(number));
    case kLists: return stope_lists_free(from<stope_lists>(number));
    default: return;
  }
}

class Given {
 public:
  jlong add(Kind kind, const void* handle) {
    const jlong number = std::bit_cast<jlong>(handle);
    try {
      const std::lock_guard lock(mutex_);
      kinds_[number] = kind;
    } catch (...) {
      free_one(kind, number);
      throw;
    }
    return number;
  }

  void remove(jint kind, jlong number) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = kinds_.find(number);
      if (found == kinds_.end() || found->second != kind) return;
      kinds_.erase(found);
    }
    free_one(kind, number);
  }

  void clear() {
    std::unordered_map<jlong, Kind> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(kinds_);
    }
    // Freeing may call Arrow's release, which may run any code: no lock is held.
    for (const auto& [number, kind] : all) free_one(kind, number);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<jlong, Kind> kinds_;
};

// Never destroyed: daemon threads of the JVM may still free handles while the process exits.
Given& given() {
  static Given& all = *std::make_unique<Given>().release();
  return all;
}

}  // namespace

jlong give(stope_run* run) {
  return given().add(kRun, run);
}
jlong give(stope_options* options) {
  return given().add(kOptions, options);
}
jlong give(stope_table* table) {
  return given().add(kTable, table);
}
jlong give(stope_builder* builder) {
  return given().add(kBuilder, builder);
}
jlong give(stope_model* model) {
  return given().add(kModel, model);
}
jlong give(stope_lists* lists) {
  return given().add(kLists, lists);
}

void take_back(jint kind, jlong number) {
  given().remove(kind, number);
}

void take_back_all() {
  given().clear();
}

}  // namespace stope_jni
