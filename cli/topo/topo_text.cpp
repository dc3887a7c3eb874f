#include "cli/topo/topo_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "base/wording.h"
#include "cli/topo/topo_json.h"

namespace ringside::cli {
namespace {

constexpr std::size_t kLineColumns = 100;
constexpr int kFewDevices = 12;   ///< rows and columns of a matrix without --all
constexpr int kFewChannels = 4;   ///< rings shown without --all
constexpr int kFewTypeOnly = 10;  ///< a matrix wider than this has no room for rates

/// Three digits and no zeros for show: 48, 370.8, 1.25.
std::string rate(float gbs) {
  return gbs >= 1000 ? fmt::format("{:.0f}", gbs) : fmt::format("{:.4g}", gbs);
}

std::string cut(std::string line, bool all) {
  if (all || line.size() <= kLineColumns) return line;
  const std::size_t space = line.rfind(' ', kLineColumns - 4);
  line.resize(space == std::string::npos ? kLineColumns - 4 : space);
  return line + " ...";
}

const char* name_of(CpuArch arch) {
  switch (arch) {
    case CpuArch::X86:
      return "x86";
    case CpuArch::Power:
      return "POWER";
    case CpuArch::Arm:
      return "Arm";
    case CpuArch::Mixed:
      return "mixed";
    case CpuArch::Unknown:
      break;
  }
  return "unknown";
}
const char* name_of(CpuVendor vendor) {
  switch (vendor) {
    case CpuVendor::Intel:
      return " Intel";
    case CpuVendor::Amd:
      return " AMD";
    case CpuVendor::Zhaoxin:
      return " Zhaoxin";
    case CpuVendor::Mixed:
      return " of several makers";
    case CpuVendor::Unknown:
      break;
  }
  return "";
}
const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::BalancedTree:
      return "balanced tree";
    case Pattern::SplitTree:
      return "split tree";
    case Pattern::Tree:
      return "tree";
    case Pattern::Ring:
      return "ring";
    case Pattern::Nvls:
      return "nvls";
    case Pattern::CollNetDirect:
      return "collnet direct";
  }
  return "";
}

/// "nodes 0-15"
std::string nodes_text(const study::NodeFacts& kind) {
  return fmt::format("{} {}", kind.nodes.size() == 1 ? "node" : "nodes", format_ranks(kind.nodes));
}

/// "8 x 50 GB/s, 1 x 12.5 GB/s": equal values counted.
template <typename Items, typename Describe>
std::string counted(const Items& items, Describe describe) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const auto& item : items) {
    const std::string text = describe(item);
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return kind.first == text; });
    if (known == kinds.end()) {
      kinds.emplace_back(text, 1);
    } else {
      ++known->second;
    }
  }
  std::string all;
  for (const auto& [text, count] : kinds) {
    all += fmt::format("{}{} x {}", all.empty() ? "" : ", ", count, text);
  }
  return all.empty() ? "none" : all;
}

/// Returns the rates of each kind of link: "NVL 370.8, PCI 48, SYS 22 GB/s".
std::string link_rates(const study::NodeFacts& kind) {
  std::vector<std::string> texts;
  for (const auto& [link, values] : kind.link_rates) {
    const char* name = link == LinkKind::Nvl   ? "NVLink"
                       : link == LinkKind::C2c ? "C2C"
                       : link == LinkKind::Pci ? "PCIe"
                                               : "between CPUs";
    std::vector<std::string> each;
    for (const float value : values) each.push_back(rate(value));
    texts.push_back(fmt::format("{} {}", name, fmt::join(each, "/")));
  }
  return texts.empty() ? "none" : fmt::format("{} GB/s", fmt::join(texts, ", "));
}

