#include "study/interchange/recorded_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "base/one_line.h"
#include "base/text.h"
#include "trace/encode.h"
#include "trace/endless.h"
#include "trace/sink.h"

namespace ringside::study {
namespace {

using recordings::Call;
using recordings::Recording;
using recordings::Span;

constexpr std::int64_t kLongestPauseNs = 2'000;  ///< GPU work with shorter pauses is one busy time

std::vector<Span> united(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::begin_ns);
  std::vector<Span> all;
  for (const Span& span : spans) {
    if (!all.empty() && span.begin_ns <= all.back().end_ns + kLongestPauseNs) {
      all.back().end_ns = std::max(all.back().end_ns, span.end_ns);
    } else {
      all.push_back(span);
    }
  }
  return all;
}

/// Numbers groups over all recordings.
class Groups {
 public:
  int number_of(const recordings::Group& group) {
    const auto [known, is_new] =
        numbers_.try_emplace({group.name, group.members}, static_cast<int>(names_.size()));
    if (is_new) {
      std::string name = group.name.empty() ? "calls" : group.name;
      if (!group.description.empty()) name = fmt::format("{} [{}]", group.description, group.name);
      std::ranges::replace(name, ';', ',');
      names_.push_back(one_line(name));
      sizes_.push_back(0);
    }
    int& size = sizes_[static_cast<std::size_t>(known->second)];
    size = std::max({size, group.size, static_cast<int>(group.members.size())});
    return known->second;
  }
  [[nodiscard]] std::size_t count() const { return names_.size(); }

  /// Adds the names and sizes, where a value has room for them.
  void describe(TraceInfo& info) const {
    constexpr std::size_t kRoom = 4096;  // of a value (trace/encode.h)
    std::string names = fmt::format("{}", fmt::join(names_, "; "));
    if (names.size() <= kRoom) info.values.emplace_back(kTraceGroups, std::move(names));
    std::string sizes = fmt::format("{0}; {0}", fmt::join(sizes_, "; "));
    if (sizes.size() <= kRoom) info.values.emplace_back(kGroupSizes, std::move(sizes));
  }

 private:
  std::map<std::pair<std::string, std::vector<int>>, int> numbers_;
  std::vector<std::string> names_;
  std::vector<int> sizes_;
};

/// Gives calls of which only the duration is recorded their times: the calls of a group one after the other, each
/// ending on all ranks at once, so that the longest one began first.
/// returns  whether there are such calls
bool lay_out(std::vector<Recording>& all) {
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> longest;  // by group and number
  std::map<std::string, std::int64_t> first;  // when the group's calls were written
  const auto for_each = [&](const auto& visit) {
    for (Recording& recording : all) {
      for (Call& call : recording.calls) {
        if (call.begin_ns >= 0 || call.duration_ns < 0) continue;
        const std::string& group = recording.groups[static_cast<std::size_t>(call.group)].name;
        visit(call, call.is_transfer() ? fmt::format("{} {}", group, recording.rank) : group);
      }
    }
  };
  constexpr std::int64_t kLongest = 86'400'000'000'000;  // ns: a day; no call of a job takes longer
  for_each([&](Call& call, const std::string& group) {
    call.duration_ns = std::min(call.duration_ns, kLongest);
    std::int64_t& most = longest[{group, call.sequence}];
    most = std::max(most, call.duration_ns);
    const auto [known, is_new] =
        first.try_emplace(group, std::max<std::int64_t>(0, call.issued_ns));
    if (!is_new && call.issued_ns >= 0) known->second = std::min(known->second, call.issued_ns);
  });
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> ends;
  std::int64_t at = 0;
  const std::string* of = nullptr;
  constexpr std::int64_t kLatest =
      4'400'000'000'000'000'000;  // ns; two of them add up within 64 bits
  for (const auto& [key, most] : longest) {
    if (of == nullptr || *of != key.first) at = first[key.first];
    of = &key.first;
    at = std::min(at + most, kLatest);
    ends[key] = at;
  }
  for_each([&](Call& call, const std::string& group) {
    call.end_ns = ends[{group, call.sequence}];
    call.begin_ns = std::max<std::int64_t>(0, call.end_ns - call.duration_ns);
  });
  return !longest.empty();
}

class Writer {
 public:
  Result<std::vector<std::byte>> run(const std::vector<Recording>& all, TraceInfo info) {
    for (const Recording& recording : all) take(recording);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (is_transfer_[i]) events_[i].communicator += static_cast<std::uint32_t>(groups_.count());
    }
    groups_.describe(info);
    std::int64_t first = INT64_MAX;
    std::int64_t last = 0;
    for (const TraceEvent& event : events_) {
      first = std::min(first, event.begin_ns);
      last = std::max({last, event.begin_ns, event.end_ns});
    }
    const std::int64_t end = shown_end_of_endless(std::min(first, last), last);
    bool is_any_endless = false;
    for (TraceEvent& event : events_) {
      if (event.end_ns >= 0) continue;
      event.end_ns = end;
      is_any_endless = true;
    }
    if (is_any_endless) info.values.emplace_back(kNeverEnded, std::to_string(end));
    std::ranges::stable_sort(
        events_, {}, [](const TraceEvent& event) { return std::pair(event.rank, event.begin_ns); });
    TraceMemorySink sink;
    BlockEncoder encoder;
    RINGSIDE_TRY(sink.write(encoder.info(info)));
    for (std::size_t at = 0; at < events_.size(); at += BlockEncoder::kMostEvents) {
      const std::size_t count = std::min(BlockEncoder::kMostEvents, events_.size() - at);
      RINGSIDE_TRY(
          sink.write(encoder.events(std::span(events_).subspan(at, count), ClockMap{}, info.pid)));
    }
    return sink.bytes();
  }
  [[nodiscard]] bool has_events() const { return !events_.empty(); }

