#include "engine/runtime/bootstrap/debug_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <span>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/fd.h"
#include "base/host_name.h"
#include "base/warning.h"
#include "engine/debuglog/warning_text.h"
#include "engine/transport/socket/interface.h"

namespace ringside {
namespace {

constexpr std::string_view kName = "ringside" RINGSIDE_VERSION;

/// Returns the ncclResult_t with which NCCL reports such a failure.
int result_of(NcclVersion version, ErrorCode code) {
  // source  nccl.h, ncclResult_t
  constexpr int kSystemError = 2, kInternalError = 3, kInvalidUsage = 5, kRemoteError = 6;
  constexpr int kTimeout = 8;
  switch (code) {
    case ErrorCode::InvalidArgument:
    case ErrorCode::Unsupported:
    case ErrorCode::NotFound:
      return kInvalidUsage;
    case ErrorCode::Corrupt:
      return kInternalError;
    case ErrorCode::System:
    case ErrorCode::PermissionDenied:
      return kSystemError;
    case ErrorCode::Timeout:
      return version.is_from(31) ? kTimeout : kRemoteError;
    case ErrorCode::PeerGone:
    case ErrorCode::Aborted:
    case ErrorCode::Unreachable:
      return kRemoteError;
  }
  return kInternalError;
}

WallTime now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return {.seconds = time.tv_sec, .nanoseconds = static_cast<std::int32_t>(time.tv_nsec)};
}

}  // namespace

/// The state of one process; a forked process starts with a new one.
struct DebugOutput::State {
  State(const Environment& environment, NcclVersion version, const std::string& host, int of_pid)
      : pid(of_pid),
        settings(debug_settings(environment, version, host, of_pid)),
        log(version, settings.shown, host, of_pid, settings.times) {
    if (settings.file.empty()) return;
    // As in NCCL, each process begins with an empty file. Several processes may name the same one: with O_APPEND, none
    // overwrites lines that another has written since.
    file = open_for_writing(settings.file, O_TRUNC | O_APPEND);
    if (!file) {
      log.set_time(now());
      log.warn({::gettid(), place}, {"engine/runtime/bootstrap/debug_output.cpp", __LINE__, "open"},
               fmt::format("NCCL_DEBUG_FILE {}: {}", settings.file, std::strerror(errno)));
    }
  }

  [[nodiscard]] int fd() const { return file ? file.get() : STDERR_FILENO; }
  [[nodiscard]] LineThread thread() const { return {::gettid(), place}; }

  int pid;
  int place = 0;
  DebugSettings settings;
  DebugLog log;
  UniqueFd file;
  bool is_announced = false;
};

DebugOutput::DebugOutput() {
  set_warning_handler([](const WarningPlace& place, const std::string& text) {
    of_process().warn_text({place.file, place.line, place.function}, text);
  });
}

DebugOutput& DebugOutput::of_process() {
  static DebugOutput output;
  return output;
}

DebugOutput::State& DebugOutput::state() {
  const int pid = ::getpid();
  if (!state_ || state_->pid != pid) {
    state_ = std::make_unique<State>(env_text, version(),
                                     log_host(version(), host_name("localhost")), pid);
  }
  return *state_;
}

void DebugOutput::log_into(const std::string& file, const std::string& subsystems) {
  if (env_text("NCCL_DEBUG") || env_text("NCCL_DEBUG_FILE")) return;
  const std::lock_guard lock(mutex_);
  const Environment asked = [&](const char* name) -> std::optional<std::string> {
    const std::string_view word = name;
    if (word == "NCCL_DEBUG") return "INFO";
    if (word == "NCCL_DEBUG_SUBSYS") return subsystems;
    if (word == "NCCL_DEBUG_FILE") return file;
    return env_text(name);
  };
  state_ = std::make_unique<State>(asked, version(), log_host(version(), host_name("localhost")),
                                   ::getpid());
}

void DebugOutput::write() {
  const std::string text = state_->log.take();
  // A log line that cannot be written has nowhere to be reported.
  static_cast<void>(write_all(state_->fd(), std::as_bytes(std::span(text))));
}

bool DebugOutput::has(DebugLevel least) {
  const std::lock_guard lock(mutex_);
  return state().settings.has(least);
}

bool DebugOutput::shows(Subsystems about) {
  const std::lock_guard lock(mutex_);
  return state().settings.has(DebugLevel::Info) && state_->log.shows(about);
}

void DebugOutput::info(Subsystems about, std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (!state().settings.has(DebugLevel::Info) || !state_->log.shows(about)) return;
  state_->log.set_time(now());
  state_->log.info(about, state_->thread(), message);
  write();
}

void DebugOutput::warn(const WarnPlace& place, const Error& why) {
  const std::lock_guard lock(mutex_);
  if (!state().settings.has(DebugLevel::Warn)) return;
  state_->log.set_time(now());
  state_->log.warn(state_->thread(), place, why.message);
  if (state_->settings.has(DebugLevel::Info)) {
    state_->log.info(state_->thread(),
                     result_text(version(), place, result_of(version(), why.code)));
  }
  write();
}

void DebugOutput::warn_text(const WarnPlace& place, std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (state().settings.level && !state_->settings.has(DebugLevel::Warn)) return;
  state_->log.set_time(now());
  state_->log.warn(state_->thread(), place, message);
  write();
}

void DebugOutput::announce(bool is_rank_0) {
  const std::lock_guard lock(mutex_);
  if (!state().settings.has(DebugLevel::Version) || std::exchange(state_->is_announced, true)) {
    return;
  }
  const std::string text = stand_in_version_text(version(), kName);
  state_->log.set_time(now());
  if (state_->settings.has(DebugLevel::Info)) {
    state_->log.info(state_->thread(), text);
  } else if (is_rank_0) {
    state_->log.bare(text);
  }
  write();
}

void DebugOutput::set_place(int place) {
  const std::lock_guard lock(mutex_);
  state().place = place;
}

std::optional<NetInterface> interface_at(const SocketAddress& address) {
  const Result<std::vector<Interface>> there = local_interfaces();
  if (!there) return std::nullopt;
  for (const Interface& interface : *there) {
    if (interface.address != with_port(address, 0)) continue;
    std::string text = to_string(interface.address);  // 10.0.0.1:0, [fd00::1]:0
    text.resize(text.rfind(':'));
    std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
    return NetInterface{interface.name, text};
  }
  return std::nullopt;
}

}  // namespace ringside
