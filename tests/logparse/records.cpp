#include "tests/logparse/records.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diag/logparse/benchmark_records.h"
#include "diag/logparse/call_records.h"
#include "diag/logparse/channel_records.h"
#include "diag/logparse/host_records.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/message.h"
#include "diag/logparse/ras_records.h"
#include "diag/logparse/topo_records.h"

namespace ringside::logs {
namespace {

std::string fields(const Message& r, const Record& record) {
  std::string text = fmt::format("{}#{}", facts_of(r.id).name, r.pattern);
  for (std::uint16_t i = 0; i < r.fields; ++i) {
    text += fmt::format(" <{}>", record.text().substr(r.slices[i].at, r.slices[i].size));
  }
  return text;
}
std::string fields(const LibraryVersion& r) {
  return fmt::format("{} {} '{}' '{}' {}", static_cast<int>(r.library), r.code, r.text, r.toolkit,
                     r.is_of_benchmark);
}
std::string fields(const Environment& r) {
  return fmt::format("{}='{}' how {} integer {}", r.name, r.value, static_cast<int>(r.how),
                     r.is_integer);
}
std::string fields(const NetDevices& r) {
  return fmt::format("'{}' '{}' oob '{}' ro {} none {}", r.net, r.list, r.oob, r.relaxed_ordering,
                     r.none_found);
}
std::string fields(const NetworkInUse& r) { return fmt::format("'{}'", r.name); }
std::string fields(const BootstrapInterface& r) {
  return fmt::format("'{}' '{}'", r.interface, r.address);
}
std::string fields(const CommEvent& r) {
  return fmt::format(
      "{} {} comm {:x} rank {}/{} cuda {} nvml {} bus {:x} id {:x} parent {:x} {} {} {} rccl {}",
      static_cast<int>(r.event), r.function, r.comm, r.rank, r.nranks, r.cuda_device, r.nvml_device,
      r.bus_id, r.comm_id, r.parent, r.color, r.key, r.child, r.is_rccl);
}
std::string fields(const CommNodes& r) {
  return fmt::format("{:x} {} {} {} {} {} {}", r.comm, r.rank, r.nranks, r.nnodes, r.local_ranks,
                     r.local_rank, r.mnnvl);
}
std::string fields(const InitTimings& r) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", r.function, r.rank, r.nranks, r.total,
                     r.kernels, r.alloc, r.bootstrap, r.allgathers, r.topo, r.graphs, r.connections,
                     r.rest);
}
std::string fields(const BootstrapTimings& r) {
  return fmt::format("{} {} {} {} {} {}", r.total, r.create, r.send, r.recv, r.ring, r.delay);
}
std::string fields(const ChannelCounts& r) {
  return fmt::format("{} {} {} {} {}", r.coll, r.collnet, r.nvls, r.p2p, r.p2p_per_peer);
}
std::string fields(const GdrOfHca& r) {
  return fmt::format("'{}' {} {} '{}' '{}' {}", r.net, r.is_enabled, r.hca, r.name, r.reason,
                     r.is_module_missing);
}
std::string fields(const GdrOfPair& r) {
  return fmt::format("{} gpu '{}' hca '{}' {} {} read {} rank {}", r.is_enabled, r.gpu, r.hca,
                     r.distance, r.limit, static_cast<int>(r.read), r.rank);
}
std::string fields(const ChannelEdge& r) {
  return fmt::format(
      "{}/{} {}[{:x}]->{}[{:x}] dir {} via {} '{}' dev {} proxy {} {}{}{}{}{}{} comm {:x} {}",
      r.channel, r.connection, r.from, r.from_id, r.to, r.to_id, static_cast<int>(r.direction),
      static_cast<int>(r.via), r.net, r.net_device, r.proxy, r.gdr ? "G" : "", r.gdr_pci ? "P" : "",
      r.shared ? "S" : "", r.read ? "R" : "", r.copy_engine ? "C" : "", r.is_ring_word ? "O" : "",
      r.comm, r.nranks);
}
std::string fields(const RingOrder& r) {
  return fmt::format("{}/{} {} '{}' dots {}", r.channel, r.nchannels, r.count, r.ranks,
                     r.ends_in_dots);
}
std::string fields(const RingNeighbours& r) {
  return fmt::format("{} {}->{}->{} comm {:x} {}", r.channel, r.previous, r.rank, r.next, r.comm,
                     r.nranks);
}
std::string link_text(const TreeLink& l) {
  return fmt::format("[{}] {} up {} down {}/{}/{}", l.channel, l.rank, l.up, l.down[0], l.down[1],
                     l.down[2]);
}
std::string fields(const TreeNeighbours& r) { return link_text(r.link); }
std::string fields(const Trees& r) {
  std::string text = fmt::format("{} chain {} nvls {} up {} comm {:x} {}", r.rank, r.is_chain,
                                 r.is_nvls, r.is_up_first, r.comm, r.nranks);
  TreeLink link;
  for (TreeCursor at(r); at.next(link);) text += " " + link_text(link);
  return text;
}
std::string fields(const Connected& r) {
  return fmt::format("{} pxn {} gdr {} rank {} comm {:x} {}", static_cast<int>(r.what),
                     static_cast<int>(r.pxn), static_cast<int>(r.gdr), r.rank, r.comm, r.nranks);
}
std::string fields(const TopoSystem& r) {
  return fmt::format("{} {} {}", r.is_end, r.max_bw, r.total_bw);
}
std::string fields(const TopoNode& r) {
  return fmt::format("{} {} {} {}/{} '{}'", r.indent, r.link, r.bw, r.type, r.id, r.details);
}
std::string fields(const TopoPaths& r) {
  std::string text = fmt::format("{}/{}", r.type, r.id);
  TopoPath path;
  for (TopoPathCursor at(r); at.next(path);) {
    text += fmt::format(" {}/{} {} {} {}", path.type, path.id, path.hops, path.bw, path.path);
  }
  return text;
}
std::string fields(const GraphPattern& r) {
  return fmt::format("{} {} {} {} {} {} {} {}", r.pattern, r.cross_nic, r.nchannels,
                     r.same_channels, r.bw_intra, r.bw_inter, r.type_intra, r.type_inter);
}
std::string fields(const GraphChannel& r) { return fmt::format("{} '{}'", r.channel, r.list); }
std::string fields(const CollCall& r) {
  return fmt::format("{} {:x} count {} type {} op {} root {} comm {:x} n {} global {}", r.function,
                     r.op_count, r.count, r.datatype, r.op, r.root, r.comm, r.nranks,
                     r.global_rank);
}
std::string fields(const TuningChoice& r) {
  return fmt::format("{} {} {} {} {}..{} {} '{}'", r.function, r.bytes,
                     static_cast<int>(r.algorithm), static_cast<int>(r.protocol), r.channel_low,
                     r.channel_high, r.time_us, r.kernel);
}
std::string fields(const ApiCall& r) { return fmt::format("{} '{}'", r.function, r.arguments); }
std::string fields(const ResultStack& r) {
  return fmt::format("{} {}:{} '{}' '{}'", r.code, r.file, r.line, r.function, r.thread);
}
std::string fields(const BenchmarkRank& r) {
  return fmt::format("{} {} {} {} '{}' '{}' '{}'", r.rank, r.group, r.pid, r.device, r.host, r.pci,
                     r.name);
}
std::string fields(const BenchmarkHeading& r) {
  return fmt::format("{} {} '{}'", r.has_redop, r.has_root, r.names);
}
std::string fields(const BenchmarkRow& r) {
  const auto half = [](const BenchmarkResult& h) {
    return fmt::format("{}/{}/{}/{}", h.time_us, h.algbw_gbs, h.busbw_gbs, h.wrong);
  };
  return fmt::format("{} {} {} {} {} {} {}", r.bytes, r.count, r.type, r.redop, r.root,
                     half(r.out_of_place), half(r.in_place));
}
std::string fields(const BenchmarkAverage& r) {
  return fmt::format("{} '{}'", r.busbw_gbs, r.verdict);
}
std::string fields(const Xid& r) {
  return fmt::format("{} {} {} {} {:x} '{}' '{}'", r.code, r.is_switch, r.is_fatal, r.pid, r.bus_id,
                     r.process, r.text);
}
std::string fields(const RasComm& r) {
  return fmt::format("{} {} {} {} {} {} {} {:x} '{}' '{}'", r.is_json, r.group, r.comms, r.nodes,
                     r.nranks, r.ranks_present, r.ranks_missing, r.hash, r.status, r.errors);
}
std::string fields(const RasRank& r) {
  std::string text =
      fmt::format("{} rank {} gpu {} nvml {} pid {} error {} op {} hash {:x} '{}' '{}' {}",
                  static_cast<int>(r.state), r.rank, r.gpu, r.nvml, r.pid, r.async_error,
                  r.operation, r.hash, r.status, r.host, r.abort_flag);
  for (const std::int32_t count : r.counts) text += fmt::format(" {}", count);
  return text;
}
std::string fields(const Traceback& r) {
  return fmt::format("{} {}:{} '{}'", r.is_head, r.file, r.line, r.function);
}
std::string fields(const PythonError& r) { return fmt::format("{} '{}'", r.type, r.text); }

