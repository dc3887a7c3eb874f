#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gui/model/document.h"

namespace ringside::gui {

/// A chunk that went from one rank to another.
struct Transfer {
  std::int64_t begin_ns = 0;   ///< of its send
  std::int64_t sent_ns = 0;    ///< the end of its send
  std::int64_t waited_ns = 0;  ///< the beginning of its receive
  std::int64_t taken_ns = 0;   ///< the end of its receive; INT64_MAX: never
  std::uint64_t bytes = 0;
  std::int32_t from = 0, to = 0;
  std::int32_t channel = 0;
  /// Through a switch, which reduces data of several senders and multicasts to several receivers.
  bool is_by_switch = false;
  /// Whether it counts on the path to the switch, and on the path from there: of one send's transfers the first one
  /// does, and of one receive's. Without a switch every transfer counts.
  bool enters = true, leaves = true;
  EventId send = kNoEvent;

  /// The part of its time in which both ends were active: the time on the path. 0: it never arrived.
  [[nodiscard]] std::int64_t under_way_ns() const {
    return taken_ns == INT64_MAX
               ? 0
               : std::max<std::int64_t>(taken_ns - std::max(begin_ns, waited_ns), 0);
  }
};

struct Transfers {
  static constexpr std::size_t kBlock = 256;

  std::vector<Transfer> all;                ///< of one call, by the beginning of their sends
  bool is_cut = false;                      ///< there are more
  std::vector<std::int64_t> last_taken_ns;  ///< of each kBlock of them

  /// Visits those that had begun by `to_ns` and had not been taken before `from_ns`, by their beginning.
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

/// takes  O(primitives of the call); the first 2 million are taken
Transfers transfers_of(const Document& document, const CallFacts& call);

/// Bytes in one direction of the link that carried the most: from a rank to another one, or to or from a switch.
std::uint64_t most_bytes_of_a_link(const Transfers& transfers);

}  // namespace ringside::gui
