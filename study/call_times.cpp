#include "study/call_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "base/wording.h"
#include "harness/hangs/calls.h"
#include "study/even_domains.h"
#include "study/explain/fabric_rounding.h"
#include "study/job_settings.h"
#include "study/simulation.h"
#include "study/what_if.h"

namespace ringside::study {
namespace {

using hangs::Group;
using hangs::Op;
using hangs::Step;

/// The placement of a group's ranks: the same GPUs on each of some hosts, as many hosts in each of some nodes. A node
/// is a host, or an NVLink domain of several.
struct GroupPlacement {
  std::vector<int> nodes;
  std::vector<int> hosts_within;  ///< of the first node: numbers within it
  std::vector<int> gpus;

  [[nodiscard]] int hosts() const { return static_cast<int>(nodes.size() * hosts_within.size()); }
};

/// The parts of a placement that matter: without a fabric all nodes are equal, as are the hosts of an NVLink domain.
using Place = std::tuple<std::vector<int>, std::size_t, std::vector<int>>;

/// The inputs that determine a call's time: family, collective, type (NVLS reduces some), bytes, placement.
using CallKey = std::tuple<int, std::string, DataType, std::uint64_t, Place>;
/// The same in the program's terms: group, call, type, elements, whether it is a shift, class of the path.
using StepKey = std::tuple<int, Op, DataType, std::int64_t, bool, int>;

StepKey key_of(const Step& call, int group) {
  return {group, call.op, call.type, call.count, call.is_shift, call.path_class};
}

/// Returns the simulator's name of the call; in a transfer of two ranks, each sends to the other.
const char* collective_text(Op op) {
  return hangs::is_p2p(op) ? "send_recv" : to_string(hangs::collective_of(op));
}

bool is_of_pair(const Step& call) { return hangs::is_p2p(call.op) && !call.is_shift; }

/// The scenario's name of the call.
const char* step_text(const Step& call) {
  return call.is_shift ? collective_text(call.op) : hangs::to_string(call.op);
}

/// Returns the bytes of a rank's larger buffer, which is the size of a call.
std::uint64_t bytes_of(const Step& call, std::size_t members) {
  const std::uint64_t given = size_of(call.type).value * static_cast<std::uint64_t>(call.count);
  return call.op == Op::AllGather || call.op == Op::ReduceScatter ? given * members : given;
}

/// The kinds of paths between two ranks, distinguished by the links that a message of an exchange crosses.
class PathKinds {
 public:
  PathKinds() = default;
  /// ranks_per_node  if the job consists of two nodes that represent any two; 0: it is the whole job
  PathKinds(AskedJob asked, int ranks_per_node)
      : asked_(std::make_unique<AskedJob>(std::move(asked))),
        network_(std::make_unique<JobNetwork>(asked_->job, std::nullopt, asked_->topology, nullptr,
                                              asked_->job_fabric())),
        ranks_per_node_(ranks_per_node) {}

  /// returns  as CallClock::path_class()
  int between(int a, int b) {
    const std::pair<int, int> pair = std::minmax(a, b);
    const auto [known, is_new] = of_pair_.try_emplace(placed(pair), -1);
    if (!is_new) return known->second;
    const auto [kind, is_first] =
        kinds_.try_emplace(kind_of(known->first), static_cast<int>(firsts_.size()));
    if (is_first) firsts_.push_back(pair);
    return known->second = kind->second;
  }

  /// Returns the first pair of ranks whose path had that class.
  [[nodiscard]] const std::pair<int, int>& first_of(int path_class) const {
    return firsts_[static_cast<std::size_t>(path_class)];
  }

 private:
  /// The total rate of the channels on a path, and the time of a step on it.
  struct PathKind {
    double rate = std::numeric_limits<double>::max();
    StepLink slowest = StepLink::NvLink;
    Seconds beyond{};
    auto operator<=>(const PathKind&) const = default;
  };

