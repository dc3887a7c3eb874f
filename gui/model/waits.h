#pragma once

#include <string>
#include <vector>

#include "gui/model/picture.h"

namespace ringside::gui {

/// One rank of a hung job.
struct WaitingRank {
  int rank = 0;
  std::vector<int>
      for_whom;    ///< ranks without which it cannot go on, ascending; none: it waits for nobody
  std::string at;  ///< "all_reduce 12 of default_pg"; empty: at nothing that is known
  bool is_culprit = false;
};

/// Who waits for whom, ranks that are alike as one box: those that wait at the left of those they wait for.
///
/// shape  `canvas.height` counts for nothing: the picture is as high as it must be; nothing is drawn where nobody waits
void draw_waits(const std::vector<WaitingRank>& ranks, const Canvas& canvas, Picture& into);

}  // namespace ringside::gui
