#include "engine/flight/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace ringside {
namespace {

/// Limits beyond any use; a larger value is a mistake, such as another unit.
constexpr std::int64_t kMostEntries = 1 << 24;
constexpr std::int64_t kLongestWaitMs = 3'600'000;  // an hour

struct Named {
  const char* name;
  std::string text;
};

/// Returns the first of the variables that is set.
std::optional<Named> find(const Environment& environment,
                          std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (auto text = environment(name)) return Named{name, *std::move(text)};
  }
  return std::nullopt;
}

/// PyTorch's words for yes and no.
/// source  PyTorch c10d/Utils.hpp, getCvarBool
Result<bool> flag(const Environment& environment, std::initializer_list<const char*> names,
                  bool otherwise) {
  const auto found = find(environment, names);
  if (!found) return otherwise;
  const std::string text = lower_case(found->text);
  constexpr std::array<std::string_view, 4> kYes{"1", "true", "yes", "y"};
  constexpr std::array<std::string_view, 4> kNo{"0", "false", "no", "n"};
  if (std::ranges::find(kYes, text) != kYes.end()) return true;
  if (std::ranges::find(kNo, text) != kNo.end()) return false;
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{}={} is neither yes nor no", found->name, found->text), "give 1 or 0"};
}

/// source  PyTorch ProcessGroupNCCL.cpp, HeartbeatMonitor; its default is 480 s
Result<Nanoseconds> heartbeat(const Environment& environment, Nanoseconds otherwise) {
  RINGSIDE_TRY(const bool is_monitored, flag(environment, {"TORCH_NCCL_ENABLE_MONITORING"}, true));
  RINGSIDE_TRY(const auto seconds,
               env_int(environment, "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", 1, kLongestWaitMs / 1000));
  if (!is_monitored) return Nanoseconds{0};
  return seconds ? std::chrono::seconds(*seconds) : otherwise;
}

/// Returns whether PyTorch's watchdog ends calls that have timed out: yes, unless its error handling is off and the
/// caller does not block.
/// source  PyTorch ProcessGroupNCCL.hpp, ErrorHandlingMode; the older variable names lack `TORCH_`
Result<bool> ends_at_timeout(const Environment& environment) {
  RINGSIDE_TRY(const bool waits,
               flag(environment, {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT"}, false));
  constexpr std::int64_t kMostModes = 3;
  bool handles = true;
  for (const char* const name : {"NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ASYNC_ERROR_HANDLING"}) {
    RINGSIDE_TRY(const auto mode, env_int(environment, name, 0, kMostModes));
    if (mode) handles = *mode != 0;
  }
  return waits || handles;
}

}  // namespace

Result<FlightSettings> flight_settings(const Environment& environment) {
  FlightSettings settings;
  for (const char* const name :
       {"TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_TRACE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE"}) {
    RINGSIDE_TRY(const auto size, env_int(environment, name, 0, kMostEntries));
    if (size) settings.capacity = static_cast<std::size_t>(*size);
  }
  if (auto prefix =
          find(environment, {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"})) {
    settings.prefix = std::move(prefix->text);
  }
  RINGSIDE_TRY(settings.dumps_on_failure,
               flag(environment, {"TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT"}, true));
  RINGSIDE_TRY(settings.has_timing, flag(environment, {"TORCH_NCCL_ENABLE_TIMING"}, false));
  RINGSIDE_TRY(settings.has_stacks,
               flag(environment, {"TORCH_FR_CPP_STACK", "TORCH_NCCL_TRACE_CPP_STACK"}, false));
  if (auto pipe = find(environment, {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE"})) {
    settings.pipe = std::move(pipe->text);
  }
  RINGSIDE_TRY(const auto wait,
               env_int(environment, "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", 0, kLongestWaitMs));
  if (wait) settings.dump_wait = std::chrono::milliseconds(*wait);
  RINGSIDE_TRY(settings.ends_at_timeout, ends_at_timeout(environment));
  RINGSIDE_TRY(settings.heartbeat, heartbeat(environment, settings.heartbeat));
  RINGSIDE_TRY(settings.reports_desync,
               flag(environment, {"TORCH_NCCL_DESYNC_DEBUG", "NCCL_DESYNC_DEBUG"}, false));
  RINGSIDE_TRY(settings.is_json, flag(environment, {"RINGSIDE_DUMP_JSON"}, false));
  return settings;
}

}  // namespace ringside
