#pragma once

/* ringside's engine for C, in the form of NCCL's header: a function with NCCL's name takes the same arguments in the
 * same order. Differences: engine/capi/README.md.
 *
 * Ordering   every rank makes the same calls on a communicator in the same order
 * Threads    any thread may call any function, but only one thread at a time may use a communicator. rsCommAbort() and
 *            rsCommGetAsyncError() may be called by any thread at any time. A group belongs to the thread that began it
 * Ownership  buffers are in use until the stream has done the call
 * GPUs       a communicator whose `device` is "cuda" uses buffers in the GPU's memory, and CUDA streams
 *            (rsStreamWrapCuda(); null is the default stream). Its calls return once they are launched; the first call
 *            also connects, and waits for that. A call may be captured in a graph if the same call was made outside a
 *            graph before. Destroy graphs before their communicator */
#include <stddef.h> /* NOLINT(modernize-deprecated-headers): C */

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct rsComm* rsComm_t;
typedef struct rsStream* rsStream_t;

enum { RS_UNIQUE_ID_BYTES = 128 };
/* It contains the job's secret: any process that has it can join. */
typedef struct {
  char internal[RS_UNIQUE_ID_BYTES];
} rsUniqueId;

/* ncclResult_t's numbers. */
typedef enum {
  rsSuccess = 0,
  rsSystemError = 2,
  rsInternalError = 3,
  rsInvalidArgument = 4,
  rsInvalidUsage = 5,
  rsRemoteError = 6, /* another rank failed or died */
  rsInProgress = 7
} rsResult_t;

/* ncclDataType_t's and ncclRedOp_t's numbers. */
typedef enum {
  rsInt8 = 0,
  rsUint8 = 1,
  rsInt32 = 2,
  rsUint32 = 3,
  rsInt64 = 4,
  rsUint64 = 5,
  rsFloat16 = 6,
  rsFloat32 = 7,
  rsFloat64 = 8,
  rsBfloat16 = 9,
  rsFloat8e4m3 = 10,
  rsFloat8e5m2 = 11
} rsDataType_t;
/* rsRedOpCreatePreMulSum() makes numbers from rsNumOps on. */
typedef enum {
  rsSum = 0,
  rsProd = 1,
  rsMax = 2,
  rsMin = 3,
  rsAvg = 4,
  rsNumOps = 5,
  rsMaxRedOp = 0x7fffffff
} rsRedOp_t;
/* Where a scalar is stored. Both values mean host memory, which is read before the function returns. */
typedef enum { rsScalarDevice = 0, rsScalarHostImmediate = 1 } rsScalarResidence_t;

/* Initialise it with RS_CONFIG_INITIALIZER. */
typedef struct {
  /* 0: functions that make, split, shrink or finalize a communicator return at once; see rsCommGetAsyncError() */
  int blocking;
  double connectTimeout; /* seconds that a rank may take to join; 0: 8 */
  double opTimeout;      /* seconds after which a call without progress fails; 0: 60 */
  const char* commName;  /* name in dumps; null: a name that tells how it was made */
  /* Where calls run and buffers are: "host"; "cuda", the thread's current GPU; or "cuda:N". Null: RINGSIDE_DEVICE, or
   * the host if that is not set. It is the same on every rank, except for N */
  const char* device;
} rsConfig_t;
#define RS_CONFIG_INITIALIZER \
  { 1, 0, 0, NULL, NULL }

rsResult_t rsGetVersion(int* version); /* 10000 * major + 100 * minor + patch */
const char* rsGetErrorString(rsResult_t result);
/* Returns the text of the last error of the communicator, or of the thread if comm is null. The text is valid until the
 * thread's next call of this function. */
const char* rsGetLastError(rsComm_t comm);

/* Rank 0 calls it, and sends the id to the other ranks. */
rsResult_t rsGetUniqueId(rsUniqueId* uniqueId);
rsResult_t rsCommInitRank(rsComm_t* comm, int nranks, rsUniqueId commId, int rank);
rsResult_t rsCommInitRankConfig(rsComm_t* comm, int nranks, rsUniqueId commId, int rank,
                                rsConfig_t* config);
#define RS_SPLIT_NOCOLOR (-1)
/* If config has blocking = 0 (without config: comm's), it returns rsInProgress, as does rsCommGetAsyncError() of comm
 * and newcomm until newcomm is made. Calls that need newcomm wait until then; rsCommAbort(newcomm) waits for at most
 * connectTimeout. The same applies to rsCommShrink(). */
rsResult_t rsCommSplit(rsComm_t comm, int color, int key, rsComm_t* newcomm, rsConfig_t* config);
/* Makes a communicator without the listed ranks, which may have died and do not take part in the call. comm may be
 * broken. */
