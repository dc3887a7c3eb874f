#include "engine/runtime/watch/status_service.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <list>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/local_time.h"
#include "base/text.h"
#include "engine/flight/recorder.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/watch/status_peers.h"
#include "engine/runtime/watch/status_report.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {
namespace {

// Limits of one client's memory and time, far above those of RAS's clients, curl and PyTorch's control plane.
constexpr std::size_t kLongestLine = 256;
constexpr std::size_t kMostHeaderLines = 64;
constexpr std::size_t kMostClients =
    8;  ///< one thread each; further clients wait in the kernel's queue
constexpr std::chrono::seconds kMonitorInterval{1};
/// Interval at which ended threads are joined, and accept() is tried again after an error.
constexpr std::chrono::milliseconds kServeInterval{50};

/// The settings and requests of one client so far.
struct Session {
  bool is_json = false;
  Seconds patience{2};
};

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// "5" or, as NCCL 2.31 takes it, "0.5". Not negative.
std::optional<Seconds> seconds_of(std::string_view text) {
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
  if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(seconds) || seconds < 0) {
    return std::nullopt;
  }
  return Seconds{seconds};
}

/// The connection of one client: reads lines, writes text.
class Client {
 public:
  Client(int socket, const Wakeup& stop, Nanoseconds patience)
      : socket_(socket), stop_(stop), patience_(patience), input_(deadline_in(patience), stop) {}

  /// errors  Timeout: no line arrived in time.  Corrupt: longer than kLongestLine.  PeerGone
  Result<std::string> next_line() {
    for (;;) {
      const std::size_t end = received_.find('\n');
      if (end != std::string::npos) {
        std::string line = received_.substr(0, end);
        received_.erase(0, end + 1);
        if (line.ends_with('\r')) line.pop_back();
        return line;
      }
      if (received_.size() > kLongestLine) {
        return Error{ErrorCode::Corrupt, fmt::format("a line of more than {} bytes", kLongestLine)};
      }
      std::array<std::byte, 512> buffer{};
      RINGSIDE_TRY(const std::size_t got, recv_some(socket_, buffer));
      received_.append(reinterpret_cast<const char*>(buffer.data()), got);
      if (got != 0) continue;
      RINGSIDE_TRY(const bool is_there, input_.wait_for(socket_, POLLIN));
      if (!is_there) return Error{ErrorCode::Timeout, "the client sent nothing"};
    }
  }

  Status send(const std::string& text) {
    return send_all(socket_, std::as_bytes(std::span(text)),
                    Patience(deadline_in(patience_), stop_));
  }

  /// Waits for `wait`, unless the client closes the connection or sends data.
  /// returns  whether the client is still connected and has sent nothing
  /// errors   Aborted: the service ends
  Result<bool> sends_nothing(Nanoseconds wait) {
    RINGSIDE_TRY(const bool is_there,
                 Patience(deadline_in(wait), stop_).wait_for(socket_, POLLIN | POLLRDHUP));
    return !is_there;
  }

 private:
  const int socket_;
  const Wakeup& stop_;
  const Nanoseconds patience_;
  const Patience input_;  ///< limit for reading a request
  std::string received_;
};

std::string http_answer(const char* status, const char* type, const std::string& body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), body);
}

/// The state of a rank for MONITOR: whether it answers, and whether a process listens on its behalf.
enum class Health { Answers, Silent, Dead };

Health health_of(const RankStatus& rank) {
  if (rank.is_answering) return Health::Answers;
  return rank.is_dead ? Health::Dead : Health::Silent;
}

