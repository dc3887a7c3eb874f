#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ringside/units.h"
#include "sim/fabric/fabric.h"

namespace ringside::study {

/// A fabric as it can be drawn: rows of boxes, the hosts lowest, and the cables between them. Of many equal things
/// the first few represent all.
struct FabricPicture {
  struct Row {
    std::string name;                ///< "leaf"
    std::int64_t count = 0;          ///< number of them, shown or not
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
    double share = 1;      ///< the share that is left, of the worse direction
  };
  std::vector<Row> rows;
  std::vector<Line> lines;
};

/// most  switches of a row; 0: all
FabricPicture fabric_picture(const Fabric& fabric, int most);

}  // namespace ringside::study
