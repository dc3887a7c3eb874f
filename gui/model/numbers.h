#pragma once

#include <optional>
#include <vector>

#include "gui/model/state.h"
#include "gui/model/transfers.h"

namespace ringside::gui {

/// What the call has done so far, which links carried what, the longest chain of steps, the slowest rank and channel.
class Numbers {
 public:
  void prepare(const Document& document, const State& state, const Canvas& canvas, Panel& into);

 private:
  const Document* document_ = nullptr;
  std::uint32_t communicator_ = 0, sequence_ = 0;
  bool has_call_ = false;
  Transfers transfers_;
  Table path_;
};

}  // namespace ringside::gui