/// source  ecosystem-facts 2.5: the events of NCCL's MONITOR
std::string event_text(Health health, const RankStatus& rank, std::size_t number, bool is_json) {
  const char* const event = health == Health::Answers  ? "PEER_RECOVERED"
                            : health == Health::Silent ? "PEER_UNRESPONSIVE"
                                                       : "PEER_DEAD";
  const std::string details = fmt::format("rank {}", number);
  if (!is_json) {
    return fmt::format("{} lifecycle {} host {} pid {} ({})\n", local_time(), event, rank.host,
                       rank.pid, details);
  }
  const Json json{{"timestamp", local_time()},
                  {"group", "lifecycle"},
                  {"event", event},
                  {"peer",
                   {{"host", rank.host},
                    {"pid", rank.pid},
                    {"cuda_devs", Json::array()},
                    {"nvml_devs", Json::array()}}},
                  {"details", details}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

class StatusService::Impl {
 public:
  Impl(std::unique_ptr<StatusPeers> peers, UniqueFd listener, Wakeup stop,
       Nanoseconds client_patience)
      : client_patience_(client_patience),
        peers_(std::move(peers)),
        listener_(std::move(listener)),
        stop_(std::move(stop)) {
    if (listener_) serves_ = std::jthread([this] { serve_clients(); });
  }
  ~Impl() { stop_.signal(); }

  [[nodiscard]] std::optional<SocketAddress> address() const {
    if (!listener_) return std::nullopt;
    const auto endpoint = local_endpoint(listener_.get());
    if (!endpoint) return std::nullopt;
    return std::get<SocketAddress>(*endpoint);
  }

 private:
  /// A client, and the thread that serves it.
  struct Served {
    explicit Served(UniqueFd fd) : socket(std::move(fd)) {}
    UniqueFd socket;
    std::atomic<bool> is_over{false};
    std::jthread thread;  // last member: it uses the others
  };

  void serve_clients() {
    std::list<Served> clients;  // their threads end with the signal that ends this one
    for (;;) {
      const auto is_over = [](const Served& one) { return one.is_over.load(); };
      clients.remove_if(is_over);
      const bool is_full = clients.size() >= kMostClients;
      const bool has_clients = !clients.empty();
      const Deadline until =
          has_clients ? deadline_in(kServeInterval) : Deadline::never(real_clock());
      const auto waited = Patience(until, stop_).wait_for(is_full ? -1 : listener_.get(), POLLIN);
      if (!waited) return;
      if (!*waited) continue;
      auto socket = accept_one(listener_.get());
      if (!socket) {  // such as: no more file descriptors
        if (!Patience(deadline_in(kServeInterval), stop_).wait_for(-1, 0)) return;
        continue;
      }
      if (!*socket) continue;
      Served& served = clients.emplace_back(*std::move(socket));
      served.thread = std::jthread([this, &served] {
        // A client that fails does not affect other clients.
        static_cast<void>(serve(served.socket.get()));
        served.socket.reset();
        served.is_over = true;
      });
    }
  }

  Status serve(int socket) {
    Client client(socket, stop_, client_patience_);
    Session session;
    for (;;) {
      const auto line = client.next_line();
      if (!line && line.error().code == ErrorCode::Corrupt) {
        return client.send(fmt::format("ERROR: {}\n", line.error().message));
      }
      if (!line) return line.error();
      RINGSIDE_TRY(const bool is_last, execute(client, *line, session));
      if (is_last) return {};
    }
  }

  /// returns  whether the service should close the connection
  Result<bool> execute(Client& client, const std::string& line, Session& session) {
    const std::string command = upper(line);
    if (command == "STATUS" || command == "VERBOSE STATUS") {
      RINGSIDE_TRY(client.send(status(session, command.starts_with("VERBOSE"))));
      return true;
    }
    if (command == "DIAGNOSTICS") {
      RINGSIDE_TRY(client.send(diagnose(session.patience)));
      return true;
    }
    if (command == "MONITOR" || command.starts_with("MONITOR ")) {
      RINGSIDE_TRY(monitor(client, command, session));
      return true;
    }
    if (command.starts_with("GET ")) {
      RINGSIDE_TRY(answer_http(client, line, session.patience));
      return true;
    }
    std::string answer = "OK\n";
    if (command.starts_with("CLIENT PROTOCOL ")) {
      answer = "SERVER PROTOCOL 2\n";
    } else if (command.starts_with("TIMEOUT ")) {
      constexpr Seconds kLongest{3600};
      const std::optional<Seconds> seconds = seconds_of(std::string_view{command}.substr(8));
      if (seconds && *seconds <= kLongest) {
        session.patience = *seconds == Seconds{0} ? kLongest : *seconds;
      } else {
        answer = fmt::format("ERROR: Invalid timeout value {}\n", line.substr(8));
      }
    } else if (command.starts_with("CONTROL ")) {
      // In NCCL 2.31 this sets the mask of profiler plugins; the runtime has none.
      answer = "ERROR: Unknown CONTROL subcommand\n";
    } else if (command == "SET FORMAT JSON" || command == "SET FORMAT TEXT") {
      session.is_json = command.ends_with("JSON");
    } else if (command.starts_with("SET FORMAT ")) {
      answer = fmt::format("ERROR: Invalid format {}\n", line.substr(11));
    } else {
      answer = fmt::format("ERROR: Unknown command {}\n", line);
    }
    RINGSIDE_TRY(client.send(answer));
    return false;
  }

  [[nodiscard]] Patience for_ranks(Seconds wait) const {
    return {deadline_in(std::chrono::duration_cast<Nanoseconds>(wait)), stop_};
  }

  [[nodiscard]] std::string status(const Session& session, bool is_verbose) const {
    const Clock::Time began = real_clock().now();
    const std::vector<RankStatus> ranks = peers_->statuses(for_ranks(session.patience));
    const Seconds took = real_clock().now() - began;
    if (!session.is_json) return status_text(ranks, took, is_verbose);
    const auto where = address();
    const std::string base = where ? "http://" + to_string(*where) : std::string();
    return status_json(ranks, took, base) + "\n";
  }

  /// Prints changes of each rank's state until the client closes the connection.
  Status monitor(Client& client, const std::string& command, const Session& session) const {
    const bool has_group = command == "MONITOR" || command.find("LIFECYCLE") != std::string::npos ||
                           command.find("ALL") != std::string::npos ||
                           command.find("TRACE") != std::string::npos;
    if (!has_group) return client.send("ERROR: Invalid MONITOR group\n");
    RINGSIDE_TRY(client.send("OK\n"));
    std::vector<Health> known(peers_->nranks(), Health::Answers);
    for (;;) {
      const std::vector<RankStatus> ranks = peers_->statuses(for_ranks(session.patience));
      std::string events;
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const Health now = health_of(ranks[rank]);
        if (now == known[rank]) continue;
        known[rank] = now;
        events += event_text(now, ranks[rank], rank, session.is_json);
      }
      if (!events.empty()) RINGSIDE_TRY(client.send(events));
      RINGSIDE_TRY(const bool is_silent, client.sends_nothing(kMonitorInterval));
      if (!is_silent) return {};
    }
  }

  std::string diagnose(Seconds wait) {
    if (is_diagnosing_.exchange(true)) return "BUSY\n";
    const Clock::Time began = real_clock().now();
    const auto variables = peers_->variables(for_ranks(wait));
    const Seconds took = real_clock().now() - began;
    is_diagnosing_ = false;
    return diagnostics_report(variables, peers_->host_of(peers_->rank()),
                              peers_->pid_of(peers_->rank()), took);
  }

  /// PyTorch's control plane, a folder for each rank: `GET /rank/3/handler/fr_trace_json`.
  Status answer_http(Client& client, const std::string& request, Seconds wait) const {
    // The rest of the request is read first: a socket that closes with unread bytes resets the connection.
    for (std::size_t i = 0;; ++i) {
      RINGSIDE_TRY(const std::string header, client.next_line());
      if (header.empty()) break;
      if (i == kMostHeaderLines) {
        return client.send(http_answer("431 Too Many Headers", "text/plain", ""));
      }
    }
    std::string_view path = std::string_view(request).substr(4);
    path = path.substr(0, path.find(' '));
    constexpr std::string_view kRank = "/rank/";
    std::size_t rank = 0;
    const char* const end = path.data() + path.size();
    const auto read = path.starts_with(kRank)
                          ? std::from_chars(path.data() + kRank.size(), end, rank)
                          : std::from_chars_result{path.data(), std::errc::invalid_argument};
    const std::string_view handler = path.substr(static_cast<std::size_t>(read.ptr - path.data()));
    if (read.ec != std::errc{} || rank >= peers_->nranks()) {
      return client.send(http_answer("404 Not Found", "text/plain", "no such rank\n"));
    }
    if (handler == "/handler/") {
      return client.send(http_answer("200 OK", "text/plain", "ping\nfr_trace_json\n"));
    }
    if (handler == "/handler/ping") return client.send(http_answer("200 OK", "text/plain", "pong"));
    if (handler != "/handler/fr_trace_json") {
      return client.send(http_answer("404 Not Found", "text/plain", "no such handler\n"));
    }
    const auto dump = peers_->dump(rank, for_ranks(wait));
    if (!dump) {
      return client.send(http_answer("503 Service Unavailable", "text/plain",
                                     fmt::format("rank {} does not answer\n", rank)));
    }
    return client.send(http_answer("200 OK", "application/json", *dump));
  }

  const Nanoseconds client_patience_;
  const std::unique_ptr<StatusPeers> peers_;
  const UniqueFd listener_;  ///< empty: another job uses this host's port
  const Wakeup stop_;
  std::atomic<bool> is_diagnosing_{false};
  std::jthread serves_;  // last member: it uses all others
};

namespace {

/// Returns the socket on which this process serves clients; empty if another job uses the port. The processes of a
/// host share the port, so any of them that is alive answers. The lowest rank of the host opens it first and
/// exclusively, so that two jobs cannot share it.
/// errors  as Bootstrap::all_gather()
Result<UniqueFd> open_port(Bootstrap& bootstrap, const StatusPeers& peers, std::uint16_t port,
                           Deadline deadline) {
  UniqueFd listener;
  std::uint16_t taken = 0;
  if (peers.first_of_host() == peers.rank()) {
    const SocketAddress wanted = loopback_address(port);
    const bool is_free = port == 0 || take_port(wanted);
    auto made = is_free ? listen_shared(wanted) : Result<UniqueFd>(UniqueFd());
    if (made && *made) {
      listener = *std::move(made);
      if (const auto endpoint = local_endpoint(listener.get())) {
        taken = std::get<SocketAddress>(*endpoint).port;
      }
    }
  }
  RINGSIDE_TRY(const std::vector<std::byte> bytes,
               bootstrap.all_gather(std::as_bytes(std::span(&taken, 1)), deadline));
  std::memcpy(&taken, bytes.data() + peers.first_of_host() * sizeof taken, sizeof taken);
  if (listener || taken == 0) return listener;
  auto made = listen_shared(loopback_address(taken));
  return made ? *std::move(made) : UniqueFd();
}

}  // namespace

Result<std::unique_ptr<StatusService>> StatusService::start(Bootstrap& bootstrap,
                                                            const FlightRecorder& recorder,
                                                            const Options& options,
                                                            Deadline deadline) {
  RINGSIDE_TRY(Wakeup stop, Wakeup::make());
  RINGSIDE_TRY(auto peers,
               StatusPeers::start(bootstrap, recorder, options.client_patience, deadline));
  RINGSIDE_TRY(UniqueFd listener, open_port(bootstrap, *peers, options.port, deadline));
  return std::unique_ptr<StatusService>(new StatusService(std::make_unique<Impl>(
      std::move(peers), std::move(listener), std::move(stop), options.client_patience)));
}

StatusService::StatusService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StatusService::~StatusService() = default;
std::optional<SocketAddress> StatusService::address() const { return impl_->address(); }

Result<std::optional<std::uint16_t>> status_port(const Environment& environment) {
  RINGSIDE_TRY(const auto enabled, env_int(environment, "NCCL_RAS_ENABLE", 0, 1));
  const auto address = environment("NCCL_RAS_ADDR");
  if (!address || enabled == 0) return std::optional<std::uint16_t>();
  RINGSIDE_TRY(const HostPort parsed, parse_host_port(*address));
  return std::optional(parsed.port);
}

}  // namespace ringside
