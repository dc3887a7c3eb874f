#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/topo/drawing.h"
#include "cli/topo/drawing_labels.h"
#include "study/explain/topo_facts.h"

namespace ringside::cli {
namespace {

constexpr int kFewRings = 4;
/// Colours that most colour-blind readers can distinguish.  source  Okabe and Ito's palette
constexpr std::array<const char*, 6> kColours{"#0072B2", "#D55E00", "#009E73",
                                              "#CC79A7", "#E69F00", "#56B4E9"};

/// One host as a cluster of the graph; its vertices are called h0_gpu3.
class HostDrawing {
 public:
  HostDrawing(const HostRun& run, int index)
      : prefix_(fmt::format("h{}_", index)), gpus_(gpu_functions(run.host)) {
    text_ = fmt::format("  subgraph cluster_{} {{\n    label={};\n", index,
                        dot_quoted(fmt::format("{} x {}", run.host.name, run.count)));
    for (const HostCpu& cpu : run.host.cpus) add_cpu(cpu);
    add_links_between_cpus(run.host);
    add_nvlinks();
    text_ += "  }\n";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void vertex(const std::string& id, const std::string& label, const char* style) {
    text_ += fmt::format("    {}{} [label={}, {}];\n", prefix_, id, dot_quoted(label), style);
  }
  void edge(const std::string& from, const std::string& to, const std::string& label,
            const std::string& style) {
    text_ += fmt::format("    {0}{1} -> {0}{2} [dir=none, label={3}{4}];\n", prefix_, from, to,
                         dot_quoted(label), style.empty() ? "" : ", " + style);
  }

  void add_cpu(const HostCpu& cpu) {
    const std::string id = fmt::format("cpu{}", cpu.numa);
    vertex(id, cpu_label(cpu) + " " + cpu_detail(cpu),
           "shape=box, style=filled, fillcolor=\"#E8E8E8\"");
    for (const HostPci& pci : cpu.pci) add(pci, id);
    for (const HostNic& nic : cpu.nics) add_nets(nic, id, "");
  }

  void add(const HostPci& pci, const std::string& parent) {
    if (pci.gpu) {
      const std::string id = fmt::format("gpu{}", pci.gpu->dev);
      vertex(id, fmt::format("GPU {}", pci.gpu->dev),
             "shape=box, style=\"filled,bold\", fillcolor=\"#DCEBC8\"");
      edge(parent, id, pcie_label(pci), "");
      return;
    }
    if (pci.nic) {
      add_nets(*pci.nic, parent, pcie_label(pci));
      return;
    }
    const std::string id = fmt::format("switch{}", switches_++);
    vertex(id, "switch " + short_bus_id(pci.bus_id), "shape=box, style=rounded");
    edge(parent, id, pcie_label(pci), "");
    for (const HostPci& child : pci.children) add(child, id);
  }

  void add_nets(const HostNic& nic, const std::string& parent, const std::string& label) {
    for (const HostNet& net : nic.nets) {
      const std::string id = fmt::format("net{}", net.dev);
      vertex(id, net_label(net) + "\n" + net_detail(net),
             "shape=box, style=filled, fillcolor=\"#D6E6F5\"");
      edge(parent, id, label, "");
    }
  }

  void add_links_between_cpus(const Host& host) {
    for (std::size_t i = 1; i < host.cpus.size(); ++i) {
      edge(fmt::format("cpu{}", host.cpus[i - 1].numa), fmt::format("cpu{}", host.cpus[i].numa), "",
           "style=dashed, constraint=false");
    }
  }

  void add_nvlinks() {
    const std::string style = "color=\"#76B900\", penwidth=2";
    bool has_switch = false;
    for (const HostPci* function : gpus_) {
      const HostGpu& gpu = *function->gpu;
      const std::string id = fmt::format("gpu{}", gpu.dev);
      if (const int links = nvswitch_links(gpu); links > 0) {
        if (!has_switch) {
          vertex("nvswitch", "NVSwitch", "shape=box, style=filled, fillcolor=\"#76B900\"");
        }
        has_switch = true;
        edge(id, "nvswitch", fmt::format("x{}", links), style);
      }
      for (const HostNvLink& link : gpu.nvlinks) {
        const HostGpu* peer = peer_of(gpus_, link);
        if (peer == nullptr || peer->dev < gpu.dev) continue;  // each pair once
        // A label between two vertices of one row breaks the layout of dot 2.42; an outer label does not.
        edge(id, fmt::format("gpu{}", peer->dev), "",
             fmt::format("{}, constraint=false, xlabel=\"x{}\"", style, link.count));
      }
    }
  }

  std::string prefix_;
  std::vector<const HostPci*> gpus_;
  std::string text_;
  int switches_ = 0;
};

/// Returns the rings of the first node as its search found them: in by a NIC, over the GPUs, out by a NIC. Within an
/// NVLink domain of several hosts they pass GPUs that are not drawn.
std::string rings(const Job& job, bool all) {
  const System& system = job.systems.front();
  if (system.nhosts > 1) return {};
  const Graph& graph = job.reports.front().graphs[GraphId::Ring];
  const std::size_t count = graph.intra.size();
  const std::size_t shown = all ? count : std::min<std::size_t>(count, kFewRings);
  std::string text;
  for (std::size_t c = 0; c < shown; ++c) {
    std::vector<std::string> stops;
    const auto net = [&](int index) {
      return fmt::format("h0_net{}", system.nets[static_cast<std::size_t>(index)].dev);
    };
    for (const int gpu : graph.intra[c]) {
      stops.push_back(fmt::format("h0_gpu{}", system.gpus[static_cast<std::size_t>(gpu)].dev));
    }
    if (c < graph.inter.size()) {
      stops.insert(stops.begin(), net(graph.inter[c][0]));
      stops.push_back(net(graph.inter[c][1]));
    } else if (stops.size() > 1) {
      stops.push_back(stops.front());
    }
    for (std::size_t i = 1; i < stops.size(); ++i) {
      text += fmt::format("  {} -> {} [color=\"{}\", constraint=false{}];\n", stops[i - 1],
                          stops[i], kColours[c % kColours.size()],
                          i == 1 ? fmt::format(", xlabel=\"ring {}\", fontcolor=\"{}\"", c,
                                               kColours[c % kColours.size()])
                                 : "");
    }
  }
  return text;
}

}  // namespace

std::string draw_dot(const JobHosts& hosts, const Job& job, bool all) {
  std::string text =
      "digraph topology {\n  graph [fontname=\"sans-serif\", ranksep=0.6, nodesep=0.25, "
      "splines=line];\n"
      "  node [fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n";
  const std::vector<HostRun> distinct = study::distinct_hosts(hosts);
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    text += HostDrawing{distinct[i], static_cast<int>(i)}.text();
  }
  return text + rings(job, all) + "}\n";
}

}  // namespace ringside::cli