 private:
  void take(const Recording& recording) {
    std::vector<std::uint32_t> numbers;
    for (const recordings::Group& group : recording.groups)
      numbers.push_back(static_cast<std::uint32_t>(groups_.number_of(group)));
    for (const Call& call : recording.calls) {
      const std::int64_t begin = call.begin_ns >= 0 ? call.begin_ns : call.issued_ns;
      if (begin < 0) continue;
      TraceEvent event;
      event.kind = EventKind::Collective;
      event.rank = recording.rank;
      event.communicator = numbers[static_cast<std::size_t>(call.group)];
      event.sequence = static_cast<std::uint32_t>(call.sequence);
      event.collective = collective_of(call.op);
      event.bytes = call.bytes;
      event.begin_ns = begin;
      event.end_ns = call.end_ns >= 0 ? std::max(begin, call.end_ns) : -1;
      if (call.algorithm && call.protocol) {
        event.algorithm = *call.algorithm;
        event.protocol = *call.protocol;
        event.step = kChoiceIsKnown;
      }
      add(event, call.is_transfer());
    }
    if (numbers.empty()) return;
    for (const Span& span : united(recording.compute)) {
      TraceEvent event;
      event.kind = EventKind::Compute;
      event.channel = kComputeChannel;
      event.rank = recording.rank;
      event.communicator = numbers.front();
      event.begin_ns = span.begin_ns;
      event.end_ns = span.end_ns;
      add(event, false);
    }
  }

  void add(const TraceEvent& event, bool is_transfer) {
    events_.push_back(event);
    is_transfer_.push_back(is_transfer);
  }

  Groups groups_;
  std::vector<TraceEvent> events_;
  std::vector<bool> is_transfer_;
};

std::string signed_time(std::int64_t ns) {
  return fmt::format("{}{}", ns < 0 ? "-" : "+", format_time(Seconds{Nanoseconds{std::abs(ns)}}));
}

}  // namespace

Collective collective_of(hang::Op op) {
  switch (op) {
    case hang::Op::AllReduce:
    case hang::Op::Barrier:
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
    case hang::Op::Coalesced:
      return Collective::SendRecv;
    case hang::Op::Send:
      return Collective::Send;
    case hang::Op::Recv:
      return Collective::Recv;
  }
  return Collective::AllReduce;
}

bool are_recordings(const std::vector<std::string>& paths) {
  if (std::ranges::count(paths, "-") > 0) return false;  // standard input can be read once
  const auto inputs = hang::find_inputs(paths);
  if (!inputs) return false;
  const auto has = [&](hang::FileKind kind) {
    return std::ranges::count(inputs->files, kind, &hang::InputFile::kind) > 0;
  };
  return has(hang::FileKind::Recording) && !has(hang::FileKind::Dump) &&
         !has(hang::FileKind::Trace);
}

Result<RecordedTrace> trace_of(std::vector<Recording> all) {
  RecordedTrace made;
  std::set<std::string> notes;
  const auto note = [&](std::string text) {
    if (notes.insert(text).second) made.notes.push_back(std::move(text));
  };
  std::set<std::string> tools;
  for (const Recording& recording : all) {
    tools.insert(recordings::to_string(recording.format));
    for (const std::string& text : recording.notes) note(text);
  }
  made.tools = fmt::format("{}", fmt::join(tools, ", "));
  if (lay_out(all))
    note(
        "when calls ran: their durations, one after the other, as if each ended on all ranks at "
        "once");
  const auto moved = recordings::align_clocks(all);
  constexpr std::size_t kFew = 8;
  for (std::size_t i = 0; i < std::min(kFew, moved.size()); ++i)
    note(fmt::format("the clock of rank {}: aligned by the ends of its collectives, {}",
                     moved[i].first, signed_time(moved[i].second)));
  if (moved.size() > kFew)
    note(fmt::format("the clocks of {} more ranks: aligned likewise", moved.size() - kFew));
  TraceInfo info = this_process_info(TraceClock::HostMonotonic);
  info.realtime_offset = Nanoseconds{0};  // times are of the wall clock
  info.host = all.empty() || all.front().host.empty() ? "unknown" : one_line(all.front().host);
  info.values.emplace_back(kRecordedBy, made.tools);
  if (std::ranges::any_of(all, &Recording::is_completed_only)) {
    info.values.emplace_back(kCompletedOnly, "1");
  }
  if (!all.empty() && !all.front().gpu.empty()) {
    info.values.emplace_back(kTraceGpu, one_line(all.front().gpu));
  }
  RINGSIDE_TRY(made.bytes, Writer().run(all, std::move(info)));
  return made;
}

Result<RecordedTrace> trace_of_recordings(const std::vector<std::string>& paths) {
  constexpr const char* kHelp =
      "give an .rtrace file, or what PyTorch's profiler, nsys export --type sqlite, NCCL's "
      "Inspector or torchcomms' clog wrote";
  auto inputs = hang::find_inputs(paths);
  if (!inputs) {
    Error error = std::move(inputs).error();
    error.help = kHelp;
    return error;
  }
  recordings::Loaded loaded = recordings::load(inputs->files);
  if (loaded.recordings.empty()) {
    if (!loaded.bad.empty()) return loaded.bad.front().error;
    return Error{ErrorCode::NotFound,
                 fmt::format("{}: no trace and no recording of calls", paths.front()), kHelp};
  }
  RINGSIDE_TRY(RecordedTrace made, trace_of(std::move(loaded.recordings)));
  for (const hang::BadFile& bad : loaded.bad)
    made.notes.push_back("not read: " + bad.error.message);
  return made;
}

}  // namespace ringside::study
