#include "diag/audit/log_release.h"

#include <fmt/format.h>

#include <optional>

#include "engine/releases/releases.h"

namespace ringside::audit {
namespace {

/// Returns a release by its NCCL_VERSION_CODE.
/// source  NCCL nccl.h: 2708 up to 2.8, 22105 since 2.9
std::string release_of_code(int code) {
  constexpr int kSince29 = 10'000;
  if (code < kSince29) return nearest_release(code / 100 % 10, code % 100);
  if (code / kSince29 != 2) return std::string(kDefaultRelease);
  return nearest_release(code / 100 % 100, code % 100);
}

}  // namespace

std::string LogRelease::text() const {
  return fmt::format("NCCL {}{}", name, is_said ? "" : ", as no line says which");
}

LogRelease release_of(const JobFacts& facts) {
  int code = 0;
  std::optional<std::size_t> most;
  for (const auto& [text, version] : facts.version_facts) {
    if (version.is_rccl || version.code <= 0) continue;
    const auto said = facts.versions.find(text);
    const std::size_t who = said == facts.versions.end() ? 0 : said->second.processes.size();
    if (most && *most >= who) continue;
    most = who;
    code = version.code;
  }
  if (!most) return {std::string(kDefaultRelease), false};
  return {release_of_code(code), true};
}

}  // namespace ringside::audit