  /// Returns two ranks of the loaded job whose path is like that of the pair.
  [[nodiscard]] std::pair<int, int> placed(const std::pair<int, int>& pair) const {
    const auto [a, b] = pair;
    if (ranks_per_node_ == 0) return pair;
    const bool is_one_node = a / ranks_per_node_ == b / ranks_per_node_;
    return {a % ranks_per_node_, b % ranks_per_node_ + (is_one_node ? 0 : ranks_per_node_)};
  }

  [[nodiscard]] PathKind kind_of(const std::pair<int, int>& pair) const {
    constexpr int kChannels = 2;  // neighbouring NICs alternate
    PathKind kind;
    std::map<int, int> uses;
    for (int channel = 0; channel < kChannels; ++channel) {
      const SimRoute route = network_->route(Rank{pair.first}, Rank{pair.second}, channel);
      for (const int link : route.links) ++uses[link];
      kind.slowest = std::max(kind.slowest, route.slowest);
      kind.beyond = std::max(kind.beyond, route.beyond);
    }
    for (const auto& [link, times] : uses) {
      kind.rate = std::min(kind.rate, network_->rate(link).value / times * kChannels);
    }
    return kind;
  }

  std::unique_ptr<AskedJob> asked_;
  std::unique_ptr<JobNetwork> network_;
  int ranks_per_node_ = 0;
  std::map<std::pair<int, int>, int> of_pair_;
  std::map<PathKind, int> kinds_;
  std::vector<std::pair<int, int>> firsts_;
};

}  // namespace

struct CallClock::Impl {
  SimQuestion base;
  int gpus_per_host = 0;
  int hosts_per_node = 1;
  int nnodes = 0;  ///< of the ranks
  bool has_fabric = false;
  bool has_cluster_file = false;     ///< the fabric's, which counts its nodes itself
  bool is_counted_in_hosts = false;  ///< base.job.nodes counts hosts, else nodes
  std::string note;
  std::vector<int> placed;  ///< of a fabric: the cluster's number of each node
  struct Known {
    Seconds time{};
    std::optional<std::size_t> call = {};  ///< index in `calls`; none: the call moves nothing
  };
  std::map<CallKey, Known> placed_calls;
  PathKinds paths;
  std::map<StepKey, Known> steps;
  std::vector<CallTime> calls;

  [[nodiscard]] int gpus_per_node() const { return gpus_per_host * hosts_per_node; }

  /// Returns how many of base.job.nodes each node is.
  [[nodiscard]] int counted_per_node() const { return is_counted_in_hosts ? hosts_per_node : 1; }

  /// Ranks are placed by gpus_per_host, so all hosts must have as many.
  /// errors  InvalidArgument: a host has another number of GPUs than the first one
  static Status check_equal_gpus(const JobHosts& hosts) {
    const HostRun& first = hosts.runs.front();
    for (const HostRun& run : hosts.runs) {
      if (gpus_of(run.host).size() == gpus_of(first.host).size()) continue;
      return Error{
          ErrorCode::InvalidArgument,
          fmt::format("hosts with different numbers of GPUs: {} has {}, {} has {}", first.host.name,
                      gpus_of(first.host).size(), run.host.name, gpus_of(run.host).size()),
          "use hosts with the same number of GPUs"};
    }
    return {};
  }

  /// Learns what a node is from the smallest job: one host, or one NVLink domain.
  Status measure_node() {
    RINGSIDE_TRY(const AskedJob asked, load_job(smallest_job(base.job)));
    RINGSIDE_TRY(check_equal_gpus(asked.hosts));
    gpus_per_host = static_cast<int>(gpus_of(asked.hosts.runs.front().host).size());
    hosts_per_node = asked.hosts.hosts_per_nvl_domain;
    has_fabric = asked.fabric.has_value();
    has_cluster_file = has_fabric && !asked.fabric->is_by_word;
    // If the size of a domain is given, hosts are counted one by one.
    is_counted_in_hosts = base.job.nvl_domain && !has_cluster_file;
    return {};
  }

