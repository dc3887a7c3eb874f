#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "diag/audit/gpu_names.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Sizes in total bytes and in bytes per rank from which on bandwidth rather than latency determines the time.
constexpr std::uint64_t kLarge = std::uint64_t{64} << 20, kLargeOfRank = std::uint64_t{8} << 20;

int hosts_of(const BenchmarkTable& table) {
  std::set<std::string> names;
  for (const BenchmarkDevice& device : table.devices) names.insert(device.host);
  return static_cast<int>(names.size());
}

bool is_reducing_or_gathering(const BenchmarkTable& table) {
  if (table.collective.empty()) return table.has_redop;
  for (const std::string_view name : {"all_reduce", "all_gather", "reduce_scatter"}) {
    if (table.collective == name) return true;
  }
  return false;
}

/// Returns the busbw that boards with NVLink reach for large messages on any network: well below the rate of one NIC
/// per four GPUs (several hosts) or of one generation of NVLink (one host). With fewer GPUs per host: well below one
/// NIC of 50 Gbit/s, and below the NVLinks between two GPUs.
/// unit    GB/s; 0: no such board
double floor_of(const BenchmarkTable& table, int hosts) {
  const std::string& gpu = table.devices.front().gpu;
  const std::size_t each = table.devices.size() / static_cast<std::size_t>(std::max(hosts, 1));
  constexpr std::size_t kBoard = 4;
  constexpr std::array<std::string_view, 6> kBoards{"SXM*",  "HBM3*", "GH200",
                                                    "GB200", "B200",  "H200"};
  constexpr std::array<std::string_view, 5> kSinceHopper{"H100", "H200", "GH200", "B200", "GB200"};
  if (!names_any_gpu(gpu, kBoards) || names_gpu(gpu, "PCIe")) return 0;
  const bool is_hopper = names_any_gpu(gpu, kSinceHopper);  // or newer
  const bool is_volta = names_gpu(gpu, "V100");
  if (each < kBoard) {
    if (hosts > 1) return is_hopper ? 3 : is_volta ? 1 : 2;
    return each < 2 ? 0 : is_hopper ? 60 : is_volta ? 15 : 40;
  }
  if (hosts > 1) return is_hopper ? 30 : is_volta ? 6 : 15;
  return is_hopper ? 150 : is_volta ? 50 : 90;
}

const BenchmarkLine* best_large_row(const BenchmarkTable& table) {
  const BenchmarkLine* best = nullptr;
  for (const BenchmarkLine& row : table.rows) {
    const bool is_large = row.bytes >= kLarge && row.bytes >= kLargeOfRank * table.devices.size();
    if (!is_large || row.busbw_gbs < 0) continue;
    if (best == nullptr || row.busbw_gbs > best->busbw_gbs) best = &row;
  }
  return best;
}

/// Returns the share of the expected rate below which a rate is a finding. If NICs are only assumed, hosts may have a
/// quarter of the preset's.
double least_share(const BenchmarkTable& table) { return table.has_known_nics ? 0.5 : 0.2; }

/// Returns a variable in force that alone makes the rate low: few channels, or a protocol for small messages.
const Setting* throttle_of(const JobFacts& facts) {
  constexpr long kFewChannels = 8;  // NCCL uses at least 16 in hosts with NVSwitch
  for (const std::string_view name : {"NCCL_MAX_CTAS", "NCCL_MAX_NCHANNELS"}) {
    const Setting* limit = facts.setting(name);
    if (limit == nullptr) continue;
    const long value = std::strtol(limit->value.c_str(), nullptr, 10);
    if (value >= 1 && value <= kFewChannels) return limit;
  }
  const Setting* protocol = facts.setting("NCCL_PROTO");
  return protocol != nullptr && protocol->value == "LL" ? protocol : nullptr;
}

void look_at_bandwidth(const JobFacts& facts, const BenchmarkTable& table, Findings& findings) {
  if (table.devices.empty() || !is_reducing_or_gathering(table)) return;
  const BenchmarkLine* best = best_large_row(table);
  if (best == nullptr) return;
  const int hosts = hosts_of(table);
  const double floor = floor_of(table, hosts);
  const double share = best->expected_gbs > 0 ? best->busbw_gbs / best->expected_gbs : 1;
  const bool is_below_floor = floor > 0 && best->busbw_gbs < floor;
  if (!is_below_floor && share >= least_share(table)) return;
  constexpr double kPercent = 100;
  Finding& finding =
      findings.add("low_bandwidth", is_below_floor ? Severity::Error : Severity::Warning,
                   fmt::format("{:.1f} GB/s busbw at best", best->busbw_gbs));
  finding.title +=
      share < 1 ? fmt::format(": {:.0f} % of the {:.1f} GB/s that NCCL's own model expects of {}",
                              kPercent * share, best->expected_gbs, table.expected_of)
                : fmt::format("; {} x {} reach more than {:.0f}", table.devices.size(),
                              table.devices.front().gpu, floor);
  if (share < 1)
    finding.cost = Cost{"measured against the model's answer", best->busbw_gbs, best->expected_gbs};
  finding.evidence.add(best->quoted);
  finding.evidence.mix(table.average);
  for (const BenchmarkDevice& device : table.devices) finding.hosts.push_back(device.host);
  sort_once(finding.hosts);
  finding.confidence = Confidence::Medium;
  finding.cause = hosts > 1 ? "the data do not take the intended path: TCP sockets instead of RDMA "
                              "(a network plugin that is not loaded), no GPUDirect, one NIC, or a "
                              "slow link"
                            : "the data do not go over NVLink";
  if (!table.has_known_nics && share < 1)
    finding.cause += "; or these hosts have fewer or slower NICs than the model takes them to have";
  finding.fix =
      "NCCL_DEBUG=INFO and audit that log: it names the transport of each connection; --cluster "
      "names the hosts";
  const Setting* throttle = throttle_of(facts);
  if (throttle == nullptr) return;
  finding.evidence.mix(throttle->evidence);
  finding.cause = fmt::format(
      "{}={} is in force: {}", throttle->name, throttle->value,
      throttle->name == "NCCL_PROTO"
          ? "LL carries a flag with every 4 bytes and reaches half of the links' rate at most"
          : "so few channels do not fill NVLink or several NICs");
  finding.fix = "unset " + throttle->name;
}

}  // namespace

