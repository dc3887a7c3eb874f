#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "diag/audit/process_parts.h"
#include "diag/logparse/log_files.h"

/// Facts about a communicator: its ranks, their connections, its rings and trees.
namespace ringside::audit {

/// A rank of a communicator that has logged.
struct Member {
  std::int32_t rank = -1;
  std::uint32_t process = 0;
  std::int32_t host = -1;
  std::int64_t bus_id = -1;
  std::int32_t cuda_device = -1, nvml_device = -1;
  std::int32_t coll_channels = -1;
  std::uint16_t network = 0xffff;  ///< of JobFacts::nets
  bool is_started = false, is_complete = false, is_destroyed = false, is_aborted = false;
  float init_s = -1, bootstrap_s = -1;
  std::uint32_t ncalls = 0;
  logs::Place first = {};
};

/// Where a ring's order comes from, best first.
enum class RingSource : std::uint8_t { Neighbours, Order, Edges, None };

struct Ring {
  RingSource source = RingSource::None;
  std::vector<std::int32_t> ranks =
      {};              ///< in send direction from rank 0; shorter than nranks: it closes early
  int crossings = -1;  ///< edges between hosts; -1: a host is not known
};

struct CommFacts {
  std::uint64_t comm_id = 0;  ///< 0: the version prints none
  std::int32_t nranks = -1;
  std::int32_t nnodes = -1;  ///< as NCCL prints it, else the hosts seen
  std::int32_t mnnvl = -1;
  std::int32_t ring_channels = -1, nvls_channels = -1, p2p_channels = -1;
  bool is_rccl = false;
  bool is_guessed = false;           ///< joined without an id: by size and order
  bool has_guessed_nodes = false;    ///< nnodes is the least that the connections need
  std::vector<Member> members = {};  ///< by rank
  std::vector<Link> links = {};
  std::vector<Ring> rings = {};  ///< by channel
  /// [channel] = ranks and the parent that they send to, -1 for the root; by rank, of the ranks that print it
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> trees = {};
  std::set<std::int32_t> hosts = {};

  /// The number of hosts: by name where all ranks are seen, otherwise as NCCL counts them.
  [[nodiscard]] int nodes() const;
  [[nodiscard]] const Member* member(std::int32_t rank) const;
  /// Whether both ends are on one host; where a host is unknown, the transport in the line decides.
  /// shape  nodes is nodes(), which looks at all members
  [[nodiscard]] bool is_local(const Link& link, int nodes) const;
};

}  // namespace ringside::audit
