#include "engine/transport/socket/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace ringside {

Result<Wakeup> Wakeup::make(Kind kind) {
  const int flags = kind == Kind::Counter ? EFD_SEMAPHORE : 0;
  UniqueFd made(::eventfd(0, flags | EFD_NONBLOCK | EFD_CLOEXEC));
  if (!made) return system_error("eventfd", errno, "raise the limit of open files: ulimit -n");
  return Wakeup(std::move(made));
}

void Wakeup::signal() const noexcept {
  const std::uint64_t one = 1;
  // Fails only if the counter is at its maximum; then the descriptor is readable, as it should be.
  static_cast<void>(!::write(fd_.get(), &one, sizeof one));
}

void Wakeup::clear() const noexcept {
  std::uint64_t value = 0;
  static_cast<void>(!::read(fd_.get(), &value, sizeof value));  // EAGAIN: it was clear
}

}  // namespace ringside
