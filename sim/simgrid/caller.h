#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sim/wire.h"
#include "trace/sink.h"

namespace ringside {

/// The connection of a worker process (ringside-simgrid) to the process that requested the
/// simulation.
///
/// Threads  one
class Caller {
 public:
  explicit Caller(int socket) : socket_(socket) {}

  /// Receives the job.
  /// errors  PeerGone; Corrupt: not a job, or sent by another version of ringside
  Result<WireJob> job();

  /// Asks the caller for routes and waits for the answer.
  /// errors  PeerGone, Corrupt
  Result<WireRoutes> ask(WireQuestion question);

  /// Sends progress. A failure to send is ignored: the caller is then gone.
  void report_progress(const WireProgress& progress) {
    static_cast<void>(send_wire(socket_, encode(progress)));
  }

  /// Sends the result or the error. A failure to send is ignored: the caller is then gone.
  void answer(Result<SimResult> result);

  /// Returns a sink that sends blocks of a trace to the caller.  Ownership  this object outlives
  /// the sink
  [[nodiscard]] std::shared_ptr<TraceSink> sink();

 private:
  int socket_;
};

}  // namespace ringside
