#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/transport/rdma/rdma_settings.h"
#include "engine/transport/socket/address.h"

/// The RDMA ports of this host, as the kernel shows them, and which of them are used.
namespace ringside {

/// Sixteen bytes by which RDMA finds a port.
struct Gid {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] bool is_empty() const { return *this == Gid{}; }
  [[nodiscard]] bool is_ipv4() const;  ///< an IPv4 address, mapped
  [[nodiscard]] bool is_link_local() const;
  friend bool operator==(const Gid&, const Gid&) = default;
};

/// "::ffff:10.0.0.1", "fe80::ba59:9f03:1234"
std::string to_string(const Gid& gid);

/// "fe80:0000:0000:0000:5054:00ff:fe77:0001", as the kernel shows it; nothing: no GID, or that of an entry that is not in use.
std::optional<Gid> parse_gid(const std::string& text);

/// As RoCE makes it of an interface's address.
Gid gid_of(const SocketAddress& address);

/// What packets with a GID look like.
enum class GidType : std::uint8_t { InfiniBand, RoceV1, RoceV2 };

/// "InfiniBand", "RoCE v1", "RoCE v2"
const char* to_string(GidType type);

struct RdmaPort {
  struct Entry {
    int index = 0;
    Gid gid;
    GidType type = GidType::InfiniBand;
    std::string interface = {};  ///< of RoCE: the network interface; empty: unknown
  };
  std::string device;        ///< "mlx5_0"
  int number = 1;            ///< from 1
  bool is_ethernet = false;  ///< RoCE; else InfiniBand
  std::string state;         ///< "ACTIVE", "DOWN", "INIT", "ARMED"
  std::string
      card;  ///< where it sits on PCI, without the function: equal for the ports of one card
  int numa = -1;
  int megabits = 0;         ///< rate, Mbit/s
  std::vector<Entry> gids;  ///< those that are not empty

  [[nodiscard]] bool is_active() const { return state == "ACTIVE"; }
  /// "rxe0:1/RoCE", as NCCL lists it
  [[nodiscard]] std::string text() const;
};

/// All ports under `root`, by device and number.
/// root  "/sys/class/infiniband", or a tree like it; none there: no ports
std::vector<RdmaPort> read_rdma_ports(const std::string& root);

/// Whether the kernel lets adapters reach a GPU's memory by its address: nvidia_peermem, or its predecessor, is loaded.
/// root    "/sys"
/// source  the files that NCCL looks for (ncclIbGdrSupport)
bool has_peer_memory(const std::string& root);

/// The entry of the port's table by which it is addressed: the one that is asked for; else of RoCE, of those of
/// the version that is wanted the first of the family that is wanted, of `own` addresses before others; of
/// InfiniBand, the first.
/// own     addresses of this host's (this network namespace's) interfaces
/// errors  NotFound: the table has no such entry
Result<RdmaPort::Entry> choose_gid(const RdmaPort& port, const RdmaSettings& settings,
                                   std::span<const Gid> own);

/// The ports that are used: of the active ones those that the settings name, in their order on PCI; of InfiniBand
/// alone where there is any, since a connection's ends must be of one kind. Where some ports of RoCE have an address
/// of this network namespace, those without are another's.
/// errors  Unsupported: none is left; the text has all ports and why not
Result<std::vector<RdmaPort>> choose_rdma_ports(std::span<const RdmaPort> there,
                                                const RdmaSettings& settings,
                                                std::span<const Gid> own);

/// Ports that serve one connection together.
struct RdmaCard {
  std::vector<RdmaPort> ports;
  std::vector<RdmaPort::Entry> gids;  ///< of each port
};

/// The ports that are used, card by card, with the GID of each.
/// errors  as choose_rdma_ports() and choose_gid()
Result<std::vector<RdmaCard>> choose_rdma_cards(std::span<const RdmaPort> there,
                                                const RdmaSettings& settings,
                                                std::span<const Gid> own);

}  // namespace ringside
