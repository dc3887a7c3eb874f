#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/transport/socket/address.h"
#include "engine/transport/socket/handshake.h"

namespace ringside {

/// Identifies a job for ranks that join it: the root's address, and the secret that the job's processes share. Any
/// process that reads it can join, so pass it only through channels that only the job's owner can read.
struct UniqueId {
  SocketAddress root;
  Secret secret;
  friend bool operator==(const UniqueId&, const UniqueId&) = default;
};

std::string to_string(const UniqueId& id);  ///< `ringside:10.0.0.1:4000:HEX`, 32 hexadecimal digits

/// Reads what to_string() writes. The text never appears in the Error: it holds the secret.
/// errors  InvalidArgument: another beginning, a bad address, port 0, not 32 hexadecimal digits
Result<UniqueId> parse_unique_id(std::string_view text);

/// Derives a secret from a text: the same text gives the same secret. It is as hard to guess as the text.
Secret derive_secret(std::string_view text);

}  // namespace ringside
