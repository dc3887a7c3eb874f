#pragma once

#include <span>
#include <string>
#include <vector>

#include "gui/model/machine.h"
#include "gui/model/picture.h"

namespace ringside::gui {

/// A position in a picture, in its units.
struct Point {
  float x = 0, y = 0;
  friend auto operator<=>(const Point&, const Point&) = default;
};

/// The positions of a machine's places: a box for each node, with rows of NVSwitches, GPUs, PCIe
/// and NICs; below the nodes one row for each tier of the fabric, or between two lines of nodes its only tier.
struct MachineLayout {
  struct NodeBox {
    std::int32_t node = 0;
    float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    bool is_turned = false;  ///< upside down: its NICs are at the top, its title is at the bottom
  };
  std::vector<NodeBox> nodes;
  std::vector<Point> at;    ///< by place: its centre
  std::vector<float> half;  ///< by place: half of its width
  std::vector<bool> bar;    ///< by place: drawn as a bar that spans its neighbours
  float radius = 8;         ///< radius of a GPU, px
  float tall = 8;           ///< half of the height of other places, px

  /// Returns the corners of the line that shows a path.
  [[nodiscard]] std::vector<Point> corners(std::span<const std::uint32_t> way) const;
};

/// Computes the layout.  top  y of the upper edge of the nodes
MachineLayout lay_out(const Machine& machine, const Canvas& canvas, float top);

}  // namespace ringside::gui
