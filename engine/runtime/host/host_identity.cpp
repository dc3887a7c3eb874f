#include "engine/runtime/host/host_identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/fd.h"
#include "base/host_name.h"

namespace ringside {

std::string host_identity(const Environment& environment) {
  Result<std::string> boot = read_file("/proc/sys/kernel/random/boot_id");
  if (boot && !boot->empty() && boot->back() == '\n') boot->pop_back();
  std::array<char, 64> space{};
  if (::readlink("/proc/self/ns/net", space.data(), space.size() - 1) < 0) space[0] = '\0';
  const std::string name = environment("NCCL_HOSTID").value_or(host_name(""));
  return fmt::format("{}/{}/{}", name, boot ? *boot : "", space.data());
}

}  // namespace ringside
