#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/capi/group.h"
#include "engine/capi/handles.h"
#include "engine/capi/init.h"
#include "engine/capi/leaving.h"
#include "engine/capi/streams.h"

namespace ringside {

namespace {

/// Returns the handle of a part of `parent`, whose communicator put_in() stores.
std::unique_ptr<rsComm> handle_of(const rsComm& parent, bool is_blocking) {
  auto made = std::make_unique<rsComm>();
  made->is_blocking = is_blocking;
  made->is_on_gpu = parent.is_on_gpu;
  made->recorder = parent.recorder;
  made->faults = parent.faults;
  made->trace = parent.trace;
  return made;
}

/// Stores the communicator in the handle. The caller holds the handle's mutex, or no other thread has the handle yet.
void put_in(rsComm& handle, std::unique_ptr<runtime::Communicator> part) {
  handle.nranks = part->nranks();
  handle.rank = to_int(part->rank());
  handle.ready = std::move(part);
  if (handle.is_aborted) handle.ready->abort({ErrorCode::Aborted, "it was aborted"});
}

/// Makes a part of a communicator. Null: this rank is in no part.
using MakePart =
    std::function<Result<std::unique_ptr<runtime::Communicator>>(runtime::Communicator& parent)>;

/// Makes the part on its own thread, after the parts whose making began earlier.
/// part  handle that receives the communicator, or null
void begin_part(rsComm& parent, rsComm* part, MakePart make) {
  std::optional<CommunicatorInUse> target;
  if (part != nullptr) {
    part->is_making = true;
    target.emplace(*part);
  }
  parent.parts.push(
      [source = CommunicatorInUse(parent), target, &parent, part, make = std::move(make)] {
        std::unique_ptr<runtime::Communicator> made;
        Status status;
        const auto try_it = [&]() -> Status {
          RINGSIDE_TRY(const CommunicatorInUse ready, communicator_of(&parent));
          RINGSIDE_TRY(made, make(*ready));
          return {};
        };
        const rsResult_t caught = guarded([&]() -> Status {
          status = try_it();
          return {};
        });
        if (caught != rsSuccess) status = Error{ErrorCode::System, last_error};
        if (part == nullptr) return;
        const std::lock_guard lock(part->mutex);
        if (status) {
          put_in(*part, std::move(made));
        } else {
          part->failed = status.error();
        }
        part->is_making = false;
        part->made.notify_all();
      });
}

/// The common steps of split and shrink.
/// is_in_it  whether this rank will be in a part
rsResult_t make_part(rsComm_t comm, rsComm_t* newcomm, const rsConfig_t* config, bool is_in_it,
                     const MakePart& make) noexcept {
  bool is_begun = false;
  const rsResult_t done = guarded([&]() -> Status {
    if (newcomm == nullptr || comm == nullptr) {
      return Error{ErrorCode::InvalidArgument, "comm or newcomm is null",
                   "give a communicator, and a place for the part"};
    }
    *newcomm = nullptr;
    const bool is_blocking = config != nullptr ? config->blocking != 0 : comm->is_blocking;
    if (!is_blocking) {
      auto part = is_in_it ? handle_of(*comm, is_blocking) : nullptr;
      begin_part(*comm, part.get(), make);
      *newcomm = part.release();
      is_begun = true;
      return {};
    }
    RINGSIDE_TRY(const CommunicatorInUse parent, communicator_of(comm));
    return do_with_group(comm, [=]() -> Status {
      comm->parts.synchronize();
      RINGSIDE_TRY(auto made, make(*parent));
      if (!made) return {};
      auto part = handle_of(*comm, is_blocking);
      put_in(*part, std::move(made));
      *newcomm = part.release();
      return {};
    });
  });
  return is_begun ? rsInProgress : done;
}

/// Sets the call's reduction: a built-in one, or one that create_op() made for the communicator.
Status set_op(CollectiveCall& made, rsComm_t comm, rsRedOp_t op) {
  if (op >= rsSum && op <= rsAvg) {
    made.op = static_cast<RedOp>(op);
    return {};
  }
  const std::lock_guard lock(comm->mutex);
  const auto found = comm->ops.find(op);
  if (found == comm->ops.end()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("no op {}", static_cast<int>(op)),
                 "give rsSum .. rsAvg, or what rsRedOpCreatePreMulSum() has made for this comm"};
  }
  if (found->second.type != made.type) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("an op for {} in a call of {}", to_string(found->second.type),
                             to_string(made.type)),
                 "make an op of the call's type"};
  }
  made.op = RedOp::PreMulSum;
  made.scalar = found->second.scalar;
  return {};
}

