#include "ringside/communicator.h"

#include <cstring>
#include <utility>

#include "base/result.h"
#include "ringside/ringside.h"

namespace ringside {
namespace {

static_assert(sizeof(CommunicatorId::bytes) == RS_UNIQUE_ID_BYTES);

Status status_of(rsResult_t result, rsComm_t comm) {
  ErrorCode code = ErrorCode::Aborted;
  switch (result) {
    case rsSuccess:
      return {};
    case rsSystemError:
      code = ErrorCode::System;
      break;
    case rsInvalidArgument:
      code = ErrorCode::InvalidArgument;
      break;
    case rsInvalidUsage:
      code = ErrorCode::Unsupported;
      break;
    case rsRemoteError:
      code = ErrorCode::PeerGone;
      break;
    case rsInternalError:
    case rsInProgress:
      break;
  }
  return Error{code, rsGetLastError(comm)};
}

rsResult_t start(Collective collective, const void* input, void* output, std::size_t count,
                 DataType type, const CallOptions& options, rsComm_t comm, rsStream_t stream) {
  const auto c_type = static_cast<rsDataType_t>(type);
  const auto op = static_cast<rsRedOp_t>(options.op);
  switch (collective) {
    case Collective::Broadcast:
      return rsBroadcast(input, output, count, c_type, options.root, comm, stream);
    case Collective::Reduce:
      return rsReduce(input, output, count, c_type, op, options.root, comm, stream);
    case Collective::AllGather:
      return rsAllGather(input, output, count, c_type, comm, stream);
    case Collective::ReduceScatter:
      return rsReduceScatter(input, output, count, c_type, op, comm, stream);
    case Collective::AllReduce:
      return rsAllReduce(input, output, count, c_type, op, comm, stream);
    case Collective::Send:
      return rsSend(input, count, c_type, options.root, comm, stream);
    case Collective::Recv:
      return rsRecv(output, count, c_type, options.root, comm, stream);
    case Collective::AllToAll:
      return rsAlltoAll(input, output, count, c_type, comm, stream);
    case Collective::Scatter:
      return rsScatter(input, output, count, c_type, options.root, comm, stream);
    case Collective::Gather:
      return rsGather(input, output, count, c_type, options.root, comm, stream);
    case Collective::SendRecv:
    case Collective::AllGatherV:
      break;
  }
  return rsInvalidUsage;
}

}  // namespace

struct Communicator::Impl {
  rsComm_t comm = nullptr;
  rsStream_t stream = nullptr;

  ~Impl() {
    if (comm != nullptr) rsCommDestroy(comm);
    if (stream != nullptr) rsStreamDestroy(stream);
  }
};

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Result<CommunicatorId> CommunicatorId::make() {
  rsUniqueId made{};
  RINGSIDE_TRY(status_of(rsGetUniqueId(&made), nullptr));
  CommunicatorId id;
  std::memcpy(id.bytes.data(), made.internal, sizeof made.internal);
  return id;
}

Result<Communicator> Communicator::join(const CommunicatorId& id, int nranks, int rank,
                                        const CommunicatorConfig& config) {
  rsUniqueId c_id{};
  std::memcpy(c_id.internal, id.bytes.data(), sizeof c_id.internal);
  rsConfig_t c_config = RS_CONFIG_INITIALIZER;
  c_config.connectTimeout = config.connect_timeout.count();
  c_config.opTimeout = config.op_timeout.count();
  c_config.commName = config.name.empty() ? nullptr : config.name.c_str();
  c_config.device = "host";
  auto impl = std::make_unique<Impl>();
  RINGSIDE_TRY(
      status_of(rsCommInitRankConfig(&impl->comm, nranks, c_id, rank, &c_config), nullptr));
  RINGSIDE_TRY(status_of(rsStreamCreate(&impl->stream), nullptr));
  return Communicator(std::move(impl));
}

int Communicator::rank() const {
  int rank = 0;
  rsCommUserRank(impl_->comm, &rank);
  return rank;
}

int Communicator::nranks() const {
  int count = 0;
  rsCommCount(impl_->comm, &count);
  return count;
}

Status Communicator::run(Collective collective, const void* input, void* output, std::size_t count,
                         DataType type, CallOptions options) {
  if (collective == Collective::SendRecv || collective == Collective::AllGatherV) {
    return Error{ErrorCode::Unsupported, "send_recv and all_gather_v through Communicator::run()",
                 "call rsGroupStart() with rsSend() and rsRecv(), or rsAllGatherV()"};
  }
  RINGSIDE_TRY(
      status_of(start(collective, input, output, count, type, options, impl_->comm, impl_->stream),
                impl_->comm));
  RINGSIDE_TRY(status_of(rsStreamSynchronize(impl_->stream), impl_->comm));
  rsResult_t result = rsSuccess;
  RINGSIDE_TRY(status_of(rsCommGetAsyncError(impl_->comm, &result), impl_->comm));
  return status_of(result, impl_->comm);
}

Status Communicator::finish() { return status_of(rsCommFinalize(impl_->comm), impl_->comm); }

}  // namespace ringside
