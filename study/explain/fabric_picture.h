#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ringside/units.h"
#include "sim/fabric/fabric.h"

namespace ringside::study {

/// A fabric as rows of boxes (hosts lowest) with the cables between them. If there are many equal
/// devices, the first few represent all.
struct FabricPicture {
  struct Row {
    std::string name;        ///< "leaf"
    std::int64_t count = 0;  ///< all devices of the row, shown or not
    /// Content of one: "32 NICs down, 16 links up"; empty for hosts.
    std::string holds;
    std::vector<std::string> boxes;  ///< names of the devices shown
  };
  struct Box {
    int row = 0;
    int index = 0;
    friend auto operator<=>(const Box&, const Box&) = default;
  };
  /// All cables between two boxes, both directions.
  struct Line {
    Box from, to;  ///< `from` is in the lower row, or further left in the same row
    int cables = 0;
    BytesPerSecond built;  ///< total rate of all cables, one direction, before rules
    double share = 1;      ///< share of the rate that remains, in the worse direction
  };
  std::vector<Row> rows;
  std::vector<Line> lines;
};

/// Chooses the devices to show, and returns them with the cables between them.
/// most  maximum number of switches shown per row; 0: all
FabricPicture fabric_picture(const Fabric& fabric, int most);

}  // namespace ringside::study
