#include "gui/model/dump_calls.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "trace/recorder.h"
#include "trace/sink.h"

namespace ringside::gui {
namespace {

Collective collective_of(hang::Op op) {
  switch (op) {
    case hang::Op::AllReduce:
    case hang::Op::Barrier:
    case hang::Op::Coalesced:
    case hang::Op::Other:
      return Collective::AllReduce;
    case hang::Op::Broadcast:
      return Collective::Broadcast;
    case hang::Op::Reduce:
      return Collective::Reduce;
    case hang::Op::AllGather:
      return Collective::AllGather;
    case hang::Op::ReduceScatter:
      return Collective::ReduceScatter;
    case hang::Op::AllToAll:
      return Collective::AllToAll;
    case hang::Op::Gather:
      return Collective::Gather;
    case hang::Op::Scatter:
      return Collective::Scatter;
    case hang::Op::Send:
      return Collective::Send;
    case hang::Op::Recv:
      return Collective::Recv;
  }
  return Collective::AllReduce;
}

/// Of an element, by the first of the recorded types; 1 where it is none that we know.
std::uint64_t element_bytes(std::string_view types) {
  struct Size {
    std::string_view name;
    std::uint64_t bytes;
  };
  constexpr std::array kSizes{Size{"BFloat16", 2}, Size{"Half", 2}, Size{"Float", 4},
                              Size{"Double", 8},   Size{"Long", 8}, Size{"Int", 4},
                              Size{"Short", 2}};
  const auto found = std::ranges::find_if(
      kSizes, [&](const Size& one) { return types.substr(0, types.find('-')) == one.name; });
  return found == kSizes.end() ? 1 : found->bytes;
}

bool is_time(std::int64_t ns) { return ns > 0 && ns < (std::int64_t{1} << 61); }

/// The last moment that any call was made at.
std::int64_t last_of(const hang::Job& job) {
  std::int64_t last = 0;
  for (int rank = 0; rank < job.world(); ++rank) {
    const hang::RankView& view = job.rank(rank);
    if (view.dump == nullptr) continue;
    for (const hang::Call& call : view.dump->calls) {
      if (is_time(call.created_ns)) last = std::max(last, call.created_ns);
    }
  }
  return last;
}

class RankCalls {
 public:
  RankCalls(const hang::Job& job, TraceLane& lane, std::int64_t end)
      : job_(job), lane_(lane), end_(end) {}

  void record(int rank) {
    const hang::RankView& view = job_.rank(rank);
    if (view.dump == nullptr) return;
    const auto& calls = view.dump->calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const hang::Call& call = calls[i];
      if (i >= view.group_of_call.size() || view.group_of_call[i] < 0 || !is_time(call.created_ns))
        continue;
      const hang::Signature& signature = job_.signature(call);
      TraceEvent event;
      event.kind = EventKind::Collective;
      event.rank = rank;
      event.communicator = static_cast<std::uint32_t>(view.group_of_call[i]);
      event.sequence = call.sequence;
      event.collective = collective_of(signature.op);
      event.bytes = signature.input_count * element_bytes(signature.types);
      event.begin_ns = call.created_ns;
      event.end_ns = std::max(call.created_ns, call.is_pending() ? end_ : next_of(view, i));
      lane_.record(event);
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
  TraceLane& lane_;
  std::int64_t end_;
};

}  // namespace

Result<std::vector<std::byte>> trace_of(const hang::Job& job) {
  const auto sink = std::make_shared<TraceMemorySink>();
  TraceInfo info = this_process_info(TraceClock::HostMonotonic);
  RINGSIDE_TRY(const auto recorder, TraceRecorder::start(sink, std::move(info)));
  const std::int64_t last = last_of(job);
  // A call that never ended goes on behind everything else, so that one sees it.
  RankCalls calls(job, *recorder->add_lane(), last + std::max<std::int64_t>(1'000'000, 1));
  for (int rank = 0; rank < job.world(); ++rank) calls.record(rank);
  recorder->flush();
  return sink->bytes();
}

}  // namespace ringside::gui
