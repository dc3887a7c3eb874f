#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/debuglog/version.h"

/// The life of a communicator: messages without prefix.
/// source  docs/formats 2.10, 2.11
namespace ringside {

/// One rank's end of a communicator. A rank without a GPU omits what would name it.
struct CommFacts {
  std::string_view function = "ncclCommInitRankConfig";  ///< that makes it; empty: none of NCCL's
  std::uint64_t pointer = 0;
  int rank = 0, nranks = 1;
  int cuda_dev = 0, nvml_dev = 0;  ///< -1: no GPU
  std::int64_t bus_id = 0;         ///< -1: no GPU
  std::uint64_t id = 0;            ///< equal on all ranks
};
std::string init_start_text(NcclVersion version, const CommFacts& comm);  ///< 2.18+
std::string init_complete_text(NcclVersion version, const CommFacts& comm);
std::string destroy_start_text(const CommFacts& comm);                 ///< DESTROY, 2.31+
std::string destroy_text(NcclVersion version, const CommFacts& comm);  ///< 2.12+

/// What the job can use besides kernels that copy; INIT, 2.31+.
/// ranks_per_host  of every host; 0: hosts differ
std::string symmetric_text(int ranks_per_host, bool is_cross_nic);

/// The place of a rank among the nodes; 2.20+.
struct NodePlace {
  int nnodes = 1;
  int local_ranks = 1;
  int local_rank = 0;
  bool is_mnnvl = false;  ///< the node is an NVLink domain of several hosts
};
std::string nodes_text(const CommFacts& comm, const NodePlace& place);

/// unit  seconds
struct InitTimes {
  double total = 0, kernels = 0, alloc = 0, bootstrap = 0, allgathers = 0, topo = 0, graphs = 0,
         connections = 0, rest = 0;
};
std::string init_times_text(NcclVersion version, const CommFacts& comm,
                            const InitTimes& times);  ///< 2.22+

/// unit  of the chunk: bytes
std::string p2p_chunk_text(int chunk);  ///< 2.16+

struct ChannelCounts {
  int coll = 0, nvls = 0, p2p = 0, p2p_per_peer = 0;
  bool has_collnet = false;
};
std::string channel_counts_text(NcclVersion version, const ChannelCounts& counts);

/// The bytes of a thread below which fewer channels serve; of each protocol, Tree and Ring.
struct ThreadThresholds {
  int tree[3] = {8, 8, 64};
  int ring[3] = {8, 8, 64};
};
std::string thread_thresholds_text(NcclVersion version, const ThreadThresholds& thresholds);

/// cpus  hexadecimal groups up to 2.26, ranges later
std::string affinity_text(int dev, std::string_view cpus);

std::string nvls_support_text(NcclVersion version, int dev, bool is_available,
                              int nchannels);  ///< 2.17+

/// The clique of an NVLink domain; 2.21+.
std::string mnnvl_text(NcclVersion version, int size, int rank);

}  // namespace ringside
