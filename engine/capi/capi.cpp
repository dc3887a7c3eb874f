#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "engine/capi/ringside.h"
#include "engine/runtime/bootstrap_root.h"
#include "engine/runtime/call_group.h"
#include "engine/runtime/communicator.h"
#include "engine/runtime/host_stream.h"
#include "engine/runtime/pending_communicator.h"
#include "engine/transport/interface.h"
#include "engine/transport/shared_memory.h"

struct rsStream {
  ringside::HostStream queue;
};

/// A communicator, or one that is on its way.
struct rsComm {
  int nranks = 0;
  int rank = 0;
  std::mutex waiting;  ///< held by whoever waits for `pending`; taken before the other
  std::mutex mutex;    ///< guards what follows
  std::unique_ptr<ringside::PendingCommunicator> pending;
  std::unique_ptr<ringside::Communicator> ready;
  std::optional<ringside::Error> failed;  ///< why it could not be made
  std::string name;
};

namespace ringside {
namespace {

thread_local std::string last_error;

rsResult_t result_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument:
      return rsInvalidArgument;
    case ErrorCode::Unsupported:
      return rsInvalidUsage;
    case ErrorCode::PeerGone:
    case ErrorCode::Timeout:
    case ErrorCode::Aborted:
    case ErrorCode::PermissionDenied:
      return rsRemoteError;
    case ErrorCode::System:
    case ErrorCode::NotFound:
      return rsSystemError;
    case ErrorCode::Corrupt:
      break;
  }
  return rsInternalError;
}

rsResult_t refuse(const Error& error) {
  last_error = error.help.empty() ? error.message : error.message + "; " + error.help;
  return result_of(error.code);
}

rsResult_t refuse(const char* what, const char* help) {
  return refuse(Error{ErrorCode::InvalidArgument, what, help});
}

/// Runs what a call does: nothing that is thrown leaves it.
template <typename Body>
rsResult_t guarded(Body&& body) noexcept {
  try {
    const Status done = body();
    return done ? rsSuccess : refuse(done.error());
  } catch (const std::bad_alloc&) {
    return refuse(Error{ErrorCode::System, "out of memory"});
  } catch (const std::exception& thrown) {
    return refuse(Error{ErrorCode::Corrupt, thrown.what()});
  }
}

