// Matrix instructions of one warp (tensor/scan/wgmma.cuh has those of four): they load 8 x 8 halves from shared memory
// into registers and multiply them.
//
// In a product of 16 x 16 and 16 x 8 a lane holds
//   a: row lane / 4 and row + 8 (a[0], a[1]), columns lane % 4 * 2 and the next; columns + 8 in a[2], a[3];
//   b: row lane / 4 of the transpose, columns lane % 4 * 2 and the next, then columns + 8;
//   c: row lane / 4, columns lane % 4 * 2 and the next; row + 8 in c[2], c[3].
#pragma once

#include <cstdint>

namespace stope::knn::cuda {

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// Loads four matrices of 8 x 8 halves. Lanes 8 * i ... 8 * i + 7 give the addresses of the rows of matrix i.
__device__ __forceinline__ void load_matrices(std::uint32_t (&to)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

/// Computes d = a * b + c in one instruction of 16 columns (sm_80) or in two of 8.
template <bool kHalved>
__device__ __forceinline__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                             std::uint32_t b1, const float (&c)[4]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (!kHalved) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    return;
  }
#endif
  float low[4];
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
      : "=f"(low[0]), "=f"(low[1]), "=f"(low[2]), "=f"(low[3])
      : "r"(a[0]), "r"(a[1]), "r"(b0), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[2]), "r"(a[3]), "r"(b1), "f"(low[0]), "f"(low[1]), "f"(low[2]), "f"(low[3]));
}

}  // namespace stope::knn::cuda
