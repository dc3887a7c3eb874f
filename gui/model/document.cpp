#include "gui/model/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/vocabulary.h"
#include "base/wording.h"
#include "trace/group_names.h"

namespace ringside::gui {
namespace {

/// Calls as their ranks recorded them; if no rank has ended one, as their primitives show it.
class CallBook {
 public:
  explicit CallBook(const Replay& replay) : replay_(replay) {}

  std::vector<CallFacts> run() {
    const auto lanes = replay_.lanes();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].channel == LaneKey::kCalls) take(LaneId{static_cast<std::uint32_t>(i)});
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].channel == LaneKey::kCalls || lanes[i].channel == kComputeChannel) continue;
      const LaneId lane{static_cast<std::uint32_t>(i)};
      const auto events = replay_.events(lane);
      // Calls after the last recorded one are incomplete; before it all calls are recorded.
      for (auto id = events.rbegin(); id != events.rend(); ++id) {
        const TraceEvent event = replay_.event(*id);
        const auto known = calls_.find({event.communicator, event.sequence});
        if (known != calls_.end() && known->second.ranks > 0) break;
        add(event, false);
      }
    }
    std::vector<CallFacts> all;
    all.reserve(calls_.size());
    for (const auto& [key, call] : calls_) all.push_back(call);
    std::ranges::stable_sort(all, {}, [](const CallFacts& call) { return call.time.begin_ns; });
    return all;
  }

 private:
  void take(LaneId lane) {
    for (const EventId id : replay_.events(lane)) add(replay_.event(id), true);
  }

  void add(const TraceEvent& event, bool is_whole) {
    const auto [found, is_new] = calls_.try_emplace({event.communicator, event.sequence});
    CallFacts& call = found->second;
    if (is_new) {
      call = {.communicator = event.communicator,
              .sequence = event.sequence,
              .collective = event.collective,
              .algorithm = event.algorithm,
              .protocol = event.protocol,
              .has_choice = replay_.statistics().primitives > 0,
              .bytes = {is_whole ? event.bytes : 0},
              .time = {event.begin_ns, event.end_ns},
              .all_in_ns = event.begin_ns};
    }
    call.is_modelled |= event.is_modelled;
    if (is_whole && event.step == kChoiceIsKnown && !call.has_choice) {
      call.algorithm = event.algorithm;
      call.protocol = event.protocol;
      call.has_choice = true;
    }
    call.time.begin_ns = std::min(call.time.begin_ns, event.begin_ns);
    call.time.end_ns = std::max(call.time.end_ns, event.end_ns);
    if (!is_whole) return;
    call.all_in_ns = std::max(call.all_in_ns, event.begin_ns);
    ++call.ranks;
  }

  const Replay& replay_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, CallFacts> calls_;
};

std::pair<std::uint32_t, std::uint32_t> number_of(const CallFacts& call) {
  return {call.communicator, call.sequence};
}

Finding losses_of(const Replay& replay) {
  const TraceCounts& counts = replay.file().counts();
  Finding lost{.weight = Finding::Weight::Warning,
               .title = "the file is not whole",
               .lines = {},
               .ranks = {}};
  const auto say = [&](std::uint64_t count, const char* what) {
    if (count > 0) lost.lines.push_back(fmt::format("{} {}", count, what));
  };
  if (counts.is_torn_at_end)
    lost.lines.emplace_back("it ends within a block: a process was killed, or the disk was full");
  say(counts.skipped_bytes, "bytes belong to no whole block");
  say(counts.malformed_blocks, "blocks go against the format");
  say(counts.unknown_blocks, "blocks are of a newer ringside");
  say(counts.unreadable_events, "events cannot be read");
  say(replay.statistics().unmatched_halves, "sends or receives have no other half in the file");
  return lost;
}

