#include "diag/logparse/record.h"

#include <array>

namespace ringside::logs {

const char* to_string(RecordKind kind) {
  static constexpr std::array<const char*, kRecordKinds> kNames = {"message",
                                                                   "library_version",
                                                                   "environment",
                                                                   "net_devices",
                                                                   "network_in_use",
                                                                   "bootstrap",
                                                                   "comm_event",
                                                                   "comm_nodes",
                                                                   "init_timings",
                                                                   "bootstrap_timings",
                                                                   "channel_counts",
                                                                   "gdr_of_hca",
                                                                   "gdr_of_pair",
                                                                   "channel_edge",
                                                                   "ring_order",
                                                                   "ring_neighbours",
                                                                   "tree_neighbours",
                                                                   "trees",
                                                                   "connected",
                                                                   "topo_system",
                                                                   "topo_node",
                                                                   "topo_paths",
                                                                   "graph_pattern",
                                                                   "graph_channel",
                                                                   "coll_call",
                                                                   "tuning_choice",
                                                                   "api_call",
                                                                   "result_stack",
                                                                   "benchmark_rank",
                                                                   "benchmark_heading",
                                                                   "benchmark_row",
                                                                   "benchmark_average",
                                                                   "xid",
                                                                   "ras_comm",
                                                                   "ras_rank",
                                                                   "traceback",
                                                                   "python_error",
                                                                   "unknown",
                                                                   "continuation",
                                                                   "fragment",
                                                                   "text"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view location(const Record& record) {
  const std::string_view prefix = record.line.substr(0, record.text_at);
  const std::size_t end = prefix.rfind(" NCCL WARN");
  if (record.level != Level::Warn || end == std::string_view::npos) return {};
  // After `[<device>] `: brackets with digits alone, unlike those of a time before the host.
  for (std::size_t open = prefix.find('['); open < end; open = prefix.find('[', open + 1)) {
    const std::size_t close = prefix.find_first_not_of("-0123456789", open + 1);
    if (close >= end || prefix.substr(close, 2) != "] ") continue;
    return prefix.substr(close + 2, end > close + 2 ? end - close - 2 : 0);
  }
  return {};
}

}  // namespace ringside::logs
