#include "engine/runtime/watch/status_service.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "base/host_name.h"
#include "base/text.h"
#include "engine/flight/recorder.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/watch/status_report.h"
#include "engine/transport/socket/acceptor.h"
#include "engine/transport/socket/frame.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {
namespace {

constexpr std::size_t kLongestLine = 256;
constexpr std::size_t kLongestStatus = std::size_t{1} << 22;
constexpr int kAskedAtOnce = 32;

/// Where a rank answers. Plain bytes.
struct Place {
  std::array<char, 64> address{};
  std::array<char, 192> host{};
  std::int64_t pid = 0;
};

template <std::size_t N>
void put_text(std::array<char, N>& field, const std::string& text) {
  std::memcpy(field.data(), text.data(), std::min(text.size(), N - 1));
}
template <std::size_t N>
std::string text_of(const std::array<char, N>& field) {
  return {field.data(), ::strnlen(field.data(), N)};
}

/// What a client has asked for so far.
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

}  // namespace

class StatusService::Impl {
 public:
  Impl(const Bootstrap& bootstrap, const FlightRecorder& recorder, std::vector<Place> places,
       std::unique_ptr<Acceptor> door, UniqueFd listener, Wakeup off, Nanoseconds client_patience)
      : client_patience_(client_patience),
        recorder_(recorder),
        secret_(bootstrap.secret()),
        me_(static_cast<std::size_t>(to_int(bootstrap.rank()))),
        places_(std::move(places)),
        door_(std::move(door)),
        listener_(std::move(listener)),
        off_(std::move(off)) {
    answering_ = std::jthread([this] { answer_ranks(); });
    if (listener_) serves_ = std::jthread([this] { serve_clients(); });
  }
  ~Impl() { off_.signal(); }

  [[nodiscard]] std::optional<SocketAddress> address() const {
    if (!listener_) return std::nullopt;
    const auto endpoint = local_endpoint(listener_.get());
    if (!endpoint) return std::nullopt;
    return std::get<SocketAddress>(*endpoint);
  }

 private:
  [[nodiscard]] RankStatus mine() const {
    RankStatus status;
    status.is_answering = true;
    status.host = text_of(places_[me_].host);
    status.pid = places_[me_].pid;
    status.groups = recorder_.groups();
    return status;
  }

  void answer_ranks() {
    for (;;) {
      const auto asked = door_->accept(Patience(Deadline::never(real_clock()), off_));
      if (!asked && asked.error().code == ErrorCode::Aborted) return;
      if (!asked) continue;
      const std::string text = to_wire(mine());
      // A client that asks and does not read gets no answer.
      static_cast<void>(send_frame(asked->fd.get(), std::as_bytes(std::span(text)),
                                   Patience(deadline_in(client_patience_), off_)));
    }
  }

  void serve_clients() {
    for (;;) {
      const auto waited =
          Patience(Deadline::never(real_clock()), off_).wait_for(listener_.get(), POLLIN);
      if (!waited) return;
      auto client = accept_one(listener_.get());
      // Whatever goes wrong with one client is its own affair.
      if (client && *client) static_cast<void>(serve(client->get()));
    }
  }

  Status serve(int client) {
    const Patience patience(deadline_in(client_patience_), off_);
    Session session;
    std::string heard;
    for (;;) {
      const std::size_t end = heard.find('\n');
      if (end == std::string::npos) {
        if (heard.size() > kLongestLine) {
          return say(client, fmt::format("ERROR: a line of more than {} bytes\n", kLongestLine),
                     patience);
        }
        std::array<std::byte, 512> buffer{};
        RINGSIDE_TRY(const std::size_t got, recv_some(client, buffer));
        if (got == 0) {
          RINGSIDE_TRY(const bool is_there, patience.wait_for(client, POLLIN));
          if (!is_there) return Error{ErrorCode::Timeout, "the client sent nothing"};
        }
        heard.append(reinterpret_cast<const char*>(buffer.data()), got);
        continue;
      }
      std::string line = heard.substr(0, end);
      heard.erase(0, end + 1);
      if (line.ends_with('\r')) line.pop_back();
      RINGSIDE_TRY(const bool is_last, obey(client, line, session, patience));
      if (is_last) return {};
    }
  }

  /// returns  whether the service closes now
  Result<bool> obey(int client, const std::string& line, Session& session,
                    const Patience& patience) {
    const std::string command = upper(line);
    if (command == "STATUS" || command == "VERBOSE STATUS") {
      const Clock::Time began = real_clock().now();
      const std::vector<RankStatus> ranks = ask_all(session.patience);
      const Seconds took = real_clock().now() - began;
      // Collecting took its own time; the client gets as much for the answer.
      RINGSIDE_TRY(say(client,
                       session.is_json ? status_json(ranks, took) + "\n"
                                       : status_text(ranks, took, command.starts_with("VERBOSE")),
                       Patience(deadline_in(client_patience_), off_)));
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
      // NCCL 2.31 sets the mask of its profiler plugins there; the runtime has none.
      answer = "ERROR: Unknown CONTROL subcommand\n";
    } else if (command == "SET FORMAT JSON" || command == "SET FORMAT TEXT") {
      session.is_json = command.ends_with("JSON");
    } else if (command.starts_with("SET FORMAT ")) {
      answer = fmt::format("ERROR: Invalid format {}\n", line.substr(11));
    } else {
      answer = fmt::format("ERROR: Unknown command {}\n", line);
    }
    RINGSIDE_TRY(say(client, answer, patience));
    return false;
  }

