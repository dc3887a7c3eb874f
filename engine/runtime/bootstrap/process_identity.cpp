#include "engine/runtime/bootstrap/process_identity.h"

#include <sys/stat.h>
#include <unistd.h>

namespace ringside {

ProcessIdentity process_identity() {
  struct stat space {};
  // Without /proc, all processes count as in one namespace.
  if (::stat("/proc/self/ns/pid", &space) != 0) space.st_ino = 0;
  return {static_cast<std::uint64_t>(::getpid()), space.st_ino};
}

}  // namespace ringside
