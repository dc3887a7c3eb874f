#include <fmt/format.h>

#include <algorithm>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

constexpr std::uint64_t kLarge = std::uint64_t{256} << 20;  ///< bytes: bandwidth alone decides

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

/// Busbw that boards with NVLink reach on large messages, whatever their network: well below what one NIC
/// for four GPUs (several hosts) or one generation of NVLink (one host) carries. With fewer GPUs a host: well
/// below one NIC of 50 Gbit/s, and below the NVLinks between two GPUs.
/// unit    GB/s; 0: no such board
double floor_of(const BenchmarkTable& table, int hosts) {
  const std::string& gpu = table.devices.front().gpu;
  const std::size_t each = table.devices.size() / static_cast<std::size_t>(std::max(hosts, 1));
  constexpr std::size_t kBoard = 4;
  const bool is_board = contains_any(gpu, {"SXM", "HBM3", "GH200", "GB200", "B200", "H200"});
  if (!is_board || contains(gpu, "PCIe")) return 0;
  const bool is_hopper = contains_any(gpu, {"H100", "H200", "GH200", "B200", "GB200"});
  const bool is_volta = contains(gpu, "V100");
  if (each < kBoard) {
    if (hosts > 1) return is_hopper ? 3 : is_volta ? 1 : 2;
    return each < 2 ? 0 : is_hopper ? 60 : is_volta ? 15 : 40;
  }
  if (hosts > 1) return is_hopper ? 30 : is_volta ? 6 : 15;
  return is_hopper ? 150 : is_volta ? 50 : 90;
}

void look_at_bandwidth(const BenchmarkTable& table, Findings& findings) {
  if (table.devices.empty() || table.rows.empty() || !is_reducing_or_gathering(table)) return;
  const int hosts = hosts_of(table);
  const double floor = floor_of(table, hosts);
  const auto best = std::max_element(
      table.rows.begin(), table.rows.end(),
      [](const BenchmarkLine& a, const BenchmarkLine& b) { return a.busbw_gbs < b.busbw_gbs; });
  const bool is_large = table.rows.back().bytes >= kLarge;
  if (floor <= 0 || !is_large || best->busbw_gbs < 0 || best->busbw_gbs >= floor) return;
  Finding& finding = findings.add(
      "low_bandwidth", Severity::Error,
      fmt::format("{:.1f} GB/s busbw at best; {} x {} reach more than {:.0f}", best->busbw_gbs,
                  table.devices.size(), table.devices.front().gpu, floor));
  const BenchmarkLine& last = table.rows.back();
  finding.evidence.add(last.quoted.place, last.quoted.process, last.quoted.text);
  finding.evidence.mix(table.average);
  for (const BenchmarkDevice& device : table.devices) finding.hosts.push_back(device.host);
  std::sort(finding.hosts.begin(), finding.hosts.end());
  finding.hosts.erase(std::unique(finding.hosts.begin(), finding.hosts.end()), finding.hosts.end());
  finding.confidence = Confidence::Medium;
  finding.cause = hosts > 1 ? "the data do not go the way they should: TCP instead of RDMA, no "
                              "GPUDirect, one NIC, or a slow link"
                            : "the data do not go over NVLink";
  finding.fix = "NCCL_DEBUG=INFO and audit that log: it names the transport of each connection";
}

}  // namespace

void look_at_tables(const JobFacts& facts, Findings& findings) {
  for (const BenchmarkTable& table : facts.tables) look_at_bandwidth(table, findings);

  const bool has_failed = facts.messages.has(MessageId::BenchmarkError);
  Finding cut;
  // Lines of NCCL may break every row, and still the benchmark comes to its end.
  std::uint64_t begun = 0;
  for (const BenchmarkTable& table : facts.tables) begun += table.begin.empty() ? 0U : 1U;
  const std::uint64_t ended = facts.messages[MessageId::BenchmarkOutOfBounds].evidence.count();
  for (const BenchmarkTable& table : facts.tables) {
    const bool is_begun = !table.begin.empty();
    if (!is_begun || !table.rows.empty() || table.is_concluded) continue;
    cut.evidence.mix(table.begin);
  }
  if (!cut.evidence.empty() && !has_failed && ended < begun) {
    Finding& finding =
        findings.add("truncated_table", Severity::Error, "a benchmark began and printed no result");
    finding.evidence = cut.evidence;
    finding.cause = "it hangs in its first collective, or was killed";
    finding.fix = "NCCL_DEBUG=INFO   # and run again; ringside audit names what the ranks wait for";
  }
  Finding stopped;
  for (const BenchmarkTable& table : facts.tables) {
    if (!table.is_concluded && !table.rows.empty()) stopped.evidence.mix(table.stopped);
  }
  if (!stopped.evidence.empty() && !has_failed && ended < begun) {
    Finding& finding = findings.add("truncated_table", Severity::Error,
                                    "a benchmark stopped in the size of its last row");
    finding.evidence = stopped.evidence;
    finding.cause = "it hangs in that size, or was killed: the sizes before it finished";
    finding.fix = "NCCL_DEBUG=INFO -b <that size>   # ringside audit names what the ranks wait for";
  }

  Finding wrong;
  for (const KeptMessage& message : facts.messages[MessageId::BenchmarkOutOfBounds].kept) {
    if (message.number("count", 0) < 1 && message.argument("verdict") != "FAILED") continue;
    wrong.evidence.add(message.place(), message.process(), message.line());
  }
  if (!wrong.evidence.empty()) {
    Finding& finding =
        findings.add("wrong_results", Severity::Error, "the benchmark received wrong data");
    finding.evidence = wrong.evidence;
    for (const BenchmarkTable& table : facts.tables) {
      for (const BenchmarkLine& row : table.rows) {
        if (row.wrong >= 1)
          finding.evidence.add(row.quoted.place, row.quoted.process, row.quoted.text);
      }
    }
    finding.cause =
        "data are corrupted on the way: GPUDirect with ACS or an IOMMU, or faulty hardware";
    finding.fix =
        "NCCL_NET_GDR_LEVEL=LOC, then NCCL_P2P_DISABLE=1: which of the two cures it names the path";
  }

  // One table a process: each believes to be alone.
  std::set<std::uint32_t> speakers;
  // In one stream, tables of several processes that begin before any has a row; one after another they may be several
  // runs.
  std::set<std::pair<std::string, std::int32_t>> waiting;
  Finding alone;
  for (const BenchmarkTable& table : facts.tables) {
    const bool is_alone =
        !table.devices.empty() &&
        std::all_of(table.devices.begin(), table.devices.end(),
                    [](const BenchmarkDevice& device) { return device.rank == 0; });
    if (!is_alone) continue;
    // Behind those that wait, the first whose rows are there is one of them.
    for (const BenchmarkDevice& device : table.devices) {
      const bool waits = table.rows.empty() || !waiting.empty();
      if (waits && device.pid >= 0) waiting.emplace(device.host, device.pid);
    }
    if (table.speaker != 0) speakers.insert(table.speaker);
    alone.evidence.mix(table.begin);
  }
  const std::size_t processes = std::max(speakers.size(), waiting.size());
  if (processes > 1) {
    Finding& finding =
        findings.add("benchmark_without_mpi", Severity::Warning,
                     fmt::format("{} processes each measure themselves alone", processes));
    finding.evidence = alone.evidence;
    finding.cause = "nccl-tests was built without MPI: every process is rank 0 of 1";
    finding.fix = "make MPI=1 MPI_HOME=/path/of/mpi   # in nccl-tests";
  }
}

}  // namespace ringside::audit
