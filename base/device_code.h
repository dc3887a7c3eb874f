#pragma once

/// Marks functions that GPUs run, too: under nvcc they are compiled for both sides. What they call
/// must carry it as well, so such headers include neither containers nor fmt nor Result.
///
/// RINGSIDE_HD_CALL is for long functions that are called, not inlined into their callers, and seldom lie at the
/// heart of a loop. RINGSIDE_UNROLL before a loop has GPUs keep its few rounds in registers.
#ifdef __CUDACC__
#define RINGSIDE_HD __host__ __device__
#define RINGSIDE_HD_CALL __noinline__ __host__ __device__
#else
#define RINGSIDE_HD
#define RINGSIDE_HD_CALL
#endif

#ifdef __CUDA_ARCH__
#define RINGSIDE_UNROLL _Pragma("unroll")
#else
#define RINGSIDE_UNROLL
#endif
