#include <fmt/format.h>

#include <deque>
#include <unordered_map>

#include "base/vocabulary.h"
#include "engine/flight/dump.h"
#include "engine/flight/pickle_writer.h"

namespace ringside {
namespace {

class PickledDump {
 public:
  PickledDump(const FlightDump& dump, std::string& out) : dump_(dump), pickle_(out) {}

  void write() {
    if (*dump_.format == '\0') {
      entries();
      pickle_.finish();
      return;
    }
    pickle_.begin_dict();
    key("version", dump_.format);
    if (has_format(1, 4)) config();
    if (has_format(2, 10)) {
      key("comm_lib_version", dump_.library);
    } else if (has_format(2, 7)) {
      key("nccl_version", dump_.library);
    }
    if (has_format(2, 3)) status();
    own();
    pickle_.string("entries");
    entries();
    pickle_.end_dict();
    pickle_.finish();
  }

 private:
  [[nodiscard]] bool has_format(int major, int minor) const {
    return ringside::has_format(dump_.format, major, minor);
  }
  /// Keeps a copy of the text for the life of the writer.
  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }

  void key(std::string_view name, std::string_view value) {
    pickle_.string(name);
    pickle_.string(value);
  }
  void key(std::string_view name, std::int64_t value) {
    pickle_.string(name);
    pickle_.integer(value);
  }
  void flag(std::string_view name, bool value) {
    pickle_.string(name);
    pickle_.boolean(value);
  }
  void time(std::string_view name, const std::optional<std::int64_t>& value) {
    pickle_.string(name);
    if (value) {
      pickle_.integer(*value);
    } else {
      pickle_.none();
    }
  }

  void config() {
    pickle_.string("pg_config");
    pickle_.begin_dict();
    for (const FlightDump::Group& group : dump_.groups) {
      if (has_format(2, 1)) {
        pickle_.string(group.name);
        pickle_.begin_dict();
        key("name", group.name);
        key("desc", group.desc);
        key("ranks", keep(fmt::format("[{}]", fmt::join(group.ranks, ", "))));
        pickle_.end_dict();
      } else {
        pickle_.integer(group.pg_id);
        pickle_.begin_list();
        for (const int rank : group.ranks) pickle_.integer(rank);
        pickle_.end_list();
      }
    }
    pickle_.end_dict();
  }

  void status() {
    pickle_.string("pg_status");
    pickle_.begin_dict();
    for (const FlightDump::Status& group : dump_.status) {
      pickle_.string(keep(fmt::format("{}", group.pg_id)));
      pickle_.begin_dict();
      key("last_enqueued_collective", group.enqueued);
      key("last_started_collective", group.started);
      key("last_completed_collective", group.completed);
      pickle_.end_dict();
    }
    pickle_.end_dict();
  }

  void own() {
    if (dump_.reason.empty() && dump_.progress.empty()) return;
    pickle_.string("ringside");
    pickle_.begin_dict();
    key("reason", dump_.reason);
    key("reason_group", dump_.reason_group);
    pickle_.string("progress");
    pickle_.begin_list();
    for (const FlightDump::Progress& one : dump_.progress) {
      pickle_.begin_dict();
      key("process_group", dump_.groups[static_cast<std::size_t>(one.group)].name);
      key("channel", one.channel);
      key("protocol", to_string(one.protocol));
      key("slot_size", static_cast<std::int64_t>(one.slot_size));
      key("index", one.index);
      key("peer", one.peer);
      key("direction", one.is_send ? "send" : "recv");
      key("messages", static_cast<std::int64_t>(one.messages));
      key("bytes", static_cast<std::int64_t>(one.bytes));
      flag("waiting", one.is_waiting);
      pickle_.end_dict();
    }
    pickle_.end_list();
    pickle_.end_dict();
  }

  void entries() {
    pickle_.begin_list();
    for (const FlightDump::Entry& entry : dump_.entries) write_entry(entry);
    pickle_.end_list();
  }

