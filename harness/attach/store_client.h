#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/patience.h"
#include "harness/attach/place.h"

namespace ringside::attach {

/// Reads keys of the TCPStore of a PyTorch job (2.2 and later). It only asks whether a key is there and what it holds.
///
/// Older stores have no greeting and take the first byte of one for another command: connect to them never.
///
/// source  docs/formats 7.6
class StoreClient {
 public:
  /// Connects and greets.
  /// errors  PeerGone: nothing listens.  Timeout.  Corrupt: no TCPStore of 2.2 or later
  static Result<StoreClient> open(const Place& place, const Patience& patience);

  /// The same on a connection that exists.
  static Result<StoreClient> greet(UniqueFd socket, const Patience& patience);

  /// returns  nothing: there is no such key
  /// errors   as open(); Corrupt: a value of more than 4 KiB
  Result<std::optional<std::string>> get(std::string_view key, const Patience& patience);

 private:
  explicit StoreClient(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace ringside::attach
