#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/collectives/chunk_rule.h"
#include "engine/collectives/ports.h"
#include "sim/simulate.h"
#include "trace/recorder.h"
#include "trace/step_event.h"

namespace ringside {

/// Records the trace of one simulated call. Every fidelity writes its trace through this class.
///
/// Threads  one
class CallTrace {
 public:
  static constexpr std::uint32_t kSequence = 1;  ///< of the trace's only call

  /// request  outlives the object
  /// process  the clock, host, pid and command line that the trace names as its writer
  /// errors   as TraceRecorder::start()
  static Result<std::unique_ptr<CallTrace>> start(const SimRequest& request,
                                                  std::shared_ptr<TraceSink> sink,
                                                  TraceInfo process);

  [[nodiscard]] TraceLane& lane() { return *lane_; }

  /// Returns an event with the fields set that all events of the rank on the channel share.
  [[nodiscard]] TraceEvent event_of(int rank, int channel) const;

  /// Records the call on one rank: from its launch to the end of its last channel.
  void record_call(int rank, Seconds end);

  void flush() { recorder_->flush(); }

 private:
  explicit CallTrace(const SimRequest& request) : request_(request) {}

  const SimRequest& request_;
  std::unique_ptr<TraceRecorder> recorder_;
  TraceLane* lane_ = nullptr;
};

/// One simulated step of a rank on a channel.
struct SimStep {
  Primitive primitive = Primitive::Copy;
  ChunkSpan span;
  Bytes element;  ///< size of one element of the call's data type
  Seconds begin{}, end{};
  std::uint32_t number = 0;  ///< index of the step among the rank's steps on its channel
};

/// Records the step's event, and the events of its messages.
/// event       fields shared by the rank and channel, as CallTrace::event_of() returns them
/// recv, send  callbacks, as record_step() takes them
template <typename ForEachReceived, typename ForEachSent>
void record_sim_step(TraceLane& lane, TraceEvent event, const SimStep& step,
                     const ForEachReceived& recv, const ForEachSent& send) {
  const PrimitiveParts parts = parts_of(step.primitive);
  event.begin_ns = std::llround(step.begin.count() * 1e9);
  event.end_ns = std::llround(step.end.count() * 1e9);
  event.offset =
      static_cast<std::uint64_t>(parts.writes_output ? step.span.output : step.span.input) *
      step.element.value;
  event.bytes = static_cast<std::uint64_t>(step.span.count) * step.element.value;
  event.step = step.number;
  event.primitive = step.primitive;
  record_step(lane, event, recv, send);
}

/// The ranks that a port of a simulated rank leads to: one peer, or the other side of a group.
struct PortRanks {
  Rank peer = kNoRank;
  const std::vector<Rank>* members = nullptr;  ///< of a group; null: not a group
};

/// Calls visit(rank) for each rank that the ports lead to. Visits the ranks of a group in order.
/// at  function from a port's number to its PortRanks
template <typename At, typename Visit>
void for_each_rank(Ports ports, const At& at, const Visit& visit) {
  for_each_port(ports, [&](int number) {
    const PortRanks port = at(number);
    if (port.members == nullptr) return visit(port.peer);
    for (const Rank rank : *port.members) visit(rank);
  });
}

}  // namespace ringside
