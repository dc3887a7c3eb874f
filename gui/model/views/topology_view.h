#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "gui/model/kept.h"
#include "gui/model/state.h"
#include "gui/model/transfers.h"

namespace ringside::gui {

/// The view of the topology: ranks, moving chunks, and the ring or tree of one channel. If the job
/// is known, it shows nodes with GPUs, NVSwitches and NICs; otherwise the ranks on a circle. If a
/// switch reduces and multicasts, arrows and chunks end at the switch.
class TopologyView {
 public:
  explicit TopologyView(Making making) : traffic_(making, traffic_of) {}

  void prepare(const std::shared_ptr<const Document>& document, const State& state,
               const Canvas& canvas, Panel& into);
  void forget() { traffic_.forget(); }

 private:
  class Frame;
  static constexpr std::int32_t kMostRanks = 2048;  ///< that are drawn
  /// A send from one rank to another on a channel.
  struct Edge {
    std::int32_t channel, from, to;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  /// End of an edge: the switch of the rank at the other end.
  static constexpr std::int32_t kSwitch = -1;
  /// The switch that a rank's transfers used.
  struct AtSwitch {
    std::int32_t group = -1;  ///< a rank of the group that shares the switch; -1: no switch
    std::optional<Machine::Hop> hop = {};  ///< link from the GPU to the switch; none: unknown
  };
  struct Traffic {
    Transfers transfers;
    std::vector<Edge> edges;         ///< each edge of the call once, in order
    std::vector<AtSwitch> switches;  ///< by rank; may be shorter: further ranks use no switch
  };
  static Traffic traffic_of(const Document& document, const CallFacts* const& call);
  static std::vector<AtSwitch> switches_of(const Transfers& transfers, const Machine* machine);
  Kept<Traffic> traffic_;
};

}  // namespace ringside::gui