/// Makes the reduction that multiplies each input by a scalar before the sum.
Status create_op(rsRedOp_t* op, const void* scalar, rsDataType_t type,
                 rsScalarResidence_t residence, rsComm_t comm) {
  if (op == nullptr || scalar == nullptr || comm == nullptr || type < rsInt8 ||
      type > rsFloat8e5m2) {
    return Error{ErrorCode::InvalidArgument, "a null argument, or an invalid type",
                 "pass the address of a rsRedOp_t, a scalar, its type and a communicator"};
  }
  if (comm->is_on_gpu && residence == rsScalarDevice) {
    return Error{ErrorCode::Unsupported, "a scalar in memory of a GPU",
                 "give it with rsScalarHostImmediate"};
  }
  rsComm::PreMulSum made{static_cast<DataType>(type), {}};
  std::memcpy(&made.scalar, scalar, size_of(made.type).value);
  const std::lock_guard lock(comm->mutex);
  *op = static_cast<rsRedOp_t>(comm->next_op);
  comm->ops.emplace(comm->next_op++, made);
  return {};
}

/// Checks that a number of elements is not a mistake, such as a negative number: sizes in bytes of up to 512 ranks'
/// buffers fit into 64 bits.
Status check_count(size_t count) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<std::int64_t>::max() / 4096);
  if (count <= kMost) return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("a count of {} elements is too large", count),
               fmt::format("pass at most {}", kMost)};
}

/// Makes or enqueues a call.
/// fill  is called once the communicator is ready; sets the fields that only some collectives have, and returns a Status
template <typename Fill>
rsResult_t call(Collective collective, size_t count, rsDataType_t type, rsComm_t comm,
                rsStream_t stream, Fill&& fill) noexcept {
  return guarded([&]() -> Status {
    RINGSIDE_TRY(const CommunicatorInUse communicator, communicator_of(comm));
    RINGSIDE_TRY(check_count(count));
    if (type < rsInt8 || type > rsFloat8e5m2) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("there is no datatype {}", static_cast<int>(type)),
                   "pass rsInt8 .. rsFloat8e5m2"};
    }
    CollectiveCall made;
    made.collective = collective;
    made.count = static_cast<std::int64_t>(count);
    made.type = static_cast<DataType>(type);
    RINGSIDE_TRY(fill(made));
    return call_with_group(communicator, call_stream_of(*comm, stream), std::move(made));
  });
}

/// Makes or enqueues a send or a receive, which is a list of one transfer.
/// fill  sets the buffer
template <typename Fill>
rsResult_t message(Collective collective, size_t count, rsDataType_t type, int peer, rsComm_t comm,
                   rsStream_t stream, Fill&& fill) noexcept {
  return call(collective, count, type, comm, stream, [&](CollectiveCall& made) {
    const Transfer one{Rank{peer}, 0, made.count};
    (collective == Collective::Send ? made.sends : made.recvs).push_back(one);
    fill(made);
    return Status{};
  });
}

}  // namespace
}  // namespace ringside

using namespace ringside;

rsResult_t rsGetVersion(int* version) {
  if (version == nullptr) return refuse("version is null", "pass the address of an int");
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::sscanf(RINGSIDE_VERSION, "%d.%d.%d", &major, &minor, &patch);
  *version = 10000 * major + 100 * minor + patch;  // as NCCL_VERSION() since NCCL 2.9
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
  return guarded([&] { return make_unique_id(uniqueId); });
}

