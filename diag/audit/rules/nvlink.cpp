#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns whether the logs name GPUs of boards on which NVLink joins all GPUs.
bool is_of_boards(const JobFacts& facts) {
  constexpr std::array<std::string_view, 2> kNames{"SXM*", "HBM3*"};
  return facts.has_text_of_any_gpu(kNames);
}

/// Returns whether the logs name a GPU that has NVLink connectors, on a board or for bridges.
bool has_linkable_gpus(const JobFacts& facts) {
  constexpr std::array<std::string_view, 10> kNames{"V100", "A100", "A30",   "A40",  "A6000",
                                                    "H100", "H200", "GH200", "B200", "GB200"};
  return facts.has_text_of_any_gpu(kNames);
}

/// Reports GPUs without NVLink in nvidia-smi topo -m, if other GPUs of the host or of that type have it.
void look_at_matrices(const JobFacts& facts, Findings& findings) {
  const bool is_board = is_of_boards(facts);
  for (const LinkMatrix& matrix : facts.matrices) {
    const std::vector<std::string> linked = matrix.linked_gpus();
    const std::vector<std::string> unlinked = matrix.unlinked_gpus();
    const bool is_some = !linked.empty() && !unlinked.empty();
    const bool is_all = linked.empty() && unlinked.size() > 1 && is_board;
    if (!is_some && !is_all) continue;
    Finding& finding =
        findings.add("nvlink_missing", Severity::Warning,
                     is_all ? fmt::format("no NVLink between the {} GPUs{}", unlinked.size(),
                                          matrix.host.empty() ? "" : " of " + matrix.host)
                            : fmt::format("{} without NVLink, which {} have", list_of(unlinked),
                                          plural(linked.size(), "other GPU", "other GPUs")),
                     matrix.evidence);
    if (!matrix.host.empty()) finding.hosts = {matrix.host};
    // Bridges join pairs of cards: a card without one may be intended.
    finding.confidence = is_all || linked.size() > 2 ? Confidence::High : Confidence::Low;
    if (finding.confidence == Confidence::Low) finding.severity = Severity::Info;
    finding.cause = "links that are down, a bridge that is not seated, or no fabric manager";
    finding.fix = "nvidia-smi nvlink -s; systemctl status nvidia-fabricmanager";
  }
}

/// Returns the number of GPUs in a dump. A node of type GPU with a link `NVL` is the other end of a link.
std::size_t count_gpus(const TopologyDump& dump) {
  return static_cast<std::size_t>(std::ranges::count_if(
      dump.nodes, [](const DumpedNode& node) { return node.type == "GPU" && node.link != "NVL"; }));
}

bool has_nvlink(const TopologyDump& dump) {
  return std::ranges::any_of(dump.nodes, [](const DumpedNode& node) { return node.link == "NVL"; });
}

/// Reports hosts without NVLink if another host of as many GPUs has it: hosts of a job have equal hardware.
void compare_nvlinks(const JobFacts& facts, Findings& findings) {
  const auto good = std::ranges::find_if(facts.dumps, has_nvlink);
  if (good == facts.dumps.end()) return;
  Finding draft;
  for (const TopologyDump& dump : facts.dumps) {
    const std::size_t gpus = count_gpus(dump);
    const bool is_alike = dump.is_whole && gpus > 1 && gpus == count_gpus(*good);
    if (!is_alike || has_nvlink(dump) || dump.host == good->host) continue;
    draft.evidence.mix(dump.evidence);
    draft.hosts.push_back(dump.host);
  }
  if (draft.hosts.empty()) return;
  Finding& finding = findings.add(
      "nvlink_missing", Severity::Error,
      fmt::format("no NVLink on {}, while {} has it", list_of(draft.hosts), good->host), draft);
  finding.cause = "links that are down, or a fabric manager that is not running on these hosts";
  finding.fix = "nvidia-smi nvlink -s; systemctl status nvidia-fabricmanager on the hosts named";
}

/// The GPUs of a topology dump.
struct DumpedGpus {
  std::size_t all = 0;
  std::size_t linked = 0;  ///< those with an NVLink
};

