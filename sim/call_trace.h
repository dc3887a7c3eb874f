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

/// The trace of a simulated call, the same whichever fidelity writes it.
///
/// Threads  one
class CallTrace {
 public:
  /// process  whose call it is: clock, host, pid, command line
  /// errors   as TraceRecorder::start()
  static Result<std::unique_ptr<CallTrace>> start(const SimRequest& request,
                                                  std::shared_ptr<TraceSink> sink,
                                                  TraceInfo process);

  [[nodiscard]] TraceLane& lane() { return *lane_; }

  /// What all events of a rank on a channel share.
  [[nodiscard]] TraceEvent event_of(int rank, int channel) const;

  /// The whole call on one rank: from its launch until its last channel is through.
  void record_call(int rank, Seconds end);

  void flush() { recorder_->flush(); }

 private:
  explicit CallTrace(const SimRequest& request) : request_(request) {}

  const SimRequest& request_;
  std::unique_ptr<TraceRecorder> recorder_;
  TraceLane* lane_ = nullptr;
};

/// One step that was simulated.
struct SimStep {
  Primitive primitive = Primitive::Copy;
  ChunkSpan span;
  Bytes element;  ///< of the call's type
  Seconds begin{}, end{};
  std::uint32_t number = 0;  ///< of the rank's on its channel
};

/// event       as CallTrace::event_of()
/// recv, send  as record_step()
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

/// What a port of a simulated rank leads to: one rank, or the other side of a group.
struct PortRanks {
  Rank peer = kNoRank;
  const std::vector<Rank>* members = nullptr;  ///< of a group; else null
};

/// Calls visit(rank) for each rank behind the ports, a group's one after the other.
/// at  at(number) gives a port's PortRanks
template <typename At, typename Visit>
void for_each_rank(Ports ports, const At& at, const Visit& visit) {
  for_each_port(ports, [&](int number) {
    const PortRanks port = at(number);
    if (port.members == nullptr) return visit(port.peer);
    for (const Rank rank : *port.members) visit(rank);
  });
}

}  // namespace ringside