/// Visits the calls that run at that time, the latest first, until visit() returns false. Only the newest are looked at:
/// this is done for every picture, and a job has a few calls in flight, not thousands.
template <typename Visit>
void visit_running(const std::vector<CallFacts>& calls, std::int64_t time_ns, const Visit& visit) {
  constexpr std::ptrdiff_t kMostLooks = 4096;
  const auto behind = std::ranges::upper_bound(
      calls, time_ns, {}, [](const CallFacts& call) { return call.time.begin_ns; });
  const auto looks = std::min(behind - calls.begin(), kMostLooks);
  for (auto call = behind; call != behind - looks;) {
    --call;
    if ((call->never_ended || call->time.end_ns > time_ns) && !visit(*call)) return;
  }
}

/// Returns whether an event of a whole call never ended.
bool is_endless(const Document& document, EventId id, const TraceEvent& event) {
  if (document.never_ended_ns == event.end_ns) return true;
  return to_int(id) < document.waits_until.size() && document.waits_until[to_int(id)] == INT64_MAX;
}

}  // namespace

TimeRange Document::whole() const {
  // Times of a file are within 2^62; results computed from them must be within 2^63.
  constexpr std::int64_t kFar = std::int64_t{1} << 61;  // the year 2043
  const TraceStatistics& all = replay->statistics();
  const std::int64_t begin = std::clamp(all.begin_ns, -kFar, kFar);
  return {begin, std::max(std::clamp(all.end_ns, -kFar, kFar), begin + 1)};
}

std::vector<const CallFacts*> Document::running_at(std::int64_t time_ns, std::size_t most) const {
  std::vector<const CallFacts*> running;
  visit_running(calls, time_ns, [&](const CallFacts& call) {
    running.push_back(&call);
    return running.size() < most;
  });
  return running;
}

const CallFacts* Document::call_at(std::int64_t time_ns) const {
  if (calls.empty()) return nullptr;
  const CallFacts* running = nullptr;
  visit_running(calls, time_ns, [&](const CallFacts& call) {
    running = &call;
    return false;
  });
  if (running != nullptr) return running;
  const auto behind = std::ranges::upper_bound(
      calls, time_ns, {}, [](const CallFacts& call) { return call.time.begin_ns; });
  return behind == calls.begin() ? &calls.front() : &*std::prev(behind);
}

const CallFacts* Document::find_call(std::uint32_t communicator, std::uint32_t sequence) const {
  const std::pair wanted(communicator, sequence);
  const auto found = std::ranges::lower_bound(
      calls_by_number, wanted, {}, [&](std::uint32_t at) { return number_of(calls[at]); });
  return found == calls_by_number.end() || number_of(calls[*found]) != wanted ? nullptr
                                                                              : &calls[*found];
}

Document make_document(std::string title, Replay replay) {
  Document made;
  made.title = std::move(title);
  made.replay = std::make_shared<const Replay>(std::move(replay));
  made.calls = CallBook(*made.replay).run();
  made.calls_by_number.resize(made.calls.size());
  std::iota(made.calls_by_number.begin(), made.calls_by_number.end(), 0);
  std::ranges::sort(made.calls_by_number, {},
                    [&](std::uint32_t at) { return number_of(made.calls[at]); });
  if (Finding lost = losses_of(*made.replay); !lost.lines.empty()) {
    made.findings.push_back(std::move(lost));
  }
  std::vector<std::string> names;
  if (!made.replay->file().processes().empty()) {
    for (const auto& [key, value] : made.replay->file().processes().front().values) {
      if (key == "cluster") made.surround.machine = value;
    }
    names = communicator_names(made.replay->file().processes().front());
    made.never_ended_ns = never_ended_at(made.replay->file().processes().front());
    for (CallFacts& call : made.calls) call.never_ended = call.time.end_ns == made.never_ended_ns;
  }
  name_communicators(made, std::move(names));
  return made;
}

