#include "engine/capi/handles.h"

namespace ringside {
namespace {

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
    case ErrorCode::Unreachable:
      return rsRemoteError;
    case ErrorCode::System:
    case ErrorCode::NotFound:
      return rsSystemError;
    case ErrorCode::Corrupt:
      break;
  }
  return rsInternalError;
}

}  // namespace

thread_local std::string last_error;

rsResult_t refuse(const Error& error) {
  last_error = error.help.empty() ? error.message : error.message + "; " + error.help;
  return result_of(error.code);
}

rsResult_t refuse(const char* what, const char* help) {
  return refuse(Error{ErrorCode::InvalidArgument, what, help});
}

CommunicatorInUse::CommunicatorInUse(rsComm& comm) : comm_(&comm) {
  const std::lock_guard lock(comm_->mutex);
  ++comm_->users;
}

CommunicatorInUse::~CommunicatorInUse() {
  const std::lock_guard lock(comm_->mutex);
  if (--comm_->users == 0) comm_->unused.notify_all();
}

Result<CommunicatorInUse> communicator_of(rsComm_t comm) {
  if (comm == nullptr) {
    return Error{ErrorCode::InvalidArgument, "no communicator",
                 "give one that rsCommInit* has made"};
  }
  CommunicatorInUse use(*comm);
  {
    std::unique_lock lock(comm->mutex);
    comm->made.wait(lock, [comm] { return !comm->is_making; });
  }
  // Only the holder of this mutex resets the pointer, so it stays valid during the wait; other threads may abort it.
  const std::lock_guard waiting(comm->waiting);
  if (comm->pending) {
    auto made = comm->pending->take();
    const std::lock_guard lock(comm->mutex);
    comm->pending.reset();
    if (made) {
      comm->ready = *std::move(made);
      if (comm->is_aborted) comm->ready->abort({ErrorCode::Aborted, "it was aborted"});
    } else {
      comm->failed = made.error();
    }
  }
  if (comm->failed) return *comm->failed;
  return use;
}

void break_off(rsComm& comm, const char* why) {
  const std::lock_guard lock(comm.mutex);
  comm.is_aborted = true;
  if (comm.pending) comm.pending->abort();
  if (comm.ready) comm.ready->abort({ErrorCode::Aborted, why});
}

void free_unused(rsComm_t comm) {
  const std::unique_ptr<rsComm> mine(comm);
  std::unique_lock lock(comm->mutex);
  comm->unused.wait(lock, [comm] { return comm->users == 0; });
}

}  // namespace ringside
