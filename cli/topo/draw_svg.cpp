#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "cli/plots/svg.h"
#include "cli/topo/drawing.h"
#include "cli/topo/drawing_labels.h"
#include "study/explain/topo_facts.h"

namespace ringside::cli {
namespace {

constexpr double kMargin = 24, kColumn = 82, kLeaf = 74, kLeafHeight = 44;
constexpr double kRow = 66, kBoxHeight = 30;
constexpr double kStop = 30, kLane = 34;  ///< for rings
constexpr int kFewRings = 8;
constexpr std::size_t kFewStops = 32;
constexpr const char* kGpuFill = "#DCEBC8";
constexpr const char* kNicFill = "#D6E6F5";
constexpr const char* kNvlink = "#5E9400";
constexpr const char* kWire = "#777777";
/// These colours distinguish neighbouring nodes of a ring.  source  Okabe and Ito's palette, lightened
constexpr std::array<const char*, 6> kNodeFills{"#BFDCEE", "#F6D5BF", "#BFE7DB",
                                                "#F1DEE9", "#F9E7BF", "#E3E3E3"};

int depth_of(const HostPci& pci) {
  int below = 0;
  for (const HostPci& child : pci.children) below = std::max(below, depth_of(child));
  return pci.children.empty() ? 0 : below + 1;
}

/// Draws one host: CPUs on top, their devices below, all GPUs and NICs in one row, NVLinks under it.
class HostDrawing {
 public:
  HostDrawing(Svg& svg, const Host& host, double top)
      : svg_(svg), host_(host), gpus_(gpu_functions(host)), top_(top) {
    int depth = 0;
    for (const HostCpu& cpu : host.cpus) {
      for (const HostPci& pci : cpu.pci) depth = std::max(depth, depth_of(pci));
    }
    leaf_row_ = top_ + kRow * (depth + 1);
  }

  void draw() {
    std::vector<Svg::Box> cpus;
    for (const HostCpu& cpu : host_.cpus) cpus.push_back(draw_cpu(cpu));
    for (std::size_t i = 1; i < cpus.size(); ++i) {
      const double y = top_ + kBoxHeight / 2;
      svg_.line(cpus[i - 1].x + cpus[i - 1].width, y, cpus[i].x, y, kWire, 2, "5 3");
    }
    draw_nvlinks();
  }

  [[nodiscard]] double right() const { return kMargin + kColumn * columns_; }
  [[nodiscard]] double bottom() const { return bottom_; }

 private:
  Svg::Box draw_cpu(const HostCpu& cpu) {
    const double left = kMargin + kColumn * columns_;
    std::vector<double> centres, tops;
    std::vector<std::string> labels;
    for (const HostPci& pci : cpu.pci) {
      const Svg::Box box = draw(pci, 1);
      centres.push_back(box.centre());
      tops.push_back(box.y);
      labels.push_back(pcie_label(pci));
    }
    for (const HostNic& nic : cpu.nics) {
      for (const HostNet& net : nic.nets) {
        const Svg::Box box = leaf(net_label(net), net_detail(net), kNicFill);
        centres.push_back(box.centre());
        tops.push_back(box.y);
        labels.emplace_back();
      }
    }
    columns_ = std::max(columns_, (left - kMargin) / kColumn + 1);
    const Svg::Box box{left, top_, kMargin + kColumn * columns_ - left - (kColumn - kLeaf),
                       kBoxHeight};
    for (std::size_t i = 0; i < centres.size(); ++i) {
      wire(centres[i], box.bottom(), tops[i], labels[i]);
    }
    svg_.box(box, "#E8E8E8");
    const std::string label =
        box.width > 200 ? cpu_label(cpu) + "   " + cpu_detail(cpu) : cpu_label(cpu);
    svg_.text(box.centre(), box.y + 20, label, 13, "middle");
    columns_ += 0.5;  // a gap between the CPUs
    return box;
  }