  /// Returns the question for smaller domains, which the ranks fill.
  [[nodiscard]] SimQuestion question_for(const EvenDomains& even) const {
    SimQuestion shared = base;
    shared.job.nvl_domain = even.hosts_each;
    if (shared.job.nodes) *shared.job.nodes *= even.hosts_each;
    return shared;
  }
  [[nodiscard]] std::string note_on(const EvenDomains& even) const {
    return fmt::format("{} NVLink domains, {} of the {} hosts of each: {} GPUs", even.domains,
                       even.hosts_each, hosts_per_node, even.hosts_each * gpus_per_host);
  }

  /// errors  InvalidArgument: the ranks need more nodes than are given
  Status count_nodes(int ranks) {
    nnodes = (ranks + gpus_per_node() - 1) / gpus_per_node();
    const int needed = nnodes * counted_per_node();
    if (!base.job.nodes || *base.job.nodes >= needed) return {};
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} ranks on {} of {} GPUs", ranks,
                             plural(static_cast<std::size_t>(*base.job.nodes), "node", "nodes"),
                             gpus_per_node() / counted_per_node()),
                 fmt::format("give nodes: {}", needed)};
  }

  /// Loads the job whose paths represent those of all ranks: the whole job in a fabric, else two nodes.
  Status load_paths() {
    JobOptions options = base.job;
    if (!has_fabric) {
      options.nodes = options.nvl_domain.value_or(1) * std::min(2, nnodes);
      RINGSIDE_TRY(AskedJob pair, load_job(options));
      paths = PathKinds(std::move(pair), gpus_per_node());
      return {};
    }
    if (!has_cluster_file) {
      base.job.fabric_nodes = base.job.nodes.value_or(nnodes * counted_per_node());
      options.fabric_nodes = base.job.fabric_nodes;
    }
    options.nodes = nnodes;
    RINGSIDE_TRY(AskedJob whole, load_job(options));
    RINGSIDE_TRY(check_equal_gpus(whole.hosts));
    placed = whole.fabric->nodes;
    note = fabric_note(*whole.fabric->fabric, placed);
    if (!note.empty()) note.insert(0, "fabric: ");
    paths = PathKinds(std::move(whole), 0);
    return {};
  }

  /// errors  InvalidArgument: other GPUs on one host than on another, other numbers of hosts in one node than in
  ///         another
  [[nodiscard]] Result<GroupPlacement> placement_of(const std::vector<int>& ranks) const {
    std::map<int, std::vector<int>> gpus;  // by host
    for (const int rank : ranks) gpus[rank / gpus_per_host].push_back(rank % gpus_per_host);
    GroupPlacement placement{.nodes = {}, .hosts_within = {}, .gpus = gpus.begin()->second};
    std::map<int, std::size_t> hosts;  // by node
    for (const auto& [host, list] : gpus) {
      if (list != placement.gpus) {
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("a group of {} with other GPUs on host {} than on host {}",
                                 plural(ranks.size(), "rank", "ranks"), host, gpus.begin()->first),
                     "sizes of groups that divide the GPUs of a host, or are multiples of them"};
      }
      const int node = host / hosts_per_node;
      if (hosts[node]++ == 0) placement.nodes.push_back(node);
      if (node == placement.nodes.front()) placement.hosts_within.push_back(host % hosts_per_node);
    }
    for (const auto& [node, count] : hosts) {
      if (count == placement.hosts_within.size()) continue;
      return Error{
          ErrorCode::InvalidArgument,
          fmt::format("a group of {} on {} hosts of NVLink domain {} and on {} of domain {}",
                      plural(ranks.size(), "rank", "ranks"), count, node,
                      placement.hosts_within.size(), placement.nodes.front()),
          "sizes of groups that divide the GPUs of a domain, or are multiples of them"};
    }
    return placement;
  }

  [[nodiscard]] std::vector<int> cluster_nodes(const GroupPlacement& placement) const {
    std::vector<int> numbers;
    for (const int node : placement.nodes)
      numbers.push_back(placed[static_cast<std::size_t>(node)]);
    return numbers;
  }

  /// Returns the question for such a call alone on the cluster.
  /// errors  Unsupported: a part of the hosts of a domain, in a fabric
  [[nodiscard]] Result<SimQuestion> question(const GroupPlacement& placement, const Step& call,
                                             std::uint64_t bytes) const {
    SimQuestion asked = base;
    const int hosts_each = static_cast<int>(placement.hosts_within.size());
    const bool is_part = hosts_each < hosts_per_node;
    if (has_fabric && is_part && placement.nodes.size() == 1 && base.job.fabric_nodes) {
      // NVLink carries it: the fabric of a word is ignored, and the domain is as large as the group.
      asked.job.fabric.clear();
      std::erase_if(asked.job.set, is_fabric_setting);
      asked.job.fabric_nodes.reset();
      asked.job.nodes = asked.job.nvl_domain = hosts_each;
    } else if (has_fabric) {
      if (is_part) {
        return Error{
            ErrorCode::Unsupported,
            fmt::format("{}: a group on {} of the {} hosts of an NVLink domain, in a fabric",
                        base.job.on, hosts_each, hosts_per_node),
            "give groups whole domains, or the hosts without a fabric"};
      }
      asked.job.nodes = static_cast<int>(placement.nodes.size());
      asked.job.set.push_back(
          fmt::format("placement=[{}]", fmt::join(cluster_nodes(placement), ", ")));
    } else {
      asked.job.nodes =
          placement.hosts();  // counted one by one, where the size of a domain is given
      if (hosts_per_node > 1) asked.job.nvl_domain = hosts_each;
    }
    if (static_cast<int>(placement.gpus.size()) < gpus_per_host)
      asked.job.hosts.gpus = placement.gpus;
    asked.calls.collective = collective_text(call.op);
    asked.calls.type = to_string(call.type);
    asked.calls.sizes = std::to_string(bytes);
    return asked;
  }

  struct Simulated {
    SimRow row;
    std::map<std::string, std::pair<double, BytesPerSecond>> wires;  ///< by name: bytes, rate
  };

  [[nodiscard]] Result<Simulated> simulate(const GroupPlacement& placement, const Step& call,
                                           std::uint64_t bytes) const {
    RINGSIDE_TRY(const SimQuestion asked, question(placement, call, bytes));
    RINGSIDE_TRY(const SimPlan plan, plan_simulation(asked));
    RINGSIDE_TRY(const SimCall tuned, tune_call(plan, Bytes{bytes}));
    Simulated done;
    RINGSIDE_TRY(done.row, simulate_call(plan, tuned, {.wants_loads = true}));
    const JobNetwork network = network_of(plan, tuned);
    for (const LinkLoad& load : done.row.result.loads.links) {
      const SimLink link = network.link(load.link);
      if (!link.wire.empty()) done.wires[link.wire] = {load.bytes, link.rate};
    }
    return done;
  }

  /// Returns the placements of the other groups of the family that use other GPUs of the same hosts.
  [[nodiscard]] std::vector<GroupPlacement> placements_beside(
      const hangs::Program& program, const Group& group, const GroupPlacement& placement) const {
    std::vector<GroupPlacement> others;
    for (const Group& other : program.groups) {
      if (other.family != group.family || other.ranks.size() != group.ranks.size()) continue;
      const auto found = placement_of(other.ranks);
      if (!found || found->nodes != placement.nodes) continue;
      // Within a domain NVLink joins all hosts, but each has wires of its own.
      if (found->hosts_within == placement.hosts_within && found->gpus != placement.gpus) {
        others.push_back(*found);
      }
    }
    return others;
  }

  /// Returns the time of a call, from placed_calls or by a simulation. A group of one rank moves nothing.
  [[nodiscard]] Result<Known> time_of(const hangs::Program& program, const Step& call,
                                      const Group& group) {
    if (group.ranks.size() < 2) return Known{};
    if (is_of_pair(call)) return time_of_pair(program, call, group);
    RINGSIDE_TRY(const GroupPlacement placement, placement_of(group.ranks));
    const std::uint64_t bytes = bytes_of(call, group.ranks.size());
    const std::vector<int> nodes =
        has_fabric ? placement.nodes : std::vector<int>{static_cast<int>(placement.nodes.size())};
    const CallKey key{group.family,
                      collective_text(call.op),
                      call.type,
                      bytes,
                      {nodes, placement.hosts_within.size(), placement.gpus}};
    if (const auto found = placed_calls.find(key); found != placed_calls.end())
      return found->second;
    RINGSIDE_TRY(CallTime timed, simulate_with_others(program, call, group, placement, bytes));
    return keep(key, std::move(timed));
  }

  [[nodiscard]] Result<Known> time_of_pair(const hangs::Program& program, const Step& call,
                                           const Group& group) {
    const int path_class =
        call.path_class >= 0 ? call.path_class : paths.between(group.ranks[0], group.ranks[1]);
    const std::uint64_t bytes = bytes_of(call, 2);
    const CallKey key{group.family, "transfer", call.type, bytes, {{path_class}, 0, {}}};
    if (const auto found = placed_calls.find(key); found != placed_calls.end())
      return found->second;
    std::optional<CallTime> slowest;
    for (const auto& [a, b] : pairs_like(paths.first_of(path_class))) {
      RINGSIDE_TRY(const GroupPlacement placement, placement_of({a, b}));
      RINGSIDE_TRY(CallTime timed, simulate_with_others(program, call, group, placement, bytes));
      if (!slowest || slowest->time < timed.time) slowest = std::move(timed);
    }
    return keep(key, *std::move(slowest));
  }

  /// Returns the pairs of ranks that are simulated for a transfer. If both GPUs are on one host, or have the same index
  /// on two hosts, that is the pair itself. Otherwise it is two pairs on the same hosts: both GPUs have the index of the
  /// first rank's GPU, or that of the second rank's.
  [[nodiscard]] std::vector<std::pair<int, int>> pairs_like(const std::pair<int, int>& pair) const {
    const auto [a, b] = pair;
    const auto with_gpu_of = [&](int rank, int other) {
      return other / gpus_per_host * gpus_per_host + rank % gpus_per_host;
    };
    if (a / gpus_per_host == b / gpus_per_host || with_gpu_of(a, b) == b) return {pair};
    return {{a, with_gpu_of(a, b)}, {with_gpu_of(b, a), b}};
  }

  /// Stores a simulated call under its key. Calls that differ only in the GPUs of their hosts and take equally long share
  /// one entry of `calls`.
  Known keep(const CallKey& key, CallTime timed) {
    Known known{timed.time, calls.size()};
    const auto like = std::ranges::find_if(calls, [&](const CallTime& one) {
      return one.groups == timed.groups && one.call == timed.call && one.ranks == timed.ranks &&
             one.hosts == timed.hosts && one.bytes == timed.bytes &&
             format_time(one.alone) == format_time(timed.alone) &&
             format_time(one.time) == format_time(timed.time);
    });
    if (like == calls.end()) {
      calls.push_back(std::move(timed));
    } else {
      known.call = static_cast<std::size_t>(like - calls.begin());
    }
    placed_calls.emplace(key, known);
    return known;
  }

  /// Simulates a call while the other groups of the family make the same call on the same hosts. A transfer is simulated
  /// alone.
  [[nodiscard]] Result<CallTime> simulate_with_others(const hangs::Program& program,
                                                      const Step& call, const Group& group,
                                                      const GroupPlacement& placement,
                                                      std::uint64_t bytes) const {
    RINGSIDE_TRY(Simulated mine, simulate(placement, call, bytes));
    CallTime timed{.groups = program.families[static_cast<std::size_t>(group.family)],
                   .call = step_text(call),
                   .ranks = placement.hosts() * static_cast<int>(placement.gpus.size()),
                   .hosts = placement.hosts(),
                   .bytes = Bytes{bytes},
                   .alone = mine.row.result.time,
                   .limit = limit_text(mine.row),
                   .fidelity = mine.row.fidelity,
                   .error_percent = mine.row.error_percent};
    std::map<std::string, double> sums;
    for (const auto& [name, wire] : mine.wires) sums[name] = wire.first;
    if (!is_of_pair(call)) {
      for (const GroupPlacement& other : placements_beside(program, group, placement)) {
        RINGSIDE_TRY(const Simulated theirs, simulate(other, call, bytes));
        for (const auto& [name, wire] : theirs.wires) {
          if (sums.contains(name)) sums[name] += wire.first;
        }
      }
    }
    Seconds longer{};
    for (const auto& [name, wire] : mine.wires) {
      longer = std::max(longer, Seconds{sums[name] / wire.second.value} - mine.row.result.busiest);
    }
    timed.time = timed.alone + longer;
    if (timed.time > Seconds{}) {
      timed.busbw = BytesPerSecond{mine.row.busbw.value * (timed.alone / timed.time)};
    }
    return timed;
  }
};

