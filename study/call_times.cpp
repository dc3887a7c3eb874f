#include "study/call_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "base/wording.h"
#include "harness/hangs/calls.h"
#include "study/simulation.h"
#include "study/what_if.h"

namespace ringside::study {
namespace {

using hangs::Group;
using hangs::Op;
using hangs::Step;

/// Where a group's ranks are: the same GPUs on each of some hosts.
struct Seat {
  std::vector<int> hosts, gpus;
};

/// What of it counts: without a fabric hosts are alike.
using Place = std::pair<std::vector<int>, std::vector<int>>;

/// What a call's time depends on.
using CallKey =
    std::tuple<int, std::string, std::uint64_t, Place>;  // family, collective, bytes, where
/// And as the program has it: group, call, type, elements.
using StepKey = std::tuple<int, Op, DataType, std::int64_t>;

StepKey key_of(const Step& call, int group) { return {group, call.op, call.type, call.count}; }

/// What the simulator calls it: of two ranks each sends to the other.
const char* collective_text(Op op) {
  return hangs::is_p2p(op) ? "send_recv" : to_string(hangs::collective_of(op));
}

/// Of the larger buffer of a rank, as sizes of calls are given.
std::uint64_t bytes_of(const Step& call, std::size_t members) {
  const std::uint64_t given = size_of(call.type).value * static_cast<std::uint64_t>(call.count);
  return call.op == Op::AllGather || call.op == Op::ReduceScatter ? given * members : given;
}

}  // namespace

struct CallClock::Impl {
  JobOptions job;
  std::string fidelity;
  int gpus_per_host = 0;
  bool has_fabric = false;
  std::map<CallKey, Seconds> times;
  std::map<StepKey, Seconds> steps;
  std::vector<CallTime> calls;

  /// errors  InvalidArgument: other GPUs on one host than on another
  [[nodiscard]] Result<Seat> seat_of(const std::vector<int>& ranks) const {
    std::map<int, std::vector<int>> gpus;  // by host
    for (const int rank : ranks) gpus[rank / gpus_per_host].push_back(rank % gpus_per_host);
    Seat seat{.hosts = {}, .gpus = gpus.begin()->second};
    for (const auto& [host, list] : gpus) {
      if (list != seat.gpus) {
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("a group of {} with other GPUs on host {} than on host {}",
                                 plural(ranks.size(), "rank", "ranks"), host, gpus.begin()->first),
                     "sizes of groups that divide the GPUs of a host, or are multiples of them"};
      }
      seat.hosts.push_back(host);
    }
    return seat;
  }

  /// The question for such a call alone on the cluster.
  [[nodiscard]] SimQuestion question(const Seat& seat, Op op, std::uint64_t bytes) const {
    SimQuestion asked;
    asked.job = job;
    asked.job.nodes = static_cast<int>(seat.hosts.size());
    if (static_cast<int>(seat.gpus.size()) < gpus_per_host) asked.job.hosts.gpus = seat.gpus;
    if (has_fabric) {
      asked.job.set.push_back(fmt::format("placement=[{}]", fmt::join(seat.hosts, ", ")));
    }
    asked.calls.collective = collective_text(op);
    asked.calls.sizes = std::to_string(bytes);
    asked.calls.type = "uint8";
    asked.fidelity = fidelity;
    return asked;
  }

  struct Simulated {
    SimRow row;
    std::map<std::string, std::pair<double, BytesPerSecond>> wires;  ///< by name: bytes, rate
  };

  [[nodiscard]] Result<Simulated> simulate(const Seat& seat, Op op, std::uint64_t bytes) const {
    RINGSIDE_TRY(const SimPlan plan, plan_simulation(question(seat, op, bytes)));
    RINGSIDE_TRY(const SimCall call, tune_call(plan, Bytes{bytes}));
    Simulated done;
    RINGSIDE_TRY(done.row, simulate_call(plan, call, {.wants_loads = true}));
    const JobNetwork network = network_of(plan, call);
    for (const LinkLoad& load : done.row.result.loads.links) {
      const SimLink link = network.link(load.link);
      if (!link.wire.empty()) done.wires[link.wire] = {load.bytes, link.rate};
    }
    return done;
  }

  /// Of a family's groups those that lie on the same hosts, each with its GPUs.
  [[nodiscard]] std::vector<Seat> beside(const hangs::Program& program, const Group& group,
                                         const Seat& seat) const {
    std::vector<Seat> seats;
    for (const Group& other : program.groups) {
      if (other.family != group.family || other.ranks.size() != group.ranks.size()) continue;
      const auto found = seat_of(other.ranks);
      if (found && found->hosts == seat.hosts && found->gpus != seat.gpus) seats.push_back(*found);
    }
    return seats;
  }

