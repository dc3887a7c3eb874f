#include "engine/runtime/watch/status_peers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "base/host_name.h"
#include "base/json.h"
#include "engine/flight/dump.h"
#include "engine/flight/recorder.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/fixed_text.h"
#include "engine/transport/socket/socket.h"

namespace ringside {
namespace {

// Limits of an answer's memory: counts and variables take about 1 KiB per communicator, dumps about 1 KiB per entry
// (2,000 by default).
constexpr std::size_t kLongestStatus = std::size_t{1} << 22;
constexpr std::size_t kLongestDump = std::size_t{1} << 26;
constexpr std::size_t kAskedAtOnce = 32;  ///< ranks asked at the same time, one thread each

// The hello that names the purpose of a connection to a rank; it follows the proof of the secret.
const std::string kForStatus = "status";
const std::string kForDump = "dump";
const std::string kForVariables = "variables";

/// Returns the variables of this process that NCCL's diagnostics compare. Others may hold secrets.
Json own_variables() {
  constexpr std::string_view kPrefix = "NCCL_";
  Json variables = Json::object();
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view text = *one;
    const std::size_t sign = text.find('=');
    if (!text.starts_with(kPrefix) || sign == std::string_view::npos) continue;
    variables[std::string(text.substr(0, sign))] = text.substr(sign + 1);
  }
  return variables;
}

}  // namespace

Result<std::unique_ptr<StatusPeers>> StatusPeers::start(Bootstrap& bootstrap,
                                                        const FlightRecorder& recorder,
                                                        Nanoseconds patience, Deadline deadline) {
  RINGSIDE_TRY(Wakeup stop, Wakeup::make());
  RINGSIDE_TRY(std::unique_ptr<Acceptor> acceptor,
               Acceptor::listen(Endpoint{bootstrap.address()}, bootstrap.secret()));
  Place mine;
  put_text(mine.address, to_string(acceptor->address()));
  put_text(mine.host, host_name("unknown"));
  mine.pid = ::getpid();
  RINGSIDE_TRY(const std::vector<std::byte> bytes,
               bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  std::vector<Place> places(bytes.size() / sizeof mine);
  std::memcpy(places.data(), bytes.data(), places.size() * sizeof mine);
  return std::unique_ptr<StatusPeers>(new StatusPeers(
      bootstrap, recorder, std::move(places), std::move(acceptor), std::move(stop), patience));
}

StatusPeers::StatusPeers(const Bootstrap& bootstrap, const FlightRecorder& recorder,
                         std::vector<Place> places, std::unique_ptr<Acceptor> acceptor, Wakeup stop,
                         Nanoseconds patience)
    : patience_(patience),
      recorder_(recorder),
      secret_(bootstrap.secret()),
      me_(static_cast<std::size_t>(to_int(bootstrap.rank()))),
      places_(std::move(places)),
      acceptor_(std::move(acceptor)),
      stop_(std::move(stop)) {
  answers_ = std::jthread([this] { answer_peers(); });
}

StatusPeers::~StatusPeers() { stop_.signal(); }

std::size_t StatusPeers::first_of_host() const {
  std::size_t first = 0;
  while (places_[first].host != places_[me_].host) ++first;
  return first;
}

std::string StatusPeers::host_of(std::size_t rank) const { return text_of(places_[rank].host); }
std::int64_t StatusPeers::pid_of(std::size_t rank) const { return places_[rank].pid; }

RankStatus StatusPeers::own_status() const {
  RankStatus status;
  status.is_answering = true;
  status.host = host_of(me_);
  status.pid = pid_of(me_);
  status.groups = recorder_.groups();
  return status;
}

std::string StatusPeers::answer_to(const std::string& question) const {
  if (question == kForDump) {
    std::string dump;
    append_json(recorder_.snapshot(), dump);
    return dump;
  }
  if (question == kForVariables) {
    return own_variables().dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return to_wire(own_status());
}

void StatusPeers::answer_peers() {
  for (;;) {
    const auto asked = acceptor_->accept(Patience(Deadline::never(real_clock()), stop_));
    if (!asked && asked.error().code == ErrorCode::Aborted) return;
    if (!asked) continue;
    const std::string question(reinterpret_cast<const char*>(asked->hello.data()),
                               asked->hello.size());
    const std::string text = answer_to(question);
    // A process that sends a request and does not read the answer gets none.
    static_cast<void>(send_frame(asked->fd.get(), std::as_bytes(std::span(text)),
                                 Patience(deadline_in(patience_), stop_)));
  }
}

Result<std::string> StatusPeers::ask(std::size_t rank, const std::string& question,
                                     std::size_t most, const Patience& patience) const {
  if (rank == me_) return answer_to(question);
  RINGSIDE_TRY(const Endpoint endpoint, parse_endpoint(text_of(places_[rank].address)));
  RINGSIDE_TRY(const UniqueFd fd,
               connect_authenticated(endpoint, secret_, std::as_bytes(std::span(question)),
                                     patience, NoListener::IsEnd));
  RINGSIDE_TRY(const std::vector<std::byte> frame, recv_frame(fd.get(), most, patience));
  return std::string(reinterpret_cast<const char*>(frame.data()), frame.size());
}

template <typename Ask>
void StatusPeers::ask_each(const Ask& ask_one) const {
  std::atomic<std::size_t> next{0};
  const auto ask_some = [&] {
    for (std::size_t rank; (rank = next.fetch_add(1)) < places_.size();) ask_one(rank);
  };
  std::vector<std::jthread> threads;
  const std::size_t most = std::min(kAskedAtOnce, places_.size());
  for (std::size_t i = 1; i < most; ++i) threads.emplace_back(ask_some);
  ask_some();
}

std::vector<RankStatus> StatusPeers::statuses(const Patience& patience) const {
  std::vector<RankStatus> all(places_.size());
  ask_each([&](std::size_t rank) {
    const auto answer = [&]() -> Result<RankStatus> {
      RINGSIDE_TRY(const std::string text, ask(rank, kForStatus, kLongestStatus, patience));
      return parse_rank_status(text);
    }();
    if (answer) {
      all[rank] = *answer;
      return;
    }
    all[rank].is_dead = answer.error().code == ErrorCode::PeerGone;
    all[rank].host = host_of(rank);
    all[rank].pid = pid_of(rank);
  });
  return all;
}

Result<std::string> StatusPeers::dump(std::size_t rank, const Patience& patience) const {
  return ask(rank, kForDump, kLongestDump, patience);
}

std::vector<std::optional<std::map<std::string, std::string>>> StatusPeers::variables(
    const Patience& patience) const {
  std::vector<std::optional<std::map<std::string, std::string>>> all(places_.size());
  ask_each([&](std::size_t rank) {
    const auto text = ask(rank, kForVariables, kLongestStatus, patience);
    if (!text) return;
    const Json json = Json::parse(*text, nullptr, false);
    if (!json.is_object()) return;
    auto& own = all[rank].emplace();
    for (const auto& [name, value] : json.items()) {
      if (value.is_string()) own[name] = value.get<std::string>();
    }
  });
  return all;
}

}  // namespace ringside
