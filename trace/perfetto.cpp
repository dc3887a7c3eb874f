#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/append.h"
#include "base/json.h"
#include "ringside/trace_export.h"
#include "trace/group_names.h"
#include "trace/match.h"

namespace ringside {
namespace {

/// Above every channel, which has 16 bits. A viewer shows it first all the same: its sort index is -1.
constexpr std::int32_t kCollectiveThread = 1 << 16;

/// Ranks of the second communicator that the file mentions begin here, the third's at twice this, ...:
/// rank 0 of one need not be rank 0 of another.
constexpr std::int64_t kProcessesPerCommunicator = 1'000'000;

/// Slices that overlap within a channel are in further threads: slices of one thread have to be nested.
constexpr std::int32_t kTrackStride = 1 << 17;
constexpr std::size_t kMostTracks = 64;

/// A slice may begin this much later than its event, to have room after one of no length.
constexpr std::int64_t kMostMovedNs = 16;

constexpr std::size_t kFullBuffer = 1U << 16;  ///< bytes, then they are written to the stream

/// Nanoseconds as microseconds with three decimals; |ns| stays below 2^63.
std::string in_us_text(std::int64_t ns) {
  const std::uint64_t size =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

/// Writes the JSON, a record a line. The header export_perfetto() names the format.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  void start(const TraceFile& file) {
    add("{{\"displayTimeUnit\":\"ns\",\n\"otherData\":{{\"source\":\"ringside\"");
    if (!file.processes().empty()) {
      const TraceInfo& info = file.processes().front();
      names_ = communicator_names(info);
      never_ended_ns_ = never_ended_at(info);
      add(",\"clock\":{},\"host\":{},\"version\":{},\"command_line\":{},\"realtime_offset_ns\":\"{}"
          "\"",
          quoted_json(to_string(info.clock)), quoted_json(info.host), quoted_json(info.version),
          quoted_json(info.command_line), info.realtime_offset.count());
    }
    add("}},\n\"traceEvents\":[");
  }

  /// Adds the slice of an event. Events of no length, of one kind and one time, are one slice of 1 ns: viewers neither
  /// show slices of no length nor join arrows to them.
  /// returns  the place of its slice, for arrow(); of an event of kind Peer, that of its primitive
  TraceTag event(const TraceEvent& event) {
    Lane& lane = lanes_[{process_of(event.communicator, event.rank), base_of(event)}];
    if (event.kind == EventKind::Peer) return lane.last;
    ++counts_.events;
    if (lane.run && is_same_moment(lane.run->event, event)) {
      ++lane.run->count;
      lane.run->event.bytes += event.bytes;
      return lane.last;
    }
    end_run(lane);
    const Slice slice = place(lane, event);
    lane.last = {static_cast<std::uint32_t>(slice.thread),
                 static_cast<std::uint32_t>(slice.begin_ns - event.begin_ns)};
    if (event.begin_ns == event.end_ns) {
      lane.run = Run{event, slice, 1};
    } else {
      write(event, slice, 1);
    }
    return lane.last;
  }

  void end_runs() {
    for (auto& [key, lane] : lanes_) end_run(lane);
  }
  /// Both ends lie inside their slices and the arrow never points back in time: viewers drop one that
  /// does. A receive that ended before its send began (two lagging clocks) gets its arrow at its end.
  void arrow(const TraceTransfer& transfer) {
    const TraceConnection& connection = transfer.connection;
    const std::int64_t from_ns = transfer.send_begin_ns + transfer.send.primitive;
    const std::int64_t to_ns =
        std::max(transfer.recv_begin_ns + transfer.recv.primitive, transfer.recv_end_ns - 1);
    ++counts_.arrows;
    arrow_end("s", process_of(connection.communicator, connection.sender), transfer.send.event,
              std::min(from_ns, to_ns), "");
    arrow_end("f", process_of(connection.communicator, connection.receiver), transfer.recv.event,
              to_ns, ",\"bp\":\"e\"");
  }

  /// Ends the file.
  Result<PerfettoCounts> finish(std::uint64_t unmatched_halves) {
    end_runs();
    add("\n]}}\n");
    write_out();
    out_.flush();
    if (!out_) {
      return Error{ErrorCode::System, "cannot write the export", "make room, or give another path"};
    }
    counts_.unmatched_halves = unmatched_halves;
    return counts_;
  }

