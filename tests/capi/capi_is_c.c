#include "ringside/ringside.h"

/* An all-reduce as a program in C writes it. */
rsResult_t sum_in_place(float* data, size_t count, rsComm_t comm, rsStream_t stream);

rsResult_t sum_in_place(float* data, size_t count, rsComm_t comm, rsStream_t stream) {
  rsConfig_t config = RS_CONFIG_INITIALIZER;
  (void)config;
  return rsAllReduce(data, data, count, rsFloat32, rsSum, comm, stream);
}