double error_percent_of(const std::vector<CallTime>& calls) {
  double weighted = 0;
  double all = 0;
  for (const CallTime& one : calls) {
    const double time = one.time.count() * static_cast<double>(one.times);
    weighted += time * one.error_percent;
    all += time;
  }
  return all > 0 ? weighted / all : 0;
}

CallClock::CallClock(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CallClock::~CallClock() = default;
CallClock::CallClock(CallClock&&) noexcept = default;

Result<CallClock> CallClock::make(SimQuestion base, int ranks) {
  auto impl = std::make_unique<Impl>();
  impl->base = std::move(base);
  if (const auto gpus = std::exchange(impl->base.job.gpus, std::nullopt); gpus && *gpus < ranks) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} ranks on {} GPUs", ranks, *gpus),
                 fmt::format("give gpus: {}", ranks)};
  }
  RINGSIDE_TRY(impl->measure_node());
  if (!impl->base.job.nvl_domain && !impl->has_cluster_file) {
    const auto even =
        even_domains(ranks, impl->gpus_per_host, impl->hosts_per_node, impl->base.job.nodes);
    if (even) {
      RINGSIDE_TRY(CallClock clock, make(impl->question_for(*even), ranks));
      clock.impl_->note = impl->note_on(*even);
      return clock;
    }
  }
  RINGSIDE_TRY(impl->count_nodes(ranks));
  RINGSIDE_TRY(impl->load_paths());
  return CallClock(std::move(impl));
}

