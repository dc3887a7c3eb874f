#include "sim/system_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ringside {
namespace {

GpuLink link_of(const Job& job) {
  const System& system = job.systems.front();
  // Before 2.24 the link to a Grace CPU counts as NVLink.
  const auto is_coherent = [](const Link& link) {
    return link.kind == LinkKind::C2c ||
           (link.kind == LinkKind::Nvl && link.to.kind == NodeKind::Cpu);
  };
  if (std::ranges::any_of(system.links, is_coherent)) return GpuLink::C2c;
  if (job.connection.shape.max_local_ranks == 1) return GpuLink::Alone;
  if (system.count(NodeKind::Nvs) > 0) return GpuLink::NvSwitch;
  return job.connection.shape.graph(GraphId::Ring).type_intra <= PathType::Nvb ? GpuLink::NvLink
                                                                               : GpuLink::Pcie;
}

}  // namespace

const char* to_string(GpuLink link) {
  constexpr std::array kNames{"nvswitch", "nvlink", "pcie", "c2c", "alone"};
  return kNames.at(static_cast<std::size_t>(link));
}

std::string to_string(const SystemGroup& group) {
  constexpr std::array kGenerations{"volta", "ampere", "hopper", "blackwell"};
  return fmt::format("{} {}{}", kGenerations.at(static_cast<std::size_t>(group.gpu)),
                     to_string(group.link),
                     group.net ? fmt::format(" {}", to_string(*group.net)) : "");
}

SystemGroup group_of(const Job& job, const Surroundings& surroundings) {
  const CommShape& shape = job.connection.shape;
  SystemGroup group{.gpu = class_of_gpu(shape.min_cc), .link = link_of(job)};
  if (shape.nnodes > 1) group.net = surroundings.net;
  return group;
}

}  // namespace ringside
