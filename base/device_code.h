#pragma once

/// Stands before functions that GPUs run, too: under nvcc they are compiled for both sides. What they call
/// must carry it as well, so such headers include neither containers nor fmt nor Result.
#ifdef __CUDACC__
#define RINGSIDE_HD __host__ __device__
#else
#define RINGSIDE_HD
#endif
