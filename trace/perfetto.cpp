#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/append.h"
#include "base/json.h"
#include "ringside/trace_export.h"
#include "trace/match.h"

namespace ringside {
namespace {

/// Above every channel, which has 16 bits. A viewer shows it first all the same: its sort index is -1.
constexpr std::int32_t kCollectiveThread = 1 << 16;

/// Ranks of the second communicator that the file mentions begin here, the third's at twice this, ...:
/// rank 0 of one need not be rank 0 of another.
constexpr std::int64_t kProcessesPerCommunicator = 1'000'000;

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
      add(",\"clock\":{},\"host\":{},\"version\":{},\"command_line\":{},\"realtime_offset_ns\":\"{}"
          "\"",
          quoted_json(to_string(info.clock)), quoted_json(info.host), quoted_json(info.version),
          quoted_json(info.command_line), info.realtime_offset.count());
    }
    add("}},\n\"traceEvents\":[");
  }

  void event(const TraceEvent& event) {
    if (event.kind == EventKind::Compute) return compute(event);
    const bool is_primitive = event.kind == EventKind::Primitive;
    const std::int64_t process = process_of(event.communicator, event.rank);
    const std::int32_t thread = is_primitive ? event.channel : kCollectiveThread;
    introduce(process, thread, event);
    begin_record();
    add("{{\"ph\":\"X\",\"name\":\"{}\",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},"
        "\"args\":{{\"sequence\":{},\"bytes\":{}",
        is_primitive ? to_string(event.primitive) : to_string(event.collective),
        is_primitive ? "primitive" : "collective", process, thread, in_us_text(event.begin_ns),
        in_us_text(event.end_ns - event.begin_ns), event.sequence, event.bytes);
    if (is_primitive) {
      add(",\"step\":{},\"offset\":{},\"recv_peer\":{},\"send_peer\":{},\"collective\":\"{}\"",
          event.step, event.offset, event.recv_peer, event.send_peer, to_string(event.collective));
    }
    add(",\"algorithm\":\"{}\",\"protocol\":\"{}\"{}}}}}", to_string(event.algorithm),
        to_string(event.protocol), event.is_modelled ? ",\"is_modelled\":true" : "");
    ++counts_.events;
  }

  void compute(const TraceEvent& event) {
    const std::int64_t process = process_of(event.communicator, event.rank);
    introduce(process, event.channel, event);
    begin_record();
    add("{{\"ph\":\"X\",\"name\":\"compute\",\"cat\":\"compute\",\"pid\":{},\"tid\":{},\"ts\":{},"
        "\"dur\":{}}}",
        process, event.channel, in_us_text(event.begin_ns),
        in_us_text(event.end_ns - event.begin_ns));
    ++counts_.events;
  }

  /// Both ends lie inside their slices and the arrow never points back in time: viewers drop one that
  /// does. A receive that ended before its send began (two lagging clocks) gets its arrow at its end.
  void arrow(const TraceTransfer& transfer) {
    const TraceConnection& connection = transfer.connection;
    const std::int64_t from_ns = transfer.send_begin_ns;
    const std::int64_t to_ns = std::max(transfer.recv_begin_ns, transfer.recv_end_ns - 1);
    ++counts_.arrows;
    arrow_end("s", connection, connection.sender, std::min(from_ns, to_ns), "");
    arrow_end("f", connection, connection.receiver, to_ns, ",\"bp\":\"e\"");
  }

  Result<PerfettoCounts> finish(std::uint64_t unmatched_halves) {
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
    const bool is_whole = thread == kCollectiveThread;
    if (processes_.insert(process).second) {
      const std::string communicator = process < kProcessesPerCommunicator
                                           ? ""
                                           : fmt::format(" of communicator {}", event.communicator);
      metadata(process, thread, "process_name",
               fmt::format("\"name\":\"rank {}{}\"", event.rank, communicator));
      metadata(process, thread, "process_sort_index", fmt::format("\"sort_index\":{}", process));
    }
    metadata(process, thread, "thread_name",
             is_whole                    ? "\"name\":\"collectives\""
             : thread == kComputeChannel ? "\"name\":\"compute\""
                                         : fmt::format("\"name\":\"channel {}\"", thread));
    metadata(process, thread, "thread_sort_index",
             fmt::format("\"sort_index\":{}", is_whole ? -1 : thread));
  }

  void metadata(std::int64_t process, std::int32_t thread, const char* name,
                const std::string& args) {
    begin_record();
    add("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{{}}}}}", name, process,
        thread, args);
  }

  void arrow_end(const char* phase, const TraceConnection& connection, std::int32_t rank,
                 std::int64_t at_ns, const char* binding) {
    begin_record();
    add("{{\"ph\":\"{}\",\"name\":\"chunk\",\"cat\":\"transfer\",\"id\":{},\"pid\":{},\"tid\":{},"
        "\"ts\":{}{}}}",
        phase, counts_.arrows, process_of(connection.communicator, rank), connection.channel,
        in_us_text(at_ns), binding);
  }

  std::ostream& out_;
  std::string buffer_;
  bool is_first_ = true;
  PerfettoCounts counts_;
  std::unordered_map<std::uint32_t, std::int64_t> communicators_;  ///< -> order of appearance
  std::set<std::int64_t> processes_;
  std::set<std::pair<std::int64_t, std::int32_t>> threads_;
};

}  // namespace

Result<PerfettoCounts> export_perfetto(const TraceFile& file, std::ostream& out,
                                       const std::function<void(double)>& on_progress) {
  Writer writer(out);
  TransferMatcher matcher([&](const TraceTransfer& transfer) { writer.arrow(transfer); });
  writer.start(file);
  for (std::size_t b = 0; b < file.block_count() && out; ++b) {
    file.block(b).for_each_event([&](const TraceEvent& event) {
      // A further peer shows as an arrow to or from its primitive's slice.
      if (event.kind != EventKind::Peer) writer.event(event);
      matcher.add(event);
    });
    if (on_progress) {
      on_progress(static_cast<double>(b + 1) / static_cast<double>(file.block_count()));
    }
  }
  return writer.finish(matcher.unmatched());
}

}  // namespace ringside
