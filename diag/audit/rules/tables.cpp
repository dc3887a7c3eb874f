#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

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

/// Least busbw of one GPU generation for large messages on any network, in GB/s. Not to be missed by an intact host.
struct LeastBusbw {
  double hosts;      ///< several hosts: well below one NIC per four GPUs
  double one_host;   ///< one host: well below one generation of NVLink
  double few_hosts;  ///< several hosts with fewer GPUs each: well below one NIC of 50 Gbit/s
  double few_gpus;   ///< fewer GPUs of one host: below the NVLinks between two GPUs
};
constexpr LeastBusbw kHopper{30, 150, 3, 60}, kAmpere{15, 90, 2, 40}, kVolta{6, 50, 1, 15};

/// Returns the busbw that boards with NVLink reach for large messages on any network.
/// unit    GB/s; 0: no such board, or a single GPU
double floor_of(const BenchmarkTable& table, int hosts) {
  const std::string& gpu = table.devices.front().gpu;
  constexpr std::array<std::string_view, 6> kBoards{"SXM*",  "HBM3*", "GH200",
                                                    "GB200", "B200",  "H200"};
  constexpr std::array<std::string_view, 5> kSinceHopper{"H100", "H200", "GH200", "B200", "GB200"};
  if (!names_any_gpu(gpu, kBoards) || names_gpu(gpu, "PCIe")) return 0;
  const LeastBusbw& least = names_any_gpu(gpu, kSinceHopper) ? kHopper
                            : names_gpu(gpu, "V100")         ? kVolta
                                                             : kAmpere;
  constexpr std::size_t kBoard = 4;  // GPUs of the smallest board
  const std::size_t each = table.devices.size() / static_cast<std::size_t>(std::max(hosts, 1));
  if (hosts > 1) return each < kBoard ? least.few_hosts : least.hosts;
  if (each < 2) return 0;
  return each < kBoard ? least.few_gpus : least.one_host;
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

/// Returns whether a benchmark neither ended nor reported an error. NCCL's lines may break every row of a benchmark that
/// finishes, so the last line of each run counts, and not its rows.
bool is_any_cut_off(const JobFacts& facts) {
  if (facts.messages.has(MessageId::BenchmarkError)) return false;
  const auto begun = static_cast<std::uint64_t>(
      std::count_if(facts.tables.begin(), facts.tables.end(),
                    [](const BenchmarkTable& table) { return !table.begin.empty(); }));
  return facts.messages[MessageId::BenchmarkOutOfBounds].evidence.count() < begun;
}

/// Reports benchmarks that stopped: before their first row, or after it.
void find_cut_tables(const JobFacts& facts, Findings& findings) {
  if (!is_any_cut_off(facts)) return;
  Evidence empty, stopped;
  for (const BenchmarkTable& table : facts.tables) {
    if (table.is_concluded) continue;
    if (table.rows.empty()) {
      empty.mix(table.begin);
    } else {
      stopped.mix(table.stopped);
    }
  }
  if (!empty.empty()) {
    Finding& finding = findings.add("truncated_table", Severity::Error,
                                    "a benchmark began and printed no result", empty);
    finding.cause = "it hangs in its first collective, or was killed";
    finding.fix = "NCCL_DEBUG=INFO   # and run again; ringside audit names what the ranks wait for";
  }
  if (!stopped.empty()) {
    Finding& finding = findings.add("truncated_table", Severity::Error,
                                    "a benchmark stopped in the size of its last row", stopped);
    finding.cause = "it hangs in that size, or was killed: the sizes before it finished";
    finding.fix = "NCCL_DEBUG=INFO -b <that size>   # ringside audit names what the ranks wait for";
  }
}

void find_wrong_data(const JobFacts& facts, Findings& findings) {
  const Evidence wrong =
      evidence_of(facts.messages[MessageId::BenchmarkOutOfBounds], [](const KeptMessage& message) {
        return message.number("count", 0) >= 1 || message.argument("verdict") == "FAILED";
      });
  if (wrong.empty()) return;
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

/// Reports processes that are each rank 0 of a table of their own, and so measure only themselves.
///
/// Where each process has a stream (table.speaker), the streams are counted. In one stream, the processes are counted
/// that share a table as rank 0, or whose tables begin before any has a row: tables one after the other may be of
/// several runs.
void find_lone_processes(const JobFacts& facts, Findings& findings) {
  using Process = std::pair<std::string, std::int32_t>;  // host and process id
  std::set<std::uint32_t> streams;
  std::set<Process> waiting;
  Evidence lines;
  bool has_waited = false;
  for (const BenchmarkTable& table : facts.tables) {
    std::set<Process> firsts, all;
    for (const BenchmarkDevice& device : table.devices) {
      all.emplace(device.host, device.pid);
      if (device.rank == 0 && device.pid >= 0) firsts.emplace(device.host, device.pid);
    }
    if (table.devices.empty() || (firsts.size() < 2 && all.size() > 1)) continue;
    has_waited = has_waited || table.rows.empty();
    // After the waiting processes, the first process with rows is one of them.
    if (has_waited || firsts.size() > 1) waiting.insert(firsts.begin(), firsts.end());
    if (table.speaker != 0) streams.insert(table.speaker);
    lines.mix(table.begin);
    if (firsts.size() < 2) continue;
    for (const BenchmarkDevice& device : table.devices) lines.add(device.quoted);
  }
  const std::size_t processes = std::max(streams.size(), waiting.size());
  if (processes < 2) return;
  Finding& finding =
      findings.add("benchmark_without_mpi", Severity::Warning,
                   fmt::format("{} processes each measure themselves alone", processes), lines);
  finding.cause =
      "nccl-tests was built without MPI: every process counts its own ranks from 0, and nothing "
      "crosses the network";
  finding.fix = "make clean; make MPI=1 MPI_HOME=/path/of/mpi   # in nccl-tests";
}

}  // namespace

void look_at_tables(const JobFacts& facts, Findings& findings) {
  for (const BenchmarkTable& table : facts.tables) look_at_bandwidth(facts, table, findings);
  find_cut_tables(facts, findings);
  find_wrong_data(facts, findings);
  find_lone_processes(facts, findings);
}

}  // namespace ringside::audit
