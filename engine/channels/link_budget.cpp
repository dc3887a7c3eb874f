#include "engine/channels/link_budget.h"

#include <algorithm>
#include <cmath>

namespace ringside {
namespace {

/// Differences are kept to a thousandth of a GB/s, so that taking and giving back returns to the same.
void subtract(float& left, float speed) { left = std::round((left - speed) * 1000) / 1000; }

bool is_cpu(const System& system, NodeRef ref, CpuArch arch) {
  return ref.kind == NodeKind::Cpu && system.cpus[static_cast<std::size_t>(ref.index)].arch == arch;
}

/// What PCI links of the path carry for a stream of `speed`.
float pci_speed(const System& system, const Path& path, NodeKind start, float speed) {
  if (path.type != PathType::Phb || start != NodeKind::Gpu) return speed;
  const bool is_intel = std::any_of(path.links.begin(), path.links.end(), [&](LinkId id) {
    const NodeRef to = system.link(id).to;
    return is_cpu(system, to, CpuArch::X86) &&
           system.cpus[static_cast<std::size_t>(to.index)].vendor == CpuVendor::Intel;
  });
  return is_intel ? speed * 6 / 5 : speed;
}

/// What the link's other direction carries for `forward` GB/s this way.
float backward_speed(const System& system, const Link& link, NodeKind start, float forward) {
  float backward = 0;
  if (link.to.kind == NodeKind::Dev && start != NodeKind::Gpu &&
      system.devs[static_cast<std::size_t>(link.to.index)].sm < 80) {
    backward += forward / 8;
  }
  if (link.kind == LinkKind::Nvl && is_cpu(system, link.to, CpuArch::Power)) backward += forward;
  return backward;
}

}  // namespace

LinkBudget::LinkBudget(const System& system) : system_(system) {
  links_.reserve(system.links.size());
  for (const Link& link : system.links) links_.push_back(link.bandwidth);
  for (const NetInfo& net : system.nets) nets_.push_back(net.bandwidth);
}

int LinkBudget::take(const Path& path, NodeKind start, float speed, int most) {
  const float pci = pci_speed(system_, path, start, speed);
  for (int i = 0; i < most; ++i) {
    const LinkId id = path.links[static_cast<std::size_t>(i)];
    const Link& link = system_.link(id);
    const float forward = link.kind == LinkKind::Pci ? pci : speed;
    const float backward = link.reverse < 0 ? 0 : backward_speed(system_, link, start, forward);
    float& left = links_[static_cast<std::size_t>(id)];
    if (left < forward) return i;
    if (backward != 0) {
      float& left_back = links_[static_cast<std::size_t>(link.reverse)];
      if (left_back < backward) return i;
      subtract(left_back, backward);
    }
    subtract(left, forward);
  }
  return most;
}

bool LinkBudget::reserve(const Path& path, NodeKind start, float speed) {
  const int taken = take(path, start, speed, path.hops());
  if (taken == path.hops()) return true;
  take(path, start, -speed, taken);
  return false;
}

void LinkBudget::release(const Path& path, NodeKind start, float speed) {
  take(path, start, -speed, path.hops());
}

float LinkBudget::pci_left(int device) const {
  for (const LinkId id : system_.node({NodeKind::Dev, device}).links) {
    const Link& link = system_.link(id);
    if (link.kind != LinkKind::Pci || link.reverse < 0) continue;
    return std::min(links_[static_cast<std::size_t>(id)],
                    links_[static_cast<std::size_t>(link.reverse)]);
  }
  return -1;
}

void LinkBudget::charge_net(int net, float speed) {
  const NetInfo& charged = system_.nets[static_cast<std::size_t>(net)];
  for (std::size_t i = 0; i < nets_.size(); ++i) {
    if (system_.nets[i].guid == charged.guid && system_.nets[i].port == charged.port) {
      nets_[i] -= speed;
    }
  }
}

}  // namespace ringside
