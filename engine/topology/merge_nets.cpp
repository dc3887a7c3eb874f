#include "engine/topology/merge_nets.h"

#include <algorithm>
#include <map>
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

}  // namespace

void merge_nets(Host& host, const TopologyParameters& parameters) {
  if (parameters.merge_level == PathType::Loc || parameters.rules.merged_nets < 2) return;
  // Groups the devices.
  const Seats seats = find_seats(host);
  std::vector<std::vector<int>> groups;
  std::map<int, bool> is_placed;
  for (const auto& [root, seat] : seats) {
    if (is_placed[root]) continue;
    std::vector<int> members{root};
    for (const auto& [other, other_seat] : seats) {
      if (other <= root || is_placed[other]) continue;
      if (static_cast<int>(members.size()) == parameters.rules.merged_nets) break;
      const bool is_near = parameters.merge_level
                               ? distance(seat, other_seat) <= *parameters.merge_level
                               : seat.nic == other_seat.nic;
      if (is_near) members.push_back(other);
    }
    for (const int member : members) is_placed[member] = true;
    if (members.size() > 1) groups.push_back(std::move(members));
  }
  if (groups.empty()) return;
  // Counts the lanes before anything changes, because the seats point into the host.
  std::vector<int> merged_away;
  std::map<int, int> lanes;  // [first member]
  for (const std::vector<int>& members : groups) {
    lanes[members.front()] = lanes_of(seats, members);
    merged_away.insert(merged_away.end(), members.begin() + 1, members.end());
  }
  // Makes the first member of each group the virtual device, and removes the others.
  const std::vector<HostNetPlace> nets = nets_of(host);
  const auto net_of = [&](int dev) {
    return *std::ranges::find_if(nets,
                                 [dev](const HostNetPlace& one) { return one.net->dev == dev; });
  };
  for (const std::vector<int>& members : groups) {
    const HostNetPlace first = net_of(members.front());
    for (std::size_t i = 1; i < members.size(); ++i) {
      const HostNet& other = *net_of(members[i]).net;
      first.net->name += "+" + other.name;
      first.net->mbits_per_second += other.mbits_per_second;
      first.net->gdr = first.net->gdr && other.gdr;
      first.net->coll = first.net->coll && other.coll;
    }
    if (first.function != nullptr) first.function->link_width = lanes[members.front()];
  }
  keep_nets(host, [&](const HostNet& net) {
    return std::ranges::find(merged_away, net.dev) == merged_away.end();
  });
}

}  // namespace ringside