 private:
  /// Where a slice is.
  struct Slice {
    std::int32_t thread = 0;
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  /// Events of no length that are one slice.
  struct Run {
    TraceEvent event;
    Slice slice;
    std::uint32_t count = 0;
  };
  /// A thread of a lane.
  struct Track {
    std::int64_t end_ns = INT64_MIN;
    bool is_widened = false;  ///< its last event had no length
  };
  struct Lane {
    std::vector<Track> tracks;
    std::optional<Run> run;
    TraceTag last = {};  ///< thread of the last slice, and by how much it was moved, ns
  };

  static std::int32_t base_of(const TraceEvent& event) {
    return event.kind == EventKind::Collective ? kCollectiveThread : event.channel;
  }

  static bool is_same_moment(const TraceEvent& a, const TraceEvent& b) {
    return b.begin_ns == b.end_ns && a.begin_ns == b.begin_ns && a.kind == b.kind &&
           a.primitive == b.primitive && a.sequence == b.sequence && a.collective == b.collective;
  }

  /// Places an event in the first thread of its lane that has room.
  Slice place(Lane& lane, const TraceEvent& event) {
    Slice slice{.begin_ns = event.begin_ns, .end_ns = std::max(event.end_ns, event.begin_ns + 1)};
    const auto has_room = [&](const Track& track) {
      return track.end_ns <= event.begin_ns ||
             (track.is_widened && track.end_ns - event.begin_ns <= kMostMovedNs);
    };
    auto track = std::ranges::find_if(lane.tracks, has_room);
    if (track == lane.tracks.end() && lane.tracks.size() < kMostTracks)
      track = lane.tracks.insert(track, Track{});
    if (track == lane.tracks.end()) --track;  // viewers cut it; a valid trace has fewer at once
    if (has_room(*track)) slice.begin_ns = std::max(slice.begin_ns, track->end_ns);
    slice.end_ns = std::max(slice.end_ns, slice.begin_ns + 1);
    *track = {std::max(track->end_ns, slice.end_ns), slice.end_ns > event.end_ns};
    const auto number = static_cast<std::int32_t>(track - lane.tracks.begin());
    slice.thread = base_of(event) + number * kTrackStride;
    introduce(process_of(event.communicator, event.rank), slice.thread, event);
    return slice;
  }

  void end_run(Lane& lane) {
    if (lane.run) write(lane.run->event, lane.run->slice, lane.run->count);
    lane.run.reset();
  }

  /// count  events that the slice represents
  void write(const TraceEvent& event, const Slice& slice, std::uint32_t count) {
    const bool is_primitive = event.kind == EventKind::Primitive;
    const bool is_compute = event.kind == EventKind::Compute;
    const bool has_ended = event.kind != EventKind::Collective || event.end_ns != never_ended_ns_;
    begin_record();
    add("{{\"ph\":\"X\",\"name\":\"{}{}\",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{"
        "}",
        is_compute     ? "compute"
        : is_primitive ? to_string(event.primitive)
                       : to_string(event.collective),
        has_ended ? "" : " (never ended)",
        is_compute     ? "compute"
        : is_primitive ? "primitive"
                       : "collective",
        process_of(event.communicator, event.rank), slice.thread, in_us_text(slice.begin_ns),
        in_us_text(slice.end_ns - slice.begin_ns));
    if (is_compute) return add("}}");
    add(",\"args\":{{\"sequence\":{},\"bytes\":{}", event.sequence, event.bytes);
    if (is_primitive) {
      add(",\"step\":{},\"offset\":{},\"recv_peer\":{},\"send_peer\":{},\"collective\":\"{}\"",
          event.step, event.offset, event.recv_peer, event.send_peer, to_string(event.collective));
    }
    if (!has_ended) add(",\"never_ended\":true");
    add(",\"algorithm\":\"{}\",\"protocol\":\"{}\"{}", to_string(event.algorithm),
        to_string(event.protocol), event.is_modelled ? ",\"is_modelled\":true" : "");
    if (event.begin_ns == event.end_ns) add(",\"steps_of_no_length\":{}", count);
    add("}}}}");
  }

  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    append(buffer_, format, std::forward<Args>(args)...);
  }

