#pragma once

#include <string>
#include <vector>

#include "gui/model/picture.h"

namespace ringside::gui {

/// The state of one rank of a hung job.
struct WaitingRank {
  int rank = 0;
  /// Ranks that it waits for, ascending; empty: it is not blocked, or dead.
  std::vector<int> for_whom;
  std::string at;  ///< "all_reduce 12 of default_pg"; empty: unknown
  bool is_culprit = false;
  bool is_dead = false;  ///< its process has ended
};

/// Draws which ranks wait for which. Equal ranks share a box; a waiting rank is left of the ranks
/// that it waits for.
///
/// shape  ignores `canvas.height`: the picture is as high as needed; draws nothing if no rank waits
void draw_waits(const std::vector<WaitingRank>& ranks, const Canvas& canvas, Picture& into);

}  // namespace ringside::gui