void name_communicators(Document& document, std::vector<std::string> names) {
  document.communicators = std::move(names);
  std::set<std::uint32_t> used;
  for (const LaneKey& lane : document.replay->lanes()) used.insert(lane.communicator);
  GroupColours& colours = document.group_colours;
  colours = {};
  for (const std::uint32_t one : used) {
    std::string name = name_of_communicator(document, one);
    if (used.size() > kGroupInks) name = kind_of_group(name);
    const auto place = std::ranges::find(colours.names, name) - colours.names.begin();
    if (place == std::ssize(colours.names)) colours.names.push_back(std::move(name));
    colours.number_of[one] = static_cast<std::uint32_t>(place);
  }
}

std::string title_of(const Document& document, const CallFacts& call) {
  std::string title = fmt::format("{} {}, ", to_string(call.collective), size_of_call(call.bytes));
  if (call.has_choice) {
    title += fmt::format("{}/{}, ", to_string(call.algorithm), to_string(call.protocol));
  }
  title += fmt::format("call {}", call.sequence);
  if (call.communicator != 0 || document.communicators.size() > 2)
    title += " in " + name_of_communicator(document, call.communicator);
  return title;
}

std::string titles_at(const Document& document, std::int64_t time_ns) {
  constexpr std::size_t kMostTitles = 2;
  constexpr std::size_t kMostCounted = 1000;
  const std::vector<const CallFacts*> running = document.running_at(time_ns, kMostCounted);
  const CallFacts* const last = document.call_at(time_ns);
  if (running.empty()) return last == nullptr ? "" : title_of(document, *last);
  std::string titles;
  for (std::size_t i = 0; i < std::min(running.size(), kMostTitles); ++i) {
    titles += fmt::format("{}{}{}", i == 0 ? "" : "; ", title_of(document, *running[i]),
                          running[i]->never_ended ? " (never ended)" : "");
  }
  if (running.size() > kMostTitles)
    titles += fmt::format("; and {} more", running.size() - kMostTitles);
  return titles;
}

std::string size_of_call(Bytes bytes) {
  std::string text = format_bytes(bytes);
  if (text.back() >= '0' && text.back() <= '9') text += " B";
  return text;
}

std::string name_of_communicator(const Document& document, std::uint32_t number) {
  return number < document.communicators.size() ? document.communicators[number]
                                                : fmt::format("communicator {}", number);
}

Nanoseconds waiting_of(const Document& document, EventId id, const TraceEvent& event,
                       std::vector<EventId>& scratch) {
  if (event.kind == EventKind::Collective) {
    std::int64_t until = event.begin_ns;
    if (is_endless(document, id, event)) {
      until = INT64_MAX;
    } else if (to_int(id) < document.waits_until.size()) {
      until = document.waits_until[to_int(id)];
    } else if (const auto* const call = document.find_call(event.communicator, event.sequence)) {
      until = call->all_in_ns;
    }
    return Nanoseconds{std::clamp(until, event.begin_ns, event.end_ns) - event.begin_ns};
  }
  if (event.recv_peer < 0) return Nanoseconds{0};
  const Replay& replay = *document.replay;
  scratch.clear();
  replay.senders_of(id, scratch);
  std::int64_t began = event.begin_ns;
  for (const EventId sender : scratch) began = std::max(began, replay.event(sender).begin_ns);
  return Nanoseconds{std::min(began, event.end_ns) - event.begin_ns};
}