/// Roots that wait for the ranks of this process's ids, until the rank that joins here takes them along.
class Roots {
 public:
  void keep(const std::string& id, std::unique_ptr<BootstrapRoot> root) {
    const std::lock_guard lock(mutex_);
    roots_[id] = std::move(root);
  }
  std::unique_ptr<BootstrapRoot> take(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = roots_.find(id);
    return found == roots_.end() ? nullptr : std::move(roots_.extract(found).mapped());
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<BootstrapRoot>> roots_;
};

Roots& roots() {
  static Roots all;
  return all;
}

HostStream& queue_of(rsStream_t stream) {
  static HostStream shared;
  return stream == nullptr ? shared : stream->queue;
}

/// What a thread's rsGroupStart() has begun.
struct GroupState {
  int depth = 0;
  CallGroup calls;
};
thread_local GroupState group;

/// The communicator itself; waits for one that is on its way.
Result<Communicator*> communicator_of(rsComm_t comm) {
  if (comm == nullptr) {
    return Error{ErrorCode::InvalidArgument, "no communicator",
                 "give one that rsCommInit* has made"};
  }
  // Only who holds this one resets it, so it stays while it is waited for; others may abort it.
  const std::lock_guard waiting(comm->waiting);
  if (comm->pending) {
    auto made = comm->pending->take();
    const std::lock_guard lock(comm->mutex);
    comm->pending.reset();
    if (made) {
      comm->ready = *std::move(made);
    } else {
      comm->failed = made.error();
    }
  }
  if (comm->failed) return *comm->failed;
  return comm->ready.get();
}

rsComm_t handle_of(std::unique_ptr<Communicator> part) {
  auto made = std::make_unique<rsComm>();
  made->nranks = part->nranks();
  made->rank = to_int(part->rank());
  made->ready = std::move(part);
  return made.release();
}

CommunicatorOptions options_of(const rsConfig_t* config) {
  CommunicatorOptions options;
  if (config == nullptr) return options;
  if (config->connectTimeout > 0) options.connect_timeout = Seconds{config->connectTimeout};
  if (config->opTimeout > 0) options.op_timeout = Seconds{config->opTimeout};
  if (config->commName != nullptr) options.name = config->commName;
  return options;
}

Status init(rsComm_t* comm, int nranks, const rsUniqueId& id, int rank, const rsConfig_t* config) {
  if (comm == nullptr) return Error{ErrorCode::InvalidArgument, "comm is null", "give its place"};
  const std::string text(id.internal, ::strnlen(id.internal, sizeof id.internal));
  BootstrapOptions join;
  join.rank = Rank{rank};
  join.nranks = nranks;
  if (nranks != 1) {
    RINGSIDE_TRY(join.id, parse_unique_id(text));
  }
  CommunicatorOptions options = options_of(config);
  join.join_timeout = std::chrono::duration_cast<Nanoseconds>(options.connect_timeout);
  auto made = std::make_unique<rsComm>();
  made->nranks = nranks;
  made->rank = rank;
  made->name = options.name;
  RINGSIDE_TRY(made->pending,
               PendingCommunicator::start(std::move(join), std::move(options), roots().take(text)));
  if (config == nullptr || config->blocking != 0) {
    RINGSIDE_TRY([[maybe_unused]] Communicator* const ready, communicator_of(made.get()));
  }
  *comm = made.release();
  return {};
}

Status make_id(rsUniqueId* id) {
  if (id == nullptr) return Error{ErrorCode::InvalidArgument, "uniqueId is null", "give its place"};
  RINGSIDE_TRY(const InterfaceWish wish, interface_wish_from(env_text, false));
  RINGSIDE_TRY(const std::vector<Interface> there, local_interfaces());
  RINGSIDE_TRY(const Interface chosen, choose_interface(there, wish));
  RINGSIDE_TRY(auto root,
               BootstrapRoot::start({.listen = chosen.address, .secret = random_secret()}));
  const std::string text = to_string(root->id());
  RINGSIDE_ASSERT(text.size() < sizeof id->internal, "an id of {} bytes", text.size());
  std::memset(id->internal, 0, sizeof id->internal);
  std::memcpy(id->internal, text.data(), text.size());
  roots().keep(text, std::move(root));
  return {};
}

/// What the calls have in common; `fill` adds what is theirs.
template <typename Fill>
rsResult_t call(Collective collective, size_t count, rsDataType_t type, rsComm_t comm,
                rsStream_t stream, Fill&& fill) noexcept {
  return guarded([&]() -> Status {
    RINGSIDE_TRY(Communicator* const communicator, communicator_of(comm));
    constexpr auto kMost = static_cast<size_t>(std::numeric_limits<std::int64_t>::max() / 4096);
    if (count > kMost || type < rsInt8 || type > rsFloat8e5m2) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("count {}, datatype {}", count, static_cast<int>(type)),
                   "give a count and a type that can be meant"};
    }
    CollectiveCall made;
    made.collective = collective;
    made.count = static_cast<std::int64_t>(count);
    made.type = static_cast<DataType>(type);
    fill(made);
    const bool is_known_op = made.op >= RedOp::Sum && made.op <= RedOp::Avg;
    if (!is_known_op) return Error{ErrorCode::InvalidArgument, "no such op", "give rsSum .. rsAvg"};
    group.calls.add(*communicator, queue_of(stream), std::move(made));
    return group.depth > 0 ? Status{} : group.calls.launch();
  });
}

/// Sends and receives list their one transfer.
template <typename Fill>
rsResult_t message(Collective collective, size_t count, rsDataType_t type, int peer, rsComm_t comm,
                   rsStream_t stream, Fill&& fill) noexcept {
  return call(collective, count, type, comm, stream, [&](CollectiveCall& made) {
    const Transfer one{Rank{peer}, 0, made.count};
    (collective == Collective::Send ? made.sends : made.recvs).push_back(one);
    fill(made);
  });
}

/// What rsMemAlloc() has given.
class Allocations {
 public:
  Status allocate(void** place, size_t size) {
    if (place == nullptr) return Error{ErrorCode::InvalidArgument, "ptr is null", "give its place"};
    RINGSIDE_TRY(SharedMemory memory, SharedMemory::allocate(Bytes{size}));
    *place = memory.data();
    const std::lock_guard lock(mutex_);
    all_.emplace(*place, std::move(memory));
    return {};
  }
  Status free(void* place) {
    const std::lock_guard lock(mutex_);
    if (place == nullptr || all_.erase(place) == 1) return {};
    return Error{ErrorCode::InvalidArgument, "rsMemFree of memory that rsMemAlloc has not given",
                 "give what it gave, once"};
  }

 private:
  std::mutex mutex_;
  std::map<void*, SharedMemory> all_;
};

Allocations& allocations() {
  static Allocations all;
  return all;
}

}  // namespace
}  // namespace ringside

