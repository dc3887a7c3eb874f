#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/debuglog/version.h"

/// The messages about the start and end of a communicator, without prefix. "2.18+" names the versions that log a line.
/// source  docs/formats 2.10, 2.11
namespace ringside {

/// One rank of a communicator. Without a GPU, the parts that name the GPU are omitted.
struct CommFacts {
  /// NCCL function that made it; empty: no NCCL function
  std::string_view function = "ncclCommInitRankConfig";
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

/// Returns the line on symmetric memory support; INIT, 2.31+.
/// ranks_per_host  ranks on every host; 0: hosts have different numbers
std::string symmetric_text(int ranks_per_host, bool is_cross_nic);

/// A rank's position on its node, and the number of nodes; 2.20+.
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

/// unit  chunk: bytes
std::string p2p_chunk_text(int chunk);  ///< 2.16+

/// The numbers of channels of a communicator.
struct ChannelCounts {
  int coll = 0, nvls = 0, p2p = 0, p2p_per_peer = 0;
  bool has_collnet = false;
};
std::string channel_counts_text(NcclVersion version, const ChannelCounts& counts);

/// Bytes per thread below which fewer channels are used, [protocol] for tree and ring.
struct ThreadThresholds {
  int tree[3] = {8, 8, 64};
  int ring[3] = {8, 8, 64};
};
std::string thread_thresholds_text(NcclVersion version, const ThreadThresholds& thresholds);

/// cpus  hexadecimal masks up to 2.26, ranges later
std::string affinity_text(int dev, std::string_view cpus);

std::string nvls_support_text(NcclVersion version, int dev, bool is_available,
                              int nchannels);  ///< 2.17+

/// Returns the line on the clique of an NVLink domain; 2.21+.
std::string mnnvl_text(NcclVersion version, int size, int rank);

}  // namespace ringside