int CallClock::path_class(int a, int b) { return impl_->paths.between(a, b); }

int CallClock::gpus_per_host() const { return impl_->gpus_per_host; }

const std::string& CallClock::note() const { return impl_->note; }

int CallClock::gpus() const {
  if (!impl_->base.job.nodes) return hosts() * impl_->gpus_per_host;
  return *impl_->base.job.nodes * (impl_->gpus_per_node() / impl_->counted_per_node());
}

int CallClock::hosts() const { return impl_->nnodes * impl_->hosts_per_node; }

const std::vector<CallTime>& CallClock::calls() const { return impl_->calls; }

Status CallClock::learn(const hangs::Program& program, const Step& call, int group) {
  const StepKey key = key_of(call, group);
  auto known = impl_->steps.find(key);
  if (known == impl_->steps.end()) {
    RINGSIDE_TRY(const Impl::Known timed,
                 impl_->time_of(program, call, program.groups[static_cast<std::size_t>(group)]));
    known = impl_->steps.emplace(key, timed).first;
  }
  if (known->second.call) ++impl_->calls[*known->second.call].times;
  return {};
}

Seconds CallClock::time(const Step& call, int group) const {
  const auto found = impl_->steps.find(key_of(call, group));
  return found == impl_->steps.end() ? Seconds{} : found->second.time;
}

}  // namespace ringside::study
