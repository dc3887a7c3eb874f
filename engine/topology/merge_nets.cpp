#include "engine/topology/merge_nets.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/topology/host_edit.h"

namespace ringside {
namespace {

/// The location of a network device: the functions from the CPU down to its card.
struct NetSeat {
  int numa = 0;
  std::vector<const HostPci*> above = {};
  const HostNic* nic = nullptr;
};

using Seats = std::map<int, NetSeat>;  ///< by device number

void find_seats(const std::vector<HostPci>& functions, const NetSeat& above, Seats& seats) {
  for (const HostPci& function : functions) {
    NetSeat here = above;
    here.above.push_back(&function);
    if (function.nic) {
      here.nic = &*function.nic;
      for (const HostNet& net : function.nic->nets) seats[net.dev] = here;
    }
    find_seats(function.children, here, seats);
  }
}

Seats find_seats(const Host& host) {
  Seats seats;
  for (const HostCpu& cpu : host.cpus) {
    const NetSeat at_cpu{.numa = cpu.numa};
    find_seats(cpu.pci, at_cpu, seats);
    for (const HostNic& nic : cpu.nics) {
      NetSeat here = at_cpu;
      here.nic = &nic;
      for (const HostNet& net : nic.nets) seats[net.dev] = here;
    }
  }
  return seats;
}

/// Returns the bus id without its function number, which identifies the card.
std::string card_of(const HostPci& function) {
  return function.bus_id.substr(0, function.bus_id.rfind('.'));
}

/// Returns the distance of two devices: NVL on one card, PIX below one switch, PXB below several switches, PHB below
/// one CPU, SYS below two CPUs.
PathType distance(const NetSeat& a, const NetSeat& b) {
  if (a.nic == b.nic) return PathType::Nvl;  // NCCL gives PORT the value of NVL
  if (!a.above.empty() && !b.above.empty() && !a.above.back()->bus_id.empty() &&
      card_of(*a.above.back()) == card_of(*b.above.back())) {
    return PathType::Nvl;
  }
  if (a.numa != b.numa) return PathType::Sys;
  std::size_t shared = 0;
  while (shared < a.above.size() && shared < b.above.size() && a.above[shared] == b.above[shared]) {
    ++shared;
  }
  if (shared == 0) return PathType::Phb;
  const bool is_one_switch = shared + 1 == a.above.size() && shared + 1 == b.above.size();
  return is_one_switch ? PathType::Pix : PathType::Pxb;
}

/// Returns the number of PCIe lanes that the members of a virtual device have together.
int lanes_of(const Seats& seats, const std::vector<int>& members) {
  std::vector<const HostPci*> cards;
  int lanes = 0;
  for (const int dev : members) {
    const NetSeat& seat = seats.at(dev);
    if (seat.above.empty()) continue;
    const HostPci* const card = seat.above.back();
    const bool is_known = std::ranges::any_of(
        cards, [&](const HostPci* other) { return card_of(*other) == card_of(*card); });
    if (is_known) continue;
    cards.push_back(card);
    lanes += card->link_width;
  }
  return lanes;
}

/// Network devices that NCCL uses as one: the first member represents all of them in the host.
struct VirtualNet {
  std::vector<int> members;  ///< device numbers, ascending; at least two
  int lanes = 0;             ///< PCIe lanes of all members
};

/// Groups each device that is in no group yet with the next devices that are close enough to it.
std::vector<VirtualNet> group_nets(const Seats& seats, const TopologyParameters& parameters) {
  std::vector<VirtualNet> groups;
  std::set<int> grouped;
  for (const auto& [first, seat] : seats) {
    if (grouped.contains(first)) continue;
    std::vector<int> members{first};
    for (const auto& [other, other_seat] : seats) {
      if (other <= first || grouped.contains(other)) continue;
      if (static_cast<int>(members.size()) == parameters.rules.merged_nets) break;
      const bool is_near = parameters.merge_level
                               ? distance(seat, other_seat) <= *parameters.merge_level
                               : seat.nic == other_seat.nic;
      if (is_near) members.push_back(other);
    }
    grouped.insert(members.begin(), members.end());
    if (members.size() < 2) continue;
    const int lanes = lanes_of(seats, members);
    groups.push_back({std::move(members), lanes});
  }
  return groups;
}

/// Gives the first member the names, the speed and the lanes of all members, and what all of them can do.
void merge_into_first(const std::vector<HostNetPlace>& nets, const VirtualNet& group) {
  const auto place_of = [&](int dev) {
    return *std::ranges::find(nets, dev, [](const HostNetPlace& one) { return one.net->dev; });
  };
  const HostNetPlace first = place_of(group.members.front());
  for (std::size_t i = 1; i < group.members.size(); ++i) {
    const HostNet& other = *place_of(group.members[i]).net;
    first.net->name += "+" + other.name;
    first.net->mbits_per_second += other.mbits_per_second;
    first.net->gdr = first.net->gdr && other.gdr;
    first.net->coll = first.net->coll && other.coll;
  }
  if (first.function != nullptr) first.function->link_width = group.lanes;
}

}  // namespace

void merge_nets(Host& host, const TopologyParameters& parameters) {
  if (parameters.merge_level == PathType::Loc || parameters.rules.merged_nets < 2) return;
  // All groups are found before the first change, because the seats point into the host.
  const std::vector<VirtualNet> groups = group_nets(find_seats(host), parameters);
  if (groups.empty()) return;
  const std::vector<HostNetPlace> nets = nets_of(host);
  std::set<int> merged_away;
  for (const VirtualNet& group : groups) {
    merge_into_first(nets, group);
    merged_away.insert(group.members.begin() + 1, group.members.end());
  }
  keep_nets(host, [&](const HostNet& net) { return !merged_away.contains(net.dev); });
}

}  // namespace ringside
