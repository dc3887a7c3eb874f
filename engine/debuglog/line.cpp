#include "engine/debuglog/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/append.h"

namespace ringside {
namespace {

/// source  NCCL up to 2.28 has a line buffer of 1024 bytes
constexpr std::size_t kLongestLine = 1023;

}  // namespace

DebugLog::DebugLog(NcclVersion version, Subsystems shown, std::string host, int pid,
                   Timestamps times)
    : version_(version),
      shown_(shown),
      host_(std::move(host)),
      pid_(pid),
      process_(fmt::format("{}:{}:", host_, pid)),
      times_(std::move(times)) {}

void DebugLog::begin(DebugLevel level, LineThread thread) {
  if (version_.is_from(26) && times_.shows(level)) text_ += times_.text(time_);
  text_ += process_;
  append(text_, "{} [{}] ", thread.tid, thread.dev);
}

void DebugLog::end(std::size_t begun, std::string_view message) {
  text_ += message;
  if (version_.is_before(29)) text_.resize(std::min(text_.size(), begun + kLongestLine));
  text_ += '\n';
}

void DebugLog::info(Subsystems about, LineThread thread, std::string_view message) {
  if (shows(about)) info(thread, message);
}

void DebugLog::info(LineThread thread, std::string_view message) {
  const std::size_t begun = text_.size();
  begin(DebugLevel::Info, thread);
  text_ += "NCCL INFO ";
  end(begun, message);
}

void DebugLog::warn(LineThread thread, const WarnPlace& place, std::string_view message) {
  text_ += '\n';
  const std::size_t begun = text_.size();
  begin(DebugLevel::Warn, thread);
  append(text_, "{}:{} ", place.file, place.line);
  if (version_.is_from(30)) append(text_, "({}) ", place.function);
  text_ += "NCCL WARN ";
  end(begun, message);
}

void DebugLog::diagnosis(std::string_view message) {
  append(text_, "{}:{} NCCL DIAG {}\n", host_, pid_, message);
}

void DebugLog::bare(std::string_view line) {
  text_ += line;
  text_ += '\n';
}

std::string DebugLog::take() { return std::exchange(text_, {}); }

}  // namespace ringside
