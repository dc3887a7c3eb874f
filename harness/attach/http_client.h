#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/transport/socket/patience.h"
#include "harness/attach/place.h"

namespace ringside::attach {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

/// Sends one GET to PyTorch's control plane, over TCP or a Unix socket; where the answer is 404 or 405, a POST, since a
/// release may route handlers by POST alone. HTTP/1.0, so that the body needs no decoding.
///
/// path    behind the place's own, without blanks: /handler/fr_trace_json
/// most    bytes of the whole answer
/// errors  PeerGone: nothing listens.  Timeout.  Corrupt: no HTTP, a cut body, or more than `most` bytes
/// source  RFC 1945; docs/formats 7.6
Result<HttpAnswer> http_get(const Place& place, std::string_view path, std::size_t most,
                            const Patience& patience);

/// The same on a connection that exists.
Result<HttpAnswer> http_get_on(int socket, std::string_view host, std::string_view path,
                               std::size_t most, const Patience& patience);

}  // namespace ringside::attach