rsResult_t rsCommShrink(rsComm_t comm, int* excludeRanksList, int excludeRanksCount,
                        rsComm_t* newcomm, rsConfig_t* config, int shrinkFlags);
/* Waits until all calls have ended on all ranks. */
rsResult_t rsCommFinalize(rsComm_t comm);
/* Returns at once. A communicator that was not finalized is freed in the background, once its calls are done and all
 * ranks have destroyed theirs. */
rsResult_t rsCommDestroy(rsComm_t comm);
/* Aborts the communicator on every rank and frees it, even while another thread makes, uses, splits or finalizes it.
 * Functions that wait in it return first. */
rsResult_t rsCommAbort(rsComm_t comm);
rsResult_t rsCommGetAsyncError(rsComm_t comm, rsResult_t* asyncError);
rsResult_t rsCommCount(rsComm_t comm, int* count);
rsResult_t rsCommUserRank(rsComm_t comm, int* rank);

/* Allocates memory that the other ranks of the host read and write in place. */
rsResult_t rsMemAlloc(void** ptr, size_t size);
rsResult_t rsMemFree(void* ptr);

/* Registers one buffer of each rank, of the same size, in memory from rsMemAlloc(). Every rank calls it. Calls find
 * such memory without a window, so a window makes nothing faster; it checks that all ranks use such memory. */
typedef struct rsWindow* rsWindow_t;
enum { RS_WIN_DEFAULT = 0, RS_WIN_COLL_SYMMETRIC = 1 };
rsResult_t rsCommWindowRegister(rsComm_t comm, void* buff, size_t size, rsWindow_t* win,
                                int winFlags);
rsResult_t rsCommWindowDeregister(rsComm_t comm, rsWindow_t win);
/* The same for the buffer of this rank only. */
rsResult_t rsCommRegister(rsComm_t comm, void* buff, size_t size, void** handle);
rsResult_t rsCommDeregister(rsComm_t comm, void* handle);

/* Makes a reduction that multiplies each rank's input by that rank's scalar and adds the products. Calls that use it
 * have the scalar's type. */
rsResult_t rsRedOpCreatePreMulSum(rsRedOp_t* op, void* scalar, rsDataType_t datatype,
                                  rsScalarResidence_t residence, rsComm_t comm);
rsResult_t rsRedOpDestroy(rsRedOp_t op, rsComm_t comm);

rsResult_t rsStreamCreate(rsStream_t* stream);
/* Wraps a cudaStream_t, for calls on GPUs, which are then ordered with its other work. The CUDA stream stays the
 * caller's. */
rsResult_t rsStreamWrapCuda(rsStream_t* stream, void* cudaStream);
rsResult_t rsStreamSynchronize(rsStream_t stream);
rsResult_t rsStreamQuery(rsStream_t stream); /* rsInProgress: work is left */
rsResult_t rsStreamDestroy(rsStream_t stream);

/* Calls between the two functions start at rsGroupEnd(). So do init, split, shrink and finalize, unless blocking = 0:
 * those of all communicators run concurrently, so one thread can act for several ranks. Their results are set when
 * rsGroupEnd() returns. */
rsResult_t rsGroupStart(void);
rsResult_t rsGroupEnd(void);

rsResult_t rsReduce(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                    rsRedOp_t op, int root, rsComm_t comm, rsStream_t stream);
rsResult_t rsBroadcast(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                       int root, rsComm_t comm, rsStream_t stream);
rsResult_t rsAllReduce(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                       rsRedOp_t op, rsComm_t comm, rsStream_t stream);
rsResult_t rsReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                           rsDataType_t datatype, rsRedOp_t op, rsComm_t comm, rsStream_t stream);
rsResult_t rsAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                       rsDataType_t datatype, rsComm_t comm, rsStream_t stream);
/* Gathers blocks of different lengths: recvcounts[rank] is the length of that rank's block. */
rsResult_t rsAllGatherV(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                        rsDataType_t datatype, rsComm_t comm, rsStream_t stream);
rsResult_t rsAlltoAll(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                      rsComm_t comm, rsStream_t stream);
rsResult_t rsGather(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                    int root, rsComm_t comm, rsStream_t stream);
rsResult_t rsScatter(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                     int root, rsComm_t comm, rsStream_t stream);
rsResult_t rsSend(const void* sendbuff, size_t count, rsDataType_t datatype, int peer,
                  rsComm_t comm, rsStream_t stream);
rsResult_t rsRecv(void* recvbuff, size_t count, rsDataType_t datatype, int peer, rsComm_t comm,
                  rsStream_t stream);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