  static Status say(int client, const std::string& text, const Patience& patience) {
    return send_all(client, std::as_bytes(std::span(text)), patience);
  }

  std::vector<RankStatus> ask_all(Seconds wait) {
    std::vector<RankStatus> all(places_.size());
    const Patience patience(deadline_in(std::chrono::duration_cast<Nanoseconds>(wait)), off_);
    std::atomic<std::size_t> next{0};
    const auto ask_some = [&] {
      for (std::size_t rank; (rank = next.fetch_add(1)) < all.size();) {
        all[rank] = rank == me_ ? mine() : ask(places_[rank], patience);
      }
    };
    std::vector<std::jthread> threads;
    const std::size_t most = std::min<std::size_t>(kAskedAtOnce, all.size());
    for (std::size_t i = 1; i < most; ++i) threads.emplace_back(ask_some);
    ask_some();
    threads.clear();
    return all;
  }

  [[nodiscard]] RankStatus ask(const Place& place, const Patience& patience) const {
    RankStatus status;
    const auto answer = [&]() -> Result<RankStatus> {
      RINGSIDE_TRY(const Endpoint endpoint, parse_endpoint(text_of(place.address)));
      RINGSIDE_TRY(const UniqueFd fd,
                   connect_authenticated(endpoint, secret_, {}, patience, NoListener::IsEnd));
      RINGSIDE_TRY(const std::vector<std::byte> frame,
                   recv_frame(fd.get(), kLongestStatus, patience));
      return parse_rank_status({reinterpret_cast<const char*>(frame.data()), frame.size()});
    }();
    if (answer) return *answer;
    status.is_dead = answer.error().code == ErrorCode::PeerGone;
    status.host = text_of(place.host);
    status.pid = place.pid;
    return status;
  }

  const Nanoseconds client_patience_;
  const FlightRecorder& recorder_;
  const Secret secret_;
  const std::size_t me_;
  const std::vector<Place> places_;  ///< [rank]
  const std::unique_ptr<Acceptor> door_;
  const UniqueFd listener_;  ///< none: another process serves the clients of this host
  const Wakeup off_;
  std::jthread answering_, serves_;  // last: they use all
};

Result<std::unique_ptr<StatusService>> StatusService::start(Bootstrap& bootstrap,
                                                            const FlightRecorder& recorder,
                                                            const Options& options,
                                                            Deadline deadline) {
  RINGSIDE_TRY(Wakeup off, Wakeup::make());
  RINGSIDE_TRY(std::unique_ptr<Acceptor> door,
               Acceptor::listen(Endpoint{bootstrap.address()}, bootstrap.secret()));
  Place mine;
  put_text(mine.address, to_string(door->address()));
  put_text(mine.host, host_name("unknown"));
  mine.pid = ::getpid();
  RINGSIDE_TRY(const std::vector<std::byte> bytes,
               bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  std::vector<Place> places(bytes.size() / sizeof mine);
  std::memcpy(places.data(), bytes.data(), places.size() * sizeof mine);
  for (Place& place : places) {
    place.address.back() = '\0';
    place.host.back() = '\0';
  }
  auto listener = listen_tcp(loopback_address(options.port));
  return std::unique_ptr<StatusService>(new StatusService(std::make_unique<Impl>(
      bootstrap, recorder, std::move(places), std::move(door),
      listener ? *std::move(listener) : UniqueFd(), std::move(off), options.client_patience)));
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

Result<std::string> ask_status(const SocketAddress& address, bool is_json, Deadline deadline) {
  RINGSIDE_TRY(const UniqueFd fd, connect_to(Endpoint{address}, deadline, NoListener::IsEnd));
  const std::string question = is_json ? "SET FORMAT json\nVERBOSE STATUS\n" : "VERBOSE STATUS\n";
  RINGSIDE_TRY(send_all(fd.get(), std::as_bytes(std::span(question)), deadline));
  std::string answer;
  const Patience patience(deadline);
  for (;;) {
    std::array<std::byte, 4096> buffer{};
    const auto got = recv_some(fd.get(), buffer);
    if (!got && got.error().code == ErrorCode::PeerGone) break;  // the end of the answer
    if (!got) return got.error();
    answer.append(reinterpret_cast<const char*>(buffer.data()), *got);
    if (*got != 0) continue;
    RINGSIDE_TRY(const bool is_there, patience.wait_for(fd.get(), POLLIN));
    if (!is_there) {
      return Error{ErrorCode::Timeout, fmt::format("{} does not answer", to_string(address)),
                   "is that the port that the job was given (bench --status, NCCL_RAS_ADDR)?"};
    }
  }
  if (is_json && answer.starts_with("OK\n")) answer.erase(0, 3);
  return answer;
}

}  // namespace ringside