  /// Writes the frames of equal calls once; later calls refer to them through the memo.
  void write_frames(const FlightDump::Call& call) {
    std::vector<std::uint32_t>& memo = memo_[&call];
    pickle_.string("frames");
    pickle_.begin_list();
    if (memo.empty()) {
      for (const FlightDump::Frame& frame : call.frames) {
        pickle_.begin_dict();
        key("name", frame.name);
        key("filename", frame.filename);
        key("line", frame.line);
        pickle_.end_dict();
        memo.push_back(pickle_.put());
      }
    } else {
      for (const std::uint32_t index : memo) pickle_.get(index);
    }
    pickle_.end_list();
  }

  void sizes(std::string_view name, const std::vector<std::int64_t>& shape) {
    pickle_.string(name);
    pickle_.begin_list();
    pickle_.begin_list();
    for (const std::int64_t extent : shape) pickle_.integer(extent);
    pickle_.end_list();
    pickle_.end_list();
  }
  void types(std::string_view name, const char* type) {
    pickle_.string(name);
    pickle_.begin_list();
    pickle_.string(type);
    pickle_.end_list();
  }

  std::string_view thread_of(const FlightDump::Entry& entry) {
    std::string_view& text = threads_[entry.thread];
    if (text.empty()) text = keep(fmt::format("{}", entry.thread));
    return text;
  }

  void write_entry(const FlightDump::Entry& entry) {
    const FlightDump::Group& group = dump_.groups[static_cast<std::size_t>(entry.group)];
    const FlightDump::Call& call = *entry.call;
    pickle_.begin_dict();
    if (dump_.has_frames) write_frames(call);
    if (has_format(1, 4)) key("record_id", entry.record_id);
    key("pg_id", group.pg_id);
    if (has_format(2, 1)) {
      pickle_.string("process_group");
      pickle_.string(group.name);
      pickle_.string(group.desc);
      pickle_.pair();
    }
    if (has_format(2, 9)) {
      key("thread_name", dump_.thread_name);
      key("thread_id", thread_of(entry));
    }
    if (has_format(2, 1)) {
      key("collective_seq_id", entry.collective_seq);
      key("p2p_seq_id", entry.p2p_seq);
    } else {
      key("seq_id", entry.collective_seq + entry.p2p_seq);
    }
    if (has_format(1, 4)) key("op_id", entry.op_id);
    key("profiling_name", call.profiling_name);
    if (*dump_.format == '\0') {
      key("time_created_us", entry.created_ns / 1000);
    } else {
      key("time_created_ns", entry.created_ns);
    }
    if (entry.duration_ms) {
      pickle_.string("duration_ms");
      pickle_.real(*entry.duration_ms);
    }
    sizes("input_sizes", call.input);
    if (has_format(2, 1)) types("input_dtypes", call.type);
    sizes("output_sizes", call.output);
    if (has_format(2, 1)) types("output_dtypes", call.type);
    key("state", entry.state);
    if (*dump_.format != '\0') {
      time("time_discovered_started_ns", entry.started_ns);
      time("time_discovered_completed_ns", entry.completed_ns);
    }
    flag("retired", entry.is_retired);
    if (call.root >= 0) key("root", call.root);
    if (has_format(2, 2)) key("timeout_ms", dump_.timeout_ms);
    if (has_format(2, 1)) flag("is_p2p", entry.is_p2p);
    pickle_.end_dict();
  }

  const FlightDump& dump_;
  PickleWriter pickle_;
  std::deque<std::string> kept_;
  std::unordered_map<const FlightDump::Call*, std::vector<std::uint32_t>> memo_;
  std::unordered_map<std::uint64_t, std::string_view> threads_;
};

}  // namespace

void append_pickle(const FlightDump& dump, std::string& out) { PickledDump(dump, out).write(); }

}  // namespace ringside