void look_at_tables(const JobFacts& facts, Findings& findings) {
  for (const BenchmarkTable& table : facts.tables) look_at_bandwidth(facts, table, findings);

  const bool has_failed = facts.messages.has(MessageId::BenchmarkError);
  Finding cut;
  // NCCL's lines may break every row of a benchmark that finishes.
  std::uint64_t begun = 0;
  for (const BenchmarkTable& table : facts.tables) begun += table.begin.empty() ? 0U : 1U;
  const std::uint64_t ended = facts.messages[MessageId::BenchmarkOutOfBounds].evidence.count();
  for (const BenchmarkTable& table : facts.tables) {
    const bool is_begun = !table.begin.empty();
    if (!is_begun || !table.rows.empty() || table.is_concluded) continue;
    cut.evidence.mix(table.begin);
  }
  if (!cut.evidence.empty() && !has_failed && ended < begun) {
    Finding& finding = findings.add("truncated_table", Severity::Error,
                                    "a benchmark began and printed no result", cut);
    finding.cause = "it hangs in its first collective, or was killed";
    finding.fix = "NCCL_DEBUG=INFO   # and run again; ringside audit names what the ranks wait for";
  }
  Finding stopped;
  for (const BenchmarkTable& table : facts.tables) {
    if (!table.is_concluded && !table.rows.empty()) stopped.evidence.mix(table.stopped);
  }
  if (!stopped.evidence.empty() && !has_failed && ended < begun) {
    Finding& finding = findings.add("truncated_table", Severity::Error,
                                    "a benchmark stopped in the size of its last row", stopped);
    finding.cause = "it hangs in that size, or was killed: the sizes before it finished";
    finding.fix = "NCCL_DEBUG=INFO -b <that size>   # ringside audit names what the ranks wait for";
  }

  Finding wrong;
  for (const KeptMessage& message : facts.messages[MessageId::BenchmarkOutOfBounds].kept) {
    if (message.number("count", 0) < 1 && message.argument("verdict") != "FAILED") continue;
    wrong.evidence.add(message.quoted());
  }
  if (!wrong.evidence.empty()) {
    Finding& finding =
        findings.add("wrong_results", Severity::Error, "the benchmark received wrong data", wrong);
    for (const BenchmarkTable& table : facts.tables) {
      for (const BenchmarkLine& row : table.rows) {
        if (row.wrong >= 1) finding.evidence.add(row.quoted);
      }
    }
    finding.cause =
        "data are corrupted on their path: GPUDirect with ACS or an IOMMU, or faulty hardware";
    finding.fix =
        "NCCL_NET_GDR_LEVEL=LOC, then NCCL_P2P_DISABLE=1: which of the two cures it names the path";
  }

  // Returns the processes that are rank 0 of a table each: each measures only itself.
  std::set<std::uint32_t> speakers;
  // In one stream: processes of one table, or of several tables that begin before any has a row. Tables one after the
  // other may be of several runs.
  std::set<std::pair<std::string, std::int32_t>> waiting;
  Finding alone;
  bool is_waiting = false;
  for (const BenchmarkTable& table : facts.tables) {
    std::set<std::pair<std::string, std::int32_t>> firsts, all;
    for (const BenchmarkDevice& device : table.devices) {
      all.emplace(device.host, device.pid);
      if (device.rank == 0 && device.pid >= 0) firsts.emplace(device.host, device.pid);
    }
    if (table.devices.empty() || (firsts.size() < 2 && all.size() > 1)) continue;
    is_waiting = is_waiting || table.rows.empty();
    // After the waiting processes, the first process with rows is one of them.
    if (is_waiting || firsts.size() > 1) waiting.insert(firsts.begin(), firsts.end());
    if (table.speaker != 0) speakers.insert(table.speaker);
    alone.evidence.mix(table.begin);
    if (firsts.size() < 2) continue;
    for (const BenchmarkDevice& device : table.devices) alone.evidence.add(device.quoted);
  }
  const std::size_t processes = std::max(speakers.size(), waiting.size());
  if (processes > 1) {
    Finding& finding =
        findings.add("benchmark_without_mpi", Severity::Warning,
                     fmt::format("{} processes each measure themselves alone", processes), alone);
    finding.cause =
        "nccl-tests was built without MPI: every process counts its own ranks from 0, and nothing "
        "crosses the network";
    finding.fix = "make clean; make MPI=1 MPI_HOME=/path/of/mpi   # in nccl-tests";
  }
}

}  // namespace ringside::audit
