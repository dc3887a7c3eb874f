#include "engine/debuglog/communicator_text.h"

#include <fmt/format.h>

#include <limits>

namespace ringside {
namespace {

/// `comm 0x1 rank 0 nranks 8 `
std::string rank_text(const CommFacts& comm) {
  return fmt::format("comm {:#x} rank {} nranks {} ", comm.pointer, comm.rank, comm.nranks);
}

/// `cudaDev 0 busId 5d000 `, for a rank with a GPU
std::string device_text(const CommFacts& comm) {
  std::string text;
  if (comm.cuda_dev >= 0) text += fmt::format("cudaDev {} ", comm.cuda_dev);
  if (comm.bus_id >= 0) text += fmt::format("busId {:x} ", comm.bus_id);
  return text;
}

/// Returns the text that START and COMPLETE have in common.
std::string facts_text(NcclVersion version, const CommFacts& comm) {
  std::string text;
  if (version.is_from(23) && !comm.function.empty()) {
    text = fmt::format("{} ", comm.function);
  } else if (version.is_from(21) && !comm.function.empty()) {
    text = "ncclCommInitRank ";
  }
  text += rank_text(comm);
  if (comm.cuda_dev >= 0) text += fmt::format("cudaDev {} ", comm.cuda_dev);
  if (version.is_from(18) && comm.nvml_dev >= 0) text += fmt::format("nvmlDev {} ", comm.nvml_dev);
  if (comm.bus_id >= 0) text += fmt::format("busId {:x} ", comm.bus_id);
  if (version.is_from(16)) text += fmt::format("commId {:#x} ", comm.id);
  return text;
}

}  // namespace

std::string init_start_text(NcclVersion version, const CommFacts& comm) {
  const std::string text = facts_text(version, comm) + "- Init START";
  return version.is_from(29) ? fmt::format("[Rank {}] {}", comm.rank, text) : text;
}

std::string init_complete_text(NcclVersion version, const CommFacts& comm) {
  return facts_text(version, comm) + "- Init COMPLETE";
}

std::string destroy_start_text(const CommFacts& comm) {
  return fmt::format("comm {:#x} rank {} nRanks {} {}commId {:#x} - Destroy START", comm.pointer,
                     comm.rank, comm.nranks, device_text(comm), comm.id);
}

std::string destroy_text(NcclVersion version, const CommFacts& comm) {
  std::string text = rank_text(comm) + device_text(comm);
  if (version.is_from(31)) text += fmt::format("commId {:#x} ", comm.id);
  return text + "- Destroy COMPLETE";
}

std::string symmetric_text(int ranks_per_host, bool is_cross_nic) {
  return fmt::format(
      "symmetricSupport 1, cuMemEnable 1, globalGinSupport 0, cuMemGdrSupport 1, "
      "contiguousRanksPerHost {}, crossNicSupport {}",
      ranks_per_host > 0 ? ranks_per_host : std::numeric_limits<int>::max(), is_cross_nic ? 1 : 0);
}

std::string nodes_text(const CommFacts& comm, const NodePlace& place) {
  return fmt::format("comm {:#x} rank {} nRanks {} nNodes {} localRanks {} localRank {} MNNVL {}",
                     comm.pointer, comm.rank, comm.nranks, place.nnodes, place.local_ranks,
                     place.local_rank, place.is_mnnvl ? 1 : 0);
}

std::string init_times_text(NcclVersion version, const CommFacts& comm, const InitTimes& times) {
  std::string text =
      version.is_before(23) ? "Init timings:" : fmt::format("Init timings - {}:", comm.function);
  text += fmt::format(" rank {} nranks {} total {:.2f} (kernels {:.2f}, ", comm.rank, comm.nranks,
                      times.total, times.kernels);
  if (version.is_from(23)) text += fmt::format("alloc {:.2f}, ", times.alloc);
  return text + fmt::format(
                    "bootstrap {:.2f}, allgathers {:.2f}, topo {:.2f}, graphs {:.2f}, connections "
                    "{:.2f}, rest {:.2f})",
                    times.bootstrap, times.allgathers, times.topo, times.graphs, times.connections,
                    times.rest);
}

std::string p2p_chunk_text(int chunk) { return fmt::format("P2P Chunksize set to {}", chunk); }

std::string channel_counts_text(NcclVersion version, const ChannelCounts& counts) {
  std::string text = fmt::format("{} coll channels, ", counts.coll);
  if (version.is_from(20)) {
    const bool repeats = counts.has_collnet || version.is_from(22);
    text += fmt::format("{} collnet channels, ", repeats ? counts.coll : 0);
  }
  if (version.is_from(17)) text += fmt::format("{} nvls channels, ", counts.nvls);
  return text +
         fmt::format("{} p2p channels, {} p2p channels per peer", counts.p2p, counts.p2p_per_peer);
}

std::string thread_thresholds_text(NcclVersion version, const ThreadThresholds& thresholds) {
  const auto& tree = thresholds.tree;
  const auto& ring = thresholds.ring;
  return fmt::format("threadThresholds {}/{}/{} | {}/{}/{} | {}", tree[0], tree[1], tree[2],
                     ring[0], ring[1], ring[2], version.is_before(14) ? "8/8/512" : "512 | 512");
}

std::string affinity_text(int dev, std::string_view cpus) {
  return fmt::format("Setting affinity for GPU {} to {}", dev, cpus);
}

std::string nvls_support_text(NcclVersion version, int dev, bool is_available, int nchannels) {
  std::string text = fmt::format("NVLS multicast support is {}available on dev {}",
                                 is_available ? "" : "not ", dev);
  if (is_available && version.is_from(27) && version.is_before(30)) {
    text += fmt::format(" (NVLS_NCHANNELS {})", nchannels);
  }
  return text;
}

std::string mnnvl_text(NcclVersion version, int size, int rank) {
  const std::string text =
      fmt::format("MNNVL 1 cliqueId 1 cliqueSize {} cliqueRank {}", size, rank);
  return version.is_from(31) ? text + fmt::format(" nvlDomainSize {}", size) : text;
}

}  // namespace ringside