rsResult_t rsCommInitRank(rsComm_t* comm, int nranks, rsUniqueId commId, int rank) {
  return rsCommInitRankConfig(comm, nranks, commId, rank, nullptr);
}

rsResult_t rsCommInitRankConfig(rsComm_t* comm, int nranks, rsUniqueId commId, int rank,
                                rsConfig_t* config) {
  return guarded([&] { return init_communicator(comm, nranks, commId, rank, config); });
}

rsResult_t rsCommSplit(rsComm_t comm, int color, int key, rsComm_t* newcomm, rsConfig_t* config) {
  const std::string description =
      config != nullptr && config->commName != nullptr ? config->commName : "undefined";
  const std::optional<int> part_of = color >= 0 ? std::optional(color) : std::nullopt;
  return make_part(comm, newcomm, config, part_of.has_value(), [=](runtime::Communicator& parent) {
    return parent.split(part_of, key, description);
  });
}

rsResult_t rsCommShrink(rsComm_t comm, int* excludeRanksList, int excludeRanksCount,
                        rsComm_t* newcomm, rsConfig_t* config, int /*shrinkFlags*/) {
  if (excludeRanksCount < 0 || (excludeRanksCount > 0 && excludeRanksList == nullptr)) {
    return refuse("a null list, or fewer than no ranks", "give the ranks to exclude");
  }
  std::vector<Rank> without;
  for (int i = 0; i < excludeRanksCount; ++i) without.push_back(Rank{excludeRanksList[i]});
  return make_part(comm, newcomm, config, true,
                   [=](runtime::Communicator& parent) { return parent.shrink(without); });
}

rsResult_t rsCommFinalize(rsComm_t comm) {
  return guarded([&]() -> Status {
    RINGSIDE_TRY(const CommunicatorInUse use, communicator_of(comm));
    {
      const std::lock_guard lock(comm->mutex);
      if (std::exchange(comm->is_finalized, true)) {
        return Error{ErrorCode::InvalidArgument, "a communicator that was finalized already",
                     "finalize it once, then destroy it"};
      }
      comm->is_ending = !comm->is_blocking;
    }
    const auto finish = [comm, use] {
      comm->parts.synchronize();
      return use->finish();
    };
    if (comm->is_blocking) return do_with_group(comm, finish);
    comm->ending = std::jthread([comm, finish] {
      // Errors are reported by rsCommGetAsyncError().
      static_cast<void>(guarded(finish));
      const std::lock_guard lock(comm->mutex);
      comm->is_ending = false;
    });
    return {};
  });
}

rsResult_t rsCommDestroy(rsComm_t comm) {
  return guarded([&]() -> Status {
    if (comm == nullptr) return {};
    leave_group(comm);
    bool is_over = false;
    {
      const std::lock_guard lock(comm->mutex);
      const bool is_there = comm->is_making || comm->ready;
      is_over = comm->is_finalized || !is_there ||
                (comm->ready && comm->ready->async_error().has_value());
    }
    if (is_over) {
      free_unused(comm);
    } else {
      Leaving::of_process().add(comm);
    }
    return {};
  });
}

rsResult_t rsCommAbort(rsComm_t comm) {
  return guarded([&]() -> Status {
    if (comm == nullptr) return {};
    leave_group(comm);
    break_off(*comm, "rsCommAbort() was called");
    free_unused(comm);
    return {};
  });
}

