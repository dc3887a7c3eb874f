#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "engine/transport/socket/acceptor.h"
#include "engine/transport/transport.h"

namespace ringside {

/// The transports that a rank has open, with the listening sockets (doors) on which peers connect. Used to make the
/// ends of connections.
///
/// Threads    one at a time
/// Ownership  outlives the ends that it makes
class OpenTransports {
 public:
  /// Opens the transports of `wanted`. One that this rank cannot open is skipped, unless it is `needed`.
  /// errors  System: no sockets.  Unsupported: `needed` cannot be opened
  static Result<std::unique_ptr<OpenTransports>> open(const LocalSite& here, const Secret& secret,
                                                      std::span<const Transport* const> wanted,
                                                      const Transport* needed = nullptr);

  /// Returns the addresses to send to the other ranks.
  [[nodiscard]] const Whereabouts& whereabouts() const { return whereabouts_; }

  /// Connects to the other rank's door, and sends `hello`, which identifies the connection.
  /// shape   hello: at most kHelloLimit bytes
  /// errors  PeerGone: its process has ended.  As connect_authenticated()
  [[nodiscard]] Result<UniqueFd> dial(const Transport& transport, const Whereabouts& to,
                                      std::span<const std::byte> hello,
                                      const Patience& patience) const;

  /// Accepts the next connection through the door of this transport.
  /// errors  as Acceptor::accept()
  [[nodiscard]] Result<Accepted> accept(const Transport& transport, const Patience& patience) const;

  /// Returns whether accept() would return at once.
  [[nodiscard]] bool can_accept(const Transport& transport) const;

  /// Returns the inputs for making an end of a connection to `other`.
  /// shape  both ranks have the transport open; peer: the socket of dial() or accept(), or empty if the transport has
  ///        no door
  [[nodiscard]] Joint joint(const Transport& transport, const Whereabouts& other, UniqueFd peer,
                            ConnectionShape shape, std::uint32_t channel,
                            const Patience& patience) const;

 private:
  struct Opened {
    const Transport* transport;
    std::unique_ptr<TransportState> state;
  };
  explicit OpenTransports(const Secret& secret) : secret_(secret) {}
  Status open_one(const LocalSite& here, const Transport& transport);

  Secret secret_;
  Whereabouts whereabouts_;
  std::array<std::unique_ptr<Acceptor>, kDoors> doors_;
  std::vector<Opened> opened_;
};

}  // namespace ringside