  /// What it is, and where.
  [[nodiscard]] Result<Seconds> time_of(const hangs::Program& program, const Step& call,
                                        const Group& group) {
    std::vector<int> members = group.ranks;
    if (hangs::is_p2p(call.op)) members.resize(std::min<std::size_t>(2, members.size()));
    if (members.size() < 2) return Seconds{};
    RINGSIDE_TRY(const Seat seat, seat_of(members));
    const std::uint64_t bytes = bytes_of(call, members.size());
    const std::vector<int> hosts =
        has_fabric ? seat.hosts : std::vector<int>{static_cast<int>(seat.hosts.size())};
    const CallKey key{group.family, collective_text(call.op), bytes, {hosts, seat.gpus}};
    if (const auto found = times.find(key); found != times.end()) return found->second;
    RINGSIDE_TRY(const CallTime told, simulate_beside(program, call, group, seat, bytes));
    times.emplace(key, told.time);
    // Other GPUs of a host, the same times: one row says it.
    const bool is_told = std::ranges::any_of(calls, [&](const CallTime& one) {
      return one.groups == told.groups && one.call == told.call && one.ranks == told.ranks &&
             one.hosts == told.hosts && one.bytes == told.bytes &&
             format_time(one.alone) == format_time(told.alone) &&
             format_time(one.time) == format_time(told.time);
    });
    if (!is_told) calls.push_back(told);
    return told.time;
  }

  [[nodiscard]] Result<CallTime> simulate_beside(const hangs::Program& program, const Step& call,
                                                 const Group& group, const Seat& seat,
                                                 std::uint64_t bytes) const {
    RINGSIDE_TRY(Simulated mine, simulate(seat, call.op, bytes));
    CallTime told{.groups = program.families[static_cast<std::size_t>(group.family)],
                  .call = hangs::to_string(call.op),
                  .ranks = static_cast<int>(seat.hosts.size() * seat.gpus.size()),
                  .hosts = static_cast<int>(seat.hosts.size()),
                  .bytes = Bytes{bytes},
                  .alone = mine.row.result.time,
                  .limit = limit_text(mine.row),
                  .fidelity = mine.row.fidelity};
    std::map<std::string, double> sums;
    for (const auto& [name, wire] : mine.wires) sums[name] = wire.first;
    if (!hangs::is_p2p(call.op)) {
      for (const Seat& other : beside(program, group, seat)) {
        RINGSIDE_TRY(const Simulated theirs, simulate(other, call.op, bytes));
        for (const auto& [name, wire] : theirs.wires) {
          if (sums.contains(name)) sums[name] += wire.first;
        }
      }
    }
    Seconds longer{};
    for (const auto& [name, wire] : mine.wires) {
      longer = std::max(longer, Seconds{sums[name] / wire.second.value} - mine.row.result.busiest);
    }
    told.time = told.alone + longer;
    return told;
  }
};

CallClock::CallClock(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CallClock::~CallClock() = default;
CallClock::CallClock(CallClock&&) noexcept = default;

Result<CallClock> CallClock::make(JobOptions job, int ranks, std::string fidelity) {
  auto impl = std::make_unique<Impl>();
  impl->job = std::move(job);
  impl->fidelity = std::move(fidelity);
  JobOptions one = impl->job;
  one.nodes = 1;
  RINGSIDE_TRY(const AskedJob asked, load_job(one));
  impl->gpus_per_host = static_cast<int>(gpus_of(asked.hosts.runs.front().host).size());
  const int nhosts = (ranks + impl->gpus_per_host - 1) / impl->gpus_per_host;
  if (impl->job.nodes && *impl->job.nodes < nhosts) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} ranks on {} of {} GPUs", ranks,
                             plural(static_cast<std::size_t>(*impl->job.nodes), "node", "nodes"),
                             impl->gpus_per_host),
                 fmt::format("give nodes: {}", nhosts)};
  }
  impl->has_fabric = asked.fabric.has_value();
  return CallClock(std::move(impl));
}

int CallClock::gpus_per_host() const { return impl_->gpus_per_host; }

const std::vector<CallTime>& CallClock::calls() const { return impl_->calls; }

Status CallClock::learn(const hangs::Program& program, const Step& call, int group) {
  const auto [place, is_new] = impl_->steps.try_emplace(key_of(call, group));
  if (!is_new) return {};
  RINGSIDE_TRY(place->second,
               impl_->time_of(program, call, program.groups[static_cast<std::size_t>(group)]));
  return {};
}

Seconds CallClock::time(const Step& call, int group) const {
  const auto found = impl_->steps.find(key_of(call, group));
  return found == impl_->steps.end() ? Seconds{} : found->second;
}

}  // namespace ringside::study
