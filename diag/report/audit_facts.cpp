#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/wording.h"
#include "diag/audit/summary.h"
#include "diag/report/audit_report.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

constexpr std::size_t kFewComms = 12;

/// Nearly all devices are in PCI domain 0.
std::string short_bus_text(std::int64_t bus_id) {
  const std::string text = bus_text(bus_id);
  constexpr std::string_view kDomain = "0000:";
  return text.starts_with(kDomain) ? text.substr(kDomain.size()) : text;
}

std::string ring_text(const Ring& ring) {
  std::string text;
  for (const std::int32_t rank : ring.ranks)
    text += fmt::format("{}{}", text.empty() ? "" : " ", rank);
  return text;
}

void add_comm(const JobFacts& facts, const CommFacts& comm, const TextStyle& style,
              std::string& out) {
  std::vector<int> ranks;
  std::size_t complete = 0;
  float slowest = -1;
  for (const Member& member : comm.members) {
    if (ranks.empty() || ranks.back() != member.rank) ranks.push_back(member.rank);
    if (member.is_complete) ++complete;
    slowest = std::max(slowest, member.init_s);
  }
  out += wrap(fmt::format("{}{}: {} on {}; seen: {}, complete: {}",
                          comm.comm_id == 0 ? std::string("without an id")
                                            : fmt::format("{:#x}", comm.comm_id),
                          comm.is_guessed ? " (joined by size and order)" : "",
                          plural(static_cast<std::size_t>(comm.nranks), "rank", "ranks"),
                          plural(static_cast<std::size_t>(comm.nodes()), "host", "hosts"),
                          cut(format_ranks(ranks), 30), complete),
              "communicator ", "  ", style.width);
  if (comm.ring_channels > 0) {
    out += fmt::format("  channels {}", comm.ring_channels);
    if (comm.nvls_channels > 0) out += fmt::format(", NVLS {}", comm.nvls_channels);
    if (comm.p2p_channels > 0) out += fmt::format(", p2p {}", comm.p2p_channels);
    if (slowest >= 0) out += fmt::format("; slowest start {:.1f} s", slowest);
    out += "\n";
  }
  for (const auto& [name, count] : transports_of(facts, comm))
    out += fmt::format("  {:>8}  {}\n", count, name);
  // Equal rings are printed once.
  std::vector<std::pair<std::string, std::vector<int>>> rings;
  std::vector<int> crossings;
  for (std::size_t c = 0; c < comm.rings.size(); ++c) {
    const Ring& ring = comm.rings[c];
    const std::string text = ring.source == RingSource::None ? "not known" : ring_text(ring);
    auto at = std::find_if(rings.begin(), rings.end(),
                           [&](const auto& one) { return one.first == text; });
    if (at == rings.end()) {
      rings.push_back({text, {}});
      crossings.push_back(ring.crossings);
      at = rings.end() - 1;
    }
    at->second.push_back(static_cast<int>(c));
  }
  for (std::size_t i = 0; i < rings.size(); ++i) {
    std::string line = fmt::format("  ring {}: {}", format_ranks(rings[i].second), rings[i].first);
    if (crossings[i] > 0) line += fmt::format("   ({} between hosts)", crossings[i]);
    out += cut(line, style.width) + "\n";
  }
}

/// Equal hosts share a line.
void add_hosts(const JobFacts& facts, const TextStyle& style, std::string& out) {
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  for (const HostFacts& host : facts.hosts) {
    std::vector<std::string> gpus;
    for (const std::int64_t gpu : host.gpus) gpus.push_back(short_bus_text(gpu));
    std::string text = plural(host.processes.size(), "process", "processes");
    if (!gpus.empty()) text += fmt::format(", GPUs {}", list_of(gpus, 16));
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](const auto& one) { return one.first == text; });
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {text, {}});
    kind->second.push_back(host.name);
  }
  for (auto& [text, hosts] : kinds) {
    std::sort(hosts.begin(), hosts.end());
    const bool is_one = hosts.size() == 1;
    out += wrap(fmt::format("{}: {}{}", list_of(hosts, 8), is_one ? "" : "each ", text),
                is_one ? "host " : fmt::format("{} hosts ", hosts.size()), "     ", style.width);
  }
}

/// By interface, because each host has its own address.
void add_bootstraps(const JobFacts& facts, const TextStyle& style, std::string& out) {
  std::map<std::string, std::vector<std::string>> of_interface;
  for (const auto& [key, said] : facts.bootstraps) of_interface[key.first].push_back(key.second);
  for (const auto& [interface, addresses] : of_interface) {
    out += wrap(fmt::format("{}: {}", interface, list_of(addresses, 4)), "bootstrap over ", "     ",
                style.width);
  }
}

