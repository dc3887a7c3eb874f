#include "study/scenario/played_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/read_file.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "harness/hangs/calls.h"
#include "trace/endless.h"
#include "trace/file_sink.h"

namespace ringside::study {
namespace {

/// Visits calls that streams have reached, each with its rank.
template <typename Visit>
void for_each_started(const hangs::Play& play, const Visit& visit) {
  for (std::size_t rank = 0; rank < play.ranks.size(); ++rank) {
    for (const hangs::Record& record : play.ranks[rank].records) {
      if (record.started != hangs::kNever) visit(static_cast<int>(rank), record);
    }
  }
}

bool is_endless(const hangs::Record& record) { return record.completed == hangs::kNever; }

/// Returns the earliest time from which on at most `most` events end, which are those that write_trace() keeps; 0: all.
std::int64_t moment_of(std::vector<std::int64_t> ends, std::uint64_t most) {
  if (ends.size() <= most) return 0;
  const auto place = ends.end() - static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(ends, place);
  return *place + 1;  // of calls that end together all or none
}

/// Returns the group of the rank's first collective, or else the first group of which the rank is a member; 0: none.
std::uint32_t group_of_compute(const hangs::RankHistory& history, int rank,
                               const hangs::Program& program) {
  for (const hangs::Record& record : history.records) {
    if (!hangs::is_p2p(record.step->op)) return static_cast<std::uint32_t>(record.step->group);
  }
  const auto found = std::ranges::find_if(program.groups, [&](const hangs::Group& group) {
    return std::ranges::find(group.ranks, rank) != group.ranks.end();
  });
  return found == program.groups.end() ? 0
                                       : static_cast<std::uint32_t>(found - program.groups.begin());
}

}  // namespace

PlayedCall played_call(int rank, const hangs::Record& record) {
  const hangs::Step& step = *record.step;
  return {.rank = rank,
          .group = step.group,
          .sequence = static_cast<std::uint32_t>(record.seq()),
          .is_transfer = hangs::is_p2p(step.op),
          .collective = hangs::collective_of(step.op),
          .bytes = {static_cast<std::uint64_t>(step.count) * size_of(step.type).value},
          .created_ns = record.created,
          .started_ns = record.started,
          .moving_ns = record.moving,
          .completed_ns = record.completed};
}

std::vector<std::string> group_names(const hangs::Program& program) {
  std::vector<std::string> names;
  for (const hangs::Group& group : program.groups) {
    const auto family = static_cast<std::size_t>(group.family);
    const bool is_known = family < program.families.size();
    names.push_back(
        fmt::format("{} [{}]", is_known ? program.families[family] : group.desc, group.name));
  }
  return names;
}

TraceEvent event_of(const PlayedCall& call, std::size_t groups, std::int64_t end_ns) {
  TraceEvent event;
  event.kind = EventKind::Collective;
  event.rank = call.rank;
  event.communicator = static_cast<std::uint32_t>(call.group) +
                       (call.is_transfer ? static_cast<std::uint32_t>(groups) : 0);
  event.sequence = call.sequence;
  event.collective = call.collective;
  event.bytes = call.bytes.value;
  event.begin_ns = call.started_ns;
  event.end_ns = call.completed_ns < 0 ? end_ns : call.completed_ns;
  return event;
}

std::vector<TraceEvent> compute_events(const hangs::Play& play, const hangs::Program& program) {
  std::vector<TraceEvent> all;
  for (std::size_t rank = 0; rank < play.ranks.size(); ++rank) {
    std::vector<hangs::Kernel> kernels = play.ranks[rank].kernels;
    if (kernels.empty()) continue;
    std::ranges::sort(kernels, {}, &hangs::Kernel::started);
    TraceEvent event;
    event.kind = EventKind::Compute;
    event.channel = kComputeChannel;
    event.rank = static_cast<std::int32_t>(rank);
    event.communicator = group_of_compute(play.ranks[rank], event.rank, program);
    const std::size_t first = all.size();
    for (const hangs::Kernel& kernel : kernels) {
      if (all.size() > first && kernel.started < all.back().end_ns) {
        all.back().end_ns = std::max(all.back().end_ns, kernel.completed);
        continue;
      }
      event.begin_ns = kernel.started;
      event.end_ns = kernel.completed;
      all.push_back(event);
    }
  }
  return all;
}

Result<PlayedTrace> write_trace(const hangs::Play& play, const hangs::Program& program,
                                const std::string& name, const std::string& path,
                                std::uint64_t most_events) {
  PlayedTrace written;
  std::int64_t last = 0;
  std::int64_t endless = 0;
  std::vector<std::int64_t> ends;
  for_each_started(play, [&](int, const hangs::Record& record) {
    last = std::max({last, record.started, record.completed});
    endless += is_endless(record) ? 1 : 0;
    ends.push_back(is_endless(record) ? INT64_MAX - 1 : record.completed);
  });
  const std::vector<TraceEvent> compute = compute_events(play, program);
  for (const TraceEvent& event : compute) {
    last = std::max(last, event.end_ns);
    ends.push_back(event.end_ns);
  }
  written.from_ns = moment_of(std::move(ends), most_events);
  const std::int64_t end = shown_end_of_endless(0, last);
  TraceInfo info = this_process_info(TraceClock::Simulated);
  info.values.emplace_back("scenario", name);
  constexpr std::size_t kRoom = 4096;  // of a value (trace/encode.h)
  std::string groups = fmt::format("{}", fmt::join(group_names(program), "; "));
  if (groups.size() <= kRoom) info.values.emplace_back(kTraceGroups, std::move(groups));
  if (endless > 0) info.values.emplace_back(kNeverEnded, std::to_string(end));
  RINGSIDE_TRY(const auto recorder, record_to_file(path, std::move(info)));
  TraceLane* const lane = recorder->add_lane();
  for_each_started(play, [&](int rank, const hangs::Record& record) {
    if (!is_endless(record) && record.completed < written.from_ns) {
      ++written.left_out;
      return;
    }
    lane->record(event_of(played_call(rank, record), program.groups.size(), end));
    ++written.calls;
  });
  for (const TraceEvent& event : compute) {
    if (event.end_ns >= written.from_ns) lane->record(event);
  }
  recorder->flush();
  if (recorder->stats().dropped == 0) return written;
  return Error{ErrorCode::System, fmt::format("{}: the trace could not be written", path),
               "make room on the disk"};
}

Status add_dumps_to_trace(const std::string& folder) {
  RINGSIDE_TRY(const hang::Inputs inputs, hang::find_inputs({folder}));
  std::map<std::int32_t, std::string> dumps;
  for (const hang::InputFile& file : inputs.files) {
    const int rank = hang::rank_of_name(file.path);
    if (file.kind != hang::FileKind::Dump || rank < 0) continue;
    RINGSIDE_TRY(dumps[rank], read_file(file.path, kMostOfAFile));
  }
  return append_dumps(folder + "/run.rtrace", dumps);
}

}  // namespace ringside::study