/// Counts GPUs by their ids. The links of a GPU follow its line.
DumpedGpus gpus_of(const TopologyDump& dump) {
  std::set<std::string> gpus, linked;
  std::string last;
  for (const DumpedNode& node : dump.nodes) {
    if (node.type == "GPU" && node.link != "NVL") {
      gpus.insert(node.id);
      last = node.id;
    }
    if (node.link == "NVL") linked.insert(last);
  }
  return {gpus.size(), linked.size()};
}

/// How sure it is that GPUs without NVLink have lost it.
struct Judgement {
  Severity severity = Severity::Info;
  Confidence confidence = Confidence::Low;
};

/// On a board, all GPUs have NVLink. Of cards, some have bridges: with some linked GPUs the others lost theirs, a
/// single pair may have none.
Judgement judge_gpus(const DumpedGpus& gpus, bool is_board) {
  if (is_board) return {Severity::Error, Confidence::High};
  if (gpus.linked > 0) return {Severity::Warning, Confidence::High};
  return {gpus.all == 2 ? Severity::Warning : Severity::Info, Confidence::Low};
}

/// Reports the GPUs of one host that have no NVLink in its dump.
void look_at_dump(const JobFacts& facts, const TopologyDump& dump, Findings& findings) {
  const DumpedGpus gpus = gpus_of(dump);
  if (gpus.all < 2 || gpus.linked == gpus.all || !dump.is_whole) return;
  const Judgement judgement = judge_gpus(gpus, facts.has_text_of_gpu("SXM*"));
  Finding& finding = findings.add(
      "nvlink_missing", judgement.severity,
      gpus.linked == 0 ? fmt::format("no NVLink between the {} GPUs of {}", gpus.all, dump.host)
                       : fmt::format("{} of {} GPUs of {} have no NVLink", gpus.all - gpus.linked,
                                     gpus.all, dump.host),
      dump.evidence);
  for (const PatternFact& pattern : facts.patterns) {
    if (pattern.type_intra != "NVL" && pattern.type_intra != "NVB") {
      finding.evidence.mix(pattern.evidence);
    }
  }
  finding.hosts = {dump.host};
  finding.confidence = judgement.confidence;
  finding.cause =
      "a bridge that is not seated, links that are down, or a fabric manager that is not running";
  finding.fix = "nvidia-smi nvlink -s; nvidia-smi topo -m";
}

/// Returns whether the NVLink of the machine connects hosts.
bool spans_hosts(const JobFacts& facts) {
  const auto is_of_domain = [](const KeptMessage& message) {
    return message.number("mnnvl", 0) > 0;
  };
  return std::ranges::any_of(facts.messages[MessageId::MnnvlState].kept, is_of_domain) ||
         std::ranges::any_of(facts.comms, [](const CommFacts& comm) { return comm.mnnvl > 0; });
}

/// Returns the lines of refused imports of another host's memory handle.
Evidence refused_handles(const JobFacts& facts) {
  if (!spans_hosts(facts)) return {};
  return evidence_of(facts.messages[MessageId::CudaFailure], [](const KeptMessage& message) {
    return is_warning(message) && contains_any(message.text(), {"not permitted", "NOT_PERMITTED"});
  });
}

}  // namespace

void look_for_missing_nvlink(const JobFacts& facts, Findings& findings) {
  look_at_matrices(facts, findings);
  if (facts.dumps.empty() || findings.has("nvlink_missing")) return;
  if (facts.nodes() > 1) return compare_nvlinks(facts, findings);
  if (!has_linkable_gpus(facts)) return;
  for (const TopologyDump& dump : facts.dumps) look_at_dump(facts, dump, findings);
}

void look_for_broken_handles(const JobFacts& facts, Findings& findings) {
  const MessageLines& unavailable = facts.messages[MessageId::MnnvlUnavailable];
  const Evidence refused = refused_handles(facts);
  if (unavailable.evidence.empty() && refused.empty()) return;
  Finding& finding =
      findings.add("mnnvl_unavailable", refused.empty() ? Severity::Warning : Severity::Error,
                   "NVLink between hosts exists but does not work");
  findings.quote(finding, unavailable);
  finding.evidence.mix(refused);
  finding.cause =
      "nvidia-imex is not running, its list of nodes is wrong, or its channel is not in the "
      "container";
  finding.fix =
      "systemctl status nvidia-imex; nvidia-imex-ctl -N; pass /dev/nvidia-caps-imex-channels";
}

}  // namespace ringside::audit
