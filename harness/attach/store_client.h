#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/patience.h"
#include "harness/attach/place.h"

namespace ringside::attach {

/// Reads keys of the TCPStore of a PyTorch job (2.2 and later). It sends only queries, for the existence and the value
/// of a key.
///
/// Never use it on an older store, which has no greeting and would take its first byte for a command.
///
/// source  docs/formats 7.6
class StoreClient {
 public:
  /// Connects and sends the greeting.
  /// errors  PeerGone: nothing listens.  Timeout.  Corrupt: not a TCPStore of 2.2 or later
  static Result<StoreClient> open(const Place& place, const Patience& patience);

  /// Sends the greeting on an open connection.
  /// errors  as open()
  static Result<StoreClient> greet(UniqueFd socket, const Patience& patience);

  /// Returns the value of a key.
  /// returns  nullopt: the key does not exist
  /// errors   as open(); Corrupt: a value of more than 4 KiB
  Result<std::optional<std::string>> get(std::string_view key, const Patience& patience);

 private:
  explicit StoreClient(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace ringside::attach
