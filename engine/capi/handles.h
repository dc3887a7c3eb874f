#pragma once

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "engine/capi/ringside.h"
#include "engine/reduce/element.h"
#include "engine/runtime/communicator.h"
#include "engine/runtime/host_stream.h"
#include "engine/runtime/pending_communicator.h"

/// What the handles of ringside.h are, and what all its calls do alike. For the sources of this folder alone.

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
  struct PreMulSum {
    ringside::DataType type;
    ringside::ElementBits scalar;
  };
  std::map<int, PreMulSum> ops;  ///< by their numbers
  int next_op = rsNumOps;
};

namespace ringside {

/// What rsGetLastError() tells this thread.
extern thread_local std::string last_error;

/// Keeps the words for rsGetLastError(). returns  NCCL's number for it
rsResult_t refuse(const Error& error);
rsResult_t refuse(const char* what, const char* help);

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

/// The communicator itself; waits for one that is on its way.
/// errors  InvalidArgument: null.  Why it could not be made
Result<Communicator*> communicator_of(rsComm_t comm);

}  // namespace ringside
