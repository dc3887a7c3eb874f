#include "harness/attach/socket_reader.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/transport/socket/socket.h"

namespace ringside::attach {

Status SocketReader::receive(const Patience& patience) {
  if (left_ == 0) return Error{ErrorCode::Corrupt, "more bytes than an answer has"};
  std::array<std::byte, 16 * 1024> buffer{};
  const std::size_t room = std::min(buffer.size(), left_);
  for (;;) {
    // A peer that never stops sending does not get more time than a silent one.
    if (has_passed(patience.deadline())) return Error{ErrorCode::Timeout, "no answer in time"};
    RINGSIDE_TRY(const std::size_t got, recv_some(socket_, std::span(buffer).first(room)));
    if (got > 0) {
      left_ -= got;
      held_.append(reinterpret_cast<const char*>(buffer.data()), got);
      return {};
    }
    RINGSIDE_TRY(const bool is_there, patience.wait_for(socket_, POLLIN));
    if (!is_there) return Error{ErrorCode::Timeout, "no answer in time"};
  }
}

Result<std::string> SocketReader::line(const Patience& patience) {
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = held_.find('\n', searched);
    if (end != std::string::npos && end <= kLongestLine) {
      std::string line = held_.substr(0, end);
      held_.erase(0, end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (held_.size() > kLongestLine) {
      return Error{ErrorCode::Corrupt, fmt::format("a line of more than {} bytes", kLongestLine)};
    }
    searched = held_.size();
    RINGSIDE_TRY(receive(patience));
  }
}

Result<std::string> SocketReader::bytes(std::size_t count, const Patience& patience) {
  if (count > held_.size() && count - held_.size() > left_) {
    return Error{ErrorCode::Corrupt, fmt::format("an answer of {} bytes", count)};
  }
  while (held_.size() < count) RINGSIDE_TRY(receive(patience));
  std::string bytes = held_.substr(0, count);
  held_.erase(0, count);
  return bytes;
}

Result<std::string> SocketReader::rest(const Patience& patience) {
  for (;;) {
    const Status received = receive(patience);
    if (received) continue;
    if (received.error().code != ErrorCode::PeerGone) return received.error();
    return std::exchange(held_, {});
  }
}

}  // namespace ringside::attach
