#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "diag/audit/log_release.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"
#include "engine/channels/rules.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

constexpr int kTooFewChannels = 2;  ///< too few channels for any NVLink machine
constexpr int kManyRanks = 4;       ///< ranks of one host

int ranks_a_host(const CommFacts& comm) {
  const bool are_all_seen = static_cast<std::int32_t>(comm.members.size()) == comm.nranks;
  const bool is_counted = comm.nnodes > 0 && !comm.has_guessed_nodes;
  if (comm.nodes() >= 1 && (are_all_seen || is_counted)) return comm.nranks / comm.nodes();
  // If only part of the job is visible, counts the ranks that have logged.
  std::map<std::int32_t, int> seen;
  int most = 0;
  for (const Member& member : comm.members) {
    if (member.host >= 0) most = std::max(most, ++seen[member.host]);
  }
  return most;
}

/// Returns whether a release raises the channels to those of NVLS beyond any bound. The bound still holds for other
/// collectives.
/// source  NCCL 2.20 .. 2.27 graph/connect.cc
bool hides_bounds(const JobFacts& facts, const CommFacts& comm) {
  const auto rules = load_channel_rules(release_of(facts).name);
  return rules && rules->counts.raises_to_nvls && comm.nvls_channels > 0;
}

}  // namespace

void look_for_few_channels(const JobFacts& facts, Findings& findings) {
  if (is_without_gpus(facts)) return;
  int fewest = 0;
  std::vector<std::uint32_t> who;
  const Setting* limit = channel_limit(facts, kTooFewChannels);
  for (const CommFacts& comm : facts.comms) {
    // Ranks that share a GPU are not so many GPUs.
    if (comm.is_rccl || ranks_a_host(comm) < kManyRanks || do_ranks_share_a_gpu(comm)) continue;
    const bool is_hidden = limit != nullptr && hides_bounds(facts, comm);
    for (const Member& member : comm.members) {
      if (member.coll_channels < 1 || (member.coll_channels > kTooFewChannels && !is_hidden))
        continue;
      const int channels =
          is_hidden ? std::max(1, std::atoi(limit->value.c_str())) : member.coll_channels;
      fewest = who.empty() ? channels : std::min(fewest, channels);
      who.push_back(member.process);
    }
  }
  if (who.empty()) return;
  sort_once(who);

  // Cards on PCIe normally have only this many.
  const bool is_off = findings.has("p2p_disabled", Severity::Error) && !has_consumer_gpus(facts);
  const std::string nvlink = nvlink_sign(facts);
  const bool is_proved = limit != nullptr || is_off || !nvlink.empty();
  Finding& finding =
      findings.add("few_channels", is_proved ? Severity::Warning : Severity::Info,
                   fmt::format("{} where {} GPUs of a host take part",
                               plural(static_cast<std::size_t>(fewest), "channel", "channels"),
                               ranks_of_a_host(facts)));
  for (const auto& [channels, said] : facts.channel_counts) {
    if (channels <= kTooFewChannels) finding.evidence.mix(said.evidence);
  }
  findings.add_processes(finding, who);
  if (limit != nullptr) {
    finding.evidence.mix(limit->evidence);
    finding.cause = fmt::format("{}={} limits the channels", limit->name, limit->value);
    finding.fix = "unset " + limit->name;
  } else if (is_off) {
    finding.cause = "without peer-to-peer the search finds no more paths within the host";
    finding.fix = "switch peer-to-peer on again";
  } else if (is_proved) {
    finding.cause =
        "the search for channels was misled: a NIC across the CPUs, or a topology that is not seen";
    finding.fix = "NCCL_DEBUG_SUBSYS=INIT,GRAPH; look at the lines that begin with Pattern 4";
  } else {
    finding.confidence = Confidence::Low;
    finding.cause = "normal for GPUs on PCIe alone; NVLink machines make more";
    finding.fix = "nvidia-smi topo -m   # shows whether there is NVLink";
  }
}

