#include "diag/audit/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/env.h"
#include "base/text.h"
#include "diag/audit/expected_job.h"
#include "diag/audit/finding_types.h"
#include "diag/audit/findings.h"
#include "diag/audit/rules/rule.h"
#include "engine/channels/job.h"
#include "engine/tuning/select.h"

namespace ringside::audit {
namespace {

/// The all-reduce whose time shows the cost of a finding: large enough that bandwidth limits it.
constexpr Bytes kSize = 64_MiB;
/// The rate that NCCL assumes for an interface whose rate it cannot read.
constexpr int kTcpMbits = 10'000;

using Variables = std::map<std::string, std::string>;

void for_each_pci(std::vector<HostPci>& list, const std::function<void(HostPci&)>& change) {
  for (HostPci& pci : list) {
    change(pci);
    for_each_pci(pci.children, change);
  }
}

void for_each_pci(JobHosts& hosts, const std::function<void(HostPci&)>& change) {
  for (HostRun& run : hosts.runs) {
    for (HostCpu& cpu : run.host.cpus) for_each_pci(cpu.pci, change);
  }
}

void without_gdr(JobHosts& hosts) {
  for_each_pci(hosts, [](HostPci& pci) {
    if (pci.gpu) pci.gpu->gdr = false;
    if (!pci.nic) return;
    for (HostNet& net : pci.nic->nets) net.gdr = false;
  });
}

/// What the model predicts of a collective.
struct Answer {
  double busbw_gbs = 0;  ///< GB/s
  int channels = 0;
};

/// Predicts a collective of that size on those hosts with those variables.
/// release  of NCCL
/// errors   those of the topology, the channels and the tuner; Unsupported: the model has no time
Result<Answer> predict_job(const JobHosts& hosts, const Variables& variables,
                           const std::string& release, Collective collective, Bytes bytes) {
  const ringside::Environment environment =
      [&variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment, release));
  RINGSIDE_TRY(const ChannelParameters channels, parse_channel_parameters(environment, release));
  RINGSIDE_TRY(const TuningParameters tuning, parse_tuning_parameters(environment));
  RINGSIDE_TRY(const Job job, make_job(hosts, topology, channels));
  RINGSIDE_TRY(const Tuner tuner, Tuner::make(job.connection.shape, tuning, release));
  RINGSIDE_TRY(const TunedChoice choice, tuner.choose({.collective = collective, .bytes = bytes}));
  const double ranks = job.nranks();
  const double factor =
      collective == Collective::AllReduce ? 2 * (ranks - 1) / ranks : (ranks - 1) / ranks;
  const double seconds = static_cast<double>(choice.prediction.time_us) * 1e-6;
  if (seconds <= 0) return Error{ErrorCode::Unsupported, "the model has no time for it"};
  return Answer{static_cast<double>(bytes.value) / seconds * factor / 1e9, choice.max_channels};
}

std::string factor_text(double expected, double actual) {
  const double times = expected / actual;
  return times >= 10 ? fmt::format("{:.0f}", times) : fmt::format("{:.1f}", times);
}

CostModel cost_model_of(const Finding& finding) {
  const FindingType* type = finding_type(finding.id);
  return type == nullptr ? CostModel::None : type->cost;
}

/// Largest number of ranks that is predicted: planning a larger job takes longer than reading its log.
constexpr std::size_t kMostRanks = 4'096;

/// If the measured rate exceeds the expected one by this factor, the assumed hosts are wrong.
constexpr float kImpossible = 1.3F;

std::optional<Collective> collective_of(const BenchmarkTable& table) {
  const std::string name =
      table.collective.empty() && table.has_redop ? "all_reduce" : table.collective;
  if (name == "all_reduce") return Collective::AllReduce;
  if (name == "all_gather") return Collective::AllGather;
  if (name == "reduce_scatter") return Collective::ReduceScatter;
  return std::nullopt;
}

void predict_table(const ExpectedJob& expected, BenchmarkTable& table) {
  const std::optional<Collective> collective = collective_of(table);
  if (!collective || table.devices.size() > kMostRanks) return;
  float most = 0;
  for (BenchmarkLine& row : table.rows) {
    const Result<Answer> answer =
        predict_job(expected.hosts, {}, expected.release.name, *collective, Bytes{row.bytes});
    if (!answer) continue;
    row.expected_gbs = static_cast<float>(answer->busbw_gbs);
    if (row.expected_gbs > 0 && row.bytes >= kSize.value)
      most = std::max(most, row.busbw_gbs / row.expected_gbs);
  }
  table.expected_of = fmt::format("{}, {}", expected.source, expected.release.text());
  table.has_known_nics = expected.has_known_nics;
  if (most <= kImpossible) return;
  for (BenchmarkLine& row : table.rows) row.expected_gbs = -1;
  table.expected_of.clear();
}

bool has_cost_model(const Finding& finding) {
  const CostModel model = cost_model_of(finding);
  return model != CostModel::None && model != CostModel::Table;
}

/// Adds a note to the findings whose cost could not be computed.
void note_unknown_cost(const Error& why, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.severity < Severity::Warning || !has_cost_model(finding)) continue;
    finding.unseen.push_back(fmt::format("the cost: {} (--cluster names them)", why.message));
  }
}

