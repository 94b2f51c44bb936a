// STOPE_HD marks code that is compiled for the host and, by a CUDA compiler, for the device as well.
#pragma once

#if defined(__CUDACC__) || defined(__CUDA__)
#define STOPE_HD __host__ __device__
#else
#define STOPE_HD
#endif

#define STOPE_RESTRICT __restrict__
