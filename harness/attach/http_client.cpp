#include "harness/attach/http_client.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <span>

#include "base/one_line.h"
#include "base/text.h"
#include "engine/transport/socket/socket.h"
#include "harness/attach/socket_reader.h"

namespace ringside::attach {
namespace {

// Chosen: the control plane sends a handful of short headers; a peer that sends more is another service.
constexpr int kMostHeaders = 100;
constexpr std::size_t kHeaderRoom = 256 * 1024;

Error no_http(std::string_view line) {
  constexpr std::size_t kMost = 60;
  return {ErrorCode::Corrupt,
          fmt::format("no HTTP: it answers '{}'", one_line(line.substr(0, kMost)))};
}

/// `HTTP/1.1 200 OK`
std::optional<int> status_of(std::string_view line) {
  if (!line.starts_with("HTTP/1.")) return std::nullopt;
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  int status = 0;
  const char* const end = line.data() + line.size();
  const auto read = std::from_chars(line.data() + blank + 1, end, status);
  if (read.ec != std::errc{} || status < 100 || status > 599) return std::nullopt;
  return status;
}

/// The value of `Content-Length: 12`; nothing for another header.
std::optional<std::string_view> length_in(std::string_view header) {
  constexpr std::string_view kName = "content-length:";
  if (lower_case(header.substr(0, kName.size())) != kName) return std::nullopt;
  std::string_view value = header.substr(kName.size());
  while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
  while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
  return value;
}

Result<HttpAnswer> ask_on(int socket, const std::string& request, std::size_t most,
                          const Patience& patience) {
  RINGSIDE_TRY(send_all(socket, std::as_bytes(std::span(request)), patience));
  SocketReader reader(socket, most + kHeaderRoom);
  RINGSIDE_TRY(const std::string first, reader.line(patience));
  const std::optional<int> status = status_of(first);
  if (!status) return no_http(first);
  HttpAnswer answer{*status, {}};
  std::optional<std::size_t> length;
  for (int headers = 0;; ++headers) {
    RINGSIDE_TRY(const std::string header, reader.line(patience));
    if (header.empty()) break;
    if (headers == kMostHeaders) return Error{ErrorCode::Corrupt, "more than 100 headers"};
    const std::optional<std::string_view> value = length_in(header);
    if (!value) continue;
    std::size_t bytes = 0;
    const char* const end = value->data() + value->size();
    const auto read = std::from_chars(value->data(), end, bytes);
    if (read.ec != std::errc{} || read.ptr != end) return no_http(header);
    length = bytes;
  }
  if (length && *length > most) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("an answer of {} bytes, more than {}", *length, most)};
  }
  if (length) {
    auto body = reader.bytes(*length, patience);
    if (!body && body.error().code == ErrorCode::PeerGone) {
      return Error{ErrorCode::Corrupt, fmt::format("the answer ends after {} of {} bytes",
                                                   reader.half().size(), *length)};
    }
    if (!body) return body.error();
    answer.body = *std::move(body);
  } else {
    RINGSIDE_TRY(answer.body, reader.rest(patience));
  }
  return answer;
}

}  // namespace

Result<HttpAnswer> http_get_on(int socket, std::string_view host, std::string_view path,
                               std::size_t most, const Patience& patience) {
  return ask_on(socket,
                fmt::format("GET {} HTTP/1.0\r\nHost: {}\r\nConnection: close\r\n\r\n", path, host),
                most, patience);
}

Result<HttpAnswer> http_get(const Place& place, std::string_view path, std::size_t most,
                            const Patience& patience) {
  RINGSIDE_TRY(const UniqueFd socket, connect(place, patience));
  const auto* const host_port = std::get_if<HostPort>(&place.where);
  const std::string host = host_port != nullptr ? host_port->host : "localhost";
  const std::string full = place.path + std::string(path);
  RINGSIDE_TRY(HttpAnswer answer, http_get_on(socket.get(), host, full, most, patience));
  constexpr int kNotFound = 404;
  constexpr int kMethodNotAllowed = 405;
  if (answer.status != kNotFound && answer.status != kMethodNotAllowed) return answer;
  RINGSIDE_TRY(const UniqueFd again, connect(place, patience));
  auto posted = ask_on(
      again.get(),
      fmt::format("POST {} HTTP/1.0\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                  full, host),
      most, patience);
  return posted && posted->status == 200 ? std::move(posted)
                                         : Result<HttpAnswer>(std::move(answer));
}

}  // namespace ringside::attach
