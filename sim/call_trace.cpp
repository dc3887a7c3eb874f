#include "sim/call_trace.h"

#include <fmt/format.h>

#include "base/vocabulary.h"
#include "engine/collectives/plan.h"

namespace ringside {

Result<std::unique_ptr<CallTrace>> CallTrace::start(const SimRequest& request,
                                                    std::shared_ptr<TraceSink> sink,
                                                    TraceInfo process) {
  process.values = {{"collective", to_string(request.choice.collective)},
                    {kTraceCluster, request.trace_label},
                    {"nranks", fmt::format("{}", request.network->nranks())},
                    {"nchannels", fmt::format("{}", request.choice.nchannels)},
                    {"count", fmt::format("{}", request.call.count)},
                    {"type", to_string(request.call.type)}};
  std::unique_ptr<CallTrace> trace(new CallTrace(request));
  RINGSIDE_TRY(trace->recorder_, TraceRecorder::start(std::move(sink), std::move(process)));
  trace->lane_ = trace->recorder_->add_lane();
  return trace;
}

TraceEvent CallTrace::event_of(int rank, int channel) const {
  TraceEvent event;
  event.rank = rank;
  event.channel = static_cast<std::uint16_t>(channel);
  event.sequence = 1;
  event.collective = request_.choice.collective;
  event.algorithm = request_.choice.algorithm;
  event.protocol = request_.choice.protocol;
  return event;
}

void CallTrace::record_call(int rank, Seconds end) {
  TraceEvent event = event_of(rank, 0);
  event.kind = EventKind::Collective;
  event.end_ns = std::llround(end.count() * 1e9);
  event.bytes =
      call_bytes(request_.choice.collective, request_.call, request_.network->nranks()).value;
  lane_->record(event);
}

}  // namespace ringside
