#include "sim/simulate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "ringside/trace_info.h"
#include "sim/wire.h"
#include "sim/worker.h"

namespace ringside {
namespace {

WireCaller caller_of(const SimRequest& request) {
  const TraceInfo info = this_process_info(TraceClock::Simulated);
  return {.nranks = request.network->nranks(),
          .version = RINGSIDE_VERSION,
          .reports_progress = static_cast<bool>(request.progress),
          .is_traced = request.trace != nullptr,
          .command_line = info.command_line,
          .pid = info.pid};
}

/// errors  Corrupt: a rank that is not in the network
Result<WireRoutes> routes_of(const SimNetwork& network, const WireQuestion& question) {
  const auto is_there = [n = network.nranks()](Rank rank) {
    return to_int(rank) >= 0 && to_int(rank) < n;
  };
  WireRoutes routes;
  std::unordered_set<int> links;
  for (const auto& [from, to, channel] : question.pairs) {
    if (!is_there(from) || !is_there(to) || channel < 0) {
      return Error{
          ErrorCode::Corrupt,
          "the simulation worker asks for a path between ranks or channels that do not exist",
          "use the worker of this version of ringside"};
    }
    routes.pairs.push_back(network.route(from, to, channel));
    links.insert(routes.pairs.back().links.begin(), routes.pairs.back().links.end());
  }
  for (const auto& [members, channel] : question.groups) {
    if (!std::ranges::all_of(members.senders, is_there) ||
        !std::ranges::all_of(members.receivers, is_there) || channel < 0) {
      return Error{
          ErrorCode::Corrupt,
          "the simulation worker asks for a group of ranks or a channel that does not exist",
          "use the worker of this version of ringside"};
    }
    routes.groups.push_back(network.group_route(members, channel).links);
    links.insert(routes.groups.back().begin(), routes.groups.back().end());
  }
  for (const int link : links) routes.rates.emplace_back(link, network.rate(link));
  routes.first_fabric_link = network.first_fabric_link();
  return routes;
}

/// The exchange of one job with the worker.
class Conversation {
 public:
  Conversation(const SimRequest& request, int socket) : request_(request), socket_(socket) {}

  /// Runs until the worker has answered.
  /// errors  PeerGone: the worker is gone; Corrupt: a message is invalid. As died_of(), and those of the trace's sink
  Result<Result<SimResult>> run() {
    // A worker that is gone may have sent the reason before, so its messages are read anyway.
    static_cast<void>(send_wire(socket_, encode_job(caller_of(request_), request_)));
    for (;;) {
      RINGSIDE_TRY(WireMessage message, receive_wire(socket_));
      RINGSIDE_TRY(auto answer,
                   std::visit([this](auto& one) { return take(std::move(one)); }, message));
      if (answer) return *std::move(answer);
    }
  }

 private:
  using Answer = std::optional<Result<SimResult>>;

  Result<Answer> take(const WireQuestion& question) {
    RINGSIDE_TRY(const WireRoutes routes, routes_of(*request_.network, question));
    static_cast<void>(send_wire(socket_, encode(routes)));
    return Answer{};
  }
  Result<Answer> take(const WireProgress& progress) {
    if (request_.progress && progress.all > 0) {
      const double share = static_cast<double>(progress.done) / static_cast<double>(progress.all);
      request_.progress(std::clamp(share, 0.0, 1.0));
    }
    return Answer{};
  }
  Result<Answer> take(const WireTrace& trace) {
    if (request_.trace != nullptr) RINGSIDE_TRY(request_.trace->write(trace.block));
    return Answer{};
  }
  Result<Answer> take(SimResult result) {
    result.time = request_.overheads.total(result.time, result.busiest);
    return Answer{Result<SimResult>{std::move(result)}};
  }
  Result<Answer> take(WireFailure failure) {
    return Answer{Result<SimResult>{std::move(failure.error)}};
  }
  Result<Answer> take(const WireDeath& death) { return died_of(death.signal); }
  template <typename Other>
  Result<Answer> take(const Other& /*other*/) {
    return Error{ErrorCode::Corrupt, "unexpected message from the simulation worker"};
  }

  const SimRequest& request_;
  const int socket_;
};

}  // namespace

Result<SimResult> simulate(const SimRequest& request) {
  RINGSIDE_TRY(SimWorker worker, SimWorker::lease());
  auto answer = Conversation(request, worker.socket()).run();
  if (answer) {
    std::move(worker).give_back();
    return *std::move(answer);
  }
  if (answer.error().code == ErrorCode::PeerGone) return std::move(worker).cause_of_end();
  if (answer.error().code == ErrorCode::Corrupt) {
    return not_a_worker(worker.path(), answer.error());
  }
  return std::move(answer).error();
}

}  // namespace ringside
