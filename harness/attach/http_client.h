#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/transport/socket/patience.h"
#include "harness/attach/place.h"

namespace ringside::attach {

/// The answer to a request, without its headers.
struct HttpAnswer {
  int status = 0;
  std::string body;
};

/// Sends one GET to PyTorch's control plane, over TCP or a Unix socket. If the answer is 404 or 405, it sends a POST,
/// because some releases route handlers by POST only, and returns its answer if that is 200, else the first one. It uses
/// HTTP/1.0, so that the body is not chunked.
///
/// path    follows the place's own path; without blanks: /handler/fr_trace_json
/// most    maximum bytes of the body
/// errors  as connect(); PeerGone: nothing listens.  Timeout.  Corrupt: not HTTP, a truncated body, or more than `most` bytes
/// source  RFC 1945; docs/formats 7.6
Result<HttpAnswer> http_get(const Place& place, std::string_view path, std::size_t most,
                            const Patience& patience);

/// Sends the request on an open connection.
/// errors  as http_get()
Result<HttpAnswer> http_get_on(int socket, std::string_view host, std::string_view path,
                               std::size_t most, const Patience& patience);

}  // namespace ringside::attach
