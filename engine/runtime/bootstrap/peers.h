#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "engine/runtime/bootstrap/messages.h"
#include "engine/transport/transport.h"
#include "ringside/units.h"

namespace ringside {

class Bootstrap;

/// The placement of a communicator's ranks on hosts and cores.
struct HostLayout {
  int local_ranks = 1;   ///< on this rank's host, itself included
  int local_cores = 1;   ///< that those may run on, together
  Bytes cache{1 << 20};  ///< second level, of the core that has the least of it among all ranks
  bool crosses_hosts = false;
  bool is_crowded = false;  ///< on some host there are more ranks than cores
  int ranks_per_node = 0;   ///< if all hosts have equally many consecutive ranks; else 0
  /// Over the hops from each rank to the next, by name: "shm", "tcp", "shm+tcp", or "none" with one rank.
  std::string transport = "none";
  const Transport* slowest = &usual_transport();  ///< of those
};

/// This rank's core affinity and cache, in addition to its place.
PeerInfo describe_rank(const Whereabouts& where);

/// All ranks of a communicator, each as it has described itself: the base of every rank's choices.
class Peers {
 public:
  /// Sends this rank's description to all ranks. Every rank calls it at the same time.
  /// requested  the transport that was asked for, for messages; null: none was
  /// errors  as Bootstrap::all_gather(); Corrupt: a rank of another version
  static Result<Peers> gather(Bootstrap& bootstrap, const PeerInfo& mine,
                              const Transport* requested, Deadline deadline);

  /// Takes the descriptions by rank; fills in their ranks.
  Peers(std::vector<PeerInfo> all, const Transport* requested);
  Peers() = default;

  /// shape  a rank
  [[nodiscard]] const Whereabouts& at(std::uint32_t rank) const { return all_[rank].where; }

  /// The transport of slots from one rank to the other: the same for every rank that asks.
  /// errors  Unsupported: no transport joins them
  [[nodiscard]] Result<const Transport*> between(std::uint32_t from, std::uint32_t to) const;

  /// Except for local values, every rank gets the same result.
  /// errors  Unsupported: no transport joins two ranks that follow each other
  [[nodiscard]] Result<HostLayout> layout(std::uint32_t me) const;

 private:
  [[nodiscard]] bool share_host(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::pair<int, int> ranks_and_cores_of_host(std::uint32_t rank) const;
  [[nodiscard]] int equal_neighbours() const;

  std::vector<PeerInfo> all_;
  const Transport* requested_ = nullptr;
};

}  // namespace ringside