std::string machine_text(const System& system, const study::NodeFacts& kind) {
  const auto gpu = [](const GpuInfo& info) {
    return fmt::format("compute capability {}.{}{}", info.sm / 10, info.sm % 10,
                       info.gdr ? ", GPUDirect RDMA" : "");
  };
  const auto nic = [](const NetInfo& info) {
    return fmt::format("{} GB/s{}{}", rate(info.bandwidth), info.gdr ? ", GPUDirect RDMA" : "",
                       info.coll ? ", reduces" : "");
  };
  const auto cpu = [](const CpuInfo& info) {
    return fmt::format("{}{}", name_of(info.arch), name_of(info.vendor));
  };
  std::string text = fmt::format(
      "{}: {} of {}\n", nodes_text(kind), plural(system.gpus.size(), "GPU", "GPUs"),
      system.nhosts == 1 ? "one host" : fmt::format("{} hosts joined by NVLink", system.nhosts));
  text += fmt::format("  GPUs      {}\n", counted(system.gpus, gpu));
  text += fmt::format("  NICs      {}\n", counted(system.nets, nic));
  text += fmt::format("  CPUs      {}\n", counted(system.cpus, cpu));
  text += fmt::format(
      "  switches  {}{}\n",
      plural(static_cast<std::size_t>(system.count(NodeKind::Pci)), "PCIe switch", "PCIe switches"),
      system.count(NodeKind::Nvs) > 0 ? ", NVSwitch" : "");
  text += fmt::format("  links     {}\n", link_rates(kind));
  return text;
}

std::string device_name(const System& system, NodeKind kind, int index) {
  const auto i = static_cast<std::size_t>(index);
  return kind == NodeKind::Gpu ? fmt::format("GPU{}", system.gpus[i].rank)
                               : fmt::format("NIC{}", index);
}

std::string cell(const Path& path, bool with_rate) {
  if (path.type == PathType::Loc) return "X";
  if (!with_rate || path.type == PathType::Dis) return to_string(path.type);
  return fmt::format("{} {}", to_string(path.type), rate(path.bandwidth));
}

std::string matrix_text(const System& system, NodeKind to, bool all) {
  const int rows = system.count(NodeKind::Gpu), columns = system.count(to);
  if (columns == 0) return {};
  const int shown_rows = all ? rows : std::min(rows, kFewDevices);
  const int shown_columns = all ? columns : std::min(columns, kFewDevices);
  const bool with_rate = shown_columns <= kFewTypeOnly;
  const int width = with_rate ? 10 : 6;
  std::string text = fmt::format("{:<8}", "");
  for (int j = 0; j < shown_columns; ++j) {
    text += fmt::format("{:<{}}", device_name(system, to, j), width);
  }
  while (text.back() == ' ') text.pop_back();
  text += '\n';
  for (int i = 0; i < shown_rows; ++i) {
    text += fmt::format("  {:<6}", device_name(system, NodeKind::Gpu, i));
    for (int j = 0; j < shown_columns; ++j) {
      text +=
          fmt::format("{:<{}}", cell(system.path({NodeKind::Gpu, i}, {to, j}), with_rate), width);
    }
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }
  if (shown_rows < rows || shown_columns < columns) {
    text += fmt::format("  ... of {} x {}; --all shows them\n", rows, columns);
  }
  return text;
}

std::string nic_names(const System& system) {
  std::string text = "  ";
  for (int i = 0; i < std::min(system.count(NodeKind::Net), kFewDevices); ++i) {
    text += fmt::format("{}NIC{} = {}", i == 0 ? "" : ", ", i,
                        system.nets[static_cast<std::size_t>(i)].name);
  }
  return cut(text, false) + "\n";
}

std::string graphs_text(const Job& job) {
  struct Row {
    GraphId id;
    const char* name;
  };
  constexpr Row kRows[] = {{GraphId::Ring, "ring"},
                           {GraphId::Tree, "tree"},
                           {GraphId::Nvls, "nvls"},
                           {GraphId::CollNetChain, "collnet chain"},
                           {GraphId::CollNetDirect, "collnet direct"}};
  std::string text = fmt::format("{:<16}{:>9}{:>12}{:>12}{:>8}{:>8}   {}\n", "graph", "channels",
                                 "intra GB/s", "inter GB/s", "intra", "inter", "pattern");
  for (const auto& [id, name] : kRows) {
    const GraphSummary& graph = job.connection.shape.graph(id);
    if (graph.nchannels == 0) {
      text += fmt::format("{:<16}{:>9}\n", name, "none");
      continue;
    }
    const bool has_inter = job.connection.shape.nnodes > 1;
    text += fmt::format("{:<16}{:>9}{:>12}{:>12}{:>8}{:>8}   {}{}\n", name, graph.nchannels,
                        rate(graph.bw_intra), has_inter ? rate(graph.bw_inter) : "-",
                        to_string(graph.type_intra), has_inter ? to_string(graph.type_inter) : "-",
                        name_of(graph.pattern),
                        graph.cross_nic == 2 ? ", alternate rings swap NICs" : "");
  }
  return text;
}

