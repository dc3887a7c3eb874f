#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/host_name.h"
#include "base/text.h"
#include "ringside/trace_info.h"
#include "trace/clock.h"

namespace ringside {
namespace {

std::string command_line() {
  const Result<std::string> words = read_file("/proc/self/cmdline");
  if (!words) return {};
  std::string line = *words;
  while (!line.empty() && line.back() == '\0') line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

}  // namespace

const char* to_string(TraceClock clock) {
  return clock == TraceClock::Simulated ? "simulated" : "host_monotonic";
}

std::optional<std::int64_t> never_ended_at(const TraceInfo& info) {
  for (const auto& [key, value] : info.values) {
    if (key != kNeverEnded) continue;
    if (const auto at = parse_int(value)) return *at;
  }
  return std::nullopt;
}

TraceInfo this_process_info(TraceClock clock) {
  TraceInfo info;
  info.clock = clock;
  info.host = host_name("localhost");
  info.pid = static_cast<std::uint32_t>(::getpid());
  info.version = RINGSIDE_VERSION;
  if (clock == TraceClock::HostMonotonic) info.realtime_offset = realtime_offset();
  info.command_line = command_line();
  return info;
}

}  // namespace ringside
