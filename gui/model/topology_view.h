#pragma once

#include <vector>

#include "gui/model/state.h"
#include "gui/model/transfers.h"

namespace ringside::gui {

/// Where the ranks are, what moves between them at the moment, and the ring or tree of one channel over it: nodes with
/// their GPUs, NVSwitch and NICs where the job is known, else the ranks on a circle.
class TopologyView {
 public:
  void prepare(const Document& document, const State& state, const Canvas& canvas, Panel& into);

 private:
  class Frame;
  const Document* document_ = nullptr;
  std::uint32_t communicator_ = 0, sequence_ = 0;
  bool has_call_ = false;
  Transfers transfers_;
};

}  // namespace ringside::gui