  Svg::Box draw(const HostPci& pci, int level) {
    if (pci.gpu) {
      const Svg::Box box =
          leaf(fmt::format("GPU {}", pci.gpu->dev), short_bus_id(pci.bus_id), kGpuFill);
      gpu_centre_[pci.gpu->dev] = box.centre();
      return box;
    }
    if (pci.nic) return draw_nets(*pci.nic);
    std::vector<Svg::Box> below;
    for (const HostPci& child : pci.children) below.push_back(draw(child, level + 1));
    if (below.empty()) return leaf("switch", short_bus_id(pci.bus_id), "#FFFFFF");
    const double left = below.front().centre(), right = below.back().centre();
    const double width = std::max(kLeaf, right - left + kLeaf / 2);
    const Svg::Box box{(left + right - width) / 2, top_ + kRow * level, width, kBoxHeight};
    for (std::size_t i = 0; i < below.size(); ++i) {
      wire(below[i].centre(), box.bottom(), below[i].y, pcie_label(pci.children[i]));
    }
    svg_.box(box, "#FFFFFF");
    svg_.text(box.centre(), box.y + 19, "switch " + short_bus_id(pci.bus_id), 11, "middle");
    return box;
  }

  Svg::Box draw_nets(const HostNic& nic) {
    Svg::Box first;
    for (std::size_t i = 0; i < nic.nets.size(); ++i) {
      const Svg::Box box = leaf(net_label(nic.nets[i]), net_detail(nic.nets[i]), kNicFill);
      if (i == 0) first = box;
    }
    return first;
  }

  Svg::Box leaf(const std::string& name, const std::string& detail, const char* fill) {
    const Svg::Box box{kMargin + kColumn * columns_, leaf_row_, kLeaf, kLeafHeight};
    columns_ += 1;
    svg_.box(box, fill);
    svg_.text(box.centre(), box.y + 18, name, 13, "middle");
    const std::size_t space = detail.find(' ');
    svg_.text(box.centre(), box.y + 30, detail.substr(0, space), 8.5, "middle");
    if (space != std::string::npos) {
      svg_.text(box.centre(), box.y + 40, detail.substr(space + 1), 8.5, "middle");
    }
    bottom_ = std::max(bottom_, box.bottom());
    return box;
  }

  void wire(double x, double from, double to, const std::string& label) {
    svg_.line(x, from, x, to, kWire, 1.5);
    if (!label.empty()) svg_.text(x + 3, to - 5, label, 8.5, "start", kWire);
  }

  void draw_nvlinks() {
    const double row = leaf_row_ + kLeafHeight;
    const bool has_switch = std::any_of(gpus_.begin(), gpus_.end(), [](const HostPci* function) {
      return nvswitch_links(*function->gpu) > 0;
    });
    double deepest = 0;
    for (const HostPci* function : gpus_) {
      const HostGpu& gpu = *function->gpu;
      const double x = gpu_centre_[gpu.dev];
      if (const int links = nvswitch_links(gpu); links > 0) {
        svg_.line(x, row, x, row + 34, kNvlink, 3);
        svg_.text(x + 4, row + 20, fmt::format("x{}", links), 9, "start", kNvlink);
      }
      for (const HostNvLink& link : gpu.nvlinks) {
        const HostGpu* peer = peer_of(gpus_, link);
        if (peer == nullptr || gpu_centre_[peer->dev] <= x) continue;  // each pair once
        const double depth = 26 + 0.16 * (gpu_centre_[peer->dev] - x);
        svg_.arc(x, gpu_centre_[peer->dev], row, depth, kNvlink, 0.8 + 0.8 * link.count);
        deepest = std::max(deepest, depth * 0.75);
      }
    }
    if (deepest > 0) {
      svg_.text(kMargin, row + deepest + 18, "NVLink: the broader, the more links", 11, "start",
                kNvlink);
      bottom_ = row + deepest + 22;
    }
    if (!has_switch) return;
    const Svg::Box box{kMargin, row + 34, right() - kMargin - 0.5 * kColumn - (kColumn - kLeaf),
                       kBoxHeight};
    svg_.box(box, "#76B900", kNvlink);
    svg_.text(box.centre(), box.y + 20, "NVSwitch", 13, "middle", "#FFFFFF");
    bottom_ = std::max(bottom_, box.bottom());
  }

