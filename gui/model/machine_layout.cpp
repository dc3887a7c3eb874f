#include "gui/model/machine_layout.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ringside::gui {
namespace {

using PlaceKind = MachinePlace::Kind;
using PlaceRow = std::vector<std::uint32_t>;

/// The rows of a node.
struct NodeRows {
  PlaceRow switches, gpus, pcie, nics;
};

class MachineGrid {
 public:
  MachineGrid(const Machine& machine, const Canvas& canvas, float top)
      : machine_(machine), places_(machine.places()), canvas_(canvas), top_(top) {
    const std::size_t count = places_.size();
    made_.at.resize(count);
    made_.half.resize(count);
    made_.bar.resize(count);
  }

  MachineLayout run() {
    sort();
    const auto tiers = static_cast<float>(tiers_.size());
    const float fabric = tiers_.empty() ? 0 : canvas_.line * (0.8F + 2.4F * tiers);
    nodes(std::max(canvas_.height - top_ - fabric, canvas_.line * 2), fabric);
    float y = fabric_top_ + canvas_.line * 1.4F;
    for (const auto& [tier, members] : tiers_) {
      spread_tier(members, y);
      y += canvas_.line * 2.4F;
    }
    return std::move(made_);
  }

 private:
  void sort() {
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      const MachinePlace& place = places_[i];
      switch (place.kind) {
        case PlaceKind::Fabric:
          tiers_[place.tier].push_back(i);
          break;
        case PlaceKind::NvSwitch:
          rows_[place.node].switches.push_back(i);
          break;
        case PlaceKind::Gpu:
          rows_[place.node].gpus.push_back(i);
          break;
        case PlaceKind::Pci:
        case PlaceKind::Cpu:
          rows_[place.node].pcie.push_back(i);
          break;
        case PlaceKind::Nic:
          rows_[place.node].nics.push_back(i);
          break;
      }
    }
    for (auto& [tier, members] : tiers_) by_name(members);
    for (auto& [node, rows] : rows_) by_name(rows.pcie);
  }

  /// `leaf 2` before `leaf 10`.
  void by_name(PlaceRow& members) const {
    std::ranges::stable_sort(members, [&](std::uint32_t a, std::uint32_t b) {
      const std::string& x = places_[a].name;
      const std::string& y = places_[b].name;
      return x.size() != y.size() ? x.size() < y.size() : x < y;
    });
  }

  /// fabric  height of the fabric's rows
  void nodes(float height, float fabric) {
    const auto count = static_cast<float>(rows_.size());
    const float most =
        std::clamp(std::ceil(std::sqrt(count * canvas_.width / height)), 1.0F, count);
    const float lines = std::ceil(count / most);
    const float columns = std::ceil(count / lines);  // so that no line is much shorter
    const float width = canvas_.width / columns;
    const float each = height / lines;
    // Between two lines of nodes, of which the lower ones are upside down, links to the fabric cross no other node.
    const bool is_between = tiers_.size() == 1 && lines == 2;
    fabric_top_ = is_between ? top_ + each : canvas_.height - fabric;
    const float gap = std::min(8.0F, width * 0.06F);
    int number = 0;
    for (const auto& [node, rows] : rows_) {
      const auto column = static_cast<float>(number % static_cast<int>(columns));
      const auto line = static_cast<float>(number / static_cast<int>(columns));
      const float x = width * column;
      const bool is_below = is_between && line > 0;
      const float y = top_ + each * line + (is_below ? fabric : 0);
      made_.nodes.push_back({node, x + gap, y, x + width - gap, y + each - gap});
      one_node(rows, made_.nodes.back());
      if (is_below) turn(rows, made_.nodes.back());
      ++number;
    }
  }

