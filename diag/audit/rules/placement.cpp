#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// A host's devices of a network, in NCCL's order; nullptr: not listed.
const std::vector<std::string>* devices_of(const JobFacts& facts, std::int32_t host,
                                           const std::string& net) {
  if (host < 0) return nullptr;
  const auto& devices = facts.hosts[static_cast<std::size_t>(host)].devices;
  const auto found = devices.find(net);
  return found == devices.end() ? nullptr : &found->second;
}

/// One end of a connection between two hosts.
struct End {
  const Member* member = nullptr;
  const Link* link = nullptr;
};

std::string text_of(const JobFacts& facts, const End& end) {
  const std::string& net = facts.nets[end.link->net];
  const std::vector<std::string>* devices = devices_of(facts, end.member->host, net);
  const auto index = static_cast<std::size_t>(end.link->net_device);
  return fmt::format("rank {} {} {}", end.member->rank,
                     end.link->direction == Direction::Send ? "sends by" : "receives by",
                     devices == nullptr ? fmt::format("device {}", index) : (*devices)[index]);
}

/// Returns whether both hosts list the same devices, several of them, and the two ends use different ones.
bool is_crossed(const JobFacts& facts, const End& from, const End& to) {
  const std::string& net = facts.nets[from.link->net];
  const std::vector<std::string>* here = devices_of(facts, from.member->host, net);
  const std::vector<std::string>* there = devices_of(facts, to.member->host, net);
  if (here == nullptr || there == nullptr || here->size() < 2) return false;
  const auto a = static_cast<std::size_t>(from.link->net_device);
  const auto b = static_cast<std::size_t>(to.link->net_device);
  if (a >= here->size() || b >= there->size()) return false;
  const bool has_own = std::find(there->begin(), there->end(), (*here)[a]) != there->end();
  return has_own && (*here)[a] != (*there)[b];
}

/// Connections of collectives between hosts.
struct Crossings {
  std::uint64_t all = 0, crossed = 0;
  std::string example = {};
  std::vector<std::uint32_t> processes = {};
};

void count_crossings(const JobFacts& facts, const CommFacts& comm, Crossings& crossings) {
  constexpr std::size_t kMostLooked = 200'000;  // sends; of a larger communicator none is compared
  const int nodes = comm.nodes();
  if (nodes < 2 || comm.mnnvl > 0 || comm.is_guessed) return;
  std::unordered_map<std::uint64_t, std::vector<const Link*>> sends;
  const auto key_of = [](std::int32_t from, std::int32_t to) {
    return std::uint64_t{static_cast<std::uint32_t>(from)} << 32 | static_cast<std::uint32_t>(to);
  };
  const auto matters = [&](const Link& link, Direction direction) {
    return link.via == Via::Net && link.direction == direction && link.connection <= 0 &&
           link.net_device >= 0 && !is_socket(facts.nets[link.net]);
  };
  std::size_t looked = 0;
  for (const Link& link : comm.links) {
    if (!matters(link, Direction::Send)) continue;
    if (++looked > kMostLooked) return;
    sends[key_of(link.rank, link.peer)].push_back(&link);
  }
  for (const Link& link : comm.links) {
    if (!matters(link, Direction::Receive)) continue;
    const auto found = sends.find(key_of(link.peer, link.rank));
    if (found == sends.end()) continue;
    for (const Link* send : found->second) {
      if ((send->channels & link.channels) == 0 || send->net != link.net) continue;
      const End from{comm.member(send->rank), send}, to{comm.member(link.rank), &link};
      if (from.member == nullptr || to.member == nullptr || comm.is_local(link, nodes)) continue;
      ++crossings.all;
      if (!is_crossed(facts, from, to)) continue;
      ++crossings.crossed;
      crossings.processes.push_back(from.member->process);
      if (crossings.example.empty()) {
        crossings.example = text_of(facts, from) + ", " + text_of(facts, to);
      }
    }
  }
}

/// The cores of a mask such as `ffff,00000000` (up to 2.26) or of a list such as `0-15,32-47`.
struct Cores {
  int count = 0;  ///< 0: the text has neither form
  int last = 0;
};

Cores cores_of_mask(std::string_view text) {
  Cores cores;
  int digits = 0;
  for (auto at = text.rbegin(); at != text.rend(); ++at) {
    const char c = *at;
    if (c == ',') continue;
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return {};
    const auto digit = static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    cores.count += std::popcount(digit);
    if (digit != 0) cores.last = digits * 4 + static_cast<int>(std::bit_width(digit)) - 1;
    ++digits;
  }
  return cores;
}

Cores cores_of_list(std::string_view text) {
  constexpr int kMost = 1 << 16;
  Cores cores;
  while (!text.empty()) {
    const std::string range(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.size(), range.size() + 1));
    const std::size_t dash = range.find('-');
    const int first = std::atoi(range.c_str());
    const int last = dash == std::string::npos ? first : std::atoi(range.c_str() + dash + 1);
    if (first < 0 || last < first || last >= kMost) return {};
    cores.count += last - first + 1;
    cores.last = last;
  }
  return cores;
}

Cores cores_in(std::string_view text, bool is_list) {
  return is_list || contains(text, "-") ? cores_of_list(text) : cores_of_mask(text);
}

/// From 2.27 on cores are listed by their numbers.
constexpr int kLists = 22700;
bool lists_cores(const JobFacts& facts) {
  return std::any_of(facts.version_facts.begin(), facts.version_facts.end(), [](const auto& one) {
    return !one.second.is_of_benchmark && !one.second.is_of_text && one.second.code >= kLists;
  });
}

}  // namespace

