#pragma once

#include <compare>
#include <cstdint>
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
  /// Whom a rank sends to on a channel.
  struct Edge {
    std::int32_t channel, from, to;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  const Document* document_ = nullptr;
  std::uint32_t communicator_ = 0, sequence_ = 0;
  bool has_call_ = false;
  Transfers transfers_;
  std::vector<Edge> edges_;  ///< of the call, each once, in order
};

}  // namespace ringside::gui
