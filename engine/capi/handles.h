#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
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
#include "engine/runtime/watch/call_faults.h"
#include "engine/runtime/watch/status_service.h"
#include "ringside/ringside.h"
#include "trace/recorder.h"

/// The types behind the handles of ringside.h, and the code that all its functions share. Private to this folder and
/// to api/.

/// A stream of the C API: a queue of this process, or a stream of the GPU.
struct rsStream {
  ringside::HostStream queue;
  /// If set, this handle represents it, and `queue` is unused
  std::optional<ringside::DeviceStream> device = {};
};

/// A communicator, which may still be in the making.
struct rsComm {
  int nranks = 0;
  int rank = 0;
  bool is_blocking = true;
  bool is_on_gpu = false;
  /// Records the rank's calls; null: not recorded. It outlives the members below.
  std::shared_ptr<ringside::FlightRecorder> recorder;
  std::shared_ptr<ringside::CallFaults> faults;     ///< null: none are planned. Likewise
  std::shared_ptr<ringside::TraceRecorder> trace;   ///< null: no trace. Likewise
  std::unique_ptr<ringside::StatusService> status;  ///< null: there is no service
  std::mutex waiting;  ///< held by the thread that waits for `pending`; taken before the other
  std::mutex mutex;    ///< guards what follows
  std::unique_ptr<ringside::PendingCommunicator> pending;
  std::unique_ptr<ringside::runtime::Communicator> ready;
  std::optional<ringside::Error> failed;  ///< why it could not be made, or be ended
  std::string name;
  /// As CommunicatorConfig; empty: not reported
  std::function<void(const ringside::UnreceivedMessages&)> when_left;
  struct PreMulSum {
    ringside::DataType type;
    ringside::ElementBits scalar;
  };
  std::map<int, PreMulSum> ops;  ///< by their numbers
  int next_op = rsNumOps;
  bool is_aborted = false, is_finalized = false, is_ending = false;
  bool is_making = false;        ///< a non-blocking split: the parent's `parts` is making it
  std::condition_variable made;  ///< signalled when it is made, or has failed
  int users = 0;  ///< number of functions that use it; it is not freed before they return
  std::condition_variable unused;  ///< signalled when `users` is 0
  std::jthread ending;             ///< thread of a non-blocking finalize
  /// Makes parts of this communicator in order; its destructor waits for them
  ringside::HostStream parts;
};

namespace ringside {

/// The result of rsGetLastError() on this thread.
extern thread_local std::string last_error;

/// Stores the error's text for rsGetLastError().  returns  the matching rsResult_t
rsResult_t refuse(const Error& error);
rsResult_t refuse(const char* what, const char* help);

/// Runs the body of a call: no exception leaves it.
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

/// Keeps a communicator from being freed while a call uses it, even if another thread aborts it.
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

/// Returns the communicator; waits while it is being made.
/// errors  InvalidArgument: null.  The error of making it
Result<CommunicatorInUse> communicator_of(rsComm_t comm);

/// Cancels its making or its running calls, with this reason on every rank.
void break_off(rsComm& comm, const char* why);

/// Frees the communicator once no call uses it.
void free_unused(rsComm_t comm);

}  // namespace ringside
