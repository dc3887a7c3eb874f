#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/debuglog/version.h"

/// The messages about rings, trees and their connections, without prefix. A comment such as "GRAPH, 2.10+" names the
/// subsystem and the versions that log the line.
/// source  docs/formats 2.8, 2.9, 2.10
namespace ringside {

/// Returns rank 0's line on a channel's ring: the ranks in sending order, rank 0 first. It lists 20 ranks up to 2.23,
/// later as many as fit into 127 characters.
std::string channel_ring_text(NcclVersion version, int channel, int nchannels,
                              std::span<const int> ranks);

std::string ring_text(int channel, int previous, int rank, int next);  ///< GRAPH, 2.10+

/// A rank's place in a tree; -1: no rank.
struct TreeEdges {
  int up = -1;
  std::array<int, 3> down{-1, -1, -1};
};
std::string tree_text(int channel, int rank, const TreeEdges& edges);  ///< GRAPH, 2.8+
/// Returns one line with the trees of all channels. Up to 2.7 it has the first half of the channels, each with its
/// counterpart in the second half.
std::string trees_text(NcclVersion version, int rank, std::span<const TreeEdges> trees);
/// Returns the NVLS trees of even and odd channels; GRAPH, 2.18+.
std::string nvls_trees_text(int rank, const TreeEdges& even, const TreeEdges& odd);

/// An end of a connection, printed as rank and bus id up to 2.17, later as rank and NVML index. Without a GPU, the
/// index among the ranks of its host is printed.
struct ConnectionEnd {
  int rank = 0;
  int nvml_dev = 0;
  std::int64_t bus_id = 0;
};

/// How a connection transfers data, in the words of NCCL's connection lines.
enum class Medium { P2pIpc, P2pCuMem, P2pMnnvl, P2pIndirect, Shm, NetSend, NetReceive };

/// One direction of one channel between two ranks. The sender prints it, except for NetReceive, which the receiver
/// prints.
struct ConnectionFacts {
  int channel = 0;
  int connection = 0;  ///< 0 collectives, 1 sends and receives
  ConnectionEnd from, to;
  Medium medium = Medium::Shm;
  bool is_read = false;        ///< P2P: the receiver reads
  ConnectionEnd through = {};  ///< P2pIndirect: the GPU between the two
  std::string_view network = {};
  int net_device = 0;
  int proxy_rank = -1;  ///< NetSend: rank whose NIC is used (PXN), 2.12+; -1: the sender's own
  bool is_gdr = false;
  bool is_pci_mapped = false;  ///< with GDR, 2.26+
  bool is_shared = false;      ///< the buffers are shared by several connections, 2.8+
};
/// Returns the line about a connection.
std::string connection_text(NcclVersion version, const ConnectionFacts& connection);

/// Whether the rank's rings use PXN and GPUDirect RDMA; logged from 2.24 on.
struct RingUse {
  bool pxn = false;
  bool gdr = false;
};
std::string connected_rings_text(NcclVersion version, RingUse use);
std::string connected_trees_text();
std::string connected_nvls_tree_text();

}  // namespace ringside
