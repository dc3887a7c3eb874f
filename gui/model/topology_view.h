#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "gui/model/kept.h"
#include "gui/model/state.h"
#include "gui/model/transfers.h"

namespace ringside::gui {

/// Where the ranks are, what moves between them at the moment, and the ring or tree of one channel over it: nodes with
/// their GPUs, NVSwitch and NICs where the job is known, else the ranks on a circle.
class TopologyView {
 public:
  explicit TopologyView(Making making) : traffic_(making, traffic_of) {}

  void prepare(const std::shared_ptr<const Document>& document, const State& state,
               const Canvas& canvas, Panel& into);
  void forget() { traffic_.forget(); }

 private:
  class Frame;
  /// Whom a rank sends to on a channel.
  struct Edge {
    std::int32_t channel, from, to;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  struct Traffic {
    Transfers transfers;
    std::vector<Edge> edges;  ///< of the call, each once, in order
  };
  static Traffic traffic_of(const Document& document, const CallFacts* const& call);
  Kept<Traffic> traffic_;
};

}  // namespace ringside::gui
