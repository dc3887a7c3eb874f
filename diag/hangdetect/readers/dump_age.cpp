#include "diag/hangdetect/readers/dump_age.h"

#include <sys/stat.h>

#include <algorithm>

namespace ringside::hang {
namespace {

std::optional<std::int64_t> written_ns(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  return std::int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
}

}  // namespace

std::optional<std::int64_t> oldest_wait_ns(std::span<const RankDump> dumps) {
  std::optional<std::int64_t> longest;
  for (const RankDump& dump : dumps) {
    const auto oldest = std::find_if(dump.calls.begin(), dump.calls.end(),
                                     [](const Call& call) { return call.is_pending(); });
    if (oldest == dump.calls.end()) continue;
    const auto written = written_ns(dump.path);
    if (!written || *written < oldest->created_ns) return std::nullopt;
    longest = std::max(longest.value_or(0), *written - oldest->created_ns);
  }
  return longest;
}

}  // namespace ringside::hang