rsResult_t rsCommGetAsyncError(rsComm_t comm, rsResult_t* asyncError) {
  if (comm == nullptr || asyncError == nullptr) return refuse("null argument", "give both");
  return guarded([&]() -> Status {
    *asyncError = rsSuccess;
    {
      const std::lock_guard lock(comm->mutex);
      const bool is_coming = comm->pending && !comm->pending->is_ready();
      const bool is_parting = comm->is_making || !comm->parts.is_idle();
      if (is_coming || is_parting || comm->is_ending) *asyncError = rsInProgress;
    }
    if (*asyncError == rsInProgress) return {};
    const Result<CommunicatorInUse> ready = communicator_of(comm);
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
  const std::lock_guard lock(comm->mutex);
  *count = comm->nranks;
  return comm->is_making ? rsInProgress : rsSuccess;
}

rsResult_t rsCommUserRank(rsComm_t comm, int* rank) {
  if (comm == nullptr || rank == nullptr) return refuse("null argument", "give both");
  const std::lock_guard lock(comm->mutex);
  *rank = comm->rank;
  return comm->is_making ? rsInProgress : rsSuccess;
}

rsResult_t rsRedOpCreatePreMulSum(rsRedOp_t* op, void* scalar, rsDataType_t datatype,
                                  rsScalarResidence_t residence, rsComm_t comm) {
  return guarded([&] { return create_op(op, scalar, datatype, residence, comm); });
}
rsResult_t rsRedOpDestroy(rsRedOp_t op, rsComm_t comm) {
  if (comm == nullptr) return refuse("comm is null", "give the op's");
  const std::lock_guard lock(comm->mutex);
  if (comm->ops.erase(op) == 1) return rsSuccess;
  return refuse("no such op of this communicator", "destroy what it has, once");
}

rsResult_t rsGroupStart() {
  begin_group();
  return rsSuccess;
}
rsResult_t rsGroupEnd() {
  return guarded([] { return end_group(); });
}

rsResult_t rsReduce(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                    rsRedOp_t op, int root, rsComm_t comm, rsStream_t stream) {
  return call(Collective::Reduce, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    made.root = Rank{root};
    return set_op(made, comm, op);
  });
}
rsResult_t rsBroadcast(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                       int root, rsComm_t comm, rsStream_t stream) {
  return call(Collective::Broadcast, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    made.root = Rank{root};
    return Status{};
  });
}
rsResult_t rsAllReduce(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                       rsRedOp_t op, rsComm_t comm, rsStream_t stream) {
  return call(Collective::AllReduce, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    return set_op(made, comm, op);
  });
}
rsResult_t rsReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                           rsDataType_t datatype, rsRedOp_t op, rsComm_t comm, rsStream_t stream) {
  return call(Collective::ReduceScatter, recvcount, datatype, comm, stream,
              [&](CollectiveCall& made) {
                made.input = sendbuff;
                made.output = recvbuff;
                return set_op(made, comm, op);
              });
}
rsResult_t rsAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                       rsDataType_t datatype, rsComm_t comm, rsStream_t stream) {
  return call(Collective::AllGather, sendcount, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    return Status{};
  });
}
rsResult_t rsAllGatherV(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                        rsDataType_t datatype, rsComm_t comm, rsStream_t stream) {
  constexpr size_t kNotYet = 0;  // this rank's count: only `fill` may know its rank
  const auto fill = [&](CollectiveCall& made) -> Status {
    if (recvcounts == nullptr) {
      return Error{ErrorCode::InvalidArgument, "recvcounts is null", "pass each rank's count"};
    }
    for (int rank = 0; rank < comm->nranks; ++rank) RINGSIDE_TRY(check_count(recvcounts[rank]));
    made.input = sendbuff;
    made.output = recvbuff;
    made.counts.assign(recvcounts, recvcounts + comm->nranks);
    made.count = made.counts[static_cast<size_t>(comm->rank)];
    return {};
  };
  return call(Collective::AllGatherV, kNotYet, datatype, comm, stream, fill);
}
rsResult_t rsAlltoAll(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                      rsComm_t comm, rsStream_t stream) {
  return call(Collective::AllToAll, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    return Status{};
  });
}
rsResult_t rsGather(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                    int root, rsComm_t comm, rsStream_t stream) {
  return call(Collective::Gather, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    made.root = Rank{root};
    return Status{};
  });
}
rsResult_t rsScatter(const void* sendbuff, void* recvbuff, size_t count, rsDataType_t datatype,
                     int root, rsComm_t comm, rsStream_t stream) {
  return call(Collective::Scatter, count, datatype, comm, stream, [&](CollectiveCall& made) {
    made.input = sendbuff;
    made.output = recvbuff;
    made.root = Rank{root};
    return Status{};
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