using namespace ringside;

rsResult_t rsGetVersion(int* version) {
  if (version == nullptr) return refuse("version is null", "give its place");
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::sscanf(RINGSIDE_VERSION, "%d.%d.%d", &major, &minor, &patch);
  *version = 10000 * major + 100 * minor + patch;
  return rsSuccess;
}

const char* rsGetErrorString(rsResult_t result) {
  switch (result) {
    case rsSuccess:
      return "no error";
    case rsSystemError:
      return "the operating system refused";
    case rsInternalError:
      return "internal error";
    case rsInvalidArgument:
      return "invalid argument";
    case rsInvalidUsage:
      return "invalid usage";
    case rsRemoteError:
      return "another rank failed, or did not come";
    case rsInProgress:
      return "in progress";
  }
  return "unknown result";
}

const char* rsGetLastError(rsComm_t comm) {
  if (comm != nullptr) {
    const std::lock_guard lock(comm->mutex);
    if (comm->failed) last_error = comm->failed->message;
    if (comm->ready) {
      if (const auto error = comm->ready->async_error()) last_error = error->message;
    }
  }
  return last_error.c_str();
}

rsResult_t rsGetUniqueId(rsUniqueId* uniqueId) {
  return guarded([&] { return make_id(uniqueId); });
}

rsResult_t rsCommInitRank(rsComm_t* comm, int nranks, rsUniqueId commId, int rank) {
  return rsCommInitRankConfig(comm, nranks, commId, rank, nullptr);
}

rsResult_t rsCommInitRankConfig(rsComm_t* comm, int nranks, rsUniqueId commId, int rank,
                                rsConfig_t* config) {
  return guarded([&] { return init(comm, nranks, commId, rank, config); });
}

rsResult_t rsCommSplit(rsComm_t comm, int color, int key, rsComm_t* newcomm, rsConfig_t* config) {
  return guarded([&]() -> Status {
    if (newcomm == nullptr) {
      return Error{ErrorCode::InvalidArgument, "newcomm is null", "give its place"};
    }
    *newcomm = nullptr;
    RINGSIDE_TRY(Communicator* const parent, communicator_of(comm));
    const bool is_in = color >= 0;
    const std::string description =
        config != nullptr && config->commName != nullptr ? config->commName : "undefined";
    RINGSIDE_TRY(auto part,
                 parent->split(is_in ? std::optional(color) : std::nullopt, key, description));
    if (part) *newcomm = handle_of(std::move(part));
    return {};
  });
}

rsResult_t rsCommShrink(rsComm_t comm, int* excludeRanksList, int excludeRanksCount,
                        rsComm_t* newcomm, rsConfig_t* /*config*/, int /*shrinkFlags*/) {
  return guarded([&]() -> Status {
    if (newcomm == nullptr || excludeRanksCount < 0 ||
        (excludeRanksCount > 0 && excludeRanksList == nullptr)) {
      return Error{ErrorCode::InvalidArgument, "null argument, or fewer than no ranks",
                   "give a list and its place"};
    }
    *newcomm = nullptr;
    RINGSIDE_TRY(Communicator* const parent, communicator_of(comm));
    std::vector<Rank> without;
    for (int i = 0; i < excludeRanksCount; ++i) without.push_back(Rank{excludeRanksList[i]});
    RINGSIDE_TRY(auto part, parent->shrink(without));
    *newcomm = handle_of(std::move(part));
    return {};
  });
}

rsResult_t rsCommFinalize(rsComm_t comm) {
  return guarded([&]() -> Status {
    RINGSIDE_TRY(Communicator* const communicator, communicator_of(comm));
    return communicator->finish();
  });
}

rsResult_t rsCommDestroy(rsComm_t comm) {
  return guarded([&]() -> Status {
    const std::unique_ptr<rsComm> mine(comm);
    return {};
  });
}

rsResult_t rsCommAbort(rsComm_t comm) {
  return guarded([&]() -> Status {
    if (comm == nullptr) return {};
    {
      const std::lock_guard lock(comm->mutex);
      if (comm->pending) comm->pending->abort();
      if (comm->ready) comm->ready->abort({ErrorCode::Aborted, "rsCommAbort() was called"});
    }
    const std::unique_ptr<rsComm> mine(comm);
    return {};
  });
}

