// Vectors as long as a register of the region's instruction set (target_region.hpp), and functions that read, write and
// fill them. Kernels include this file inside their anonymous namespace.

constexpr int kFloatLanes = STOPE_VECTOR_BYTES / 4;
constexpr int kDoubleLanes = STOPE_VECTOR_BYTES / 8;

typedef double Doubles __attribute__((vector_size(STOPE_VECTOR_BYTES)));
typedef std::int64_t Longs __attribute__((vector_size(STOPE_VECTOR_BYTES)));
typedef float Floats __attribute__((vector_size(STOPE_VECTOR_BYTES)));
typedef std::int32_t Ints __attribute__((vector_size(STOPE_VECTOR_BYTES)));

// As many floats as a register has doubles.
typedef float HalfFloats __attribute__((vector_size(STOPE_VECTOR_BYTES / 2)));
typedef std::int32_t HalfInts __attribute__((vector_size(STOPE_VECTOR_BYTES / 2)));
typedef std::uint32_t HalfUnsigned __attribute__((vector_size(STOPE_VECTOR_BYTES / 2)));

// Memory is read and written by memcpy: an alignment that is part of a type is lost in a template's argument.
template <class V>
STOPE_INLINE V load(const void* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
STOPE_INLINE void store(void* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// Reads and writes floats at a multiple of the register's length.
typedef Floats AnyFloats __attribute__((may_alias));
STOPE_INLINE Floats load_aligned(const float* p) {
  return *reinterpret_cast<const AnyFloats*>(p);
}
STOPE_INLINE void store_aligned(float* p, Floats v) {
  *reinterpret_cast<AnyFloats*>(p) = v;
}

// Reads as many values as a register has doubles.
STOPE_INLINE Doubles doubles_at(const double* p) {
  return load<Doubles>(p);
}
STOPE_INLINE Doubles doubles_at(const float* p) {
  return __builtin_convertvector(load<HalfFloats>(p), Doubles);
}

// The value in every lane. v - 0 is v, for -0 and NaN, too.
STOPE_INLINE Doubles all(double v) {
  return v - Doubles{};
}
STOPE_INLINE Longs all(std::int64_t v) {
  return v - Longs{};
}
STOPE_INLINE Floats all(float v) {
  return v - Floats{};
}
