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

/// Lists the RDMA ports of this host, as the kernel shows them, and chooses the ports to use.
namespace ringside {

/// The 16-byte global identifier (GID) of an RDMA port.
struct Gid {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] bool is_empty() const { return *this == Gid{}; }
  [[nodiscard]] bool is_ipv4() const;  ///< an IPv4-mapped address
  [[nodiscard]] bool is_link_local() const;
  friend bool operator==(const Gid&, const Gid&) = default;
};

/// "::ffff:10.0.0.1", "fe80::ba59:9f03:1234"
std::string to_string(const Gid& gid);

/// "fe80:0000:0000:0000:5054:00ff:fe77:0001", as the kernel shows it. Returns nothing for an invalid text or an unused
/// table entry.
std::optional<Gid> parse_gid(const std::string& text);

/// Returns the GID that RoCE derives from an interface's address.
Gid gid_of(const SocketAddress& address);

/// The packet format of a GID table entry.
enum class GidType : std::uint8_t { InfiniBand, RoceV1, RoceV2 };

/// "InfiniBand", "RoCE v1", "RoCE v2"
const char* to_string(GidType type);

/// An active or inactive port of an RDMA device, as /sys describes it.
struct RdmaPort {
  struct Entry {
    int index = 0;
    Gid gid;
    GidType type = GidType::InfiniBand;
    std::string interface = {};  ///< network interface of a RoCE port; empty: unknown
  };
  std::string device;        ///< "mlx5_0"
  int number = 1;            ///< from 1
  bool is_ethernet = false;  ///< RoCE; else InfiniBand
  std::string state;         ///< "ACTIVE", "DOWN", "INIT", "ARMED"
  /// PCI address without the function number: equal for the ports of one adapter
  std::string card;
  int numa = -1;
  int megabits = 0;         ///< rate, Mbit/s
  std::vector<Entry> gids;  ///< the table entries in use

  [[nodiscard]] bool is_active() const { return state == "ACTIVE"; }
  /// Returns the port as NCCL lists it: "rxe0:1/RoCE".
  [[nodiscard]] std::string text() const;
};

/// Reads all ports under `root`, sorted by device and number.
/// root  "/sys/class/infiniband", or a folder with the same layout; if it does not exist, there are no ports
std::vector<RdmaPort> read_rdma_ports(const std::string& root);

/// Chooses the port's GID table entry: the one that the settings name, else for InfiniBand the first. For RoCE the
/// preference is, in this order: the set version, an entry in `own`, the set address family, not link-local; among
/// equals the first entry.
/// own     GIDs of the interfaces in this network namespace
/// errors  NotFound: the settings name an entry that the table lacks.  Unsupported: the table is empty
Result<RdmaPort::Entry> choose_gid(const RdmaPort& port, const RdmaSettings& settings,
                                   std::span<const Gid> own);

/// Chooses the ports to use: the active ports that the settings name, in PCI order. If any is InfiniBand, only
/// InfiniBand ports are used, since both ends of a connection need the same link type. If some RoCE ports have an
/// address in this network namespace, ports without one are skipped.
/// errors  Unsupported: no port remains; the text lists all ports with the reasons
Result<std::vector<RdmaPort>> choose_rdma_ports(std::span<const RdmaPort> there,
                                                const RdmaSettings& settings,
                                                std::span<const Gid> own);

/// The ports of one adapter, which serve one connection together.
struct RdmaCard {
  std::vector<RdmaPort> ports;
  std::vector<RdmaPort::Entry> gids;  ///< [port]: the chosen GID table entry
};

/// Chooses the ports to use, grouped by adapter, and the GID of each.
/// errors  as choose_rdma_ports() and choose_gid()
Result<std::vector<RdmaCard>> choose_rdma_cards(std::span<const RdmaPort> there,
                                                const RdmaSettings& settings,
                                                std::span<const Gid> own);

}  // namespace ringside
