#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "base/append.h"
#include "harness/hangs/dump.h"

namespace ringside::hangs {
namespace {

// No text in a dump of ours holds a character that JSON escapes, but names of the user's YAML may:
// outline_yaml refuses those.

class JsonWriter {
 public:
  JsonWriter(const Program& program, const Snapshot& snapshot, const Recorder& recorder,
             std::string& out)
      : program_(program), snapshot_(snapshot), recorder_(recorder), out_(out) {}

  void write() {
    if (*recorder_.release.format == '\0') {
      entries();
      out_ += '\n';
      return;
    }
    out_ += '{';
    if (has_format(2, 10)) {
      add(R"("comm_lib_version":"{}",)", recorder_.is_gloo ? "" : recorder_.release.nccl);
    }
    if (!snapshot_.entries.empty()) {
      out_ += "\"entries\":";
      entries();
      out_ += ',';
    }
    out_ += R"("nccl_comm_state":{},)";
    if (has_format(2, 7) && !has_format(2, 10)) {
      add(R"("nccl_version":"{}",)", recorder_.release.nccl);
    }
    config();
    if (has_format(2, 3)) status();
    add(R"("version":"{}")", recorder_.release.format);
    out_ += "}\n";
  }

 private:
  [[nodiscard]] bool has_format(int major, int minor) const {
    return hangs::has_format(recorder_.release, major, minor);
  }
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    append(out_, format, std::forward<Values>(values)...);
  }

  void config() {
    std::map<std::string, const Group*> sorted;
    for (const int group : snapshot_.groups) {
      const Group& found = program_.groups[static_cast<std::size_t>(group)];
      sorted[found.name] = &found;
    }
    out_ += R"("pg_config":{)";
    const char* comma = "";
    for (const auto& [name, group] : sorted) {
      add(R"({}"{}":{{"desc":"{}","name":"{}","ranks":"[{}]"}})", comma, name, group->desc, name,
          fmt::join(group->ranks, ", "));
      comma = ",";
    }
    out_ += "},";
  }

  void status() {
    out_ += R"("pg_status":{)";
    const char* comma = "";
    for (const GroupStatus& group : snapshot_.status) {
      add(R"({}"{}":{{"last_completed_collective":"{}","last_enqueued_collective":"{}",)", comma,
          group.pg_id, group.completed, group.enqueued);
      add(R"("last_started_collective":"{}"}})", group.started);
      comma = ",";
    }
    out_ += "},";
  }

  void entries() {
    out_ += '[';
    bool is_first = true;
    for (const Entry& entry : snapshot_.entries) {
      if (!is_first) out_ += ',';
      is_first = false;
      write_entry(entry);
    }
    out_ += ']';
  }

  const CallText& text_of(const Step& step) {
    const auto [place, is_new] = calls_.try_emplace(&step);
    if (is_new) place->second = describe(program_, step, snapshot_.rank, recorder_);
    return place->second;
  }

  void write_entry(const Entry& entry) {
    const Record& record = *entry.record;
    const Group& group = program_.groups[static_cast<std::size_t>(record.step->group)];
    const CallText& call = text_of(*record.step);
    add(R"({{"collective_seq_id":{},)", record.collective_seq);
    if (entry.duration_ms) add(R"("duration_ms":{},)", *entry.duration_ms);
    add(R"("input_dtypes":["{}"],"input_sizes":[[{}]],"is_p2p":{},"op_id":{},)", call.type,
        fmt::join(call.input, ","), is_p2p(record.step->op),
        record.collective_seq + record.p2p_seq);
    add(R"("output_dtypes":["{}"],"output_sizes":[[{}]],"p2p_seq_id":{},"pg_id":{},)", call.type,
        fmt::join(call.output, ","), record.p2p_seq, entry.pg_id);
    add(R"("process_group":["{}","{}"],"profiling_name":"{}","record_id":{},"retired":{},)",
        group.name, group.desc, call.profiling_name, entry.record_id, entry.is_retired);
    add(R"("state":"{}",)", entry.state);
    if (has_format(2, 9)) {
      add(R"("thread_id":"{}","thread_name":"python3",)",
          140'418'060'358'144 + 4096 * snapshot_.rank);
    }
    add(R"("time_created_ns":{},"time_discovered_completed_ns":{},)", entry.created_ns,
        entry.completed_ns.value_or(0));
    add(R"("time_discovered_started_ns":{})", entry.started_ns.value_or(0));
    if (has_format(2, 2)) add(R"(,"timeout_ms":{})", recorder_.timeout_ms);
    out_ += '}';
  }

  const Program& program_;
  const Snapshot& snapshot_;
  const Recorder& recorder_;
  std::string& out_;
  std::unordered_map<const Step*, CallText> calls_;
};

}  // namespace

void append_json(const Program& program, const Snapshot& snapshot, const Recorder& recorder,
                 std::string& out) {
  JsonWriter(program, snapshot, recorder, out).write();
}

}  // namespace ringside::hangs
