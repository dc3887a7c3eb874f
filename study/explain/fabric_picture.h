#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ringside/units.h"
#include "sim/fabric/fabric.h"

namespace ringside::study {

/// A fabric as it can be drawn: rows of boxes, the hosts lowest, and what joins them. Of many alike things the first
/// few stand for all.
struct FabricPicture {
  struct Row {
    std::string name;                ///< "leaf"
    std::int64_t count = 0;          ///< there are, shown or not
    std::string holds;               ///< of one: "32 NICs down, 16 links up"; empty for hosts
    std::vector<std::string> boxes;  ///< names of those that are shown
  };
  struct Box {
    int row = 0;
    int index = 0;
    friend auto operator<=>(const Box&, const Box&) = default;
  };
  /// All cables between two boxes, both directions.
  struct Line {
    Box from, to;  ///< from: in the lower row, or the left one
    int cables = 0;
    BytesPerSecond built;  ///< one direction, of all of them
    double share = 1;      ///< what is left of that, of the worse direction
  };
  std::vector<Row> rows;
  std::vector<Line> lines;
};

/// most  switches of a row; 0: all
FabricPicture fabric_picture(const Fabric& fabric, int most);

}  // namespace ringside::study
