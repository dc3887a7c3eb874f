#include "engine/transport/socket/patience.h"

#include <array>
#include <cerrno>

#include "engine/transport/socket/wakeup.h"

namespace ringside {

Patience::Patience(Deadline until, const Wakeup& off) : deadline_(until), off_(off.fd()) {}

Patience Patience::at_most(Nanoseconds wait) const {
  Patience shorter = *this;
  shorter.deadline_ = deadline_.within(wait);
  return shorter;
}

Result<bool> Patience::wait_for(int fd, short events) const {
  for (;;) {
    std::array<pollfd, 2> polled{{{fd, events, 0}, {off_, POLLIN, 0}}};
    const int ready = deadline_.poll(polled);
    if (ready > 0 && polled[1].revents != 0) {
      return Error{ErrorCode::Aborted, "the wait was cancelled"};
    }
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return system_error("cannot wait for a socket: poll", errno);
    if (ready == 0 && has_passed(deadline_)) return false;
  }
}

}  // namespace ringside
