#include <algorithm>

#include "diag/audit/benchmark_lines.h"
#include "diag/audit/quoted_line.h"
#include "diag/audit/shard.h"
#include "diag/job/nccl_result.h"
#include "diag/logparse/benchmark_records.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/topo_records.h"

// What a Shard takes from records of which a log has few, whatever its size: versions, settings, the parts of a start,
// reports of ncclras, errors. shard.cpp takes the records that grow with the job: connections, rings, trees and calls.

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Limits each table whose keys are texts of the lines, so that a log with forged or repeated lines cannot take all memory.
/// Logs of real jobs have far fewer different facts.
constexpr std::size_t kMostFacts = 10'000;

template <typename Fact>
void add(std::vector<Fact>& facts, Fact fact) {
  if (facts.size() < kMostFacts) facts.push_back(std::move(fact));
}

template <typename Key>
void add(std::map<Key, Said>& facts, const Key& key, const Record& record) {
  if (facts.size() < kMostFacts) facts[key].add(record);
}

void add_pattern(std::vector<PatternFact>& patterns, const Record& record) {
  const auto& graph = record.as<GraphPattern>();
  PatternFact pattern{graph.pattern,
                      graph.cross_nic,
                      graph.nchannels,
                      graph.bw_intra,
                      graph.bw_inter,
                      std::string(graph.type_intra),
                      std::string(graph.type_inter)};
  auto known = std::ranges::find(patterns, pattern);
  if (known == patterns.end()) {
    if (patterns.size() >= kMostFacts) return;
    known = patterns.insert(known, std::move(pattern));
  }
  known->evidence.add(record.place, record.speaker, record.line);
}

XidFact xid_of(const Record& record) {
  const auto& xid = record.as<Xid>();
  return {xid.code,           xid.pid,      xid.bus_id,
          xid.is_switch,      xid.is_fatal, std::string(xid.text),
          quoted_line(record)};
}

RasFact comm_of_ras(const Record& record) {
  const auto& comm = record.as<RasComm>();
  return {.nranks = comm.nranks,
          .missing = comm.ranks_missing,
          .status = std::string(comm.status),
          .errors = std::string(comm.errors),
          .quoted = quoted_line(record)};
}

RasFact rank_of_ras(const Record& record) {
  const auto& rank = record.as<RasRank>();
  return {.is_rank = true,
          .is_dead = rank.state == RasRank::State::Dead,
          .is_missing = rank.state == RasRank::State::Missing,
          .rank = rank.rank,
          .operation = rank.operation,
          .status = std::string(rank.status),
          .host = std::string(rank.host),
          .quoted = quoted_line(record)};
}

}  // namespace

void Shard::take_version(const Record& record) {
  if (record.is_torn || record.is_cut) return;  // 2.2 may be the beginning of 2.22
  const auto& version = record.as<LibraryVersion>();
  const std::string text(version.text);
  add(versions, text, record);
  if (version_facts.size() >= kMostFacts) return;
  version_facts.emplace(text, VersionFact{version.library == Library::Rccl, version.is_of_benchmark,
                                          false, version.code, std::string(version.toolkit)});
}

void Shard::take_setting(const Record& record) {
  const auto& echo = record.as<logs::Environment>();
  if (echo.how == logs::Environment::How::Config || record.is_torn) return;
  auto& settings = echo.how == logs::Environment::How::Shell ? exports : environment;
  add(settings, {std::string(echo.name), std::string(echo.value)}, record);
}

void Shard::take_net_devices(const Record& record) {
  const auto& devices = record.as<NetDevices>();
  if (record.is_torn && !devices.none_found) return;
  const std::string list = devices.none_found ? std::string() : std::string(devices.list);
  add(net_devices, {std::string(devices.net), list}, record);
}

/// NCCL prints the network before `Init START` if it prints that line at all, so it is about the next communicator.
void Shard::take_network_in_use(const Record& record) {
  if (record.is_torn) return;
  const auto& used = record.as<NetworkInUse>();
  add(networks, std::string(used.name), record);
  SpeakerParts& speaker = spoken[record.speaker];
  speaker.network = nets.number_of(used.name);
  const bool is_open = speaker.current != kNone && !speaker.is_closed;
  if (is_open && parts[speaker.current].comm == 0) parts[speaker.current].network = speaker.network;
}