rsResult_t rsCommGetAsyncError(rsComm_t comm, rsResult_t* asyncError) {
  if (comm == nullptr || asyncError == nullptr) return refuse("null argument", "give both");
  return guarded([&]() -> Status {
    *asyncError = rsSuccess;
    {
      const std::lock_guard lock(comm->mutex);
      if (comm->pending && !comm->pending->is_ready()) *asyncError = rsInProgress;
    }
    if (*asyncError == rsInProgress) return {};
    const Result<Communicator*> ready = communicator_of(comm);
    if (!ready) {
      *asyncError = refuse(ready.error());
    } else if (const auto error = (*ready)->async_error()) {
      *asyncError = refuse(*error);
    }
    return {};
  });
}

rsResult_t rsCommCount(rsComm_t comm, int* count) {
  if (comm == nullptr || count == nullptr) return refuse("null argument", "give both");
  *count = comm->nranks;
  return rsSuccess;
}

rsResult_t rsCommUserRank(rsComm_t comm, int* rank) {
  if (comm == nullptr || rank == nullptr) return refuse("null argument", "give both");
  *rank = comm->rank;
  return rsSuccess;
}

rsResult_t rsMemAlloc(void** ptr, size_t size) {
  return guarded([&] { return allocations().allocate(ptr, size); });
}
rsResult_t rsMemFree(void* ptr) {
  return guarded([&] { return allocations().free(ptr); });
}

rsResult_t rsStreamCreate(rsStream_t* stream) {
  return guarded([&]() -> Status {
    if (stream == nullptr) {
      return Error{ErrorCode::InvalidArgument, "stream is null", "give its place"};
    }
    *stream = std::make_unique<rsStream>().release();
    return {};
  });
}
rsResult_t rsStreamSynchronize(rsStream_t stream) {
  return guarded([&]() -> Status {
    queue_of(stream).synchronize();
    return {};
  });
}
rsResult_t rsStreamQuery(rsStream_t stream) {
  return queue_of(stream).is_idle() ? rsSuccess : rsInProgress;
}
rsResult_t rsStreamDestroy(rsStream_t stream) {
  return guarded([&]() -> Status {
    const std::unique_ptr<rsStream> mine(stream);
    return {};
  });
}

rsResult_t rsGroupStart() {
  ++group.depth;
  return rsSuccess;
}
rsResult_t rsGroupEnd() {
  if (group.depth == 0) return refuse("rsGroupEnd() without rsGroupStart()", "call that first");
  if (--group.depth > 0) return rsSuccess;
  return guarded([] { return group.calls.launch(); });
}

rsResult_t rsReduce(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                    rsRedOp_t op, int root, rsComm_t comm, rsStream_t stream) {
  return call(Collective::Reduce, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    made.op = static_cast<RedOp>(op);
    made.root = Rank{root};
  });
}
rsResult_t rsBroadcast(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                       int root, rsComm_t comm, rsStream_t stream) {
  return call(Collective::Broadcast, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    made.root = Rank{root};
  });
}
rsResult_t rsAllReduce(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                       rsRedOp_t op, rsComm_t comm, rsStream_t stream) {
  return call(Collective::AllReduce, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    made.op = static_cast<RedOp>(op);
  });
}
rsResult_t rsReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                           rsDataType_t datatype, rsRedOp_t op, rsComm_t comm, rsStream_t stream) {
  return call(Collective::ReduceScatter, recvcount, datatype, comm, stream,
              [&](CollectiveCall& made) {
                made.input = sendbuff;
                made.output = recvbuff;
                made.op = static_cast<RedOp>(op);
              });
}
rsResult_t rsAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                       rsDataType_t datatype, rsComm_t comm, rsStream_t stream) {
  return call(Collective::AllGather, sendcount, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
  });
}
rsResult_t rsAlltoAll(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                      rsComm_t comm, rsStream_t stream) {
  return call(Collective::AllToAll, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
  });
}
rsResult_t rsGather(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                    int root, rsComm_t comm, rsStream_t stream) {
  return call(Collective::Gather, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    made.root = Rank{root};
  });
}
rsResult_t rsScatter(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                     int root, rsComm_t comm, rsStream_t stream) {
  return call(Collective::Scatter, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    made.root = Rank{root};
  });
}
rsResult_t rsSend(const void* sendbuff, size_t count, rsDataType_t datatype, int peer,
                  rsComm_t comm, rsStream_t stream) {
  return message(Collective::Send, count, datatype, peer, comm, stream,
                 [&](CollectiveCall& made) { made.input = sendbuff; });
}
rsResult_t rsRecv(void* recvbuff, size_t count, rsDataType_t datatype, int peer, rsComm_t comm,
                  rsStream_t stream) {
  return message(Collective::Recv, count, datatype, peer, comm, stream,
                 [&](CollectiveCall& made) { made.output = recvbuff; });
}
