#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gui/model/document.h"

namespace ringside::gui {

/// A chunk that was sent from one rank to another.
struct Transfer {
  std::int64_t begin_ns = 0;   ///< begin of its send
  std::int64_t sent_ns = 0;    ///< end of its send
  std::int64_t waited_ns = 0;  ///< begin of its receive
  std::int64_t taken_ns = 0;   ///< end of its receive; INT64_MAX: not received
  std::uint64_t bytes = 0;
  std::int32_t from = 0, to = 0;
  std::int32_t channel = 0;
  /// Through a switch that reduces data of several senders and multicasts to several receivers.
  bool is_by_switch = false;
  /// Counts on the path to the switch, and on the path from it: only the first transfer of one
  /// send, or of one receive, does. Without a switch, every transfer counts on both.
  bool enters = true, leaves = true;
  EventId send = kNoEvent;

  /// Returns the time in which both ends were active. 0: not received.
  [[nodiscard]] std::int64_t under_way_ns() const {
    return taken_ns == INT64_MAX
               ? 0
               : std::max<std::int64_t>(taken_ns - std::max(begin_ns, waited_ns), 0);
  }
};

/// The transfers of one call, with an index by time.
struct Transfers {
  static constexpr std::size_t kBlock = 256;

  std::vector<Transfer> all;  ///< transfers of one call, sorted by the begin of their sends
  bool is_cut = false;        ///< the call has more transfers than `all` holds
  std::vector<std::int64_t> last_taken_ns;  ///< by block of kBlock transfers: latest taken_ns

  /// Visits the transfers that had begun by `to_ns` and had not ended before `from_ns`, in order.
  /// takes  O(all / kBlock + those visited)
  template <typename Visit>
  void for_each_between(std::int64_t from_ns, std::int64_t to_ns, Visit&& visit) const {
    for (std::size_t block = 0; block < last_taken_ns.size(); ++block) {
      if (last_taken_ns[block] < from_ns) continue;
      const std::size_t end = std::min((block + 1) * kBlock, all.size());
      for (std::size_t i = block * kBlock; i < end; ++i) {
        if (all[i].begin_ns > to_ns) return;
        if (all[i].taken_ns >= from_ns) visit(all[i]);
      }
    }
  }
};

/// Returns the transfers of a call, of which at most about 2 million (128 MB) are kept: Transfers::is_cut.
/// takes  O(primitives of the call)
Transfers transfers_of(const Document& document, const CallFacts& call);

/// Returns the bytes in one direction of the busiest link: between two ranks, or between a rank and
/// a switch.
std::uint64_t most_bytes_of_a_link(const Transfers& transfers);

}  // namespace ringside::gui
