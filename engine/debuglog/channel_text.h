#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/debuglog/version.h"

/// Rings, trees and the connections that they are made of: messages without prefix.
/// source  docs/formats 2.8, 2.9, 2.10
namespace ringside {

/// What rank 0 lists of each channel: the ranks in the order of sending, itself first. Only the first
/// that fit are shown: 20 up to 2.23, later as many as make a line of 127 characters.
std::string channel_ring_text(NcclVersion version, int channel, int nchannels,
                              std::span<const int> ranks);

std::string ring_text(int channel, int previous, int rank, int next);  ///< GRAPH, 2.10+

/// A rank's place in a tree; -1: no rank.
struct TreeEdges {
  int up = -1;
  std::array<int, 3> down{-1, -1, -1};
};
std::string tree_text(int channel, int rank, const TreeEdges& edges);  ///< GRAPH, 2.8+
/// All channels in one line. Up to 2.7 the first half, each with its counterpart of the second.
std::string trees_text(NcclVersion version, int rank, std::span<const TreeEdges> trees);
/// NVLS trees of even and odd channels; GRAPH, 2.18+.
std::string nvls_trees_text(int rank, const TreeEdges& even, const TreeEdges& odd);

/// A rank as the ends of a connection are printed: with its bus id up to 2.17, then its NVML index. Where
/// there is no GPU, its place among the ranks of its host is printed instead.
struct ConnectionEnd {
  int rank = 0;
  int nvml_dev = 0;
  std::int64_t bus_id = 0;
};

enum class Medium { P2pIpc, P2pCuMem, P2pMnnvl, P2pIndirect, Shm, NetSend, NetReceive };

/// One direction of one channel between two ranks, as one of the two prints it: the sender everything
/// but NetReceive.
struct ConnectionFacts {
  int channel = 0;
  int connection = 0;  ///< 0 collectives, 1 sends and receives
  ConnectionEnd from, to;
  Medium medium = Medium::Shm;
  bool is_read = false;        ///< P2P: the receiver pulls
  ConnectionEnd through = {};  ///< P2pIndirect: the GPU between the two
  std::string_view network = {};
  int net_device = 0;
  int proxy_rank = -1;  ///< NetSend: whose NIC it is where not the sender's own (PXN), 2.12+
  bool is_gdr = false;
  bool is_pci_mapped = false;  ///< with GDR, 2.26+
  bool is_shared = false;      ///< buffers of several connections, 2.8+
};
std::string connection_text(NcclVersion version, const ConnectionFacts& connection);

/// What the rank's rings use, said from 2.24 on.
struct RingUse {
  bool pxn = false;
  bool gdr = false;
};
std::string connected_rings_text(NcclVersion version, RingUse use);
std::string connected_trees_text();
std::string connected_nvls_tree_text();

}  // namespace ringside
