#pragma once

#include <span>
#include <string>
#include <vector>

#include "gui/model/machine.h"
#include "gui/model/picture.h"

namespace ringside::gui {

struct Point {
  float x = 0, y = 0;
  friend auto operator<=>(const Point&, const Point&) = default;
};

/// Where a machine's places are drawn: a box for each node, with rows of NVSwitches, GPUs, PCIe and NICs; below them a row
/// for each tier of the fabric.
struct MachineLayout {
  struct NodeBox {
    std::int32_t node = 0;
    float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  };
  std::vector<NodeBox> nodes;
  std::vector<Point> at;    ///< [place]: the middle
  std::vector<float> half;  ///< [place]: of its width
  std::vector<bool> bar;    ///< [place]: as wide as all that leads to it
  float radius = 8;         ///< of a GPU
  float tall = 8;           ///< of other places: half

  /// The corners of a path.
  [[nodiscard]] std::vector<Point> corners(std::span<const std::uint32_t> way) const;
};

/// top  where the nodes begin
MachineLayout lay_out(const Machine& machine, const Canvas& canvas, float top);

}  // namespace ringside::gui
