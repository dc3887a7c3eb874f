#include "trace/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "trace/encode.h"

namespace ringside {
namespace {

/// Says how a process's clock was laid over the reference's.
std::string described(const AlignedClock& clock) {
  std::string text =
      fmt::format("moved by {} from the wall clocks", format_time(Seconds{clock.moved}));
  if (clock.evidence == ClockEvidence::Messages) {
    text += fmt::format(", +-{}", format_time(Seconds{clock.uncertainty}));
  }
  return text + fmt::format(" ({})", to_string(clock.evidence));
}

}  // namespace

Result<TraceMerge> merge_traces(std::span<const TraceFile* const> files,
                                std::span<const std::string> names, TraceSink& sink,
                                const std::function<void(double)>& on_progress) {
  RINGSIDE_TRY(const AlignedClocks aligned, AlignedClocks::of(files, names));
  TraceMerge made;
  made.clocks = aligned.clocks();
  for (const AlignedClock& clock : made.clocks) made.processes += clock.processes;
  BlockEncoder encoder;
  std::uint64_t blocks = 0;
  for (std::size_t file = 0; file < files.size(); ++file) {
    blocks += files[file]->block_count();
    made.unreadable_events += files[file]->counts().unreadable_events;
    for (TraceInfo info : files[file]->processes()) {
      const AlignedClock& clock = made.clocks[aligned.clock_of(file, info.pid)];
      info.realtime_offset = files.front()->processes().front().realtime_offset;
      if (clock.evidence != ClockEvidence::Reference)
        info.values.emplace_back("clock", described(clock));
      RINGSIDE_TRY(sink.write(encoder.info(info)));
    }
    RINGSIDE_TRY(write_dumps(sink, files[file]->dumps()));
  }

  Status status;
  std::uint64_t done = 0;
  std::vector<TraceEvent> events;
  aligned.for_each_block(files, [&](std::size_t file, const TraceBlock& block) {
    if (!status) return;
    events.clear();
    block.for_each_event([&](const TraceEvent& event) { events.push_back(event); });
    const ClockMap& to_reference = made.clocks[aligned.clock_of(file, block.pid())].to_reference;
    for (std::size_t at = 0; at < events.size() && status; at += BlockEncoder::kMostEvents) {
      const std::size_t count = std::min(BlockEncoder::kMostEvents, events.size() - at);
      status = sink.write(
          encoder.events(std::span(events).subspan(at, count), to_reference, block.pid()));
    }
    made.events += events.size();
    if (on_progress && ++done % 64 == 0) {
      on_progress(static_cast<double>(done) / static_cast<double>(blocks));
    }
  });
  if (!status) return std::move(status).error();
  return made;
}

}  // namespace ringside