namespace {

/// Reports rings that do not pass all ranks.
void find_short_rings(const JobFacts& facts, Findings& findings) {
  const MessageLines& broken = facts.messages[MessageId::RingBroken];
  std::size_t shorter = 0;
  for (const CommFacts& comm : facts.comms) {
    if (comm.is_guessed) continue;
    for (const Ring& ring : comm.rings) {
      const bool is_whole = ring.ranks.size() == static_cast<std::size_t>(comm.nranks);
      if (ring.source != RingSource::Neighbours || is_whole) continue;
      ++shorter;
    }
  }
  if (shorter == 0 && broken.evidence.empty()) return;
  Finding& finding = findings.add(
      "short_ring", Severity::Error,
      shorter > 0 ? fmt::format("{} do not pass all ranks", plural(shorter, "ring", "rings"))
                  : std::string("a ring does not pass all ranks"),
      broken);
  finding.cause =
      "the ranks do not agree on the topology: images, topology files or variables differ";
  finding.fix = "compare NCCL_TOPO_FILE, NCCL_GRAPH_FILE and the NCCL version of all hosts";
}

/// Reports rings that cross between hosts more often than needed: NCCL's rings pass through one node after the other, so
/// each is entered and left once.
void find_scrambled_rings(const JobFacts& facts, Findings& findings) {
  std::size_t scrambled = 0;
  int worst = 0, nodes = 0;
  for (const CommFacts& comm : facts.comms) {
    const auto hosts = static_cast<int>(comm.hosts.size());
    if (comm.is_guessed || comm.mnnvl > 0 || hosts < 2 || comm.nodes() != hosts) continue;
    for (const Ring& ring : comm.rings) {
      const bool is_sure =
          ring.source == RingSource::Neighbours || ring.source == RingSource::Order;
      if (!is_sure || ring.crossings <= hosts) continue;
      ++scrambled;
      worst = std::max(worst, ring.crossings);
      nodes = hosts;
    }
  }
  if (scrambled == 0) return;
  Finding& finding =
      findings.add("scrambled_ring", Severity::Warning,
                   fmt::format("{} cross between hosts up to {} times; {} are enough",
                               plural(scrambled, "ring", "rings"), worst, nodes));
  finding.cause =
      "NCCL does not know which ranks share a host: NCCL_HOSTID, host names, or the graph file";
  finding.fix = do_ranks_share_a_gpu(facts)
                    ? "keep NCCL_HOSTID while ranks share a GPU; unset NCCL_GRAPH_FILE"
                    : "unset NCCL_HOSTID NCCL_GRAPH_FILE; give every host its own name";
}

/// Reports that the search for rings and trees found no path.
void find_failed_search(const JobFacts& facts, Findings& findings) {
  const MessageLines& search = facts.messages[MessageId::PathSearchFailed];
  const auto is_serious = [](const KeptMessage& message) {
    // source  NCCL graph.h: NCCL_TOPO_PATTERN_TREE is 3, NCCL_TOPO_PATTERN_RING is 4
    const std::int64_t pattern = message.number("pattern");
    return message.level() == Level::Warn && (pattern == 3 || pattern == 4);
  };
  const Evidence serious = evidence_of(search, is_serious);
  if (serious.empty()) return;
  Finding& finding =
      findings.add("graph_search_failed", Severity::Warning,
                   "the search for rings found no path and took the ranks in order", serious);
  finding.confidence = Confidence::Medium;
  finding.cause =
      "the topology that this process sees is broken: sysfs is hidden, or an XML is of another "
      "machine";
  finding.fix = "NCCL_TOPO_DUMP_FILE=topo.xml, then ringside topo --on topo.xml";
}

}  // namespace

void look_for_odd_rings(const JobFacts& facts, Findings& findings) {
  find_short_rings(facts, findings);
  find_scrambled_rings(facts, findings);
  find_failed_search(facts, findings);
}

}  // namespace ringside::audit
