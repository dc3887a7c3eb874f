#pragma once

#include <string>
#include <vector>

#include "gui/model/picture.h"

namespace ringside::gui {

/// One rank of a hung job.
struct WaitingRank {
  int rank = 0;
  std::vector<int>
      for_whom;    ///< ranks without which it cannot go on, ascending; none: it is not blocked
  std::string at;  ///< "all_reduce 12 of default_pg"; empty: unknown
  bool is_culprit = false;
};

/// Draws which ranks wait for which, equal ranks as one box: waiting ranks at the left of the ranks they wait for.
///
/// shape  `canvas.height` is ignored: the picture is as high as needed; nothing is drawn if no rank waits
void draw_waits(const std::vector<WaitingRank>& ranks, const Canvas& canvas, Picture& into);

}  // namespace ringside::gui
