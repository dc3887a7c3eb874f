#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sim/wire.h"
#include "trace/sink.h"

namespace ringside {

/// The process that wants a simulation, as the simulating one sees it.
///
/// Threads  one
class Caller {
 public:
  explicit Caller(int socket) : socket_(socket) {}

  /// errors  PeerGone; Corrupt: what comes is no job, or of another version of ringside
  Result<WireJob> job();

  /// errors  PeerGone, Corrupt
  Result<WireRoutes> ask(WireQuestion question);

  void report_progress(const WireProgress& progress) {
    static_cast<void>(send_wire(socket_, encode(progress)));
  }

  void answer(Result<SimResult> result);

  /// Takes blocks of a trace.  Ownership  the caller outlives it
  [[nodiscard]] std::shared_ptr<TraceSink> sink();

 private:
  int socket_;
};

}  // namespace ringside
