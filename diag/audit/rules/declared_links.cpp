#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "diag/audit/rules/rule.h"

namespace ringside::audit {
namespace {

/// Topology files that clouds provide, each for one machine type.
/// source  Azure/azhpc-images topology/, aws-ofi-nccl topology/
struct CloudTopology {
  std::string_view name;                    ///< part of the file's name, in lower case
  std::string_view machine;                 ///< the machine type that it is made for
  std::string_view gpu;                     ///< the name of its GPUs in the finding
  std::array<std::string_view, 4> not_its;  ///< GPUs that the machine does not have
};
constexpr std::array kCloudTopologies{
    CloudTopology{"ndv2-topo", "ND v2", "V100", {"A100", "H100", "H200", "MI300X"}},
    CloudTopology{"ndv4-topo", "ND A100 v4", "A100", {"V100", "H100", "H200", "MI300X"}},
    CloudTopology{"ndv5-topo", "ND H100 v5", "H100 or H200", {"V100", "A100", "MI300X", "B200"}},
    CloudTopology{"p4d-24xl-topo", "p4d.24xlarge", "A100", {"V100", "H100", "H200", "B200"}},
    CloudTopology{"p4de-24xl-topo", "p4de.24xlarge", "A100", {"V100", "H100", "H200", "B200"}},
    CloudTopology{"p5.48xl-topo", "p5.48xlarge", "H100", {"V100", "A100", "H200", "B200"}},
};

}  // namespace

/// Reports a topology file of another machine type than the GPUs in the text.
void look_for_foreign_topology(const JobFacts& facts, Findings& findings) {
  const Setting* file = facts.setting("NCCL_TOPO_FILE");
  if (file == nullptr) return;
  const std::string name = lower_case(file->value.substr(file->value.rfind('/') + 1));
  for (const CloudTopology& cloud : kCloudTopologies) {
    if (!contains(name, cloud.name) || facts.has_text_of_gpu(cloud.gpu.substr(0, 4))) continue;
    for (const std::string_view other : cloud.not_its) {
      if (!facts.has_text_of_gpu(other)) continue;
      Finding& finding =
          findings.add("topology_file", Severity::Error,
                       fmt::format("the topology file {} is of {} ({}), and these GPUs are {}",
                                   file->value, cloud.machine, cloud.gpu, other),
                       *file);
      finding.confidence = Confidence::Medium;
      finding.cause =
          "the buses of GPUs and NICs in the file are not those of this machine: NCCL places what "
          "the file does not name far from everything, and loses rails and GPUDirect by it";
      finding.fix =
          "NCCL_TOPO_FILE=<the file for this kind of machine, as its image ships it>; or "
          "unset it where the machine shows its real PCIe tree";
      return;
    }
  }
}

/// Reports a PCIe link that is slower than that of any GPU or NIC: the topology file declares it so, or it was trained
/// down.
void look_for_slow_links(const JobFacts& facts, Findings& findings) {
  constexpr float kSlow_gbs = 1;  // one lane of PCIe 3; NCCL counts 0.12 for 2.5 GT/s x1
  for (const TopologyDump& dump : facts.dumps) {
    for (const DumpedNode& node : dump.nodes) {
      if (node.link != "PCI" || node.bw <= 0 || node.bw >= kSlow_gbs) continue;
      const Setting* file = facts.setting("NCCL_TOPO_FILE");
      Finding& finding = findings.add(
          file != nullptr ? "topology_file" : "link_degraded", Severity::Warning,
          file != nullptr
              ? fmt::format("the topology file {} declares a PCIe link of {:.1f} GB/s to {}/{}",
                            file->value, node.bw, node.type, node.id)
              : fmt::format("a PCIe link of {:.1f} GB/s to {}/{}", node.bw, node.type, node.id));
      finding.evidence.mix(dump.evidence);
      if (!dump.host.empty()) finding.hosts = {dump.host};
      if (file != nullptr) {
        finding.evidence.mix(file->evidence);
        finding.severity = Severity::Error;
        finding.cause =
            "NCCL believes the file (link_speed, link_width), and uses few "
            "channels over so slow a link; virtual machines often report 2.5 GT/s x1";
        finding.fix = fmt::format(
            "correct link_speed and link_width of that device in {} (16 lanes: link_width=\"16\", "
            "link_speed=\"16.0 GT/s PCIe\" or what lspci -vv shows on the host)",
            file->value);
      } else {
        finding.cause = "the link came up with fewer lanes or an older generation than it has";
        finding.fix = "lspci -vv -s <the device> | grep LnkSta; reseat the card or its riser";
      }
      return;
    }
  }
}

}  // namespace ringside::audit
