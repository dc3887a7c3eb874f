#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "engine/flight/recorder.h"
#include "engine/reduce/element.h"
#include "engine/runtime/calls/call.h"
#include "engine/runtime/communicator.h"
#include "engine/runtime/host/host_stream.h"
#include "engine/runtime/pending_communicator.h"
#include "engine/runtime/watch/status_service.h"
#include "ringside/ringside.h"

/// What the handles of ringside.h are, and what all its calls do alike. For the sources of this folder alone.

struct rsStream {
  ringside::HostStream queue;
  std::optional<ringside::DeviceStream> device =
      {};  ///< it stands for this one, and `queue` is not used
};

/// A communicator, or one that is on its way.
struct rsComm {
  int nranks = 0;
  int rank = 0;
  bool is_blocking = true;
  bool is_on_gpu = false;
  /// Of its rank's calls; null: nobody has a use for them. Outlives what follows.
  std::shared_ptr<ringside::FlightRecorder> recorder;
  std::unique_ptr<ringside::StatusService> status;  ///< null: nobody may ask
  std::mutex waiting;  ///< held by whoever waits for `pending`; taken before the other
  std::mutex mutex;    ///< guards what follows
  std::unique_ptr<ringside::PendingCommunicator> pending;
  std::unique_ptr<ringside::runtime::Communicator> ready;
  std::optional<ringside::Error> failed;  ///< why it could not be made, or be ended
  std::string name;
  struct PreMulSum {
    ringside::DataType type;
    ringside::ElementBits scalar;
  };
  std::map<int, PreMulSum> ops;  ///< by their numbers
  int next_op = rsNumOps;
  bool is_aborted = false, is_finalized = false, is_ending = false;
  bool is_making = false;          ///< a part that nobody waits for: `parts` of its parent makes it
  std::condition_variable made;    ///< it is made, or has failed
  int users = 0;                   ///< calls that are under way: it stays while there are any
  std::condition_variable unused;  ///< there are none any more
  std::jthread ending;             ///< of a finalize that nobody waits for
  ringside::HostStream parts;  ///< makes parts of this one, in their order; its end waits for that
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

/// A communicator in the hands of a call: it is not freed before the call is over, whoever aborts it meanwhile.
class CommunicatorInUse {
 public:
  explicit CommunicatorInUse(rsComm& comm);
  CommunicatorInUse(const CommunicatorInUse& other) : CommunicatorInUse(*other.comm_) {}
  CommunicatorInUse& operator=(const CommunicatorInUse&) = delete;
  ~CommunicatorInUse();

  [[nodiscard]] bool is_of(const rsComm* comm) const { return comm_ == comm; }
  runtime::Communicator& operator*() const { return *comm_->ready; }
  runtime::Communicator* operator->() const { return comm_->ready.get(); }

 private:
  rsComm* const comm_;
};

/// The communicator itself; waits for one that is on its way.
/// errors  InvalidArgument: null.  Why it could not be made
Result<CommunicatorInUse> communicator_of(rsComm_t comm);

/// Ends its making or its calls, where something is under way, for this reason on every rank.
void break_off(rsComm& comm, const char* why);

/// Frees it once no call has it in hand.
void free_unused(rsComm_t comm);

}  // namespace ringside
