#include "harness/hangs/log_times.h"

#include <fmt/format.h>

#include <ctime>

namespace ringside::hangs {
namespace {

std::tm civil(std::int64_t wall_ns) {
  const std::time_t seconds = wall_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

std::string log_stamp(std::int64_t wall_ns) {
  const std::tm at = civil(wall_ns);
  return fmt::format("{}{:02} {:02}:{:02}:{:02}", at.tm_mon + 1, at.tm_mday, at.tm_hour, at.tm_min,
                     at.tm_sec);
}

std::string agent_stamp(std::int64_t wall_ns) {
  const std::string stamp = log_stamp(wall_ns);
  return stamp.find(' ') == 3 ? "0" + stamp : stamp;
}

std::string summary_stamp(std::int64_t wall_ns) {
  const std::tm at = civil(wall_ns);
  return fmt::format("{}-{:02}-{:02}_{:02}:{:02}:{:02}", at.tm_year + 1900, at.tm_mon + 1,
                     at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec);
}

}  // namespace ringside::hangs