std::string rings_text(const Job& job, const study::TopoFacts& facts, bool all) {
  const Channels& channels = job.connection.channels;
  const int count = channels.count();
  const int shown = all ? count : std::min(count, kFewChannels);
  std::string text = fmt::format(
      "rings, | where one leaves a node{}\n",
      shown < count ? fmt::format(" ({} of {}; --all shows them)", shown, count) : std::string{});
  for (int c = 0; c < shown; ++c) {
    text += cut(fmt::format("  {:>3}: {}", c, ring_text(job, facts, c)), all) + "\n";
  }
  return text;
}

/// Parent and children: `0 > 8 9; 8 > 4`, the root first.
std::string tree_text(const std::vector<Channels::TreePlace>& tree) {
  std::string text;
  for (const int rank : study::parents_of(tree)) {
    std::vector<int> children;
    for (const Rank child : tree[static_cast<std::size_t>(rank)].children) {
      children.push_back(to_int(child));
    }
    text += fmt::format("{}{} > {}", text.empty() ? "" : "; ", rank, fmt::join(children, " "));
  }
  return text;
}

std::string trees_text(const Job& job, bool all) {
  const Channels& channels = job.connection.channels;
  if (channels.trees.empty()) return {};
  const std::size_t count = channels.trees.size();
  // A channel and the one half the channels later are the two trees of a double binary tree.
  std::vector<std::size_t> shown{0};
  if (count > 1) shown.push_back(count / 2);
  if (all) {
    shown.clear();
    for (std::size_t c = 0; c < count; ++c) shown.push_back(c);
  }
  std::string text = fmt::format(
      "trees, parent > children, root first; {} steps deep{}\n", channels.tree_depth,
      shown.size() < count ? fmt::format(" ({} of {}; --all shows them)", shown.size(), count)
                           : std::string{});
  for (const std::size_t c : shown) {
    text += cut(fmt::format("  {:>3}: {}", c, tree_text(channels.trees[c])), all) + "\n";
  }
  return text;
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  std::vector<int> numbers;
  for (const Rank rank : ranks) numbers.push_back(to_int(rank));
  return fmt::format("{}", fmt::join(numbers, " "));
}

std::string heads_text(const Job& job, bool all) {
  const Channels& channels = job.connection.channels;
  std::string text;
  if (!channels.nvls.heads.empty()) {
    std::vector<Rank> first;
    for (const auto& head : channels.nvls.heads) first.push_back(head.front());
    text += cut(fmt::format("NVLS heads of the first node: {}", ranks_text(first)), all) + "\n";
  }
  if (!channels.collnet.heads.empty()) {
    text +=
        cut(fmt::format("CollNet heads of the first node: {}", ranks_text(channels.collnet.heads)),
            all) +
        "\n";
  }
  return text;
}

}  // namespace

std::string ring_text(const Job& job, const study::TopoFacts& facts, int channel) {
  std::vector<std::string> visits;
  for (const study::RingVisit& visit : study::visits_of(job, facts, channel)) {
    visits.push_back(fmt::format("{}", fmt::join(visit.ranks, " ")));
  }
  return fmt::format("{}", fmt::join(visits, " | "));
}

std::string topo_text(const JobHosts& hosts, const Job& job, bool all) {
  const CommShape& shape = job.connection.shape;
  std::string text = fmt::format("{}: {} on {}\n", hosts_text(hosts),
                                 plural(static_cast<std::size_t>(shape.nranks), "rank", "ranks"),
                                 plural(static_cast<std::size_t>(shape.nnodes), "node", "nodes"));
  const study::TopoFacts facts = study::topo_facts(job);
  for (const study::NodeFacts& kind : facts.kinds) {
    const System& system = job.systems[kind.report];
    text += "\n" + machine_text(system, kind);
    text += "\npaths, type and GB/s\n" + matrix_text(system, NodeKind::Gpu, all);
    if (system.count(NodeKind::Net) > 0) {
      text += "\n" + matrix_text(system, NodeKind::Net, all) + nic_names(system);
    }
  }
  text += "\n" + graphs_text(job);
  text += fmt::format("\nchannels: {} for collectives, {} NVLS, {} point to point ({} a peer)\n",
                      shape.nchannels, shape.nvls_channels, shape.p2p_channels,
                      shape.p2p_channels_per_peer);
  return text + "\n" + rings_text(job, facts, all) + "\n" + trees_text(job, all) +
         heads_text(job, all);
}

}  // namespace ringside::cli