/// Gives the times to the newest communicator of this rank and size that has none yet.
void Shard::take_init_timings(const Record& record) {
  const auto& timings = record.as<InitTimings>();
  const SpeakerParts& speaker = spoken[record.speaker];
  const auto newest =
      std::find_if(speaker.parts.rbegin(), speaker.parts.rend(), [&](std::uint32_t at) {
        const CommPart& part = parts[at];
        return part.rank == timings.rank && part.nranks == timings.nranks && part.init_s < 0;
      });
  if (newest != speaker.parts.rend()) {
    parts[*newest].init_s = timings.total;
    parts[*newest].bootstrap_s = timings.bootstrap;
  }
  constexpr float kSlow_s = 30;  // rules/start.cpp: a note from here on, a warning from 120 s on
  if (timings.total >= kSlow_s) slow_inits.add(record);
}

void Shard::take_channel_counts(const Record& record) {
  const auto& counts = record.as<ChannelCounts>();
  CommPart& part = parts[setup_part(record)];
  part.coll_channels = counts.coll;
  part.nvls_channels = counts.nvls;
  part.p2p_channels = counts.p2p;
  channel_counts[counts.coll].add(record);
}

void Shard::take_ring_order(const Record& record) {
  const auto& ring = record.as<RingOrder>();
  const std::uint32_t part = setup_part(record);
  parts[part].ring_channels = std::max(parts[part].ring_channels, ring.nchannels);
  RingList list{part, ring.channel, !ring.ends_in_dots && !record.is_torn && !record.is_cut,
                static_cast<std::uint32_t>(ring_ranks.size()), 0};
  std::int32_t rank = -1;
  for (IntCursor cursor(ring.ranks); cursor.next(rank);) ring_ranks.push_back(rank);
  list.count = static_cast<std::uint32_t>(ring_ranks.size()) - list.at;
  longest_ring = std::max<std::size_t>(longest_ring, list.count);
  ring_lists.push_back(list);
}

/// Takes a message of the catalogue. A message that is no warning may still state a reason of a failure.
void Shard::take_message(const Record& record) {
  messages.take(record);
  take_benchmark_message(tables, record);
  if (record.level == Level::None) {
    take_plain(record);
  } else if (record.level == Level::Warn || facts_of(record.as<Message>().id).weight != 'I' ||
             is_message(record, MessageId::OfiOther)) {
    take_reasons(record);
  }
}

void Shard::take_fact(const Record& record) {
  switch (record.kind) {
    case RecordKind::Message:
      return take_message(record);
    case RecordKind::LibraryVersion:
      return take_version(record);
    case RecordKind::Environment:
      return take_setting(record);
    case RecordKind::NetDevices:
      return take_net_devices(record);
    case RecordKind::NetworkInUse:
      return take_network_in_use(record);
    case RecordKind::BootstrapInterface: {
      const auto& bootstrap = record.as<BootstrapInterface>();
      return add(bootstraps, {std::string(bootstrap.interface), std::string(bootstrap.address)},
                 record);
    }
    case RecordKind::InitTimings:
      return take_init_timings(record);
    case RecordKind::ChannelCounts:
      return take_channel_counts(record);
    case RecordKind::GdrOfHca: {
      const auto& hca = record.as<GdrOfHca>();
      return add(gdr_of_hca, {std::string(hca.net), hca.is_enabled}, record);
    }
    case RecordKind::RingOrder:
      return take_ring_order(record);
    case RecordKind::GraphPattern:
      return add_pattern(patterns, record);
    case RecordKind::ResultStack: {
      const auto& result = record.as<ResultStack>();
      if (job::is_nccl_failure(result.code)) results[result.code].add(record);
      return;
    }
    case RecordKind::BenchmarkRank:
    case RecordKind::BenchmarkHeading:
    case RecordKind::BenchmarkRow:
    case RecordKind::BenchmarkAverage:
      return take_benchmark(tables, record);
    case RecordKind::Xid:
      return add(xids, xid_of(record));
    case RecordKind::RasComm:
      return add(ras, comm_of_ras(record));
    case RecordKind::RasRank:
      return add(ras, rank_of_ras(record));
    case RecordKind::PythonError: {
      const auto& error = record.as<PythonError>();
      add(python_errors, {std::string(error.type), std::string(error.text),
                          speakers[record.speaker].launcher_rank, quoted_line(record)});
      return take_plain(record);
    }
    default:
      return;
  }
}

}  // namespace ringside::audit
