#include "engine/debuglog/settings.h"

#include <algorithm>
#include <utility>

#include "base/path_pattern.h"
#include "engine/debuglog/words.h"

namespace ringside {
namespace {

DebugLevel level_of(std::string_view text) {
  const DebugWords words(text);
  if (words.is_inverse || words.list.size() != 1) return DebugLevel::None;
  return level_named(words.list.front());
}

}  // namespace

DebugSettings debug_settings(const Environment& environment, NcclVersion version,
                             std::string_view host, int pid) {
  DebugSettings settings;
  if (const auto level = environment("NCCL_DEBUG")) settings.level = level_of(*level);
  const auto subsystems = environment("NCCL_DEBUG_SUBSYS");
  settings.shown = subsystems ? known_subsystems(*subsystems) : default_subsystems(version);
  // NCCL opens no file at the levels none and version.
  const auto file = environment("NCCL_DEBUG_FILE");
  if (file && settings.has(DebugLevel::Warn)) settings.file = filled_in_path(*file, host, pid);
  settings.times = Timestamps::from(environment, Timestamps::Zone::Local);
  return settings;
}

std::string log_host(NcclVersion version, std::string_view name) {
  std::string host{name.substr(0, name.find('.'))};
  if (version.is_from(29)) {
    std::ranges::replace(host, '%', '-');
    std::ranges::replace(host, '/', '-');
  }
  return host;
}

}  // namespace ringside
