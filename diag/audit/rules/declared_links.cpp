#include <fmt/format.h>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {

/// A PCIe link that is slower than any that a GPU or NIC has: declared so by a topology file, or trained down.
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
            "NCCL takes what the file says (link_speed, link_width) for the truth, and lays few "
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
