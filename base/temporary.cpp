#include "base/temporary.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/assert.h"
#include "base/env.h"

namespace ringside {

Result<TemporaryFolder> TemporaryFolder::make(std::string_view purpose) {
  const auto named = env_text("TMPDIR");
  const std::string above = named.value_or("/tmp");
  std::string path = fmt::format("{}/ringside-{}-XXXXXX", above, purpose);
  if (::mkdtemp(path.data()) != nullptr) return TemporaryFolder(std::move(path));
  const int why = errno;
  return system_error(
      fmt::format("no temporary folder can be made in {}{}", above, named ? " (TMPDIR)" : ""), why,
      "set TMPDIR to an existing folder that you may write to");
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string draft_path(const std::string& path) {
  std::uint64_t random = 0;
  const ssize_t got = ::getrandom(&random, sizeof random, 0);  // never fails for at most 256 bytes
  RINGSIDE_ASSERT(got == static_cast<ssize_t>(sizeof random), "getrandom gave {} bytes", got);
  return fmt::format("{}.{:016x}.part", path, random);
}

}  // namespace ringside
