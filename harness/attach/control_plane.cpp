#include "harness/attach/control_plane.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

#include "base/one_line.h"
#include "harness/attach/http_client.h"
#include "harness/attach/process.h"

namespace ringside::attach {
namespace {

constexpr std::size_t kMostStack = std::size_t{4} << 20;      ///< bytes: 10,000 frames have 1 MiB
constexpr auto kForShared = std::chrono::milliseconds(2500);  ///< on a port that processes share

constexpr std::array<const char*, 2> kDumpHandlers = {"/handler/fr_trace_json",
                                                      "/handler/dump_nccl_trace_json"};
/// py-spy need not be installed where the process runs; the interpreter's own traceback is always there.
constexpr std::array<const char*, 2> kStackHandlers = {"/handler/pyspy_dump?nonblocking=1",
                                                       "/handler/dump_traceback"};

/// Adds the time to a dump in JSON: by then the process had made no other call than those in the dump.
std::string with_time(std::string dump, std::chrono::system_clock::time_point asked) {
  const auto ns = std::chrono::duration_cast<Nanoseconds>(asked.time_since_epoch()).count();
  if (dump.starts_with("{\"")) dump.insert(1, fmt::format("\"asked_at_ns\":{},", ns));
  return dump;
}

bool is_out_of_reach(const Result<HttpAnswer>& answer) {
  if (answer) return false;
  const ErrorCode code = answer.error().code;
  return code == ErrorCode::PeerGone || code == ErrorCode::Timeout ||
         code == ErrorCode::Unreachable;
}

/// A port that several processes share may lead to one that is stopped: a second connection leads elsewhere.
Result<HttpAnswer> get_again(const Place& place, const char* handler, std::size_t most,
                             const Deadline& deadline) {
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    const Patience patience = Patience(deadline).at_most(place.path.empty() ? kForOne : kForShared);
    auto answer = http_get(place, handler, most, patience);
    const bool may_help = !answer && answer.error().code == ErrorCode::Timeout;
    if (!may_help || place.path.empty() || attempt == kAttempts || has_passed(deadline)) {
      return answer;
    }
  }
}

/// Asks one handler after the other until one has an answer.
ControlAnswer ask(const Place& place, std::span<const char* const> handlers, std::size_t most,
                  const Deadline& deadline) {
  ControlAnswer all;
  for (const char* handler : handlers) {
    const auto asked = std::chrono::system_clock::now();
    auto answer = get_again(place, handler, most, deadline);
    all.is_reached = !is_out_of_reach(answer);
    if (!answer) {
      all.said = one_line(answer.error().message);
      if (!all.is_reached) return all;
      continue;
    }
    if (answer->status != 200 || answer->body.empty()) {
      all.said = fmt::format("{}: HTTP status {}", handler, answer->status);
      continue;
    }
    all.said = fmt::format("{} bytes", answer->body.size());
    all.body = with_time(std::move(answer->body), asked);
    return all;
  }
  return all;
}

}  // namespace

ControlAnswer ask_for_dump(const Place& place, const Deadline& deadline) {
  return ask(place, kDumpHandlers, kMostDump, deadline);
}

ControlAnswer ask_for_stack(const Place& place, const Deadline& deadline) {
  return ask(place, kStackHandlers, kMostStack, deadline);
}

}  // namespace ringside::attach