  Svg& svg_;
  const Host& host_;
  std::vector<const HostPci*> gpus_;
  std::map<int, double> gpu_centre_;
  double top_, leaf_row_ = 0, bottom_ = 0;
  double columns_ = 0;
};

/// One ring for each lane: its ranks in order, neighbouring nodes in different colours.
class RingLanes {
 public:
  RingLanes(Svg& svg, const Job& job)
      : svg_(svg), job_(job), node_of_(study::topo_facts(job).node_of_rank) {}

  /// returns  the right edge
  double draw(std::size_t channel, double y, bool all) {
    const std::vector<Rank>& ring = job_.connection.channels.rings[channel];
    const std::size_t shown = all ? ring.size() : std::min(ring.size(), kFewStops);
    double x = kMargin + 70;
    svg_.text(kMargin, y + 4, fmt::format("ring {}", channel), 12, "start");
    const double end = x + kStop * static_cast<double>(shown - 1);
    svg_.line(x, y, end, y, kWire, 2, "");
    for (std::size_t i = 0; i < shown; ++i, x += kStop) {
      const auto rank = static_cast<std::size_t>(to_int(ring[i]));
      svg_.circle(x, y, 12,
                  kNodeFills[static_cast<std::size_t>(node_of_[rank]) % kNodeFills.size()], "#555");
      svg_.text(x, y + 4, fmt::format("{}", rank), rank > 999 ? 8 : 10.5, "middle");
    }
    if (shown < ring.size()) {
      svg_.text(x - 8, y + 4, fmt::format("... {} in all", ring.size()), 11, "start");
      return x + 90;
    }
    // From the last rank back to the first.
    svg_.line(end + 12, y, end + 20, y, kWire, 2);
    svg_.line(end + 20, y, end + 20, y + 16, kWire, 2);
    svg_.line(end + 20, y + 16, kMargin + 50, y + 16, kWire, 2);
    svg_.line(kMargin + 50, y + 16, kMargin + 50, y, kWire, 2);
    svg_.line(kMargin + 50, y, kMargin + 58, y, kWire, 2);
    return end + 24;
  }

 private:
  Svg& svg_;
  const Job& job_;
  std::vector<int> node_of_;  ///< by rank
};

}  // namespace

std::string draw_svg(const JobHosts& hosts, const Job& job, bool all) {
  Svg svg;
  double y = kMargin, right = 480;
  for (const HostRun& run : study::distinct_hosts(hosts)) {
    std::string title = fmt::format("{} x {}", run.host.name, run.count);
    if (hosts.hosts_per_nvl_domain > 1) {
      title += fmt::format(", {} hosts an NVLink domain", hosts.hosts_per_nvl_domain);
    }
    svg.text(kMargin, y + 10, title, 16, "start");
    HostDrawing drawing{svg, run.host, y + 26};
    drawing.draw();
    y = drawing.bottom() + 40;
    right = std::max(right, drawing.right());
  }
  RingLanes lanes{svg, job};
  const std::size_t count = job.connection.channels.rings.size();
  const std::size_t shown = all ? count : std::min<std::size_t>(count, kFewRings);
  if (shown < count) {
    svg.text(kMargin, y, fmt::format("{} of {} rings", shown, count), 12, "start");
    y += 18;
  }
  for (std::size_t c = 0; c < shown; ++c, y += kLane + 6) {
    right = std::max(right, lanes.draw(c, y + 8, all));
  }
  return svg.finish(right + kMargin, y + kMargin / 2);
}

}  // namespace ringside::cli
