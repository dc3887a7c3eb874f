#include "engine/debuglog/channel_text.h"

#include <fmt/format.h>

#include "base/append.h"

namespace ringside {
namespace {

constexpr std::size_t kOldListedRanks = 20;     ///< ranks of a ring in its line, before 2.24
constexpr std::size_t kListedCharacters = 127;  ///< of that line since 2.24, with " ..." at its end

std::string down_text(const TreeEdges& edges) {
  return fmt::format("{}/{}/{}", edges.down[0], edges.down[1], edges.down[2]);
}

std::string end_text(NcclVersion version, const ConnectionEnd& end) {
  return version.is_before(18) ? fmt::format("{}[{:x}]", end.rank, end.bus_id)
                               : fmt::format("{}[{}]", end.rank, end.nvml_dev);
}

bool is_net(Medium medium) { return medium == Medium::NetSend || medium == Medium::NetReceive; }

/// Returns whether the line prints the number of the connection.
bool names_connection(NcclVersion version, Medium medium) {
  if (medium == Medium::Shm) return false;
  return version.is_from(is_net(medium) ? 12 : 14);
}

std::string net_text(NcclVersion version, const ConnectionFacts& connection) {
  const bool is_send = connection.medium == Medium::NetSend;
  std::string text = fmt::format("[{}] via NET/{}/{}", is_send ? "send" : "receive",
                                 connection.network, connection.net_device);
  if (is_send && connection.proxy_rank >= 0 && version.is_from(12)) {
    text += fmt::format("({})", connection.proxy_rank);
  }
  if (connection.is_gdr) text += "/GDRDMA";
  if (connection.is_gdr && connection.is_pci_mapped && version.is_from(26)) text += "(PCI)";
  if (connection.is_shared && version.is_from(8)) text += "/Shared";
  // How data that the NIC has written becomes visible to the GPU; Always: by a read through the NIC.
  if (connection.is_gdr && !is_send && version.is_from(31)) text += "/flush=Always";
  return text;
}

std::string p2p_text(NcclVersion version, const ConnectionFacts& connection) {
  std::string text = "via P2P/";
  if (connection.medium == Medium::P2pIndirect) {
    text += "indirect/" + end_text(version, connection.through);
  } else if (connection.medium == Medium::P2pCuMem) {
    text += "CUMEM";
  } else {
    text += connection.medium == Medium::P2pMnnvl ? "MNNVL" : "IPC";
  }
  return connection.is_read ? text + "/read" : text;
}

std::string_view shm_text(NcclVersion version) {
  if (version.is_before(13)) return "via direct shared memory";
  return version.is_before(30) ? "via SHM/direct/direct" : "via SHM/direct";
}

}  // namespace

std::string channel_ring_text(NcclVersion version, int channel, int nchannels,
                              std::span<const int> ranks) {
  std::string text = fmt::format("Channel {:02}/{:02} :", channel, nchannels);
  if (version.is_before(24)) {
    text += ' ';
    for (const int rank : ranks.first(std::min(ranks.size(), kOldListedRanks))) {
      append(text, " {:3}", rank);
    }
    return text;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::string rank = fmt::format(" {}", ranks[i]);
    const std::size_t reserved = i + 1 < ranks.size() ? std::string_view{" ..."}.size() : 0;
    if (text.size() + rank.size() + reserved > kListedCharacters) return text + " ...";
    text += rank;
  }
  return text;
}

std::string ring_text(int channel, int previous, int rank, int next) {
  return fmt::format("Ring {:02} : {} -> {} -> {}", channel, previous, rank, next);
}

std::string tree_text(int channel, int rank, const TreeEdges& edges) {
  return fmt::format("Tree {} : {} -> {} -> {}", channel, edges.up, rank, down_text(edges));
}

std::string trees_text(NcclVersion version, int rank, std::span<const TreeEdges> trees) {
  std::string text = "Trees";
  const bool is_paired = version.is_before(8);
  const std::size_t shown = is_paired ? (trees.size() + 1) / 2 : trees.size();
  for (std::size_t channel = 0; channel < shown; ++channel) {
    const TreeEdges& edges = trees[channel];
    append(text, " [{}] {}->{}->{}", channel, down_text(edges), rank, edges.up);
    if (!is_paired) continue;
    const TreeEdges& other = trees[(channel + trees.size() / 2) % trees.size()];
    append(text, "|{}->{}->{}", other.up, rank, down_text(other));
  }
  return text;
}

std::string nvls_trees_text(int rank, const TreeEdges& even, const TreeEdges& odd) {
  return fmt::format("NVLS Trees : {0}->{1}->{2} {3}->{1}->{4}", down_text(even), rank, even.up,
                     down_text(odd), odd.up);
}

std::string connection_text(NcclVersion version, const ConnectionFacts& connection) {
  std::string text = fmt::format("Channel {:02}", connection.channel);
  if (names_connection(version, connection.medium)) {
    text += fmt::format("/{}", connection.connection);
  }
  text += fmt::format(" : {} -> {} ", end_text(version, connection.from),
                      end_text(version, connection.to));
  if (connection.medium == Medium::Shm) return text.append(shm_text(version));
  return text + (is_net(connection.medium) ? net_text(version, connection)
                                           : p2p_text(version, connection));
}

std::string connected_rings_text(NcclVersion version, RingUse use) {
  if (version.is_before(24)) return "Connected all rings";
  return fmt::format("Connected all rings, use ring PXN {} GDR {}", use.pxn ? 1 : 0,
                     use.gdr ? 1 : 0);
}
std::string connected_trees_text() { return "Connected all trees"; }
std::string connected_nvls_tree_text() { return "Connected NVLS tree"; }

}  // namespace ringside
