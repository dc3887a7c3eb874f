#include "engine/transport/socket/file_passing.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/socket_wait.h"

namespace ringside {
namespace {

/// A message that carries a descriptor needs one byte of data.
constexpr std::byte kFileFollows{'F'};

std::vector<UniqueFd> files_in(msghdr& message) {
  std::vector<UniqueFd> files;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      files.emplace_back(fd);
    }
  }
  return files;
}

Error no_file(int socket, const std::string& what) {
  return {ErrorCode::Corrupt,
          fmt::format("{}: sent {} where one file was expected", describe_peer(socket), what),
          "use the same version on every rank"};
}

}  // namespace

Status send_fd(int socket, int fd, const Patience& patience) {
  std::byte carrier = kFileFollows;
  iovec data{&carrier, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fd)> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1) return {};
    if (would_wait(errno)) {
      RINGSIDE_TRY(wait_for_socket(socket, POLLOUT, patience));
    } else if (errno != EINTR) {
      return stream_error(socket, errno);
    }
  }
}

Result<UniqueFd> recv_fd(int socket, const Patience& patience) {
  std::byte carrier{};
  iovec data{&carrier, 1};
  // Room for a second descriptor, so that an unexpected one is seen and closed instead of silently dropped.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message{};
  for (;;) {
    message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got == 1) break;
    if (got == 0) {
      return Error{ErrorCode::PeerGone,
                   fmt::format("{}: closed the connection", describe_peer(socket))};
    }
    if (would_wait(errno)) {
      RINGSIDE_TRY(wait_for_socket(socket, POLLIN, patience));
    } else if (errno != EINTR) {
      return stream_error(socket, errno);
    }
  }
  std::vector<UniqueFd> received = files_in(message);
  if (received.empty() && (message.msg_flags & MSG_CTRUNC) != 0) {
    return Error{ErrorCode::System,
                 fmt::format("{}: sent a file, and this process has no descriptor left for it",
                             describe_peer(socket)),
                 "raise the limit of open files: ulimit -n"};
  }
  if (carrier != kFileFollows) return no_file(socket, "something else");
  if (received.size() != 1) {
    return no_file(socket, received.empty() ? "none" : "several");
  }
  return std::move(received.front());
}

}  // namespace ringside
