#include <fmt/format.h>

#include <deque>
#include <unordered_map>

#include "harness/hangs/dump.h"
#include "harness/hangs/pickle_writer.h"

namespace ringside::hangs {
namespace {

/// What the entries of one call share, with the places of its frames in the memo.
struct SharedCall {
  CallText text;
  std::vector<Frame> frames;
  std::vector<std::uint32_t> memo;  ///< empty: not written yet
};

class DumpWriter {
 public:
  DumpWriter(const Program& program, const Snapshot& snapshot, const Recorder& recorder,
             std::string& out)
      : program_(program), snapshot_(snapshot), recorder_(recorder), pickle_(out) {}

  void write() {
    if (*recorder_.release.format == '\0') {
      entries();
      pickle_.finish();
      return;
    }
    pickle_.begin_dict();
    key("version", recorder_.release.format);
    if (has_format(1, 4)) config();
    if (has_format(2, 10)) {
      key("comm_lib_version", recorder_.is_gloo ? "" : recorder_.release.nccl);
    } else if (has_format(2, 7)) {
      key("nccl_version", recorder_.release.nccl);
    }
    if (has_format(2, 3)) status();
    pickle_.string("entries");
    entries();
    pickle_.end_dict();
    pickle_.finish();
  }

 private:
  [[nodiscard]] bool has_format(int major, int minor) const {
    return hangs::has_format(recorder_.release, major, minor);
  }
  /// A text that lives as long as the writer.
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
    for (std::size_t i = 0; i < snapshot_.groups.size(); ++i) {
      const Group& group = program_.groups[static_cast<std::size_t>(snapshot_.groups[i])];
      if (has_format(2, 1)) {
        pickle_.string(group.name);
        pickle_.begin_dict();
        key("name", group.name);
        key("desc", group.desc);
        key("ranks", keep(fmt::format("[{}]", fmt::join(group.ranks, ", "))));
        pickle_.end_dict();
      } else {
        pickle_.integer(static_cast<std::int64_t>(i));
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
    for (const GroupStatus& group : snapshot_.status) {
      pickle_.string(keep(fmt::format("{}", group.pg_id)));
      pickle_.begin_dict();
      key("last_enqueued_collective", group.enqueued);
      key("last_started_collective", group.started);
      key("last_completed_collective", group.completed);
      pickle_.end_dict();
    }
    pickle_.end_dict();
  }

  void entries() {
    pickle_.begin_list();
    for (const Entry& entry : snapshot_.entries) write_entry(entry);
    pickle_.end_list();
  }

  SharedCall& shared(const Step& step) {
    const auto [place, is_new] = calls_.try_emplace(&step);
    if (is_new) {
      place->second.text = describe(program_, step, snapshot_.rank, recorder_);
      if (recorder_.has_frames) place->second.frames = frames_of(program_, step, recorder_.frames);
    }
    return place->second;
  }

  void write_frames(SharedCall& call) {
    pickle_.string("frames");
    pickle_.begin_list();
    if (call.memo.empty()) {
      for (const Frame& frame : call.frames) {
        pickle_.begin_dict();
        key("name", frame.name);
        key("filename", frame.filename);
        key("line", frame.line);
        pickle_.end_dict();
        call.memo.push_back(pickle_.put());
      }
    } else {
      for (const std::uint32_t index : call.memo) pickle_.get(index);
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

  void write_entry(const Entry& entry) {
    const Record& record = *entry.record;
    const Group& group = program_.groups[static_cast<std::size_t>(record.step->group)];
    SharedCall& call = shared(*record.step);
    pickle_.begin_dict();
    if (recorder_.has_frames) write_frames(call);
    if (has_format(1, 4)) key("record_id", entry.record_id);
    key("pg_id", entry.pg_id);
    if (has_format(2, 1)) {
      pickle_.string("process_group");
      pickle_.string(group.name);
      pickle_.string(group.desc);
      pickle_.pair();
    }
    if (has_format(2, 9)) {
      key("thread_name", "python3");
      key("thread_id", thread_);
    }
    if (has_format(2, 1)) {
      key("collective_seq_id", record.collective_seq);
      key("p2p_seq_id", record.p2p_seq);
    } else {
      key("seq_id", record.collective_seq + record.p2p_seq);
    }
    if (has_format(1, 4)) key("op_id", record.collective_seq + record.p2p_seq);
    key("profiling_name", call.text.profiling_name);
    if (*recorder_.release.format == '\0') {
      key("time_created_us", entry.created_ns / 1000);
    } else {
      key("time_created_ns", entry.created_ns);
    }
    if (entry.duration_ms) {
      pickle_.string("duration_ms");
      pickle_.real(*entry.duration_ms);
    }
    sizes("input_sizes", call.text.input);
    if (has_format(2, 1)) types("input_dtypes", call.text.type);
    sizes("output_sizes", call.text.output);
    if (has_format(2, 1)) types("output_dtypes", call.text.type);
    key("state", entry.state);
    if (*recorder_.release.format != '\0') {
      time("time_discovered_started_ns", entry.started_ns);
      time("time_discovered_completed_ns", entry.completed_ns);
    }
    flag("retired", entry.is_retired);
    if (has_format(2, 2)) key("timeout_ms", recorder_.timeout_ms);
    if (has_format(2, 1)) flag("is_p2p", is_p2p(record.step->op));
    pickle_.end_dict();
  }

  const Program& program_;
  const Snapshot& snapshot_;
  const Recorder& recorder_;
  PickleWriter pickle_;
  std::deque<std::string> kept_;
  std::unordered_map<const Step*, SharedCall> calls_;
  const std::string thread_ = fmt::format("{}", 140'418'060'358'144 + 4096 * snapshot_.rank);
};

}  // namespace

void append_pickle(const Program& program, const Snapshot& snapshot, const Recorder& recorder,
                   std::string& out) {
  DumpWriter(program, snapshot, recorder, out).write();
}

}  // namespace ringside::hangs
