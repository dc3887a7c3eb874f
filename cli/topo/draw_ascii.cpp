#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "cli/topo/drawing.h"
#include "cli/topo/drawing_labels.h"
#include "cli/topo/topo_text.h"

namespace ringside::cli {
namespace {

constexpr std::size_t kBusColumn = 64;  ///< where the lines to the NVSwitch end
constexpr std::size_t kColumns = 100;
constexpr int kFewRings = 8;

struct Row {
  std::string text;
  int nvswitch_links = 0;
};

/// The machine as an indented tree, a row for each device.
class Tree {
 public:
  explicit Tree(const Host& host) : gpus_(gpu_functions(host)) {
    for (const HostCpu& cpu : host.cpus) add_cpu(cpu);
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  void add_cpu(const HostCpu& cpu) {
    rows_.push_back({fmt::format("{}  {}", cpu_label(cpu), cpu_detail(cpu))});
    for (std::size_t i = 0; i < cpu.pci.size(); ++i) {
      add(cpu.pci[i], "", i + 1 == cpu.pci.size() && cpu.nics.empty());
    }
    for (std::size_t i = 0; i < cpu.nics.size(); ++i) {
      for (const HostNet& net : cpu.nics[i].nets) {
        rows_.push_back({fmt::format("{} {}  {}", i + 1 == cpu.nics.size() ? "`--" : "|--",
                                     net_label(net), net_detail(net))});
      }
    }
  }

  void add(const HostPci& pci, const std::string& indent, bool is_last) {
    const std::string head = indent + (is_last ? "`-- " : "|-- ");
    if (pci.gpu) {
      Row row{fmt::format("{}GPU {}  {}", head, pci.gpu->dev, short_bus_id(pci.bus_id))};
      row.text += fmt::format("  {}", pcie_label(pci));
      if (pci.gpu->c2c) row.text += fmt::format("  C2C x{}", pci.gpu->c2c->count);
      row.text += peers(*pci.gpu);
      row.nvswitch_links = nvswitch_links(*pci.gpu);
      rows_.push_back(std::move(row));
    } else if (pci.nic) {
      for (const HostNet& net : pci.nic->nets) {
        rows_.push_back({fmt::format("{}{}  {}  {}  {}", head, net_label(net),
                                     short_bus_id(pci.bus_id), pcie_label(pci), net_detail(net))});
      }
    } else {
      rows_.push_back(
          {fmt::format("{}switch  {}  {}", head, short_bus_id(pci.bus_id), pcie_label(pci))});
    }
    for (std::size_t i = 0; i < pci.children.size(); ++i) {
      add(pci.children[i], indent + (is_last ? "    " : "|   "), i + 1 == pci.children.size());
    }
  }

  /// Direct NVLinks, as "  NVLink 4 x GPU 1, 2 x CPU".
  [[nodiscard]] std::string peers(const HostGpu& gpu) const {
    std::string text;
    for (const HostNvLink& link : gpu.nvlinks) {
      if (link.target_class == 0x068000) continue;
      const HostGpu* peer = peer_of(gpus_, link);
      text += text.empty() ? "  NVLink " : ", ";
      text += peer == nullptr ? fmt::format("{} x CPU", link.count)
                              : fmt::format("{} x GPU {}", link.count, peer->dev);
    }
    return text;
  }

  std::vector<const HostPci*> gpus_;
  std::vector<Row> rows_;
};

/// Between the first and the last GPU the NVSwitch is a bar to the right of the tree.
std::string with_bus(const std::vector<Row>& rows) {
  const auto is_linked = [](const Row& row) { return row.nvswitch_links > 0; };
  const auto first = std::find_if(rows.begin(), rows.end(), is_linked);
  const auto last = std::find_if(rows.rbegin(), rows.rend(), is_linked).base();
  std::string text;
  bool is_named = false;
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    std::string line = row->text;
    if (first != rows.end() && row >= first && row < last) {
      if (is_linked(*row)) {
        const std::string count = fmt::format("= NVLink x{} =", row->nvswitch_links);
        line += ' ';
        line.resize(std::max(line.size(), kBusColumn - count.size()), '=');
        line += count;
      } else {
        line.resize(std::max(line.size(), kBusColumn), ' ');
      }
      line += "##";
      if (!is_named) line += " NVSwitch";
      is_named = true;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string draw_ascii(const JobHosts& hosts, const Job& job, bool all) {
  std::string text;
  for (const HostRun& run : study::distinct_hosts(hosts)) {
    text += fmt::format("{} x {}{}\n\n{}\n", run.host.name, run.count,
                        hosts.hosts_per_nvl_domain > 1
                            ? fmt::format(", {} hosts an NVLink domain", hosts.hosts_per_nvl_domain)
                            : "",
                        with_bus(Tree{run.host}.rows()));
  }
  const study::TopoFacts facts = study::topo_facts(job);
  const int count = job.connection.channels.count();
  const int shown = all ? count : std::min(count, kFewRings);
  text += fmt::format(
      "rings by rank, | where one leaves a node{}\n\n",
      shown < count ? fmt::format(" ({} of {}; --all draws them)", shown, count) : std::string{});
  for (int c = 0; c < shown; ++c) {
    std::string line = fmt::format("{:>3} +-> {}", c, ring_text(job, facts, c));
    if (!all && line.size() > kColumns - 6) {
      line.resize(line.rfind(' ', kColumns - 10));
      line += " ...";
    }
    text += line + " -+\n";
    text += fmt::format("    +{}+\n", std::string(line.size() + 3 - 6, '-'));
  }
  return text;
}

Result<std::string> draw(const std::string& format, const JobHosts& hosts, const Job& job,
                         bool all) {
  constexpr std::string_view kFormats[] = {"ascii", "dot", "svg"};
  if (format == kFormats[0]) return draw_ascii(hosts, job, all);
  if (format == kFormats[1]) return draw_dot(hosts, job, all);
  if (format == kFormats[2]) return draw_svg(hosts, job, all);
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown drawing '{}'", format),
               suggestion(format, kFormats)};
}

}  // namespace ringside::cli