template <typename T>
bool add(const Record& record, std::string& text) {
  if (record.kind != T::kKind) return false;
  if constexpr (T::kKind == RecordKind::Message) {
    text += fields(record.as<T>(), record);
  } else {
    text += fields(record.as<T>());
  }
  return true;
}

template <typename... T>
void add_fields(const Record& record, std::string& text) {
  static_cast<void>((add<T>(record, text) || ...));
}

}  // namespace

std::string describe(const Record& record, const Speaker& speaker) {
  std::string text = fmt::format(
      "{}.{} {} level {} torn {} cut {} dev {} x{} tid {} at {} [{} {} {} {}] ", record.place.piece,
      record.place.line, to_string(record.kind), static_cast<int>(record.level), record.is_torn,
      record.is_cut, record.device, record.repeats, record.tid, record.time_us, speaker.host,
      speaker.pid, speaker.launcher_rank, speaker.local_rank);
  add_fields<Message, LibraryVersion, Environment, NetDevices, NetworkInUse, BootstrapInterface,
             CommEvent, CommNodes, InitTimings, BootstrapTimings, ChannelCounts, GdrOfHca,
             GdrOfPair, ChannelEdge, RingOrder, RingNeighbours, TreeNeighbours, Trees, Connected,
             TopoSystem, TopoNode, TopoPaths, GraphPattern, GraphChannel, CollCall, TuningChoice,
             ApiCall, ResultStack, BenchmarkRank, BenchmarkHeading, BenchmarkRow, BenchmarkAverage,
             Xid, RasComm, RasRank, Traceback, PythonError>(record, text);
  return text + fmt::format(" | {}", record.text());
}

ParseReport each_record(std::string_view text, const RecordCheck& check) {
  CallingSink sink(check);
  return parse_text(text, sink);
}

std::vector<std::string> described(std::string_view text) {
  std::vector<std::string> lines;
  each_record(text, [&](const Record& record, const Speaker& speaker) {
    lines.push_back(describe(record, speaker));
  });
  return lines;
}

void fail_without_record(std::string_view text, RecordKind kind) {
  std::string found;
  for (const std::string& line : described(text)) found += "\n  " + line;
  ADD_FAILURE() << "no " << to_string(kind) << " in: " << text << found;
}

}  // namespace ringside::logs
