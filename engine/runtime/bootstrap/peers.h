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
  int local_ranks = 1;   ///< ranks on this rank's host, itself included
  int local_cores = 1;   ///< cores on which those ranks may run, all together
  Bytes cache{1 << 20};  ///< smallest L2 cache of a core among all ranks
  bool crosses_hosts = false;
  bool is_crowded = false;  ///< whether any host has more ranks than cores
  /// Length of the runs of consecutive ranks on one host, if all runs have the same length and there are several; else 0
  int ranks_per_node = 0;
  /// Names of the transports from each rank to the next: "shm", "tcp", "shm+tcp", or "none" with one rank.
  std::string transport = "none";
  const Transport* slowest = &usual_transport();  ///< the slowest of those transports
};

/// Returns this rank's description: `where`, its core affinity and its cache size.
PeerInfo describe_rank(const Whereabouts& where);

/// The descriptions of all ranks of a communicator, on which every rank bases its choices.
class Peers {
 public:
  /// Sends this rank's description to all ranks. Every rank calls it at the same time.
  /// requested  the transport that the user asked for; null: no request
  /// errors  as Bootstrap::all_gather(); Corrupt: a rank of another version
  static Result<Peers> gather(Bootstrap& bootstrap, const PeerInfo& mine,
                              const Transport* requested, Deadline deadline);

  /// Takes the descriptions in rank order, and sets their ranks.
  Peers(std::vector<PeerInfo> all, const Transport* requested);
  Peers() = default;

  /// shape  rank: 0 .. number of ranks - 1
  [[nodiscard]] const Whereabouts& at(std::uint32_t rank) const { return all_[rank].where; }

  /// Returns the transport of slots from one rank to another. It is the same on every rank.
  /// errors  Unsupported: no transport can connect them
  [[nodiscard]] Result<const Transport*> between(std::uint32_t from, std::uint32_t to) const;

  /// Returns the layout as seen by rank `me`. Only local_ranks and local_cores depend on `me`.
  /// errors  Unsupported: no transport can connect two consecutive ranks
  [[nodiscard]] Result<HostLayout> layout(std::uint32_t me) const;

 private:
  [[nodiscard]] bool share_host(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::pair<int, int> ranks_and_cores_of_host(std::uint32_t rank) const;
  [[nodiscard]] int equal_run_length() const;

  std::vector<PeerInfo> all_;
  const Transport* requested_ = nullptr;
};

}  // namespace ringside
