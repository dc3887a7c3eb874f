#include "base/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <span>
#include <string_view>

#include "base/env.h"
#include "base/fd.h"

namespace ringside {
namespace {

std::atomic<int> log_rank{-1};

enum class Threshold { Nothing, Warnings, All };

Threshold threshold() {
  static const Threshold chosen = [] {
    const std::string level = env_text("NCCL_DEBUG").value_or("WARN");
    if (level == "NONE" || level == "none") return Threshold::Nothing;
    return level == "WARN" || level == "warn" || level == "VERSION" ? Threshold::Warnings
                                                                    : Threshold::All;
  }();
  return chosen;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  std::string_view whole(name.data());
  return std::string(whole.substr(0, whole.find('.')));
}

}  // namespace

void set_log_rank(int rank) { log_rank.store(rank, std::memory_order_relaxed); }

void log_line(LogLevel level, const std::string& text) {
  if (threshold() == Threshold::Nothing) return;
  if (level == LogLevel::Info && threshold() != Threshold::All) return;
  static const std::string host = host_name();
  const int rank = log_rank.load(std::memory_order_relaxed);
  const std::string line = fmt::format("{}:{}:{} [{}] NCCL {} {}\n", host, ::getpid(), ::gettid(),
                                       rank, level == LogLevel::Warn ? "WARN" : "INFO", text);
  // A log line that cannot be written has nowhere to be reported.
  static_cast<void>(write_all(STDERR_FILENO, std::as_bytes(std::span(line))));
}

}  // namespace ringside