  void begin_record() {
    if (buffer_.size() >= kFullBuffer) write_out();
    add("{}\n", is_first_ ? "" : ",");
    is_first_ = false;
  }

  void write_out() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::int64_t process_of(std::uint32_t communicator, std::int32_t rank) {
    const auto [found, is_new] =
        communicators_.try_emplace(communicator, static_cast<std::int64_t>(communicators_.size()));
    return found->second * kProcessesPerCommunicator + rank;
  }

  /// Names and order of the process and the thread, before their first event.
  void introduce(std::int64_t process, std::int32_t thread, const TraceEvent& event) {
    if (!threads_.insert({process, thread}).second) return;
    const std::int32_t base = base_of(event);
    const std::int32_t track = thread / kTrackStride;
    const bool is_whole = base == kCollectiveThread;
    if (processes_.insert(process).second) {
      std::string group;
      if (event.communicator < names_.size()) {
        // A group that is alone, but for its transfers, needs no name.
        if (names_.size() > 2 || event.communicator > 0)
          group = " of " + names_[event.communicator];
      } else if (process >= kProcessesPerCommunicator) {
        group = fmt::format(" of communicator {}", event.communicator);
      }
      metadata(
          process, thread, "process_name",
          fmt::format("\"name\":{}", quoted_json(fmt::format("rank {}{}", event.rank, group))));
      metadata(process, thread, "process_sort_index", fmt::format("\"sort_index\":{}", process));
    }
    const std::string name = is_whole                  ? "collectives"
                             : base == kComputeChannel ? "compute"
                                                       : fmt::format("channel {}", base);
    const std::string suffix = track > 0 ? fmt::format(" ({})", track + 1) : "";
    metadata(process, thread, "thread_name", fmt::format("\"name\":\"{}{}\"", name, suffix));
    constexpr auto kTracks = static_cast<std::int32_t>(kMostTracks);
    metadata(process, thread, "thread_sort_index",
             fmt::format("\"sort_index\":{}", (is_whole ? -1 : base) * kTracks + track));
  }

  void metadata(std::int64_t process, std::int32_t thread, const char* name,
                const std::string& args) {
    begin_record();
    add("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{{}}}}}", name, process,
        thread, args);
  }

  void arrow_end(const char* phase, std::int64_t process, std::uint32_t thread, std::int64_t at_ns,
                 const char* binding) {
    begin_record();
    add("{{\"ph\":\"{}\",\"name\":\"chunk\",\"cat\":\"transfer\",\"id\":{},\"pid\":{},\"tid\":{},"
        "\"ts\":{}{}}}",
        phase, counts_.arrows, process, thread, in_us_text(at_ns), binding);
  }

  std::ostream& out_;
  std::string buffer_;
  bool is_first_ = true;
  std::vector<std::string> names_;  ///< by communicator; empty: unknown
  std::optional<std::int64_t> never_ended_ns_;
  PerfettoCounts counts_;
  std::unordered_map<std::uint32_t, std::int64_t> communicators_;  ///< -> order of appearance
  std::set<std::int64_t> processes_;
  std::set<std::pair<std::int64_t, std::int32_t>> threads_;
  std::map<std::pair<std::int64_t, std::int32_t>, Lane> lanes_;  ///< by process and channel
};

}  // namespace

Result<PerfettoCounts> export_perfetto(const TraceFile& file, std::ostream& out,
                                       const std::function<void(double)>& on_progress) {
  Writer writer(out);
  // A viewer sorts by time and keeps the order of equal times, so slices come before their arrows.
  std::vector<TraceTransfer> arrows;
  TransferMatcher matcher([&](const TraceTransfer& transfer) { arrows.push_back(transfer); });
  writer.start(file);
  for (std::size_t b = 0; b < file.block_count() && out; ++b) {
    file.block(b).for_each_event([&](const TraceEvent& event) {
      // A further peer shows as an arrow to or from its primitive's slice.
      matcher.add(event, writer.event(event));
    });
    writer.end_runs();
    for (const TraceTransfer& transfer : arrows) writer.arrow(transfer);
    arrows.clear();
    if (on_progress) {
      on_progress(static_cast<double>(b + 1) / static_cast<double>(file.block_count()));
    }
  }
  return writer.finish(matcher.unmatched());
}

}  // namespace ringside
