#include "harness/attach/ras_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "base/one_line.h"
#include "base/text.h"
#include "engine/transport/socket/socket.h"
#include "harness/attach/socket_reader.h"

namespace ringside::attach {
namespace {

constexpr std::string_view kUnknown = "ERROR: Unknown command";

/// The beginning of a foreign text, for a message.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return one_line(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

Error not_ras(std::string_view line) {
  return {ErrorCode::Corrupt, fmt::format("no RAS service: it answers '{}'", excerpt(line)),
          "is that the port of NCCL_RAS_ADDR (28028 by default), or of bench --status?"};
}

Error busy() {
  return {ErrorCode::System, "busy: the diagnostics of another client run", "try again later"};
}

/// One connection: a line out, a line in.
class Conversation {
 public:
  Conversation(int socket, std::size_t most_bytes, const Patience& patience)
      : socket_(socket), reader_(socket, most_bytes), patience_(patience) {}

  Status say(const std::string& line) {
    return send_all(socket_, std::as_bytes(std::span(line)), patience_);
  }
  Result<std::string> ask(const std::string& line, const Patience& patience) {
    RINGSIDE_TRY(say(line));
    return reader_.line(patience);
  }
  Result<std::string> ask(const std::string& line) { return ask(line, patience_); }

  /// returns  the version that the service speaks
  Result<int> greet(Nanoseconds greeting) {
    auto line = ask("CLIENT PROTOCOL 2\n", patience_.at_most(greeting));
    if (!line && line.error().code == ErrorCode::PeerGone && !reader_.half().empty()) {
      return not_ras(reader_.half());
    }
    if (!line) return line.error();
    constexpr std::string_view kServer = "SERVER PROTOCOL ";
    int version = 0;
    const char* const end = line->data() + line->size();
    if (!line->starts_with(kServer) ||
        std::from_chars(line->data() + kServer.size(), end, version).ec != std::errc{}) {
      return not_ras(*line);
    }
    return version;
  }

  /// returns  whether the service took it: an older one does not know every command
  Result<bool> set(const std::string& line) {
    RINGSIDE_TRY(const std::string answer, ask(line));
    if (answer == "OK") return true;
    if (answer.starts_with("ERROR")) return false;
    return not_ras(answer);
  }

  Result<std::string> rest() { return reader_.rest(patience_); }
  SocketReader& reader() { return reader_; }

 private:
  const int socket_;
  SocketReader reader_;
  const Patience patience_;
};

/// Whole seconds: a service before 2.31 takes no fraction.
std::string timeout_line(Seconds wait) {
  return fmt::format("TIMEOUT {}\n", std::max(1, static_cast<int>(wait.count())));
}

/// errors  Unsupported: the service does not know the command.  System: busy
std::optional<Error> refusal_of(std::string_view line, const char* command, const char* release) {
  if (line == "BUSY") return busy();
  if (line.starts_with(kUnknown)) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("the service does not know {} (NCCL {})", command, release)};
  }
  if (line.starts_with("ERROR")) {
    return Error{ErrorCode::Unsupported, fmt::format("{}: '{}'", command, excerpt(line))};
  }
  return std::nullopt;
}

/// Connects, and asks until one connection is greeted.
template <typename Ask>
auto try_connections(const Place& place, const RasClient::Limits& limits, const Patience& patience,
                     const Ask& ask) -> decltype(ask(0)) {
  for (int attempt = 1;; ++attempt) {
    RINGSIDE_TRY(const UniqueFd socket, connect(place, patience));
    auto answer = ask(socket.get());
    const bool may_help = !answer && (answer.error().code == ErrorCode::Timeout ||
                                      answer.error().code == ErrorCode::PeerGone);
    if (!may_help || attempt >= limits.attempts || has_passed(patience.deadline())) return answer;
  }
}

}  // namespace

Result<RasAnswer> ask_status_on(int socket, const RasClient::Limits& limits,
                                const Patience& patience) {
  Conversation talk(socket, limits.report, patience);
  RasAnswer answer;
  RINGSIDE_TRY(answer.protocol, talk.greet(limits.greeting));
  RINGSIDE_TRY([[maybe_unused]] const bool has_timeout,
               talk.set(timeout_line(limits.service_wait)));
  RINGSIDE_TRY(answer.is_json, talk.set("SET FORMAT json\n"));
  RINGSIDE_TRY(talk.say("VERBOSE STATUS\n"));
  RINGSIDE_TRY(answer.text, talk.rest());
  const std::size_t first = answer.text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    return Error{ErrorCode::PeerGone, "the service closed without an answer to STATUS"};
  }
  const std::string_view line = std::string_view(answer.text).substr(first);
  if (const auto refused =
          refusal_of(line.substr(0, line.find_first_of("\r\n")), "STATUS", "2.24")) {
    return *refused;
  }
  // A service that takes the format and answers in text has its own idea of it.
  answer.is_json = answer.is_json && line.starts_with('{');
  return answer;
}

Result<std::string> ask_diagnostics_on(int socket, const RasClient::Limits& limits,
                                       const Patience& patience) {
  constexpr std::string_view kLast = "RAS diagnostics completed";
  Conversation talk(socket, limits.report, patience);
  RINGSIDE_TRY([[maybe_unused]] const int protocol, talk.greet(limits.greeting));
  RINGSIDE_TRY(const std::string first, talk.ask("DIAGNOSTICS\n"));
  if (const auto refused = refusal_of(first, "DIAGNOSTICS", "2.31")) return *refused;
  std::string text = first + "\n";
  for (bool is_last = first.starts_with(kLast); !is_last;) {
    auto line = talk.reader().line(patience);
    if (!line && line.error().code == ErrorCode::PeerGone) break;
    if (!line) return line.error();
    is_last = line->find(kLast) != std::string::npos;
    text += *line + "\n";
  }
  return text;
}

Result<std::string> ask_monitor_on(int socket, const RasClient::Limits& limits, Nanoseconds wait,
                                   const Patience& patience) {
  Conversation talk(socket, limits.events, patience);
  RINGSIDE_TRY([[maybe_unused]] const int protocol, talk.greet(limits.greeting));
  RINGSIDE_TRY([[maybe_unused]] const bool is_json, talk.set("SET FORMAT json\n"));
  RINGSIDE_TRY(const std::string first, talk.ask("MONITOR\n"));
  if (const auto refused = refusal_of(first, "MONITOR", "2.29")) return *refused;
  if (first != "OK") return not_ras(first);
  std::string events;
  const Patience listening = patience.at_most(wait);
  for (;;) {
    auto line = talk.reader().line(listening);
    if (!line && line.error().code == ErrorCode::Timeout) return events;
    if (!line && line.error().code == ErrorCode::PeerGone && !events.empty()) return events;
    if (!line) return line.error();
    events += *line + "\n";
  }
}

Result<RasAnswer> RasClient::status(const Patience& patience) const {
  return try_connections(place_, limits_, patience,
                         [&](int socket) { return ask_status_on(socket, limits_, patience); });
}

Result<std::string> RasClient::diagnostics(const Patience& patience) const {
  return try_connections(place_, limits_, patience,
                         [&](int socket) { return ask_diagnostics_on(socket, limits_, patience); });
}

Result<std::string> RasClient::monitor(Nanoseconds wait, const Patience& patience) const {
  return try_connections(place_, limits_, patience, [&](int socket) {
    return ask_monitor_on(socket, limits_, wait, patience);
  });
}

}  // namespace ringside::attach
