#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/append.h"
#include "base/json.h"
#include "base/vocabulary.h"
#include "engine/flight/dump.h"

namespace ringside {
namespace {

class JsonWriter {
 public:
  JsonWriter(const FlightDump& dump, std::string& out)
      : dump_(dump), out_(out), thread_name_(quoted_json(dump.thread_name)) {
    for (const FlightDump::Group& group : dump.groups) {
      named_.push_back("[" + quoted_json(group.name) + "," + quoted_json(group.desc) + "]");
    }
  }

  void write() {
    if (*dump_.format == '\0') {
      entries();
      out_ += '\n';
      return;
    }
    out_ += '{';
    if (has_format(dump_.format, 2, 10)) add(R"("comm_lib_version":"{}",)", dump_.library);
    if (!dump_.entries.empty()) {
      out_ += "\"entries\":";
      entries();
      out_ += ',';
    }
    out_ += R"("nccl_comm_state":{},)";
    if (has_format(dump_.format, 2, 7) && !has_format(dump_.format, 2, 10)) {
      add(R"("nccl_version":"{}",)", dump_.library);
    }
    config();
    if (has_format(dump_.format, 2, 3)) status();
    own();
    add(R"("version":"{}")", dump_.format);
    out_ += "}\n";
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    append(out_, format, std::forward<Values>(values)...);
  }

  void config() {
    std::map<std::string, const FlightDump::Group*> sorted;
    for (const FlightDump::Group& group : dump_.groups) sorted[group.name] = &group;
    out_ += R"("pg_config":{)";
    const char* comma = "";
    for (const auto& [name, group] : sorted) {
      add(R"({}{}:{{"desc":{},"name":{},"ranks":"[{}]"}})", comma, quoted_json(name),
          quoted_json(group->desc), quoted_json(name), fmt::join(group->ranks, ", "));
      comma = ",";
    }
    out_ += "},";
  }

  void status() {
    std::map<std::string, const FlightDump::Status*> sorted;  // as text: "10" before "2"
    for (const FlightDump::Status& group : dump_.status)
      sorted[std::to_string(group.pg_id)] = &group;
    out_ += R"("pg_status":{)";
    const char* comma = "";
    for (const auto& [id, group] : sorted) {
      add(R"({}"{}":{{"last_completed_collective":"{}","last_enqueued_collective":"{}",)", comma,
          id, group->completed, group->enqueued);
      add(R"("last_started_collective":"{}"}})", group->started);
      comma = ",";
    }
    out_ += "},";
  }

  void own() {
    if (dump_.reason.empty() && dump_.progress.empty()) return;
    add(R"("ringside":{{"progress":[)");
    const char* comma = "";
    for (const FlightDump::Progress& one : dump_.progress) {
      add(R"({}{{"bytes":{},"channel":{},"direction":"{}","index":{},"messages":{},"peer":{},)",
          comma, one.bytes, one.channel, one.is_send ? "send" : "recv", one.index, one.messages,
          one.peer);
      add(R"("process_group":{},"protocol":"{}","slot_size":{},"waiting":{}}})",
          quoted_json(dump_.groups[static_cast<std::size_t>(one.group)].name),
          to_string(one.protocol), one.slot_size, one.is_waiting);
      comma = ",";
    }
    add(R"(],"reason":{},"reason_group":{}}},)", quoted_json(dump_.reason),
        quoted_json(dump_.reason_group));
  }

  void entries() {
    out_ += '[';
    bool is_first = true;
    for (const FlightDump::Entry& entry : dump_.entries) {
      if (!is_first) out_ += ',';
      is_first = false;
      write_entry(entry);
    }
    out_ += ']';
  }

  void write_entry(const FlightDump::Entry& entry) {
    const FlightDump::Group& group = dump_.groups[static_cast<std::size_t>(entry.group)];
    const FlightDump::Call& call = *entry.call;
    add(R"({{"collective_seq_id":{},)", entry.collective_seq);
    if (entry.duration_ms) add(R"("duration_ms":{},)", *entry.duration_ms);
    add(R"("input_dtypes":["{}"],"input_sizes":[[{}]],"is_p2p":{},"op_id":{},)", call.type,
        fmt::join(call.input, ","), entry.is_p2p, entry.op_id);
    add(R"("output_dtypes":["{}"],"output_sizes":[[{}]],"p2p_seq_id":{},"pg_id":{},)", call.type,
        fmt::join(call.output, ","), entry.p2p_seq, group.pg_id);
    add(R"("process_group":{},"profiling_name":"{}","record_id":{},"retired":{},)",
        named_[static_cast<std::size_t>(entry.group)], call.profiling_name, entry.record_id,
        entry.is_retired);
    if (call.root >= 0) add(R"("root":{},)", call.root);
    add(R"("state":"{}",)", entry.state);
    if (has_format(dump_.format, 2, 9)) {
      add(R"("thread_id":"{}","thread_name":{},)", entry.thread, thread_name_);
    }
    add(R"("time_created_ns":{},"time_discovered_completed_ns":{},)", entry.created_ns,
        entry.completed_ns.value_or(0));
    add(R"("time_discovered_started_ns":{})", entry.started_ns.value_or(0));
    if (has_format(dump_.format, 2, 2)) add(R"(,"timeout_ms":{})", dump_.timeout_ms);
    out_ += '}';
  }

  const FlightDump& dump_;
  std::string& out_;
  const std::string thread_name_;
  std::vector<std::string> named_;  ///< [group]: name that its entries carry
};

}  // namespace

void append_json(const FlightDump& dump, std::string& out) { JsonWriter(dump, out).write(); }

}  // namespace ringside