/// Hosts with equal matrices share a line.
void add_matrices(const JobFacts& facts, const TextStyle& style, std::string& out) {
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  for (const LinkMatrix& matrix : facts.matrices) {
    std::string text = plural(matrix.gpus, "GPU", "GPUs");
    if (matrix.gpus > 1) text += fmt::format(", {} between them", to_string(matrix.between_gpus()));
    if (matrix.nics() > 0) {
      text += fmt::format("; {}, the nearest by {}", plural(matrix.nics(), "NIC", "NICs"),
                          to_string(matrix.to_nearest_nic()));
    }
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](const auto& one) { return one.first == text; });
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {text, {}});
    if (!matrix.host.empty()) kind->second.push_back(matrix.host);
  }
  for (const auto& [text, hosts] : kinds) {
    const std::string of = hosts.empty() ? std::string() : " of " + list_of(hosts);
    out += cut(fmt::format("nvidia-smi topo -m{}: {}", of, text), style.width) + "\n";
  }
}

}  // namespace

std::string facts_text(const Audit& audit, const TextStyle& style) {
  const JobFacts& facts = audit.facts;
  std::string out =
      wrap(fmt::format("{}, {}", versions_text(facts), size_text(facts)), "", "", style.width) +
      "\n";
  add_hosts(facts, style, out);
  for (const DeviceList& list : devices_of(facts)) {
    out += wrap(fmt::format("{} ({}): {}", list.net, list_of(list.hosts), list_of(list.names, 16)),
                "NICs of ", "     ", style.width);
  }
  add_matrices(facts, style, out);
  for (const auto& [key, said] : facts.gdr_of_hca) {
    out += fmt::format("GPUDirect RDMA {} for devices of {}: {} lines\n",
                       key.second ? "enabled" : "disabled", key.first, said.evidence.count());
  }
  add_bootstraps(facts, style, out);
  out += "\n";
  for (std::size_t i = 0; i < facts.comms.size() && (i < kFewComms || style.is_verbose); ++i)
    add_comm(facts, facts.comms[i], style, out);
  if (facts.comms.size() > kFewComms && !style.is_verbose) {
    out +=
        fmt::format("... and {} more communicators (--verbose)\n", facts.comms.size() - kFewComms);
  }
  if (!facts.environment.empty()) out += "\nvariables:\n";
  for (const Setting& setting : facts.environment) {
    out += cut(fmt::format("  {}={}   {}", setting.name, setting.value,
                           plural(setting.processes.size(), "process", "processes")),
               style.width) +
           "\n";
  }
  return out;
}

std::string matrix_text(const Audit& audit, const TextStyle& style) {
  const JobFacts& facts = audit.facts;
  const CommFacts* world = facts.world();
  if (world == nullptr || world->links.empty()) return "no connection was seen\n";
  const auto letter = [&](const Link& link) {
    switch (link.via) {
      case Via::Net:
        if (facts.nets[link.net] == "Socket") return 'T';
        return link.gdr ? 'G' : 'N';
      case Via::Shm:
        return 'S';
      case Via::CollNet:
        return 'C';
      default:
        return 'P';
    }
  };
  // By rank, or by host if the ranks do not fit.
  const int room = style.width - 8;
  const bool is_folded = world->nranks > room;
  // Hosts in the order of their first ranks.
  std::map<std::int32_t, int> place_of_host;
  std::vector<std::string> names;
  for (const Member& member : world->members) {
    const bool is_new =
        member.host >= 0 &&
        place_of_host.emplace(member.host, static_cast<int>(place_of_host.size())).second;
    if (is_new) names.push_back(facts.host_name(member.host));
  }
  const int size =
      is_folded ? std::min<int>(static_cast<int>(place_of_host.size()), room) : world->nranks;
  const auto place = [&](std::int32_t rank) {
    if (!is_folded) return rank;
    const Member* member = world->member(rank);
    return member == nullptr || member->host < 0 ? -1 : place_of_host[member->host];
  };
  std::vector<std::string> rows(static_cast<std::size_t>(size),
                                std::string(static_cast<std::size_t>(size), '.'));
  for (const Link& link : world->links) {
    const bool is_received = link.direction == Direction::Receive;
    const int from = place(is_received ? link.peer : link.rank);
    const int to = place(is_received ? link.rank : link.peer);
    if (from < 0 || to < 0 || from >= size || to >= size) continue;
    char& cell = rows[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    const char mine = letter(link);
    // If both occur, the slower one is shown: T before N, S, G, P.
    constexpr std::string_view kSlowness = ".PCGSNT";
    if (kSlowness.find(mine) > kSlowness.find(cell)) cell = mine;
  }
  std::string out = fmt::format(
      "from {0} (rows) to {0} (columns), of the communicator of {1} ranks\n"
      "P peer-to-peer  S shared memory  C in-network  . none\n"
      "over the network: G with GPUDirect RDMA  N without  T TCP\n\n",
      is_folded ? "host" : "rank", world->nranks);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += fmt::format("{:>6}  {}{}\n", i, rows[i], is_folded ? "  " + names[i] : std::string());
  }
  return out;
}

}  // namespace ringside::audit