std::vector<std::string> describe(const Document& document, EventId id) {
  const Replay& replay = *document.replay;
  const TraceEvent event = replay.event(id);
  const auto time = [](std::int64_t ns) { return format_time(Seconds{Nanoseconds{ns}}); };
  const std::int64_t origin = document.whole().begin_ns;
  std::vector<EventId> others;
  const Nanoseconds waited = waiting_of(document, id, event, others);
  const std::string when =
      fmt::format("{} long, from {} to {}", time(event.end_ns - event.begin_ns),
                  time(event.begin_ns - origin), time(event.end_ns - origin));
  if (event.kind == EventKind::Collective) {
    std::vector<std::string> lines{fmt::format("rank {}: {} of {}, call {}", event.rank,
                                               to_string(event.collective),
                                               size_of_call({event.bytes}), event.sequence)};
    if (document.communicators.size() > 1)
      lines.push_back("in " + name_of_communicator(document, event.communicator));
    lines.push_back(
        replay.statistics().primitives > 0 || event.step == kChoiceIsKnown
            ? fmt::format("{} / {}", to_string(event.algorithm), to_string(event.protocol))
            : std::string("no steps were recorded"));
    const bool is_stuck = is_endless(document, id, event);
    lines.push_back(is_stuck
                        ? fmt::format("from {}, and it never ended", time(event.begin_ns - origin))
                        : when);
    if (!is_stuck && waited.count() > 0)
      lines.push_back(fmt::format("{} of that not all ranks had entered", time(waited.count())));
    return lines;
  }
  if (event.kind == EventKind::Compute)
    return {fmt::format("rank {}: other kernels of its GPU", event.rank), when};
  std::vector<std::string> lines{
      fmt::format("rank {}, channel {}: {}", event.rank, event.channel, to_string(event.primitive)),
      fmt::format("{} bytes at {}, step {} of call {}", format_bytes({event.bytes}),
                  format_bytes({event.offset}), event.step, event.sequence),
      when};
  if (waited.count() > 0) {
    lines.push_back(fmt::format("{} of that its sender had not begun", time(waited.count())));
  }
  const auto ranks = [&] {
    std::vector<std::string> names;
    for (const EventId other : others) names.push_back(fmt::format("{}", replay.event(other).rank));
    return list_of(names, 8);
  };
  others.clear();
  replay.senders_of(id, others);
  if (!others.empty()) lines.push_back("from rank " + ranks());
  if (others.empty() && event.recv_peer >= 0) {
    lines.push_back(fmt::format("from rank {}, whose send is not in the file", event.recv_peer));
  }
  others.clear();
  replay.receivers_of(id, others);
  if (!others.empty()) lines.push_back("to rank " + ranks());
  if (others.empty() && event.send_peer >= 0) {
    lines.push_back(fmt::format("to rank {}, whose receive is not in the file", event.send_peer));
  }
  return lines;
}

Ink ink_of(Primitive primitive) {
  switch (primitive) {
    case Primitive::Copy:
      return Ink::Copy;
    case Primitive::Send:
    case Primitive::CopySend:
      return Ink::Send;
    case Primitive::Recv:
      return Ink::Receive;
    case Primitive::RecvCopySend:
    case Primitive::RecvSend:
      return Ink::PassOn;
    case Primitive::RecvReduceSend:
    case Primitive::RecvReduceCopy:
    case Primitive::RecvReduceCopySend:
      return Ink::Reduce;
  }
  return Ink::Copy;
}

Ink ink_of_group(std::uint32_t number) {
  const std::uint32_t place = number % kGroupInks;
  return place == 0 ? Ink::Call
                    : static_cast<Ink>(static_cast<std::uint32_t>(Ink::Group1) + place - 1);
}

Ink ink_of_group(const Document& document, std::uint32_t communicator) {
  const auto found = document.group_colours.number_of.find(communicator);
  return ink_of_group(found == document.group_colours.number_of.end() ? 0 : found->second);
}

const char* short_name(Primitive primitive) {
  switch (primitive) {
    case Primitive::Copy:
      return "copy";
    case Primitive::Send:
      return "send";
    case Primitive::CopySend:
      return "CS";
    case Primitive::Recv:
      return "recv";
    case Primitive::RecvCopySend:
      return "RCS";
    case Primitive::RecvSend:
      return "RS";
    case Primitive::RecvReduceSend:
      return "RRS";
    case Primitive::RecvReduceCopy:
      return "RRC";
    case Primitive::RecvReduceCopySend:
      return "RRCS";
  }
  return "?";
}

}  // namespace ringside::gui
