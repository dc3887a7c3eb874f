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

/// A child of a communicator: a subset of its ranks that is connected by a bootstrap ring of its own.
struct SplitPart {
  std::unique_ptr<Bootstrap> bootstrap;
  std::vector<Rank> ranks;  ///< [rank in the child]: rank in the parent
};

/// Splits the ranks by colour: the ranks of one colour form a child, ordered by key, and by parent rank if keys are
/// equal. Every rank of the parent calls it at the same time.
/// color  empty: this rank joins no child
/// returns  the child, or nothing if this rank joins none
/// errors   as Bootstrap::all_gather() of the parent, and Bootstrap::join()
Result<std::optional<SplitPart>> split(Bootstrap& parent, std::optional<int> color, int key,
                                       Deadline deadline, Nanoseconds join_timeout);

/// The addresses where the surviving ranks of a communicator can meet after some have died. Each rank reserves a port
/// in advance, and listens on it only when it is needed.
///
/// Threads  one at a time
class MeetingPlaces {
 public:
  /// Reserves a port on each rank and exchanges the addresses. Every rank calls it at the same time.
  /// errors  as Bootstrap::all_gather(); System: no port is free
  static Result<MeetingPlaces> agree(Bootstrap& bootstrap, Deadline deadline);

  /// Joins the remaining ranks into a child; they meet at the lowest of them. Only the remaining ranks call it, and the
  /// parent may be broken.
  /// left     the remaining ranks, ascending, this rank included; the same on every caller
  /// errors   as Bootstrap::join()
  Result<SplitPart> meet(const Bootstrap& parent, const std::vector<Rank>& left,
                         Nanoseconds join_timeout);

 private:
  UniqueFd taken_;  ///< this rank's port
  std::vector<SocketAddress> places_;
};

}  // namespace ringside