void look_for_crossed_rails(const JobFacts& facts, Findings& findings) {
  Crossings crossings;
  for (const CommFacts& comm : facts.comms) count_crossings(facts, comm, crossings);
  constexpr std::uint64_t kTenth = 10;
  if (crossings.crossed < 2 || crossings.crossed * kTenth < crossings.all) return;
  Finding& finding = findings.add("cross_rail", Severity::Info,
                                  fmt::format("{} of {} connections between hosts cross rails: {}",
                                              crossings.crossed, crossings.all, crossings.example));
  for (const EdgeFacts& edge : facts.edges) {
    if (edge.via == Via::Net) finding.evidence.mix(edge.said.evidence);
  }
  findings.add_processes(finding, crossings.processes);
  finding.confidence = Confidence::Medium;
  const Setting* setting = facts.setting("NCCL_CROSS_NIC");
  if (setting != nullptr && setting->value == "1") {
    finding.evidence.mix(setting->evidence);
    finding.cause = "NCCL_CROSS_NIC=1 lets a channel leave by one NIC and arrive by another";
    finding.fix = "NCCL_CROSS_NIC=0 where each rail has a switch of its own";
  } else {
    finding.cause =
        "the two ends of a channel chose NICs of different names: their order or their "
        "distance to the GPUs differs between the hosts";
    finding.fix =
        "give NCCL_IB_HCA the same order on all hosts; harmless where every NIC reaches "
        "every other one at full rate";
  }
}

void look_for_bound_threads(const JobFacts& facts, Findings& findings) {
  const MessageLines& lines = facts.messages[MessageId::Affinity];
  const bool is_list = lists_cores(facts);
  Evidence one_core, empty;
  std::vector<std::uint32_t> who, nowhere;
  std::map<std::pair<std::int32_t, int>, std::set<std::uint32_t>> sharing;
  std::string example;
  for (const KeptMessage& message : lines.kept) {
    const std::string_view cpus = message.argument("cpus");
    if (message.is_torn()) continue;
    if (cpus.starts_with("empty")) {
      empty.add(message.quoted());
      nowhere.push_back(message.process());
    } else if (const Cores cores = cores_in(cpus, is_list); cores.count == 1) {
      one_core.add(message.quoted());
      who.push_back(message.process());
      const std::int32_t host = facts.processes[message.process()].host;
      auto& mine = sharing[{host, cores.last}];
      mine.insert(message.process());
      if (mine.size() > 1 && host >= 0 && example.empty()) {
        example = fmt::format("core {} of {}", cores.last, facts.host_name(host));
      }
    }
  }
  if (!one_core.empty()) {
    const auto processes = std::set<std::uint32_t>(who.begin(), who.end()).size();
    Finding& finding = findings.add(
        "cpu_affinity", example.empty() ? Severity::Info : Severity::Warning,
        example.empty()
            ? fmt::format("{} may use one core only", plural(processes, "process", "processes"))
            : fmt::format("several ranks share one core: {}", example),
        one_core);
    findings.add_processes(finding, who);
    finding.confidence = Confidence::Medium;
    finding.cause =
        "NCCL's proxy threads, the main thread and the data loader take turns on it: the "
        "launcher binds each process to a core";
    finding.fix = "mpirun --bind-to numa, srun --cpus-per-task=<cores of a GPU>";
  }
  if (!empty.empty()) {
    Finding& finding = findings.add("cpu_affinity", Severity::Info,
                                    fmt::format("{} may not run on the cores next to their GPU",
                                                plural(nowhere.size(), "process", "processes")),
                                    empty);
    findings.add_processes(finding, nowhere);
    finding.confidence = Confidence::Medium;
    finding.cause =
        "the cores that the launcher or the container allows are all of another processor";
    finding.fix = "nvidia-smi topo -m   # its column CPU Affinity; bind each rank to those cores";
  }
}

void look_for_duplicate_gpus(const JobFacts& facts, Findings& findings) {
  const MessageLines& stated = facts.messages[MessageId::DuplicateGpu];
  Finding draft;
  if (!stated.evidence.empty()) findings.quote(draft, stated);
  std::string pair;
  for (const CommFacts& comm : facts.comms) {
    if (comm.is_guessed && comm.nodes() != 1) continue;
    std::map<std::pair<std::int32_t, std::int64_t>, const Member*> seen;
    for (const Member& member : comm.members) {
      if (member.host < 0 || member.bus_id < 0) continue;
      const auto [at, is_new] = seen.emplace(std::make_pair(member.host, member.bus_id), &member);
      if (is_new || at->second->rank == member.rank) continue;
      if (comm.is_rccl) continue;  // partitions of one GPU have the same address
      if (pair.empty()) {
        pair = fmt::format("ranks {} and {} of {}", at->second->rank, member.rank,
                           facts.host_name(member.host));
      }
      draft.ranks.push_back(at->second->rank);
      draft.ranks.push_back(member.rank);
    }
  }
  sort_once(draft.ranks);
  if (draft.evidence.empty()) return;  // MIG slices have one address, and NCCL accepts them
  Finding& finding = findings.add(
      "duplicate_gpu", Severity::Error,
      pair.empty() ? "two ranks chose the same GPU" : pair + " chose the same GPU", draft);
  finding.cause =
      "the process does not pick its GPU by its local rank, or there are more ranks than GPUs";
  finding.fix =
      "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"])) before the first collective";
}

}  // namespace ringside::audit
