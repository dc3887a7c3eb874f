#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "gui/model/kept.h"
#include "gui/model/state.h"
#include "gui/model/transfers.h"

namespace ringside::gui {

/// Where the ranks are, what moves between them at the moment, and the ring or tree of one channel over it: nodes
/// with their GPUs, NVSwitch and NICs if the job is known, else the ranks on a circle. If a switch reduces and
/// multicasts, ranks send to it and receive from it, and arrows and chunks end there.
class TopologyView {
 public:
  explicit TopologyView(Making making) : traffic_(making, traffic_of) {}

  void prepare(const std::shared_ptr<const Document>& document, const State& state,
               const Canvas& canvas, Panel& into);
  void forget() { traffic_.forget(); }

 private:
  class Frame;
  /// The rank that a rank sends to on a channel.
  struct Edge {
    std::int32_t channel, from, to;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  static constexpr std::int32_t kSwitch = -1;  ///< an end of an edge: the switch of its other end
  /// The switch that a rank's transfers went through.
  struct AtSwitch {
    std::int32_t group = -1;  ///< a rank of those that have this switch; -1: none went through one
    std::optional<Machine::Hop> hop = {};  ///< from the GPU's place to the switch's; none: unknown
  };
  struct Traffic {
    Transfers transfers;
    std::vector<Edge> edges;         ///< of the call, each once, in order
    std::vector<AtSwitch> switches;  ///< [rank]; may be shorter: the remaining ranks have none
  };
  static Traffic traffic_of(const Document& document, const CallFacts* const& call);
  static std::vector<AtSwitch> switches_of(const Transfers& transfers, const Machine* machine);
  Kept<Traffic> traffic_;
};

}  // namespace ringside::gui