/// The variables of the job that choose an algorithm: they stay when a finding is fixed, and change what it costs.
Variables choices_in_force(const JobFacts& facts) {
  Variables choices;
  for (const char* const name : {"NCCL_ALGO", "NCCL_PROTO"}) {
    if (const Setting* const setting = facts.setting(name)) choices[name] = setting->value;
  }
  return choices;
}

std::size_t most_nics(JobHosts hosts) {
  std::size_t nics = 0;
  for_each_pci(hosts, [&](HostPci& pci) { nics += pci.nic ? pci.nic->nets.size() : 0; });
  return nics / std::max<std::size_t>(hosts.runs.size(), 1);
}

/// A filter that leaves one NIC is only a note while the hosts may have no other. The user has named hosts that have.
void raise_single_nic(const ExpectedJob& expected, std::vector<Finding>& findings) {
  constexpr std::size_t kSeveral = 4;  // a second NIC may be for storage
  if (most_nics(expected.hosts) < kSeveral) return;
  for (Finding& finding : findings) {
    if (finding.id != "single_nic" || finding.severity >= Severity::Warning) continue;
    finding.severity = Severity::Warning;
    finding.confidence = Confidence::Medium;
    finding.cause = "the hosts have several NICs (--cluster), and the filter leaves one of them";
  }
  findings = order_by_cause(std::move(findings));
}

}  // namespace

std::optional<AsFound> as_found(const Finding& finding, const JobFacts& facts, JobHosts expected) {
  AsFound found{.hosts = std::move(expected)};
  switch (cost_model_of(finding)) {
    case CostModel::Tcp:
      keep_nics(found.hosts, 1, kTcpMbits);
      without_gdr(found.hosts);
      found.text = "over TCP at 10 Gbit/s a host";
      return found;
    case CostModel::NoGdr:
      without_gdr(found.hosts);
      found.text = "without GPUDirect RDMA";
      return found;
    case CostModel::SharedMemory:
      found.variables["NCCL_P2P_LEVEL"] = "LOC";
      found.text = "through shared memory";
      return found;
    case CostModel::OneNic:
      keep_nics(found.hosts, 1, 0);
      found.text = "over one NIC a host";
      return found;
    case CostModel::FewChannels: {
      if (facts.world() == nullptr) return std::nullopt;
      const std::string channels = std::to_string(std::max(1, facts.world()->ring_channels));
      found.variables["NCCL_MAX_NCHANNELS"] = channels;
      found.text = fmt::format("with {} channels", channels);
      return found;
    }
    case CostModel::None:
    case CostModel::Table:
      break;
  }
  return std::nullopt;
}

void predict_tables(JobFacts& facts, const std::string& cluster) {
  if (facts.tables.empty()) return;
  const Result<ExpectedJob> expected = expected_job(facts, cluster);
  if (!expected) return;
  for (BenchmarkTable& table : facts.tables) predict_table(*expected, table);
}

Result<std::string> add_costs(Audit& audit, const std::string& cluster) {
  const bool matters = std::any_of(audit.findings.begin(), audit.findings.end(), has_cost_model);
  const bool has_tables = !audit.facts.tables.empty();
  if (!matters && !has_tables) return std::string();
  const Result<ExpectedJob> known = expected_job(audit.facts, cluster);
  if (!known) {
    note_unknown_cost(known.error(), audit.findings);
    return known.error();
  }
  const ExpectedJob& expected = *known;
  if (has_tables && !cluster.empty()) {
    predict_tables(audit.facts, cluster);
    audit.findings = judge(audit.facts);
  }
  const std::string& version = expected.release.name;
  if (!cluster.empty()) raise_single_nic(expected, audit.findings);
  const Variables choices = choices_in_force(audit.facts);
  const std::string judged_by = fmt::format("{}, {}", expected.source, expected.release.text());
  RINGSIDE_TRY(const Answer best,
               predict_job(expected.hosts, {}, version, Collective::AllReduce, kSize));

  for (Finding& finding : audit.findings) {
    if (finding.severity < Severity::Warning) continue;
    std::optional<AsFound> found = as_found(finding, audit.facts, expected.hosts);
    if (!found) continue;
    for (const auto& [name, value] : choices) {
      if (found->variables.try_emplace(name, value).second)
        found->text += fmt::format(", {}={}", name, value);
    }
    const Result<Answer> actual =
        predict_job(found->hosts, found->variables, version, Collective::AllReduce, kSize);
    constexpr double kNoticeable = 1.02;  // a smaller factor is not worth a sentence
    if (!actual || actual->busbw_gbs * kNoticeable > best.busbw_gbs) continue;
    finding.cost =
        Cost{fmt::format(
                 "{}, {} channels: the model predicts {:.1f} GB/s busbw for an all-reduce of {}; "
                 "as it should be {:.1f} GB/s, {} x ({})",
                 found->text, actual->channels, actual->busbw_gbs, format_bytes(kSize),
                 best.busbw_gbs, factor_text(best.busbw_gbs, actual->busbw_gbs), judged_by),
             actual->busbw_gbs, best.busbw_gbs};
  }

  return expected.source;
}

}  // namespace ringside::audit
