#include "harness/rank_binder.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/suggest.h"

namespace ringside {
namespace {

/// Returns the cores that this process may run on.
std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

}  // namespace

Result<std::function<void(Rank, JobStage)>> rank_binder(const std::string& how, bool starts_ranks) {
  constexpr std::array<std::string_view, 3> kKnown{"auto", "core", "none"};
  if (std::ranges::find(kKnown, how) == kKnown.end()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--bind {}", how),
                 suggestion(how, kKnown)};
  }
  const std::vector<int> cores = allowed_cores();
  if (how == "none" || cores.empty() || (how == "auto" && !starts_ranks)) {
    return std::function<void(Rank, JobStage)>{};
  }
  return std::function([cores](Rank rank, JobStage stage) {
    if (stage != JobStage::Bootstrap) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cores[static_cast<std::size_t>(to_int(rank)) % cores.size()]),
            &set);
    // If binding fails, the rank is only slower.
    static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
  });
}

std::optional<int> own_core() {
  const std::vector<int> cores = allowed_cores();
  return cores.size() == 1 ? std::optional(cores.front()) : std::nullopt;
}

}  // namespace ringside
