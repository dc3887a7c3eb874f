#include "gui/model/call_trace.h"

#include <algorithm>
#include <memory>

#include "diag/hangdetect/recordings/recording.h"
#include "study/interchange/recorded_trace.h"
#include "trace/endless.h"
#include "trace/group_names.h"
#include "trace/recorder.h"
#include "trace/replay/event_table.h"
#include "trace/sink.h"

namespace ringside::gui {
namespace {

std::uint64_t bytes_of(const hang::Signature& signature) {
  return signature.input_count *
         std::max<std::uint64_t>(1, recordings::element_bytes(signature.types));
}

bool is_time(std::int64_t ns) { return ns > 0 && ns < (std::int64_t{1} << 61); }

/// From the first to the last moment that any call was made at.
TimeRange made_in(const hang::Job& job) {
  TimeRange made{INT64_MAX, 0};
  for (int rank = 0; rank < job.world(); ++rank) {
    const hang::RankView& view = job.rank(rank);
    if (view.dump == nullptr) continue;
    for (const hang::Call& call : view.dump->calls) {
      if (!is_time(call.created_ns)) continue;
      made.begin_ns = std::min(made.begin_ns, call.created_ns);
      made.end_ns = std::max(made.end_ns, call.created_ns);
    }
  }
  return made.begin_ns < made.end_ns ? made : TimeRange{made.end_ns, made.end_ns};
}

/// Writes calls one after the other: events are numbered in the order in which they are added.
class CallWriter {
 public:
  static Result<CallWriter> start(TraceClock clock) {
    CallWriter writer;
    RINGSIDE_TRY(writer.recorder_, TraceRecorder::start(writer.sink_, this_process_info(clock)));
    writer.lane_ = writer.recorder_->add_lane();
    return writer;
  }

  void add(const TraceEvent& event, std::int64_t waits_until) {
    lane_->record(event);
    waits_until_.push_back(waits_until);
  }

  CallTrace finish(std::vector<std::string> communicators, std::int64_t endless_ns) {
    recorder_->flush();
    return {sink_->bytes(), std::move(waits_until_), std::move(communicators), endless_ns};
  }

 private:
  std::shared_ptr<TraceMemorySink> sink_ = std::make_shared<TraceMemorySink>();
  std::shared_ptr<TraceRecorder> recorder_;
  TraceLane* lane_ = nullptr;
  std::vector<std::int64_t> waits_until_;
};

// ---- dumps -------------------------------------------------------------------------------------

class DumpCalls {
 public:
  DumpCalls(const hang::Job& job, CallWriter& writer, std::int64_t end)
      : job_(job), writer_(writer), end_(end) {}

  void record(int rank) {
    const hang::RankView& view = job_.rank(rank);
    if (view.dump == nullptr) return;
    const auto& calls = view.dump->calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const hang::Call& call = calls[i];
      if (i >= view.group_of_call.size() || view.group_of_call[i] < 0 || !is_time(call.created_ns))
        continue;
      const hang::Signature& signature = job_.signature(call);
      const auto group = static_cast<std::size_t>(view.group_of_call[i]);
      TraceEvent event;
      event.kind = EventKind::Collective;
      event.rank = rank;
      event.communicator =
          static_cast<std::uint32_t>(call.is_p2p ? group + job_.groups().size() : group);
      event.sequence = call.sequence;
      event.collective = study::collective_of(signature.op);
      event.bytes = bytes_of(signature);
      event.begin_ns = call.created_ns;
      event.end_ns = std::max(call.created_ns, call.is_pending() ? end_ : next_of(view, i));
      writer_.add(event, call.is_pending() ? CallTrace::kForever : event.begin_ns);
    }
  }

 private:
  [[nodiscard]] std::int64_t next_of(const hang::RankView& view, std::size_t i) const {
    const auto& calls = view.dump->calls;
    for (std::size_t next = i + 1; next < calls.size(); ++next) {
      if (view.group_of_call[next] == view.group_of_call[i] && is_time(calls[next].created_ns)) {
        return calls[next].created_ns;
      }
    }
    return calls[i].created_ns + 1;
  }

  const hang::Job& job_;
  CallWriter& writer_;
  std::int64_t end_;
};

}  // namespace

Result<CallTrace> trace_of(const hang::Job& job) {
  RINGSIDE_TRY(CallWriter writer, CallWriter::start(TraceClock::HostMonotonic));
  const TimeRange made = made_in(job);
  const std::int64_t end = shown_end_of_endless(made.begin_ns, made.end_ns);
  DumpCalls calls(job, writer, end);
  for (int rank = 0; rank < job.world(); ++rank) calls.record(rank);
  std::vector<std::string> groups;
  for (const hang::Group& group : job.groups()) groups.push_back(hang::title_of(group));
  return writer.finish(communicator_names(std::move(groups)), end);
}

Result<CallTrace> trace_of(const study::ScenarioOutcome& outcome) {
  RINGSIDE_TRY(CallWriter writer, CallWriter::start(TraceClock::Simulated));
  std::int64_t last = 0;
  for (const study::PlayedCall& call : outcome.played)
    last = std::max({last, call.started_ns, call.completed_ns});
  for (const TraceEvent& event : outcome.compute) last = std::max(last, event.end_ns);
  const std::int64_t end = shown_end_of_endless(0, last);
  for (const study::PlayedCall& call : outcome.played) {
    if (call.started_ns < 0) continue;  // it is queued after a call that never ends
    writer.add(study::event_of(call, outcome.groups.size(), end),
               call.moving_ns < 0 ? CallTrace::kForever : call.moving_ns);
  }
  for (const TraceEvent& event : outcome.compute) writer.add(event, event.begin_ns);
  return writer.finish(communicator_names(outcome.groups), end);
}

}  // namespace ringside::gui
