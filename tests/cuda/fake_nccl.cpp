// A libnccl for tests: float32 sums and copies among processes of one host; each call is complete when it returns. The
// ranks meet in shared memory whose name is the unique id.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace {

constexpr int kSuccess = 0, kSystemError = 2, kInvalidArgument = 4;
constexpr int kFloat32 = 7, kSum = 0;
constexpr int kMostRanks = 4;
constexpr std::size_t kRoom = 1 << 16;

struct Meeting {
  std::atomic<int> arrived;
  std::atomic<int> generation;
  float data[kMostRanks][kRoom / sizeof(float)];
};

struct UniqueId {
  char bytes[128];
};

struct Comm {
  Meeting* meeting;
  int rank, nranks;
};

void meet(Comm& comm) {
  const int before = comm.meeting->generation.load();
  if (++comm.meeting->arrived == comm.nranks) {
    comm.meeting->arrived = 0;
    ++comm.meeting->generation;
  }
  while (comm.meeting->generation.load() == before) ::sched_yield();
}

/// Copies all ranks' inputs side by side, then calls `take` with them.
template <typename Take>
int exchange(void* opaque, const void* from, std::size_t count, int type, Take take) {
  Comm& comm = *static_cast<Comm*>(opaque);
  if (type != kFloat32 || count * sizeof(float) > kRoom) return kInvalidArgument;
  std::memcpy(comm.meeting->data[comm.rank], from, count * sizeof(float));
  meet(comm);
  take(comm);
  meet(comm);
  return kSuccess;
}

void sum(const Comm& comm, void* to, std::size_t first, std::size_t count) {
  auto* const output = static_cast<float*>(to);
  for (std::size_t i = 0; i < count; ++i) {
    output[i] = 0;
    for (int rank = 0; rank < comm.nranks; ++rank) output[i] += comm.meeting->data[rank][first + i];
  }
}

void copy(const Comm& comm, int rank, void* to, std::size_t count) {
  std::memcpy(to, comm.meeting->data[rank], count * sizeof(float));
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = 22400;
  return kSuccess;
}
int ncclGetUniqueId(UniqueId* id) {
  std::snprintf(id->bytes, sizeof id->bytes, "/ringside_fake_nccl_%d",
                static_cast<int>(::getpid()));
  return kSuccess;
}
int ncclCommInitRank(void** comm, int nranks, UniqueId id, int rank) {
  const int fd = ::shm_open(id.bytes, O_CREAT | O_RDWR, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(Meeting)) != 0) return kSystemError;
  void* const memory = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) return kSystemError;
  auto* const made = new Comm{static_cast<Meeting*>(memory), rank, nranks};
  meet(*made);
  if (rank == 0) ::shm_unlink(id.bytes);
  *comm = made;
  return kSuccess;
}
int ncclCommDestroy(void* comm) {
  ::munmap(static_cast<Comm*>(comm)->meeting, sizeof(Meeting));
  delete static_cast<Comm*>(comm);
  return kSuccess;
}
int ncclCommAbort(void* comm) { return ncclCommDestroy(comm); }
int ncclCommGetAsyncError(void* /*comm*/, int* error) {
  *error = kSuccess;
  return kSuccess;
}
const char* ncclGetErrorString(int code) {
  return code == kInvalidArgument ? "invalid argument" : "unhandled system error";
}
int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int op, void* comm,
                  void* /*stream*/) {
  if (op != kSum) return kInvalidArgument;
  return exchange(comm, from, count, type, [&](const Comm& c) { sum(c, to, 0, count); });
}
int ncclReduce(const void* from, void* to, std::size_t count, int type, int op, int root,
               void* comm, void* /*stream*/) {
  if (op != kSum) return kInvalidArgument;
  return exchange(comm, from, count, type, [&](const Comm& c) {
    if (c.rank == root) sum(c, to, 0, count);
  });
}
int ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root, void* comm,
                  void* /*stream*/) {
  return exchange(comm, from, count, type, [&](const Comm& c) { copy(c, root, to, count); });
}
int ncclAllGather(const void* from, void* to, std::size_t count, int type, void* comm,
                  void* /*stream*/) {
  return exchange(comm, from, count, type, [&](const Comm& c) {
    for (int rank = 0; rank < c.nranks; ++rank) {
      copy(c, rank, static_cast<float*>(to) + static_cast<std::size_t>(rank) * count, count);
    }
  });
}
int ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int op, void* comm,
                      void* /*stream*/) {
  if (op != kSum) return kInvalidArgument;
  const auto nranks = static_cast<std::size_t>(static_cast<Comm*>(comm)->nranks);
  return exchange(comm, from, count * nranks, type, [&](const Comm& c) {
    sum(c, to, static_cast<std::size_t>(c.rank) * count, count);
  });
}
}
