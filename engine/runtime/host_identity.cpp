#include "engine/runtime/host_identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/fd.h"

namespace ringside {

std::string host_identity() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  Result<std::string> boot = read_file("/proc/sys/kernel/random/boot_id");
  if (boot && !boot->empty() && boot->back() == '\n') boot->pop_back();
  std::array<char, 64> space{};
  if (::readlink("/proc/self/ns/net", space.data(), space.size() - 1) < 0) space[0] = '\0';
  return fmt::format("{}/{}/{}", name.data(), boot ? *boot : "", space.data());
}

}  // namespace ringside
