#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "base/fd.h"
#include "base/ids.h"
#include "base/result.h"
#include "engine/transport/socket/address.h"

namespace ringside {

class Bootstrap;

/// A part of the ranks of a communicator, with a ring of its own.
struct SplitPart {
  std::unique_ptr<Bootstrap> bootstrap;
  std::vector<Rank> ranks;  ///< the parent's, by rank in the part
};

/// Parts the ranks by colour: those of one colour belong together, in the order of their keys, and of their
/// ranks where keys are equal. Every rank of the parent calls it at the same time.
/// color    none: this rank is in no part
/// returns  nothing: it is in none
/// errors   as Bootstrap::all_gather() of the parent, and Bootstrap::join()
Result<std::optional<SplitPart>> split(Bootstrap& parent, std::optional<int> color, int key,
                                       Deadline deadline, Nanoseconds join_timeout);

/// Where the ranks of a communicator would meet without those that have died: a port of each, taken and silent
/// until it is needed.
///
/// Threads  one at a time
class MeetingPlaces {
 public:
  /// Every rank calls it at the same time.
  /// errors  as Bootstrap::all_gather(); System: no port
  static Result<MeetingPlaces> agree(Bootstrap& bootstrap, Deadline deadline);

  /// The ranks that are left meet at the first of them. The others are not asked, and the parent may be broken.
  /// left     ascending, this rank among them; each of them gives the same
  /// errors   as Bootstrap::join()
  Result<SplitPart> meet(const Bootstrap& parent, const std::vector<Rank>& left,
                         Nanoseconds join_timeout);

 private:
  UniqueFd taken_;  ///< this rank's port
  std::vector<SocketAddress> places_;
};

}  // namespace ringside
