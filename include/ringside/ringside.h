#pragma once

/* ringside's engine for C, in the shape of NCCL's header: what is called alike takes the same arguments in the same
 * order. Differences: engine/capi/README.md.
 *
 * Ordering   every rank makes the same calls of a communicator in the same order
 * Threads    any thread may call anything but for one communicator, where one at a time does; rsCommAbort() and
 *            rsCommGetAsyncError() are for any. Groups belong to the thread that began them
 * Ownership  buffers are in use until the stream has done the call
 * GPUs       a communicator with `device` "cuda" takes memory of the GPU, and streams of CUDA's (rsStreamWrapCuda(); null is
 *            the default one). Calls return once they are launched, but for the first that connects. They may be captured
 *            in a graph, once they have been made outside; graphs go before their communicator */
#include <stddef.h> /* NOLINT(modernize-deprecated-headers): C */

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct rsComm* rsComm_t;
typedef struct rsStream* rsStream_t;

enum { RS_UNIQUE_ID_BYTES = 128 };
/* A process that has it can join: it holds the job's secret. */
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
/* Numbers from rsNumOps on are those that rsRedOpCreatePreMulSum() has made. */
typedef enum {
  rsSum = 0,
  rsProd = 1,
  rsMax = 2,
  rsMin = 3,
  rsAvg = 4,
  rsNumOps = 5,
  rsMaxRedOp = 0x7fffffff
} rsRedOp_t;
/* Where a scalar lies: host memory is all there is, and it is read at once. */
typedef enum { rsScalarDevice = 0, rsScalarHostImmediate = 1 } rsScalarResidence_t;

/* Begin with RS_CONFIG_INITIALIZER. */
typedef struct {
  int blocking;          /* 0: what makes, parts, shrinks and finalizes returns at once; see
                            rsCommGetAsyncError() */
  double connectTimeout; /* seconds that a rank may take to come; 0: 8 */
  double opTimeout;      /* seconds after which a call in which nothing moves fails; 0: 60 */
  const char* commName;  /* in dumps; null: one that names its origin */
  const char*
      device; /* where calls run, and buffers lie: "host"; "cuda", the GPU that the thread has set, or
                            "cuda:N"; null: as RINGSIDE_DEVICE says, else on the host. The same on every rank but for N */
} rsConfig_t;
#define RS_CONFIG_INITIALIZER \
  { 1, 0, 0, NULL, NULL }

rsResult_t rsGetVersion(int* version); /* 10000 * major + 100 * minor + patch */
const char* rsGetErrorString(rsResult_t result);
/* What went wrong last, in words; of the thread where comm is null. Good until the thread asks again. */
const char* rsGetLastError(rsComm_t comm);

/* Rank 0 makes it, and hands it to the others. */
rsResult_t rsGetUniqueId(rsUniqueId* uniqueId);
rsResult_t rsCommInitRank(rsComm_t* comm, int nranks, rsUniqueId commId, int rank);
rsResult_t rsCommInitRankConfig(rsComm_t* comm, int nranks, rsUniqueId commId, int rank,
                                rsConfig_t* config);
#define RS_SPLIT_NOCOLOR (-1)
/* Where config, or without one comm, has blocking = 0: rsInProgress, for comm and newcomm until it is made; the calls that
 * need newcomm wait for that, and rsCommAbort() of it as long as connectTimeout. The same of rsCommShrink(). */
rsResult_t rsCommSplit(rsComm_t comm, int color, int key, rsComm_t* newcomm, rsConfig_t* config);
/* Without ranks that have died or are not wanted, which are not asked; comm may be broken. */
rsResult_t rsCommShrink(rsComm_t comm, int* excludeRanksList, int excludeRanksCount,
                        rsComm_t* newcomm, rsConfig_t* config, int shrinkFlags);
/* Waits for all calls, and for all ranks. */
rsResult_t rsCommFinalize(rsComm_t comm);
/* A communicator that was not finalized goes once its calls are done and all ranks have destroyed theirs; no call waits for it. */
rsResult_t rsCommDestroy(rsComm_t comm);
/* Breaks it on every rank and frees it, whatever is under way on whichever thread: its making, a call, a split, its end;
 * what waits there returns first. */
rsResult_t rsCommAbort(rsComm_t comm);
rsResult_t rsCommGetAsyncError(rsComm_t comm, rsResult_t* asyncError);
rsResult_t rsCommCount(rsComm_t comm, int* count);
rsResult_t rsCommUserRank(rsComm_t comm, int* rank);

/* Memory that the ranks of a host read and write in place. */
rsResult_t rsMemAlloc(void** ptr, size_t size);
rsResult_t rsMemFree(void* ptr);

/* A buffer that all ranks name together, each its own, equally long. It lies in memory of rsMemAlloc(), which calls find
 * by themselves: a window makes nothing faster, it makes sure that all ranks have such memory. */
typedef struct rsWindow* rsWindow_t;
enum { RS_WIN_DEFAULT = 0, RS_WIN_COLL_SYMMETRIC = 1 };
rsResult_t rsCommWindowRegister(rsComm_t comm, void* buff, size_t size, rsWindow_t* win,
                                int winFlags);
rsResult_t rsCommWindowDeregister(rsComm_t comm, rsWindow_t win);
/* The same of one rank alone. */
rsResult_t rsCommRegister(rsComm_t comm, void* buff, size_t size, void** handle);
rsResult_t rsCommDeregister(rsComm_t comm, void* handle);

/* A sum of what each rank has multiplied by its own scalar, of the type of the calls that use it. */
rsResult_t rsRedOpCreatePreMulSum(rsRedOp_t* op, void* scalar, rsDataType_t datatype,
                                  rsScalarResidence_t residence, rsComm_t comm);
rsResult_t rsRedOpDestroy(rsRedOp_t op, rsComm_t comm);

rsResult_t rsStreamCreate(rsStream_t* stream);
/* Wraps a cudaStream_t, for calls on GPUs: they are ordered with its work. The stream itself stays the caller's. */
rsResult_t rsStreamWrapCuda(rsStream_t* stream, void* cudaStream);
rsResult_t rsStreamSynchronize(rsStream_t stream);
rsResult_t rsStreamQuery(rsStream_t stream); /* rsInProgress while something is left to do */
rsResult_t rsStreamDestroy(rsStream_t stream);

/* Between the two, calls wait for the end of the group, and so do init, split, shrink and finalize (but for blocking = 0): of
 * all communicators together, so that one thread can speak for several ranks. Their results are there after the end. */
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
/* Blocks of different lengths: recvcounts has each rank's, and its own is what it sends. */
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
