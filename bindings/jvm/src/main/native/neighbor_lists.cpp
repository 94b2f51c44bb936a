// Lists of nearest neighbours. They are made in native memory and copied to Java's arrays when they are complete, so
// that the garbage collector never waits for a search.
#include <array>

#include "jni_call.hpp"

namespace stope_jni {
namespace {

static_assert(sizeof(jlong) == sizeof(std::int64_t));

void neighbors(JNIEnv* env, jclass, jlong model, jlong rows, jint n, jlong options, jlong run, jlongArray indices,
               jdoubleArray distances) {
  guarded(env, [&] {
    if (indices == nullptr || distances == nullptr) refuse(env, "an array is null");
    const std::int64_t n_rows = stope_table_rows(from<stope_table>(rows));
    const jsize size = env->GetArrayLength(indices);
    const bool fits = n_rows < 0 || (n >= 0 && (n == 0 ? size == 0 : size % n == 0 && size / n == n_rows));
    if (!fits || env->GetArrayLength(distances) != size) refuse(env, "the arrays do not have n entries a row");
    const auto found = uninitialized<std::int64_t>(static_cast<std::size_t>(size));
    const auto how_far = uninitialized<double>(static_cast<std::size_t>(size));
    Outcome outcome(env);
    outcome.require(stope_neighbors(from<stope_model>(model), from<stope_table>(rows), n, from<stope_options>(options),
                                    from<stope_run>(run), found.get(), how_far.get(), outcome.error()));
    env->SetLongArrayRegion(indices, 0, size, found.get());
    check(env);
    env->SetDoubleArrayRegion(distances, 0, size, how_far.get());
    check(env);
  });
}

jlong radius_neighbors(JNIEnv* env, jclass, jlong model, jlong rows, jdouble radius, jlong options, jlong run) {
  return guarded(env, [&] {
    stope_lists* lists = nullptr;
    Outcome outcome(env);
    outcome.require(stope_radius_neighbors(from<stope_model>(model), from<stope_table>(rows), radius,
                                           from<stope_options>(options), from<stope_run>(run), &lists,
                                           outcome.error()));
    return give(lists);
  });
}
jlong lists_rows(JNIEnv*, jclass, jlong lists) {
  return stope_lists_rows(from<stope_lists>(lists));
}
jlong lists_entries(JNIEnv*, jclass, jlong lists) {
  return stope_lists_entries(from<stope_lists>(lists));
}
void lists_copy(JNIEnv* env, jclass, jlong lists, jlongArray offsets, jlongArray indices, jdoubleArray distances) {
  guarded(env, [&] {
    if (offsets == nullptr || indices == nullptr || distances == nullptr) refuse(env, "an array is null");
    const std::int64_t n_rows = stope_lists_rows(from<stope_lists>(lists));
    const std::int64_t n_entries = stope_lists_entries(from<stope_lists>(lists));
    if (n_rows < 0 || n_entries < 0) refuse(env, "the lists are no handle of stope, or were freed");
    if (env->GetArrayLength(offsets) != n_rows + 1 || env->GetArrayLength(indices) != n_entries ||
        env->GetArrayLength(distances) != n_entries) {
      refuse(env, "the arrays do not have the lengths of the lists");
    }
    const auto begins = uninitialized<std::int64_t>(static_cast<std::size_t>(n_rows + 1));
    const auto found = uninitialized<std::int64_t>(static_cast<std::size_t>(n_entries));
    const auto how_far = uninitialized<double>(static_cast<std::size_t>(n_entries));
    Outcome outcome(env);
    outcome.require(
        stope_lists_copy(from<stope_lists>(lists), begins.get(), found.get(), how_far.get(), outcome.error()));
    env->SetLongArrayRegion(offsets, 0, static_cast<jsize>(n_rows + 1), begins.get());
    check(env);
    env->SetLongArrayRegion(indices, 0, static_cast<jsize>(n_entries), found.get());
    check(env);
    env->SetDoubleArrayRegion(distances, 0, static_cast<jsize>(n_entries), how_far.get());
    check(env);
  });
}

std::unique_ptr<std::int64_t[]> longs_of(JNIEnv* env, jlongArray array, std::size_t n) {
  if (array == nullptr || static_cast<std::size_t>(env->GetArrayLength(array)) != n) {
    refuse(env, "an array does not have one entry for each entry of the lists");
  }
  auto copy = uninitialized<std::int64_t>(n);
  env->GetLongArrayRegion(array, 0, static_cast<jsize>(n), copy.get());
  check(env);
  return copy;
}

void merge_neighbors(JNIEnv* env, jclass, jint parts, jlong stride, jint queries, jint n, jlongArray indices,
                     jdoubleArray distances, jlongArray to_indices, jdoubleArray to_distances) {
  guarded(env, [&] {
    if (parts < 0 || stride < 0) refuse(env, "the number of parts or the stride is negative");
    const std::size_t size = product(env, queries, n);
    if (static_cast<std::size_t>(stride) != size) refuse(env, "the stride is not the size of one part");
    const std::size_t all = size * static_cast<std::size_t>(parts);
    const auto from_indices = longs_of(env, indices, all);
    const auto from_distances = uninitialized<double>(all);
    doubles_of(env, distances, 0, all, from_distances.get());
    if (to_indices == nullptr || to_distances == nullptr) refuse(env, "an array is null");
    const auto merged = uninitialized<std::int64_t>(size);
    const auto how_far = uninitialized<double>(size);
    Outcome outcome(env);
    outcome.require(stope_merge_neighbors(parts, stride, queries, n, from_indices.get(), from_distances.get(),
                                          merged.get(), how_far.get(), outcome.error()));
    env->SetLongArrayRegion(to_indices, 0, static_cast<jsize>(size), merged.get());
    check(env);
    env->SetDoubleArrayRegion(to_distances, 0, static_cast<jsize>(size), how_far.get());
    check(env);
  });
}

const std::array kFunctions = {
    native("neighbors", "(JJIJJ[J[D)V", &neighbors), native("radiusNeighbors", "(JJDJJ)J", &radius_neighbors),
    native("listsRows", "(J)J", &lists_rows),        native("listsEntries", "(J)J", &lists_entries),
    native("listsCopy", "(J[J[J[D)V", &lists_copy),  native("mergeNeighbors", "(IJII[J[D[J[D)V", &merge_neighbors),
};

}  // namespace

std::span<const JNINativeMethod> neighbor_functions() {
  return kFunctions;
}

}  // namespace stope_jni
