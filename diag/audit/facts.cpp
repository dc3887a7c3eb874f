#include "diag/audit/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text_parts.h"
#include "diag/audit/gpu_names.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

bool is_p2p(Via via) {
  return via == Via::P2pDirect || via == Via::P2pIpc || via == Via::P2pCumem ||
         via == Via::P2pMnnvl || via == Via::P2pIndirect || via == Via::P2pCommon;
}

int CommFacts::nodes() const {
  const auto seen = static_cast<int>(hosts.size());
  if (nnodes <= 0) return seen;
  // NCCL counts a host as several nodes if its GPUs reach the NICs faster than each other.
  const bool are_all_seen = std::all_of(members.begin(), members.end(),
                                        [](const Member& member) { return member.host >= 0; }) &&
                            static_cast<std::int32_t>(members.size()) == nranks;
  return are_all_seen && seen > 0 ? std::min(seen, nnodes) : nnodes;
}

const Member* CommFacts::member(std::int32_t rank) const {
  // If all ranks have logged, a rank's number is its index.
  const auto place = static_cast<std::size_t>(rank);
  if (place < members.size() && members[place].rank == rank) return &members[place];
  const auto found =
      std::lower_bound(members.begin(), members.end(), rank,
                       [](const Member& one, std::int32_t r) { return one.rank < r; });
  return found != members.end() && found->rank == rank ? &*found : nullptr;
}

bool CommFacts::is_local(const Link& link, int nodes) const {
  if (nodes == 1) return true;
  // Pods of one machine have different names: names count as hosts only if their number equals NCCL's count.
  const bool are_hosts = static_cast<int>(hosts.size()) <= nodes;
  const Member* from = member(link.rank);
  const Member* to = member(link.peer);
  if (are_hosts && from != nullptr && to != nullptr && from->host >= 0 && to->host >= 0) {
    return from->host == to->host;
  }
  return link.via != Via::Net && link.via != Via::CollNet;
}

LocalEdges& LocalEdges::operator+=(const LocalEdges& other) {
  p2p += other.p2p;
  shm += other.shm;
  net += other.net;
  return *this;
}

void add_local_edges(const CommFacts& comm, std::map<std::int32_t, LocalEdges>& hosts) {
  const int nodes = comm.nodes();
  LocalEdges* edges = nullptr;
  std::int32_t host = -1;
  for (const Link& link : comm.links) {
    if (!comm.is_local(link, nodes)) continue;
    const Member* member = comm.member(link.rank);
    const std::int32_t mine = member == nullptr ? -1 : member->host;
    if (edges == nullptr || mine != host) edges = &hosts[host = mine];
    if (is_p2p(link.via)) edges->p2p += link.count;
    if (link.via == Via::Shm) edges->shm += link.count;
    if (link.via == Via::Net) edges->net += link.count;
  }
}

const std::string& JobFacts::host_name(std::int32_t host) const {
  static const std::string kUnknown;
  return host < 0 ? kUnknown : hosts[static_cast<std::size_t>(host)].name;
}

bool JobFacts::has_started() const {
  return std::ranges::any_of(comms, [](const CommFacts& comm) {
    return std::ranges::any_of(comm.members, &Member::is_complete);
  });
}

int JobFacts::nodes() const {
  int most = 0;
  for (const CommFacts& comm : comms) most = std::max(most, comm.nodes());
  if (most > 0) return most;
  for (const BenchmarkTable& table : tables) {
    std::set<std::string> names;
    for (const BenchmarkDevice& device : table.devices) names.insert(device.host);
    most = std::max(most, static_cast<int>(names.size()));
  }
  return std::max(most, static_cast<int>(hosts.size()));
}

FileLine JobFacts::where(Place place) const {
  if (place.piece >= pieces.size()) return {place.piece, place.line};
  return {pieces[place.piece].file, pieces[place.piece].first_line + place.line};
}

const Setting* JobFacts::setting(std::string_view name) const {
  const auto found = std::ranges::find(environment, name, &Setting::name);
  return found == environment.end() ? nullptr : &*found;
}

bool JobFacts::has_ports_of(std::string_view link) const {
  const std::string layer = fmt::format("/{}", link);
  return std::ranges::any_of(net_devices, [&](const auto& entry) {
    return entry.first.first == "IB" && contains(entry.first.second, layer);
  });
}

bool JobFacts::has_output_of(std::string_view command) const {
  return std::any_of(capabilities.begin(), capabilities.end(), [&](const CapabilityFact& fact) {
    return fact.what == CapabilityFact::What::Command && fact.value == command;
  });
}

bool JobFacts::has_failure() const {
  const bool has_raised =
      std::any_of(python_errors.begin(), python_errors.end(),
                  [](const PythonErrorFact& error) { return !contains(error.type, "Warning"); });
  if (!results.empty() || has_raised) return true;
  for (const PlainLine line :
       {PlainLine::SystemError, PlainLine::CudaCallFailed, PlainLine::RemoteFailed,
        PlainLine::OtherNcclError, PlainLine::LastError}) {
    if (!plain_of(line).evidence.empty()) return true;
  }
  return false;
}

bool JobFacts::has_failed(std::uint32_t process) const {
  return std::any_of(results.begin(), results.end(), [&](const auto& result) {
    const std::vector<std::uint32_t>& all = result.second.processes;
    return std::binary_search(all.begin(), all.end(), process);
  });
}

bool JobFacts::has_text_of_any_gpu(std::span<const std::string_view> words) const {
  const std::vector<KeptLine>& listed = plain_of(PlainLine::GpuName).kept;
  return std::any_of(
             listed.begin(), listed.end(),
             [&](const KeptLine& line) { return names_any_gpu(line.quoted.text, words); }) ||
         std::any_of(tables.begin(), tables.end(), [&](const BenchmarkTable& table) {
           return std::any_of(
               table.devices.begin(), table.devices.end(),
               [&](const BenchmarkDevice& device) { return names_any_gpu(device.gpu, words); });
         });
}

}  // namespace ringside::audit