  void one_node(const NodeRows& rows, const MachineLayout::NodeBox& box) {
    const float width = box.x1 - box.x0;
    const float title = box.y1 - box.y0 > canvas_.line * 5 ? canvas_.line * 1.3F : 0;
    const float room = box.y1 - box.y0 - title;
    // As many rows as needed; GPUs in several if they are too many.
    constexpr float kLeast = 14;  // px from GPU to GPU
    const auto gpus = static_cast<float>(std::max<std::size_t>(rows.gpus.size(), 1));
    const float gpu_rows = std::clamp(std::ceil(gpus * kLeast / width), 1.0F, 4.0F);
    const auto has = [](const PlaceRow& row) { return row.empty() ? 0.0F : 1.0F; };
    const float all = has(rows.switches) + gpu_rows + has(rows.pcie) + has(rows.nics);
    const float step = room / all;
    float y = box.y0 + title + step / 2;
    made_.tall = std::clamp(step * 0.3F, 2.0F, canvas_.line * 0.65F);
    const float in_row = std::ceil(gpus / gpu_rows);
    made_.radius =
        std::clamp(std::min(width / in_row * 0.36F, step * 0.4F), 2.0F, canvas_.line * 1.1F);
    if (!rows.switches.empty()) {
      spread(rows.switches, box, y, 0.35F * width);
      y += step;
    }
    for (std::size_t i = 0; i < rows.gpus.size(); ++i) {
      const auto line = std::floor(static_cast<float>(i) / in_row);
      const float column = static_cast<float>(i) - line * in_row;
      made_.at[rows.gpus[i]] = {box.x0 + width * (column + 0.5F) / in_row, y + line * step};
      made_.half[rows.gpus[i]] = made_.radius;
    }
    y += gpu_rows * step;
    if (!rows.nics.empty()) spread(rows.nics, box, box.y1 - step / 2, canvas_.letter * 4);
    between(rows.pcie, box, y);
  }

  /// Turns a node upside down, with its title.
  void turn(const NodeRows& rows, MachineLayout::NodeBox& box) {
    for (const PlaceRow* row : {&rows.switches, &rows.gpus, &rows.pcie, &rows.nics}) {
      for (const std::uint32_t place : *row)
        made_.at[place].y = box.y0 + box.y1 - made_.at[place].y;
    }
    box.is_turned = true;
  }

  /// Places each member in the middle of its neighbours, unless members would overlap.
  void between(PlaceRow row, const MachineLayout::NodeBox& box, float y) {
    std::map<std::uint32_t, std::pair<float, float>> sums;  // sum of x, and number of neighbours
    for (const auto& [hop, rate] : machine_.hops()) {
      for (const auto& [place, other] : {hop, Machine::Hop{hop.second, hop.first}}) {
        const PlaceKind kind = places_[other].kind;
        if (kind != PlaceKind::Gpu && kind != PlaceKind::Nic) continue;
        auto& [sum, count] = sums[place];
        sum += made_.at[other].x;
        count += 1;
      }
    }
    const auto wanted = [&](std::uint32_t place) {
      const auto found = sums.find(place);
      return found == sums.end() ? (box.x0 + box.x1) / 2
                                 : found->second.first / found->second.second;
    };
    std::ranges::stable_sort(row, {}, wanted);
    const float step = (box.x1 - box.x0) / static_cast<float>(std::max<std::size_t>(row.size(), 8));
    float left = box.x0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      // Room that the remaining members need.
      const float behind = static_cast<float>(row.size() - i) - 0.5F;
      const float x = std::max(left + step / 2, std::min(wanted(row[i]), box.x1 - step * behind));
      made_.at[row[i]] = {x, y};
      made_.half[row[i]] = std::min(step * 0.42F, canvas_.letter * 5);
      left = x + step / 2;
    }
  }

  void spread(const PlaceRow& row, const MachineLayout::NodeBox& box, float y, float most) {
    const float step = (box.x1 - box.x0) / static_cast<float>(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      made_.at[row[i]] = {box.x0 + step * (static_cast<float>(i) + 0.5F), y};
      made_.half[row[i]] = std::min(step * 0.42F, most);
    }
  }

  void spread_tier(const PlaceRow& row, float y) {
    const MachineLayout::NodeBox all{-1, 0, 0, canvas_.width, 0};
    if (row.size() > 1) return spread(row, all, y, canvas_.letter * 8);
    made_.at[row.front()] = {canvas_.width / 2, y};
    made_.half[row.front()] = canvas_.width / 2 - 16;
    made_.bar[row.front()] = true;
  }

  const Machine& machine_;
  const std::vector<MachinePlace>& places_;
  const Canvas& canvas_;
  float top_;
  float fabric_top_ = 0;
  std::map<std::int32_t, NodeRows> rows_;  ///< by node
  std::map<int, PlaceRow> tiers_;
  MachineLayout made_;
};

}  // namespace

std::vector<Point> MachineLayout::corners(std::span<const std::uint32_t> way) const {
  std::vector<Point> all;
  for (std::size_t i = 0; i < way.size(); ++i) {
    const Point here = at[way[i]];
    if (!bar[way[i]] || i == 0 || i + 1 == way.size()) {
      all.push_back(here);
      continue;
    }
    all.push_back({at[way[i - 1]].x, here.y});
    all.push_back({at[way[i + 1]].x, here.y});
  }
  return all;
}

MachineLayout lay_out(const Machine& machine, const Canvas& canvas, float top) {
  return MachineGrid(machine, canvas, top).run();
}

}  // namespace ringside::gui
