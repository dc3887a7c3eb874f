#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "diag/audit/process_parts.h"
#include "diag/logparse/log_files.h"

/// Facts about a communicator: its ranks, connections, rings and trees. A number that is -1 is unknown, unless stated
/// otherwise; 0 is a rank, device, host or process like any other.
namespace ringside::audit {

/// A rank of a communicator that has log lines.
struct Member {
  std::int32_t rank = -1;
  std::uint32_t process = 0;  ///< index of JobFacts::processes
  std::int32_t host = -1;     ///< index of JobFacts::hosts
  std::int64_t bus_id = -1;
  std::int32_t cuda_device = -1, nvml_device = -1;
  std::int32_t coll_channels = -1;
  std::uint16_t network = 0xffff;  ///< index of JobFacts::nets; 0xffff: unknown
  bool is_started = false, is_complete = false, is_destroyed = false, is_aborted = false;
  float init_s = -1, bootstrap_s = -1;
  std::uint32_t ncalls = 0;  ///< logged collective calls
  logs::Place first = {};    ///< first line
};

/// The lines that a ring's order was read from, the most reliable first.
enum class RingSource : std::uint8_t { Neighbours, Order, Edges, None };

/// A ring of a communicator.
struct Ring {
  RingSource source = RingSource::None;
  /// In send direction from rank 0; fewer than nranks if the ring closes early
  std::vector<std::int32_t> ranks = {};
  int crossings = -1;  ///< number of edges between hosts; -1: a host is unknown
};

/// One communicator.
struct CommFacts {
  std::uint64_t comm_id = 0;  ///< 0: the version prints none
  std::int32_t nranks = -1;
  std::int32_t nnodes = -1;  ///< as NCCL prints it, else the number of hosts in the logs
  std::int32_t mnnvl = -1;  ///< above 0: NCCL counts each NVLink domain as one node; 0: it does not
  std::int32_t ring_channels = -1, nvls_channels = -1, p2p_channels = -1;
  bool is_rccl = false;
  bool is_guessed = false;  ///< the ranks were matched by size and order, because there is no id
  bool has_guessed_nodes = false;    ///< nnodes is the minimum that the connections need
  std::vector<Member> members = {};  ///< sorted by rank
  std::vector<Link> links = {};
  std::vector<Ring> rings = {};  ///< by channel
  /// By channel: pairs of a rank and its parent, -1 for the root; sorted by rank, only ranks that print it.
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> trees = {};
  std::set<std::int32_t> hosts = {};

  /// Returns the number of hosts: of distinct names if all ranks have log lines, else as NCCL counts them.
  [[nodiscard]] int nodes() const;
  /// Returns the member with this rank, or nullptr.
  [[nodiscard]] const Member* member(std::int32_t rank) const;
  /// Returns whether both ends of a link are on one host. If a host is unknown, the transport in the line decides.
  /// nodes  the result of nodes(), which the caller computes once
  [[nodiscard]] bool is_local(const Link& link, int nodes) const;
};

}  // namespace ringside::audit
