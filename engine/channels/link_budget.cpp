#include "engine/channels/link_budget.h"

#include <algorithm>
#include <cstdint>

namespace ringside {
namespace {

/// Rounds differences to a thousandth of a GB/s, so that subtracting and adding back restores the value.
/// Halves round away from zero, as with std::round, which is not called because a search spends most of its
/// time here.
void subtract(float& left, float speed) {
  const double thousandths = static_cast<double>((left - speed) * 1000);
  const auto rounded = static_cast<std::int64_t>(thousandths + (thousandths < 0 ? -0.5 : 0.5));
  left = static_cast<float>(rounded) / 1000;
}

bool is_cpu(const System& system, NodeRef ref, CpuArch arch) {
  return ref.kind == NodeKind::Cpu && system.cpus[static_cast<std::size_t>(ref.index)].arch == arch;
}

}  // namespace

LinkBudget::Backward LinkBudget::backward_of(const System& system, const Link& link,
                                             const SearchRules& rules) {
  if (link.reverse < 0) return Backward::Nothing;
  const bool is_costly = rules.nvlink_to_cpu_costs_both_ways
                             ? link.to.kind == NodeKind::Cpu
                             : is_cpu(system, link.to, CpuArch::Power);
  if (link.kind == LinkKind::Nvl && is_costly) return Backward::All;
  const bool is_old_gpu = link.to.kind == system.silicon &&
                          system.devs[static_cast<std::size_t>(link.to.index)].sm < 80;
  return is_old_gpu ? Backward::EighthUnlessFromGpu : Backward::Nothing;
}

LinkBudget::LinkBudget(const System& system, const SearchRules& rules) : system_(system) {
  links_.reserve(system.links.size());
  for (const Link& link : system.links) {
    links_.push_back({.left = link.bandwidth,
                      .reverse = link.reverse,
                      .is_pci = link.kind == LinkKind::Pci,
                      .is_endless = link.kind == LinkKind::Loc,
                      .backward = backward_of(system, link, rules)});
  }
  for (const NetInfo& net : system.nets) nets_.push_back(net.bandwidth);
}

/// Returns the rate that a stream of `speed` uses on the PCI links of the path.
float LinkBudget::pci_speed(const Path& path, NodeKind start, float speed) const {
  if (path.type != PathType::Phb || start != NodeKind::Gpu) return speed;
  const bool is_intel = std::any_of(path.links.begin(), path.links.end(), [&](LinkId id) {
    const NodeRef to = system_.link(id).to;
    return is_cpu(system_, to, CpuArch::X86) &&
           system_.cpus[static_cast<std::size_t>(to.index)].vendor == CpuVendor::Intel;
  });
  return is_intel ? speed * 6 / 5 : speed;
}

int LinkBudget::take(const Path& path, NodeKind start, float speed, int most) {
  const float pci = pci_speed(path, start, speed);
  for (int i = 0; i < most; ++i) {
    LinkState& link = links_[static_cast<std::size_t>(path.links[static_cast<std::size_t>(i)])];
    if (link.is_endless) continue;
    const float forward = link.is_pci ? pci : speed;
    if (link.left < forward) return i;
    if (link.backward != Backward::Nothing &&
        (link.backward == Backward::All || start != NodeKind::Gpu)) {
      const float backward = link.backward == Backward::All ? forward : forward / 8;
      float& left = links_[static_cast<std::size_t>(link.reverse)].left;
      if (left < backward) return i;
      subtract(left, backward);
    }
    subtract(link.left, forward);
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
  for (const LinkId id : system_.node({system_.silicon, device}).links) {
    const Link& link = system_.link(id);
    if (link.kind != LinkKind::Pci || link.reverse < 0) continue;
    return std::min(links_[static_cast<std::size_t>(id)].left,
                    links_[static_cast<std::size_t>(link.reverse)].left);
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
