#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <utility>

#include "base/fd.h"
#include "ringside/units.h"

namespace ringside {

/// For waits that take no time at all
inline constexpr Nanoseconds kPlenty = std::chrono::seconds(20);

/// Returns two connected sockets, non-blocking as the transports need them.
inline std::pair<UniqueFd, UniqueFd> socket_pair() {
  int pair[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
  return {UniqueFd(pair[0]), UniqueFd(pair[1])};
}

}  // namespace ringside
